import { EngramError } from './errors.ts';

/** What a version in an answer takes in memory beside its bytes: its place among the others, its part of a message. */
const VERSION_BYTES = 64;
/** Shorter answers are not reserved, longer ones in such steps. */
const RESERVED_STEP_BYTES = 64 * 1024;

/** Of whoever sends an answer: counts it while it is made. */
export interface AnswerAccount {
  /** So many bytes more. False: there is no room for them, and the answer must not be made. */
  reserveAnswer?(bytes: number): boolean;
}

/**
 * How much may still be added to one answer. All ranges of a transaction share one room, so that a few bytes of request
 * cannot ask for many times what the store holds.
 */
export class AnswerRoom {
  readonly #account: AnswerAccount | undefined;
  #leftBytes: number;
  #unreservedBytes = 0;

  constructor(bytesMax: number, account?: AnswerAccount) {
    this.#leftBytes = bytesMax;
    this.#account = account;
  }

  /** Counts versions of so many bytes together. ResponseTooLarge where there is no room for them, here or in the account. */
  take(bytes: number, versions = 1): void {
    const takenBytes = bytes + versions * VERSION_BYTES;
    this.#leftBytes -= takenBytes;
    if (this.#leftBytes < 0) throw new EngramError('ResponseTooLarge');
    if (this.#account?.reserveAnswer === undefined) return;
    this.#unreservedBytes += takenBytes;
    if (this.#unreservedBytes < RESERVED_STEP_BYTES) return;
    if (!this.#account.reserveAnswer(this.#unreservedBytes)) throw new EngramError('ResponseTooLarge');
    this.#unreservedBytes = 0;
  }
}
