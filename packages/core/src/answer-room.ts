import { EngramError } from './errors.ts';

/** What a version in an answer takes in memory beside its bytes: its place among the others, its part of a message. */
const VERSION_BYTES = 64;

/**
 * How much may still be added to one answer. All ranges of a transaction share one room, so that a few bytes of request
 * cannot ask for many times what the store holds.
 */
export class AnswerRoom {
  #leftBytes: number;

  constructor(bytesMax: number) {
    this.#leftBytes = bytesMax;
  }

  /** Counts versions of so many bytes together. ResponseTooLarge where there is no room for them. */
  take(bytes: number, versions = 1): void {
    this.#leftBytes -= bytes + versions * VERSION_BYTES;
    if (this.#leftBytes < 0) throw new EngramError('ResponseTooLarge');
  }
}
