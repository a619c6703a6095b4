import { assert, type EngramError, Fifo, NO_REVISION, Waiters } from '@engram/core';
import { byteSteps, type Job, type Loop, type Task } from '@engram/loop';
import type { Pins } from '@engram/scanner';
import { clientTask } from '../client-task.ts';
import { ParkedDecision } from './parked-decision.ts';
import type { Decided, Outcome, Postponed, Write } from './write.ts';

/** What follows the stage of decisions. */
export interface DecideNext {
  /** The decision is taken. No other one has begun. */
  decided(write: Write, decided: Decided<unknown>): void;
  /** The decision was refused, and has left no trace. */
  refused(write: Write, error: unknown): void;
  /** The caller was refused before the decision began. */
  dropped(write: Write): void;
}

export interface DecisionsOptions {
  readonly pins: Pins;
  readonly loop: Loop;
  readonly next: DecideNext;
}

interface Waiting {
  readonly write: Write;
  readonly bytes: number;
}

/** Waiting decisions come one after another. What a long one of them does is in the name of its own caller. */
const NEXT: Task = { work: 'client', caller: 'decisions', stage: 'decide' };

/**
 * The stage of decisions: they are taken one after the other, in the order in which they are requested. Nearly always a
 * decision is taken in the call that requests it. Others wait here while one gives way, and come after it in later turns.
 */
export class Decisions {
  readonly #options: DecisionsOptions;
  #current: Write | undefined;
  /** The current one, if it has given way. */
  #parked: ParkedDecision | undefined;
  /** A slice of the current one runs in this call. */
  #inSlice = false;
  readonly #waiting = new Fifo<Waiting>();
  #waitingBytes = 0;
  /** The waiting decisions have a slice, or wait for it. */
  #resuming = false;
  readonly #idle = new Waiters();

  constructor(options: DecisionsOptions) {
    this.#options = options;
  }

  /** A decision that is requested now begins at once. */
  get free(): boolean {
    return this.#current === undefined && this.#waiting.length === 0;
  }

  /** Bytes that waiting decisions keep in memory. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** The decision of which a slice runs in this call. */
  get deciding(): Write | undefined {
    return this.#inSlice ? this.#current : undefined;
  }

  /** Resolves when no decision is under way and none waits. Undefined if none gives way now. */
  get longEnded(): Promise<void> | undefined {
    return this.#current === undefined ? undefined : this.idle();
  }

  /** Resolves when no decision is under way and none waits. */
  async idle(): Promise<void> {
    while (!this.free) await this.#idle.next();
  }

  /** Takes a decision in its turn: within the call if none is before it. While it waits, it keeps `bytes` in memory. */
  offer(write: Write, bytes: number): void {
    if (write.told) {
      this.#options.next.dropped(write);
      return;
    }
    if (this.free) {
      this.#begin(write);
      return;
    }
    write.waited = true;
    this.#waiting.push({ write, bytes });
    this.#waitingBytes += bytes;
  }

  #begin(write: Write): void {
    assert(this.#current === undefined, 'two decisions at a time');
    const decision = write.deciding();
    this.#current = write;
    if (typeof decision === 'function') this.#decide(write, decision);
    else void this.#options.loop.run(clientTask(write.caller, 'decide'), this.#deciding(write, decision));
  }

  /** Never throws. */
  #decide(write: Write, decide: () => Outcome<unknown>): void {
    this.#inSlice = true;
    try {
      const outcome = decide();
      this.#inSlice = false;
      this.#taken(write, outcome);
    } catch (error) {
      this.#inSlice = false;
      this.#options.next.refused(write, error);
    } finally {
      this.#current = undefined;
      this.#resume();
    }
  }

  #taken(write: Write, outcome: Outcome<unknown>): void {
    if ('until' in outcome) this.#postpone(write, outcome);
    else this.#options.next.decided(write, outcome);
  }

  /** Never throws. */
  *#deciding(write: Write, job: Job<Outcome<unknown>>): Job<void> {
    const { next, pins } = this.#options;
    let pin: Disposable | undefined;
    try {
      let slice = this.#slice(job, undefined);
      while (slice.done !== true) {
        write.gaveWay = true;
        // Versions that are noted for the answer stay readable until the answer has its own pin.
        pin ??= pins.hold(NO_REVISION);
        this.#parked ??= new ParkedDecision();
        slice = this.#slice(job, yield* this.#parked.wait(slice.value));
      }
      this.#taken(write, slice.value);
    } catch (error) {
      next.refused(write, error);
    } finally {
      pin?.[Symbol.dispose]();
      this.#parked = undefined;
      this.#current = undefined;
      this.#resume();
    }
  }

  #slice(
    job: Job<Outcome<unknown>>,
    failure: { readonly cause: unknown } | undefined,
  ): IteratorResult<Promise<unknown> | undefined, Outcome<unknown>> {
    this.#inSlice = true;
    try {
      return failure === undefined ? job.next() : job.throw(failure.cause);
    } finally {
      this.#inSlice = false;
    }
  }

  #postpone(write: Write, { until, bytes, again }: Postponed<unknown>): void {
    write.postponed(again);
    until.then(
      () => this.offer(write, bytes),
      (error: unknown) => this.#options.next.refused(write, error),
    );
  }

  /** The time of its caller is over. A write that waits is never decided; one that is being decided is undone, unless it lasts. */
  timeOut(write: Write, error: EngramError): void {
    if (write !== this.#current || write.lasting) write.tell(error);
    else this.#parked?.giveUp(error);
    this.#drop();
  }

  /** Those that nobody waits for any more, as far as none is before them that somebody waits for. */
  #drop(): void {
    while (this.#waiting.first?.write.told === true) this.#options.next.dropped(this.#dequeue());
    if (this.free) this.#idle.wakeAll();
  }

  /**
   * Makes the long decision undo its changes and fail with `error`. Returns the waiting decisions, which never run:
   * the caller must refuse them.
   */
  giveUp(error: EngramError): readonly Write[] {
    this.#parked?.giveUp(error);
    const all = this.#waiting.takeAll().map(({ write }) => write);
    this.#waitingBytes = 0;
    if (this.free) this.#idle.wakeAll();
    return all;
  }

  #resume(): void {
    if (this.#waiting.length === 0) this.#idle.wakeAll();
    else if (!this.#resuming) {
      this.#resuming = true;
      const { loop } = this.#options;
      loop.later(NEXT, () => void loop.run(NEXT, this.#decideWaiting()));
    }
  }

  *#decideWaiting(): Job<void> {
    const { loop } = this.#options;
    this.#drop();
    while (this.#current === undefined && this.#waiting.length > 0) {
      const { bytes } = this.#waiting.first!;
      this.#begin(this.#dequeue());
      if (loop.shouldYield(byteSteps(bytes))) yield;
      this.#drop();
    }
    this.#resuming = false;
    if (this.#current === undefined) this.#resume();
  }

  #dequeue(): Write {
    const next = this.#waiting.shift();
    assert(next !== undefined, 'nobody waits to decide');
    this.#waitingBytes -= next.bytes;
    return next.write;
  }
}
