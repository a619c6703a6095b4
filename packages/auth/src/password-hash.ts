import { EMPTY_BYTES } from '@engram/core';

const HIDDEN = '[password hash]';

/**
 * The hash of a password. It shows itself in no text, no JSON and no log line: only who asks by `reveal` sees the
 * bytes. An empty hash matches no password.
 */
export class PasswordHash {
  static readonly none = new PasswordHash(EMPTY_BYTES);

  readonly #bytes: Uint8Array;

  /** The bytes are copied. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes.slice();
  }

  /** For the codecs and for the check of a password. The bytes must not be changed. */
  reveal(): Uint8Array {
    return this.#bytes;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  /** What console.log and util.inspect show. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return HIDDEN;
  }
}
