/**
 * Any signed 64-bit integer: a number where that is safe (Number.isSafeInteger), otherwise a bigint. Each value has one
 * form, so `===` and a Map compare it correctly.
 */
export type Int64 = number | bigint;

export function isInt64(value: Int64): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return !Number.isSafeInteger(Number(value)) && BigInt.asIntN(64, value) === value;
}
