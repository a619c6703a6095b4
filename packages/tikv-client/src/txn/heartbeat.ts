import type { Timer } from '@engram/core';
import { commands } from '../transport/commands.ts';
import type { CommitContext } from './commit-context.ts';

const FAILURES_MAX = 10;
const AGE_MAX_MS = 3_600_000;

/** A beat finds no place among the background tasks: it comes again after this part of its period, while the lock still lives. */
const AGAIN_SHARE = 1 / 8;

/** Extends the time to live of the primary's lock while the commit runs. Gives up after an hour or ten failures. */
export class Heartbeat {
  readonly #context: CommitContext;
  readonly #periodMs: number;
  #timer: Timer | undefined;
  #stopped = false;
  #failures = 0;

  constructor(context: CommitContext) {
    this.#context = context;
    this.#periodMs = context.engine.settings.lockTtlMs / 2;
  }

  start(): void {
    this.#after(this.#periodMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #after(ms: number): void {
    if (this.#stopped) return;
    const { clock, background } = this.#context.engine;
    this.#timer = clock.after(ms, () => {
      const begun = background.run('heartbeat', () => this.#beat());
      if (!begun) this.#after(this.#periodMs * AGAIN_SHARE);
    });
  }

  async #beat(): Promise<void> {
    const { engine, primary, startTs, ageMs } = this.#context;
    if (this.#stopped || ageMs > AGE_MAX_MS) return;
    try {
      const adviseLockTtl = Math.ceil(ageMs + this.#periodMs * 4);
      const backoffer = engine.backoffer(engine.backgroundCall());
      const answer = await engine.onKey(
        primary,
        commands.heartBeat,
        { primaryLock: primary, startVersion: startTs, adviseLockTtl },
        backoffer,
      );
      // An error of the key: the lock is not there yet, or it is gone. In the second case the commit finds out why.
      if (answer.error === undefined) this.#failures = 0;
      else this.#failures += 1;
    } catch {
      this.#failures += 1;
      if (this.#failures >= FAILURES_MAX) return;
    }
    this.start();
  }
}
