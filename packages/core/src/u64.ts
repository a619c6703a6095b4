import type { Random } from './ports.ts';

/** The upper and the lower half of a number below 2^64. */
export function splitU64(value: bigint): readonly [upper: number, lower: number] {
  return [Number(value >> 32n), Number(BigInt.asUintN(32, value))];
}

export function joinU64(upper: number, lower: number): bigint {
  return (BigInt(upper) << 32n) | BigInt(lower);
}

/** A number below 2^64 that tells one thing from all others. Not 0, which stands for none. */
export const drawId = (random: Random): bigint => joinU64(random.uint32(), random.uint32()) || 1n;
