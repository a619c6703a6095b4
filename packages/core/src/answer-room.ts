import { EngramError } from './errors.ts';

/** Memory that one version in an answer takes besides its bytes: its place in the list and its part of a message. */
const VERSION_BYTES = 64;
/** Bytes are reserved in steps of this size. An answer below one step reserves nothing. */
const RESERVED_STEP_BYTES = 64 * 1024;

/** The account of the call that an answer belongs to. It counts the answer while it is made, until the call has its answer. */
export interface AnswerAccount {
  /** Reserves `bytes` more. False if the account has no room for them: the answer must then not be made. */
  reserveAnswer?(bytes: number): boolean;
  /** Counts `bytes` more, whether or not there is room: the client's next calls wait then. */
  holdAnswer?(bytes: number): void;
}

/**
 * The room that is left in one answer. All ranges of a transaction share one room. Without it a request of a few bytes
 * could ask for many times what the store holds.
 */
export class AnswerRoom {
  readonly #account: AnswerAccount | undefined;
  readonly #bytesMax: number;
  #leftBytes: number;
  #unreservedBytes = 0;

  constructor(bytesMax: number, account?: AnswerAccount) {
    this.#bytesMax = bytesMax;
    this.#leftBytes = bytesMax;
    this.#account = account;
  }

  /** What the answer takes so far. */
  get takenBytes(): number {
    return this.#bytesMax - this.#leftBytes;
  }

  /**
   * Counts `versions` versions of `bytes` in total. Throws ResponseTooLarge if the answer or the account has no room
   * for them.
   */
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
