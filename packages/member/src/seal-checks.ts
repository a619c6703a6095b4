import { type Clock, EngramError, Mutex, type Seal, sleep } from '@engram/core';
import { type Log, StorageClosedError, StorageUnavailableError } from '@engram/storage';

export interface SealChecksOptions {
  readonly log: Pick<Log, 'heldBy'>;
  /** The seal of the leadership that is checked. */
  readonly seal: Seal;
  readonly clock: Clock;
  /** Bound on a check, from its first caller on. */
  readonly timeoutMs: number;
}

/** The time between two questions of one check, if storage can't be reached. */
const RETRY_MS = 20;

/**
 * Asks the log whether a leadership still holds it. At most one question is under way. A caller that comes meanwhile waits for
 * the next question, which serves all that came: the one under way may have been answered before they came.
 */
export class SealChecks {
  readonly #options: SealChecksOptions;
  #next: Promise<boolean> | undefined;
  /** One check at a time. */
  readonly #mutex = new Mutex();
  /** Undefined if no check is under way. */
  #sinceMs: number | undefined;
  /** A later seal holds the log, for good. */
  #lost = false;
  #ended = false;
  /** Aborts the question under way. Used until it has fired: a signal for each question would cost as much as the question. */
  #abort = new AbortController();

  constructor(options: SealChecksOptions) {
    this.#options = options;
  }

  /** How long the check under way has lasted; 0 if there is none. */
  get underWayMs(): number {
    return this.#sinceMs === undefined ? 0 : this.#options.clock.nowMs() - this.#sinceMs;
  }

  /**
   * Whether the seal held the log at some moment after the call. Rejects with Timeout if storage does not answer by the bound,
   * with LeaderChanged after `end`, and with Stopped if storage is closed.
   */
  held(): Promise<boolean> {
    if (this.#lost) return Promise.resolve(false);
    this.#next ??= this.#begin();
    return this.#next;
  }

  /** The leadership has ended: nobody waits for storage any more. */
  end(): void {
    this.#ended = true;
    this.#abort.abort(new EngramError('LeaderChanged'));
  }

  #begin(): Promise<boolean> {
    return this.#mutex.run(() => {
      this.#next = undefined;
      return this.#check();
    });
  }

  /** Its bound counts from its begin, when the last call may join it: no call has less time than its own. */
  async #check(): Promise<boolean> {
    const { clock, timeoutMs } = this.#options;
    if (this.#ended) throw new EngramError('LeaderChanged');
    if (this.#abort.signal.aborted) this.#abort = new AbortController();
    const abort = this.#abort;
    this.#sinceMs = clock.nowMs();
    const timer = clock.after(timeoutMs, () => abort.abort(new EngramError('Timeout')));
    try {
      const held = await this.#ask(abort.signal);
      this.#lost ||= !held;
      return held;
    } finally {
      timer.cancel();
      this.#sinceMs = undefined;
    }
  }

  async #ask(signal: AbortSignal): Promise<boolean> {
    const { log, seal, clock } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await log.heldBy(seal, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof StorageClosedError) throw new EngramError('Stopped', { cause: error });
        if (!(error instanceof StorageUnavailableError)) throw error;
      }
      await sleep(clock, RETRY_MS);
    }
  }
}
