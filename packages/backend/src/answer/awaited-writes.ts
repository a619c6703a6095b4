import { assert, type Clock, doSliced, EngramError, type LogPosition, Slice, type SlicedWork } from '@engram/core';
import type { CommittedWrite } from '../apply/committed-write.ts';
import type { PendingLeases } from './pending-leases.ts';
import { type PendingWrite, PendingWrites } from './pending-writes.ts';

export interface AwaitedWritesOptions {
  readonly leases: PendingLeases;
  readonly clock: Clock;
  /** See `Slice`. */
  readonly sliceUs: number | undefined;
  /** A write that has not taken effect after this time is answered Timeout. */
  readonly timeoutMs: number;
  /** Fails the decisions that were requested at or before `untilMs`. Returns true if others still wait. */
  readonly onTimeout: (untilMs: number, error: EngramError) => boolean;
}

/** A caller that waits until every record before `next` has taken effect. */
interface Waiter {
  readonly next: LogPosition;
  readonly write: PendingWrite;
}

/** The memory that a waiter takes, roughly. */
const WAITER_BYTES = 1024;

/**
 * Callers that wait for a write to take effect. Each is answered when the write has taken effect or failed, or after
 * the timeout.
 */
export class AwaitedWrites {
  readonly #options: AwaitedWritesOptions;
  readonly #pending = new PendingWrites();
  #waiters: Waiter[] = [];
  #watching = false;

  constructor(options: AwaitedWritesOptions) {
    this.#options = options;
  }

  /** Of the callers without records of their own, which wait for those of others. */
  get waitingBytes(): number {
    return this.#waiters.length * WAITER_BYTES;
  }

  /**
   * Resolves with the answer, which is built when the write is settled. `begin` passes the write on. `startMs` is
   * when the write was requested. `pin` keeps the versions that the answer needs. It is disposed however the write
   * ends.
   */
  wait<Answer>(
    effect: CommittedWrite,
    startMs: number,
    pin: Disposable | undefined,
    answer: () => Answer | Promise<Answer>,
    begin: (write: PendingWrite) => void,
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const end = { answer: answering(answer, resolve, reject), reject, pin };
      const write = this.#pending.add(effect, startMs, end);
      this.watchTimeouts();
      begin(write);
    });
  }

  /** For a write without records of its own: it is settled when everything before `next` has taken effect. */
  addWaiter(next: LogPosition, write: PendingWrite): void {
    assert((this.#waiters.at(-1)?.next ?? 0) <= next, 'waiters come in the order of the log');
    this.#waiters.push({ next, write });
  }

  /**
   * Everything before `next` has taken effect; `writes` are the last of it. Returns a promise if this takes more than
   * one slice.
   */
  applied(writes: readonly PendingWrite[], next: LogPosition): Promise<void> | undefined {
    return this.#applied(writes, next, new Slice(this.#options.sliceUs), 0);
  }

  #applied(writes: readonly PendingWrite[], next: LogPosition, slice: Slice, from: number): Promise<void> | undefined {
    for (let at = from; at < writes.length; at += 1) {
      const applying = this.#options.leases.applied(writes[at]!, slice);
      if (applying !== undefined) return this.#goOnApplied(applying, writes, next, slice, at);
      writes[at]!.settle();
    }
    let settled = 0;
    while (settled < this.#waiters.length && this.#waiters[settled]!.next <= next) settled += 1;
    if (settled > 0) for (const { write } of this.#waiters.splice(0, settled)) write.settle();
    return undefined;
  }

  async #goOnApplied(
    applying: SlicedWork<void>,
    writes: readonly PendingWrite[],
    next: LogPosition,
    slice: Slice,
    at: number,
  ): Promise<void> {
    const turn = (): Promise<void> => slice.turn(this.#options.clock);
    await turn();
    await doSliced(applying, turn);
    writes[at]!.settle();
    await this.#applied(writes, next, slice, at + 1);
  }

  failWaiters(error: Error): void {
    for (const { write } of this.#waiters.splice(0)) write.fail(error);
  }

  /** Runs one timer for all callers, as long as any caller waits. */
  watchTimeouts(): void {
    if (this.#watching) return;
    this.#watching = true;
    const { clock, timeoutMs, onTimeout } = this.#options;
    clock.after(timeoutMs / 4, () => {
      this.#watching = false;
      const untilMs = clock.nowMs() - timeoutMs;
      const error = new EngramError('Timeout');
      let oldest = this.#pending.oldest();
      while (oldest !== undefined && oldest.startMs <= untilMs) {
        oldest.fail(error);
        oldest = this.#pending.oldest();
      }
      // The log may not answer for long, so ended waiters must not stay until it does.
      this.#waiters = this.#waiters.filter(({ write }) => !write.ended);
      const undecided = onTimeout(untilMs, error);
      if (oldest !== undefined || undecided) this.watchTimeouts();
    });
  }
}

/** If an answer cannot be built, only its own write fails, not the whole batch. */
function answering<Answer>(
  answer: () => Answer | Promise<Answer>,
  resolve: (answer: Answer | Promise<Answer>) => void,
  reject: (error: unknown) => void,
): () => void {
  return () => {
    try {
      resolve(answer());
    } catch (error) {
      reject(error);
    }
  };
}
