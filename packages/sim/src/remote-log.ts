import { AssertionError, type LogPosition, type Seal, sameSeal } from '@engram/core';
import { type AppendOutcome, Lifetime, type Log, type LogBatch, StorageUnavailableError } from '@engram/storage';
import type { Prng } from './prng.ts';
import type { SharedLog } from './shared-log.ts';
import type { SimProcess } from './sim-host.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface RemoteLogOptions {
  readonly log: SharedLog;
  readonly process: SimProcess;
  readonly random: Prng;
  /** Each direction takes from 0 to this long. */
  readonly delayMsMax: number;
  /** After this long on its own clock the member stops waiting: the append is uncertain, or storage is unavailable. */
  readonly timeoutMs: number;
  /** Called when a batch is sent to the log. */
  readonly onAppending?: (batch: LogBatch, seal: Seal) => void;
}

/**
 * The fate of an append that gets no answer: it is in the log, it never arrives, or it arrives so late that the member
 * has given it up.
 */
export type LostAppend = 'there' | 'lost' | 'late';

/** The fault of one attempt. */
interface Mishap {
  /** The request never arrives. */
  readonly isLost?: boolean;
  /** The answer never arrives. */
  readonly isUnanswered?: boolean;
  readonly lateMs?: number;
}

const WELL: Mishap = {};

/**
 * A shared log as one process reaches it over a network. A sent request arrives even if its sender is stopped or dead
 * by then. An answer waits for a stopped process, and never reaches a dead one.
 */
export class RemoteLog implements Log {
  readonly #options: RemoteLogOptions;
  readonly #lifetime: Lifetime;
  readonly #lostAppends: LostAppend[] = [];
  readonly #failures = { read: 0, seal: 0 };
  #stalledUntilMs = 0;
  #answersFromMs = 0;

  constructor(options: RemoteLogOptions) {
    this.#options = options;
    this.#lifetime = new Lifetime(`the way to ${options.log.name}`);
  }

  /** Requests sent from now on arrive after `ms` at the earliest. */
  stall(ms: number): void {
    this.#stalledUntilMs = Math.max(this.#stalledUntilMs, this.#nowMs + ms);
  }

  /** Answers that the log gives from now on arrive after `ms` at the earliest. */
  stallAnswers(ms: number): void {
    this.#answersFromMs = Math.max(this.#answersFromMs, this.#nowMs + ms);
  }

  /** The next append without a fault gets this one. */
  loseAppend(fault: LostAppend): void {
    this.#lostAppends.push(fault);
  }

  /** The next `times` operations of this kind fail with StorageUnavailableError. A seal may take effect nevertheless. */
  failNext(operation: 'read' | 'seal', times: number): void {
    this.#failures[operation] += times;
  }

  /** Ends all faults and stalls. */
  heal(): void {
    this.#stalledUntilMs = 0;
    this.#answersFromMs = 0;
    this.#lostAppends.length = 0;
    this.#failures.read = 0;
    this.#failures.seal = 0;
  }

  append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    const { log, onAppending, timeoutMs } = this.#options;
    return this.#lifetime.run(async () => {
      onAppending?.(batch, seal);
      const fault = this.#lostAppends.shift();
      const mishap: Mishap = {
        isLost: fault === 'lost',
        isUnanswered: fault !== undefined,
        lateMs: fault === 'late' ? timeoutMs * (0.5 + this.#options.random.fraction()) : 0,
      };
      try {
        return await this.#ask('append', () => log.append(batch, seal), mishap);
      } catch (cause) {
        if (!(cause instanceof StorageUnavailableError)) throw cause;
        return { kind: 'uncertain', cause };
      }
    });
  }

  seal(seal: Seal): Promise<LogPosition> {
    return this.#lifetime.run(() => this.#ask('seal', () => this.#options.log.seal(seal), this.#mishap('seal')));
  }

  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean> {
    const { log } = this.#options;
    return this.#lifetime.run(() => {
      const answer = this.#ask('held by', () => sameSeal(log.sealed, seal), WELL);
      return unlessAborted(answer, signal);
    });
  }

  async *read(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    this.#lifetime.check();
    const { log } = this.#options;
    const batches = await this.#ask('read', () => log.batchesFrom(from), this.#mishap('read'));
    for (const batch of batches) {
      signal.throwIfAborted();
      this.#lifetime.check();
      yield batch;
    }
  }

  /** Resolves when the log has answered, which shows that this member reaches it. */
  probe(signal: AbortSignal): Promise<void> {
    return unlessAborted(
      this.#ask('probe', () => undefined, WELL),
      signal,
    );
  }

  close(): Promise<void> {
    return this.#lifetime.end('is closed');
  }

  #mishap(operation: 'read' | 'seal'): Mishap {
    if (this.#failures[operation] === 0) return WELL;
    this.#failures[operation] -= 1;
    return { isLost: this.#options.random.chance(0.5), isUnanswered: true };
  }

  /** Rejects with StorageUnavailableError if no answer arrives in time. A refusal by the log is an answer. */
  #ask<Answer>(operation: string, effect: () => Answer, mishap: Mishap): Promise<Answer> {
    const { process, timeoutMs, log } = this.#options;
    return new Promise((resolve, reject) => {
      const timer = process.clock.after(timeoutMs, () =>
        reject(new StorageUnavailableError(`${log.name} has not answered: ${operation}`)),
      );
      const answered = (answer: () => void): void => {
        if (mishap.isUnanswered === true) return;
        process.after(Math.max(0, this.#answersFromMs - this.#nowMs) + this.#wayMs(), () => {
          timer.cancel();
          answer();
        });
      };
      if (mishap.isLost === true) return;
      const stallMs = Math.max(0, this.#stalledUntilMs - this.#nowMs);
      process.host.scheduler.after(stallMs + (mishap.lateMs ?? 0) + this.#wayMs(), () => {
        let answer: Answer;
        try {
          answer = effect();
        } catch (error) {
          // A failed assertion fails the whole run, whether or not the process lives by then.
          if (error instanceof AssertionError) throw error;
          answered(() => reject(error));
          return;
        }
        answered(() => resolve(answer));
      });
    });
  }

  #wayMs(): number {
    return this.#options.random.fraction() * this.#options.delayMsMax;
  }

  get #nowMs(): number {
    return this.#options.process.host.scheduler.nowMs;
  }
}
