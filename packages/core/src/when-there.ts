/**
 * What `next` makes of a value: in this call if the value is there, and otherwise when it is. `given` is passed on to `next`, which
 * is no closure then: on a path as short as that of a get, a closure costs a hundredth of the whole. `failed` makes it of the error
 * of a promise that rejects; without it the promise of the result rejects as well.
 */
export function whenThere<Value, Given, Result>(
  value: Value | Promise<Value>,
  next: (value: Value, given: Given) => Result | Promise<Result>,
  given: Given,
  failed?: (error: unknown) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? later(value, next, given, failed) : next(value, given);
}

/** A value that is there, as it is; otherwise what `late` makes of its promise. */
export function whenLate<Value>(
  value: Value | Promise<Value>,
  late: (value: Promise<Value>) => Promise<Value>,
): Value | Promise<Value> {
  return value instanceof Promise ? late(value) : value;
}

function later<Value, Given, Result>(
  value: Promise<Value>,
  next: (value: Value, given: Given) => Result | Promise<Result>,
  given: Given,
  failed: ((error: unknown) => Result | Promise<Result>) | undefined,
): Promise<Result> {
  return value.then((there) => next(there, given), failed);
}
