declare const brand: unique symbol;

/**
 * A point in the history of all keys. An empty store is at 1; each transaction that changes something makes the next
 * one. A number, not a bigint: every hot path carries it, and 2^53 writes last 2,800 years at 100k/s.
 */
export type Revision = number & { readonly [brand]: 'Revision' };

export const revision = (value: number): Revision => value as Revision;
export const nextRevision = (after: Revision): Revision => revision(after + 1);

/** "Not compacted yet" where a compact revision is meant: etcd starts there, so Compact(0) succeeds once. */
export const NO_REVISION = revision(-1);
