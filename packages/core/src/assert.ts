/** A broken invariant. It is never an answer to a client: the process ends, and the log rebuilds the state. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Stays on in production: a store that goes on with a broken invariant destroys what it was given to keep. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Ends a switch over a closed union: a case that was forgotten does not compile. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`);
}
