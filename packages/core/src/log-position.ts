declare const positionBrand: unique symbol;
declare const epochBrand: unique symbol;

/**
 * The place of one record in the log: consecutive from 1, dealt when a write is sequenced, never reused once it is
 * durable. Finer than a revision, because grants, revokes, alarms and compaction marks are records too. A version's
 * bytes are found by this position as long as the version lives, wherever storage moves them.
 */
export type LogPosition = number & { readonly [positionBrand]: 'LogPosition' };

export const logPosition = (value: number): LogPosition => value as LogPosition;
export const nextLogPosition = (after: LogPosition): LogPosition => logPosition(after + 1);

/** Fences leaders: storage refuses an append whose epoch is older than the last seal. `term` stays with Raft. */
export type Epoch = number & { readonly [epochBrand]: 'Epoch' };

export const epoch = (value: number): Epoch => value as Epoch;

/**
 * Who may append: the holder (a member's id, below 2^64) that took over the log in this epoch. Two holders never seal a
 * log with the same epoch, no matter who elected them.
 */
export interface Seal {
  readonly epoch: Epoch;
  readonly holder: bigint;
}

/** The seal of a log that nobody has taken over. No member is holder 0. */
export const NEW_LOG_SEAL: Seal = { epoch: epoch(0), holder: 0n };

export const sameSeal = (left: Seal, right: Seal): boolean =>
  left.epoch === right.epoch && left.holder === right.holder;
