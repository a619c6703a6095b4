/**
 * A point in the order of all transactions: milliseconds since 1970 in the upper 46 bits, a counter in the lower 18 (TiKV
 * components/txn_types, TimeStamp). A bigint, because it needs all 64 bits.
 */
export type Timestamp = bigint;

const LOGICAL_BITS = 18n;

/** A read at this timestamp gets the newest committed version. Only for a read of one key at its leader. */
export const MAX_TIMESTAMP: Timestamp = 2n ** 64n - 1n;

export const composeTimestamp = (physicalMs: number, logical: number): Timestamp =>
  (BigInt(physicalMs) << LOGICAL_BITS) + BigInt(logical);

/** Milliseconds since 1970 by PD's clock. */
export const physicalMs = (timestamp: Timestamp): number => Number(timestamp >> LOGICAL_BITS);

/** The timestamp `deltaMs` later, or earlier if `deltaMs` is negative. Never below 0. */
export function shiftTimestamp(timestamp: Timestamp, deltaMs: number): Timestamp {
  const shifted = timestamp + (BigInt(deltaMs) << LOGICAL_BITS);
  return shifted < 0n ? 0n : shifted;
}

export const maxTimestamp = (left: Timestamp, right: Timestamp): Timestamp => (left > right ? left : right);
