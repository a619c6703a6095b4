/** The upper and the lower half of a number below 2^64. */
export function splitU64(value: bigint): readonly [upper: number, lower: number] {
  return [Number(value >> 32n), Number(BigInt.asUintN(32, value))];
}

export function joinU64(upper: number, lower: number): bigint {
  return (BigInt(upper) << 32n) | BigInt(lower);
}
