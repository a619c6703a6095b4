declare const brand: unique symbol;

/**
 * A point in the history of all keys. An empty store is at 1; each transaction that changes something makes the next
 * one. A number, not a bigint: every hot path carries it, and 2^53 writes last 2,800 years at 100,000 a second.
 */
export type Revision = number & { readonly [brand]: 'Revision' };

export const revision = (value: number): Revision => value as Revision;
export const nextRevision = (after: Revision): Revision => revision(after + 1);

/** The revision of an empty store, as etcd counts. */
export const FIRST_REVISION = revision(1);

/** The compact revision of a store that was never compacted. etcd starts there, so Compact(0) succeeds once. */
export const NO_REVISION = revision(-1);
