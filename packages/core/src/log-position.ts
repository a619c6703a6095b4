declare const positionBrand: unique symbol;
declare const epochBrand: unique symbol;

/**
 * The place of one record in the log. Positions are consecutive from 1, are assigned when a write is decided, and are
 * never reused once they are durable. They are finer than revisions, because grants, revokes, alarms and compaction
 * marks are records too. The position finds a version's bytes as long as the version lives, wherever storage moves
 * them.
 */
export type LogPosition = number & { readonly [positionBrand]: 'LogPosition' };

export const logPosition = (value: number): LogPosition => value as LogPosition;
export const nextLogPosition = (after: LogPosition): LogPosition => logPosition(after + 1);

/** Fences leaders: storage refuses an append whose epoch is older than the last seal. Raft's own number is called `term`. */
export type Epoch = number & { readonly [epochBrand]: 'Epoch' };

export const epoch = (value: number): Epoch => value as Epoch;

/**
 * The right to append: the holder (a member's id, below 2^64) that took over the log in this epoch. Two holders never
 * seal a log with the same epoch, whichever members elected them.
 */
export interface Seal {
  readonly epoch: Epoch;
  readonly holder: bigint;
}

/** The seal of a log that no member has taken over. No member is holder 0. */
export const NEW_LOG_SEAL: Seal = { epoch: epoch(0), holder: 0n };

export const sameSeal = (left: Seal, right: Seal): boolean =>
  left.epoch === right.epoch && left.holder === right.holder;
