import type { Caller } from '@engram/backend';
import type { RemoteLeader } from './remote-leader.ts';

export interface ReadIndexOptions {
  /** This node leads, as far as it knows. */
  readonly leads: () => boolean;
  /** Confirms by a quorum that this node leads, now. Rejects with EngramError when it does not. */
  readonly confirm: (signal: AbortSignal) => Promise<void>;
  readonly remote: RemoteLeader;
}

/**
 * Linearizable reads: one round for all the reads that wait for it. A read that comes while a round is under way waits
 * for the next one: what was acknowledged since that round began may not be in it.
 */
export class ReadIndex {
  readonly #options: ReadIndexOptions;
  /** Begins when the one under way has ended. */
  #next: Promise<void> | undefined;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: ReadIndexOptions) {
    this.#options = options;
  }

  /**
   * Resolves when this node has applied everything that anybody was told of before the call. The round has the bound of a
   * request; the caller's signal only ends the caller's waiting.
   */
  async wait({ signal }: Caller): Promise<void> {
    this.#next ??= this.#begin();
    await this.#next;
    signal.throwIfAborted();
  }

  #begin(): Promise<void> {
    const round = this.#underWay.then(() => {
      this.#next = undefined;
      return this.#round();
    });
    this.#underWay = round.catch(() => undefined);
    return round;
  }

  async #round(): Promise<void> {
    const { leads, confirm, remote } = this.#options;
    if (leads()) await confirm(nobody.signal);
    else await remote.ask({ readIndex: {} }, nobody);
  }
}

const nobody: Caller = { signal: new AbortController().signal, user: '', authRevision: 0, timeoutMs: undefined };
