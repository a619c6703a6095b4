import { assert, type Clock, EngramError, type LogPosition, SequenceRing } from '@engram/core';
import { eachSettling, type Job, type Loop, type Task } from '@engram/loop';
import type { ApplyNext } from '../apply/apply-next.ts';
import type { Decisions } from '../decide/decisions.ts';
import type { Write } from '../decide/write.ts';
import type { StoreObserver } from '../observer.ts';
import { ANSWER } from './answer.ts';
import type { PendingLeases } from './pending-leases.ts';
import { tellStages } from './told-stages.ts';

export interface AnswersOptions {
  readonly leases: PendingLeases;
  readonly decisions: Pick<Decisions, 'timeOut'>;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly observer: StoreObserver;
  /** A write that has not taken effect after this time is answered Timeout. */
  readonly timeoutMs: number;
}

/** What waits until every record before `next` has taken effect. */
interface Waiter {
  readonly next: LogPosition;
  readonly write: Write;
  /** Ends the write. */
  readonly settle: () => void;
}

/** The refusals of writes whose time is over. */
const TIMEOUTS: Task = { work: 'durable', caller: 'writes', stage: 'timeouts' };
const CAPACITY_MIN = 256;
/** The memory that a waiter takes, roughly. */
const WAITER_BYTES = 1024;

/**
 * The stage of answers, and the only place where a write ends: it is answered when it was published, or refused when
 * what the refusal rests on was. A caller is refused with Timeout after its time, wherever its write is.
 */
export class Answers implements ApplyNext<Write> {
  readonly #options: AnswersOptions;
  /**
   * Writes in the order in which they were requested. They end in nearly that order. One that has ended is forgotten when all
   * before it have. (With a Set, the garbage collector copied a third of what a write allocates.)
   */
  readonly #writes = new SequenceRing<Write>(CAPACITY_MIN);
  #waiters: Waiter[] = [];
  #watching = false;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Of what has no records of its own, and waits for those of others. */
  get waitingBytes(): number {
    return this.#waiters.length * WAITER_BYTES;
  }

  /** A write is requested. */
  add(write: Write): void {
    this.#forgetTold();
    this.#writes.put(this.#writes.next, write);
    this.#watch();
  }

  /** A write without records of its own: `settle` ends it when everything before `next` has taken effect. */
  addWaiter(next: LogPosition, write: Write, settle: () => void): void {
    assert((this.#waiters.at(-1)?.next ?? 0) <= next, 'waiters come in the order of the log');
    this.#waiters.push({ next, write, settle });
  }

  applied(writes: readonly Write[], nowMs: number): void {
    for (const write of writes) write.applied(nowMs);
  }

  published(writes: readonly Write[], next: LogPosition, nowMs: number): void | Promise<void> {
    for (const write of writes) write.published(nowMs);
    return this.#options.loop.run(ANSWER, this.#answering(writes, next, nowMs));
  }

  *#answering(writes: readonly Write[], next: LogPosition, publishedMs: number): Job<void> {
    const { leases, loop, clock } = this.#options;
    let nowMs = publishedMs;
    for (const write of writes) {
      const applying = leases.applied(write, loop);
      if (applying !== undefined) yield* applying;
      this.#end(write, nowMs);
      if (!loop.shouldYield()) continue;
      yield;
      nowMs = clock.nowMs();
    }
    let settled = 0;
    while (settled < this.#waiters.length && this.#waiters[settled]!.next <= next) settled += 1;
    // Thousands may wait behind one long write.
    if (settled > 0) yield* eachSettling(loop, this.#waiters.splice(0, settled), ({ settle }) => settle());
  }

  /** A write without records of its own: what it rests on is in effect. */
  settle(write: Write): void {
    const nowMs = this.#options.clock.nowMs();
    write.applied(nowMs);
    this.#end(write, nowMs);
  }

  #end(write: Write, nowMs: number): void {
    write.answer(nowMs);
    this.#ended(write);
  }

  #ended(write: Write): void {
    if (write.span !== undefined) tellStages(write.span, write);
    this.#options.observer.write?.(write);
  }

  /** A write that has left no trace, or whose trace is nobody's to see. */
  refuse(write: Write, error: unknown): void {
    write.refuse(error, this.#options.clock.nowMs());
    this.#ended(write);
  }

  refuseWaiters(error: Error): void {
    for (const { write } of this.#waiters.splice(0)) this.refuse(write, error);
  }

  #forgetTold(): void {
    const writes = this.#writes;
    let from = writes.first;
    while (writes.get(from)?.told === true) from += 1;
    writes.forgetBefore(from);
  }

  /** Runs one timer for all callers, as long as any caller waits. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const { clock, timeoutMs } = this.#options;
    clock.after(timeoutMs / 4, () => {
      void this.#options.loop.run(TIMEOUTS, this.#timingOut(clock.nowMs() - timeoutMs));
    });
  }

  /** A job: a log that answers nobody has thousands wait. */
  *#timingOut(untilMs: number): Job<void> {
    const { decisions, loop } = this.#options;
    const error = new EngramError('Timeout');
    yield* eachSettling(loop, this.#askedUntil(untilMs), (write) => decisions.timeOut(write, error));
    // The log may not answer for long, so waiters that nobody waits for must not stay until it does.
    const gone = this.#waiters.filter(({ write }) => write.told);
    if (gone.length > 0) {
      this.#waiters = this.#waiters.filter(({ write }) => !write.told);
      yield* eachSettling(loop, gone, ({ write }) => this.refuse(write, error));
    }
    this.#forgetTold();
    this.#watching = false;
    if (!this.#writes.isEmpty) this.#watch();
  }

  /** Those that wait since then or for longer, in their order. */
  *#askedUntil(untilMs: number): Generator<Write> {
    for (let at = this.#writes.first; at < this.#writes.next; at += 1) {
      const write = this.#writes.get(at);
      if (write === undefined || write.told) continue;
      if (write.askedMs > untilMs) return;
      yield write;
    }
  }
}
