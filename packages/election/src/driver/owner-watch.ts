import { type Clock, type Timer, withDeadline } from '@engram/core';
import type { RaftStorage } from '../raft-storage.ts';

export interface OwnerWatchOptions {
  readonly storage: RaftStorage;
  readonly clock: Clock;
  /** Called once, if another process has taken the state over. Nothing is asked after that. */
  readonly onTaken: () => void;
}

/** The time between two questions. */
export const OWNER_CHECK_MS = 5_000;
/** Bound on a question. A storage that does not answer says nothing; the next question may. */
const ANSWER_MS = 3_000;

/**
 * Asks storage now and then whether another process has taken this member's Raft state over. Without it a process that was
 * replaced would notice at its next vote, which may not come: a leader of one member votes never again. So it ends within
 * OWNER_CHECK_MS and the time of a question, if it reaches storage.
 */
export class OwnerWatch {
  readonly #options: OwnerWatchOptions;
  readonly #closing = new AbortController();
  #timer: Timer | undefined;
  #asking: Promise<void> | undefined;

  constructor(options: OwnerWatchOptions) {
    this.#options = options;
    this.#askLater();
  }

  close(): void {
    this.#closing.abort(new Error('closed'));
    this.#timer?.cancel();
  }

  /** Resolves when no question is under way. */
  async idle(): Promise<void> {
    await this.#asking;
  }

  #askLater(): void {
    this.#timer = this.#options.clock.after(OWNER_CHECK_MS, () => {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = undefined;
      });
      this.#askLater();
    });
  }

  async #ask(): Promise<void> {
    const { storage, clock, onTaken } = this.#options;
    const late = (): Error => new Error('no answer in time');
    const ask = (signal: AbortSignal): Promise<boolean> => storage.isOwned(signal);
    try {
      if (await withDeadline(clock, ANSWER_MS, late, ask, this.#closing.signal)) return;
    } catch {
      return;
    }
    if (this.#closing.signal.aborted) return;
    this.close();
    onTaken();
  }
}
