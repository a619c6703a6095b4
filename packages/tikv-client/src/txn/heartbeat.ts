import type { Timer } from '@engram/core';
import { commands } from '../transport/commands.ts';
import type { CommitContext } from './commit-context.ts';

const FAILURES_MAX = 10;
const AGE_MAX_MS = 3_600_000;

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
    if (this.#stopped) return;
    this.#timer = this.#context.engine.clock.after(this.#periodMs, () => {
      const { engine } = this.#context;
      engine.background.run('heartbeat', () => this.#beat());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
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
