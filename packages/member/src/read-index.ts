import type { Caller } from '@engram/backend';
import { type Clock, EngramError, isEngramError, type LogPosition } from '@engram/core';
import type { RemoteLeader } from './remote-leader.ts';

export interface ReadIndexOptions {
  readonly clock: Clock;
  /** What a read waits at most for somebody who leads. */
  readonly timeoutMs: number;
  /** This node leads, as far as it knows. */
  readonly leads: () => boolean;
  /** Confirms by a quorum that this node leads, now. NotLeader, LeaderChanged. */
  readonly confirm: (signal: AbortSignal) => Promise<void>;
  readonly remote: RemoteLeader;
  /**
   * Where the log ended when this node read it at its start. The last batch may have been one that its leader had no
   * answer for: reads there do not show it yet, so none here does.
   */
  readonly recovered: LogPosition;
}

const RETRY_MS = 20;

/**
 * Linearizable reads: one round for all the reads that wait for it. A read that comes while a round is under way waits
 * for the next one: what was acknowledged since that round began may not be in it.
 */
export class ReadIndex {
  readonly #options: ReadIndexOptions;
  /** Begins when the one under way has ended. */
  #next: Promise<void> | undefined;
  #underWay: Promise<unknown> = Promise.resolve();
  /** A leader has said that it knows of everything that was recovered. */
  #isKnown = false;

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

  /** Asks itself or another one, whoever leads by then. */
  async #round(): Promise<void> {
    const { clock, timeoutMs, leads, confirm, remote } = this.#options;
    const deadlineMs = clock.nowMs() + timeoutMs;
    while (leads()) {
      try {
        return await confirm(nobody.signal);
      } catch (error) {
        const changed = isEngramError(error, 'NotLeader') || isEngramError(error, 'LeaderChanged');
        if (!changed || clock.nowMs() >= deadlineMs) throw error;
      }
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    }
    for (;;) {
      const { position } = await remote.ask(
        { readIndex: {} },
        { ...nobody, timeoutMs: Math.max(1, deadlineMs - clock.nowMs()) },
      );
      this.#isKnown ||= position >= this.#options.recovered;
      if (this.#isKnown) return;
      if (clock.nowMs() >= deadlineMs) throw new EngramError('Timeout');
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    }
  }
}

const nobody: Caller = { signal: new AbortController().signal, user: '', authRevision: 0, timeoutMs: undefined };
