import { EngramError, type Epoch, isEngramError, type Logger } from '@engram/core';
import { StorageFencedError, StorageTimestampError, StorageUnavailableError } from '@engram/storage';

/**
 * Why takeovers of this member came to nothing. None of the reasons ends the member: it follows, hands the leadership over or
 * resigns it, and may be elected again. Where timestamps went back, each takeover of each member is refused until they have passed
 * what the log was written at. The cluster has no leader for so long; serializable reads and watches go on.
 */
export class TakeoverRefusals {
  readonly #logger: Logger;
  #behind: EngramError | undefined;
  /** Takeovers that were refused because timestamps went back. */
  count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Why this member did not lead when it was last elected: TimestampsWentBack. Undefined if it led, or failed otherwise. */
  get behind(): EngramError | undefined {
    return this.#behind;
  }

  /** False: the error is not one that passes. */
  note(error: unknown, epoch: Epoch): boolean {
    if (error instanceof StorageTimestampError) {
      this.count += 1;
      this.#behind = new EngramError('TimestampsWentBack', { cause: error });
      const fields = {
        epoch,
        timestamp: `${error.timestamp}`,
        birth: `${error.birth ?? 'unknown'}`,
        error: String(error),
      };
      this.#logger.error(fields, 'does not lead: the timestamps of storage went back');
      return true;
    }
    this.#behind = undefined;
    const passes =
      error instanceof StorageFencedError || error instanceof StorageUnavailableError || isEngramError(error);
    if (passes) this.#logger.warn({ epoch, error: String(error) }, 'could not take over');
    return passes;
  }

  /** This member leads. */
  clear(): void {
    this.#behind = undefined;
  }
}
