declare const positionBrand: unique symbol;
declare const epochBrand: unique symbol;

/**
 * The place of one record in the log: consecutive from 1, dealt when a write is sequenced, never reused once it is
 * durable. Finer than a revision, because grants, revokes, alarms and compaction marks are records too. A version's
 * bytes are found by it for as long as the version lives, wherever the storage moves them.
 */
export type LogPosition = number & { readonly [positionBrand]: 'LogPosition' };

export const logPosition = (value: number): LogPosition => value as LogPosition;
export const nextLogPosition = (after: LogPosition): LogPosition => logPosition(after + 1);

/** Fences leaders: storage refuses an append whose epoch is older than the last seal. `term` stays with Raft. */
export type Epoch = number & { readonly [epochBrand]: 'Epoch' };

export const epoch = (value: number): Epoch => value as Epoch;
