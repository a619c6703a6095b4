/** A broken invariant. Clients never see it: the process ends, and the next start rebuilds the state from the log. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Active in production: a store that continues with a broken invariant destroys data. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Ends a switch over a closed union. A forgotten case does not compile. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`);
}
