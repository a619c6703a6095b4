/**
 * Any signed 64-bit integer: a number where that is safe (Number.isSafeInteger), a bigint everywhere else. So each value
 * has one form, and `===` and a Map compare it as they should.
 */
export type Int64 = number | bigint;

export function isInt64(value: Int64): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return !Number.isSafeInteger(Number(value)) && BigInt.asIntN(64, value) === value;
}
