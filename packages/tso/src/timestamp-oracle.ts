import { assert, type Clock, type Timer } from '@engram/core';
import { MAX_TIMESTAMP, physicalMs, type Timestamp } from './timestamp.ts';
import { TimestampError } from './timestamp-error.ts';
import type { RequestPacing, TimestampAnswer, TimestampCall, TimestampStream } from './timestamp-stream.ts';

/** Maximal timestamps of one request, and so of one caller. */
export const TIMESTAMPS_MAX = 20_000;
const SWEEP_MS = 50;

interface Waiter {
  /** Number of consecutive timestamps that the caller gets. */
  readonly count: number;
  readonly resolve: (first: Timestamp) => void;
  readonly reject: (error: Error) => void;
  readonly call: TimestampCall;
  abort: (() => void) | undefined;
  settled: boolean;
}

export interface TimestampOracleOptions {
  readonly stream: TimestampStream;
  readonly pacing: RequestPacing;
  readonly clock: Clock;
  /** Turns an error of this package into the one that callers get. */
  readonly translate: (error: TimestampError) => Error;
  /** One request brought `count` timestamps. */
  readonly onDealt: (count: number, durationMs: number) => void;
  /** Called once, after another number of timestamps than was asked for, or a refusal: nothing is allocated any more. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Allocates the timestamps of a server. Callers that ask while a request is under way share the next request. Only one request is
 * under way at a time, so every answer must lie above the one before, whichever connection or server it comes from. A timestamp
 * that is lost with its answer does no harm: its callers wait for the next one, until their own deadlines.
 */
export class TimestampOracle {
  readonly #options: TimestampOracleOptions;
  #queue: Waiter[] = [];
  /** The waiters of the request under way. */
  #asking: readonly Waiter[] = [];
  #running = false;
  #fatal: Error | undefined;
  #last: Timestamp = 0n;
  #lastAtMs = 0;
  #sweep: Timer | undefined;

  constructor(options: TimestampOracleOptions) {
    this.#options = options;
  }

  /** A timestamp above all that the server has allocated to any client before the call. */
  next(call: TimestampCall): Promise<Timestamp> {
    return this.first(1, call);
  }

  /** The first of `count` consecutive timestamps that only this caller gets. @param count at most `TIMESTAMPS_MAX` */
  first(count: number, call: TimestampCall): Promise<Timestamp> {
    assert(count >= 1 && count <= TIMESTAMPS_MAX, 'a run of timestamps that no request may ask for');
    return new Promise((resolve, reject) => {
      if (this.#fatal !== undefined) {
        reject(this.#fatal);
        return;
      }
      call.check();
      const waiter: Waiter = { count, resolve, reject, call, abort: undefined, settled: false };
      const { signal } = call;
      if (signal !== undefined) {
        waiter.abort = () => this.#settle(waiter)?.reject(call.aborted());
        signal.addEventListener('abort', waiter.abort, { once: true });
      }
      this.#queue.push(waiter);
      this.#sweepLater();
      if (!this.#running) {
        this.#running = true;
        this.#options.pacing.plan(this.#options.clock, () => void this.#run());
      }
    });
  }

  /** The newest timestamp that was allocated to this client; 0 before the first answer. */
  get newest(): Timestamp {
    return this.#last;
  }

  /**
   * The approximate time of the server's clock, in milliseconds since 1970. It is for measuring ages, not for making timestamps,
   * because TiKV refuses a timestamp that PD has not allocated. The local clock only measures the time since the last answer.
   * 0 before the first answer.
   */
  nowMs(): number {
    return this.#last === 0n ? 0 : physicalMs(this.#last) + this.#options.clock.nowMs() - this.#lastAtMs;
  }

  /**
   * Whether `timestamp` or a later one was allocated to some client, because TiKV ends its process over a timestamp from the future.
   * True if this client knows it. A promise if the server must be asked.
   */
  isAllocated(timestamp: Timestamp, call: TimestampCall): true | Promise<boolean> {
    if (timestamp <= this.#last || timestamp === MAX_TIMESTAMP) return true;
    return this.next(call).then((now) => timestamp <= now);
  }

  /** The age of a timestamp by the server's clock, in milliseconds. 0 before the first answer. */
  ageMs(timestamp: Timestamp): number {
    return Math.max(0, this.nowMs() - physicalMs(timestamp));
  }

  close(): void {
    this.#options.stream.drop();
    const error = this.#options.translate(new TimestampError('closed'));
    this.#rejectAll(error);
    this.#sweep?.cancel();
    this.#sweep = undefined;
  }

  #settle(waiter: Waiter): Waiter | undefined {
    if (waiter.settled) return undefined;
    waiter.settled = true;
    if (waiter.abort !== undefined) waiter.call.signal?.removeEventListener('abort', waiter.abort);
    return waiter;
  }

  #rejectAll(error: Error): void {
    for (const waiter of [...this.#asking, ...this.#queue.splice(0)]) this.#settle(waiter)?.reject(error);
  }

  #sweepLater(): void {
    this.#sweep ??= this.#options.clock.after(SWEEP_MS, () => this.#expire());
  }

  #expire(): void {
    this.#sweep = undefined;
    for (const waiter of [...this.#asking, ...this.#queue]) {
      if (waiter.call.remainingMs() <= 0) {
        this.#settle(waiter)?.reject(waiter.call.late(new TimestampError('no-answer')));
      }
    }
    this.#queue = this.#queue.filter(({ settled }) => !settled);
    if (this.#queue.length > 0 || this.#asking.some(({ settled }) => !settled)) this.#sweepLater();
  }

  async #run(): Promise<void> {
    const { stream, clock, pacing, onDealt } = this.#options;
    let failures = 0;
    try {
      while (this.#queue.length > 0 && this.#fatal === undefined) {
        const batch = this.#nextBatch();
        const count = batch.reduce((sum, waiter) => sum + waiter.count, 0);
        if (count === 0) continue;
        const startMs = clock.nowMs();
        this.#asking = batch;
        const answer = await stream.ask(count);
        this.#asking = [];
        if (answer.kind === 'lost') {
          this.#queue = batch.concat(this.#queue); // the batch stays before later callers
          this.#sweepLater();
          failures += 1;
          await stream.recover(failures);
          continue;
        }
        failures = 0;
        onDealt(count, clock.nowMs() - startMs);
        pacing.sent(batch.length);
        this.#give(answer, count, batch);
      }
    } catch (error) {
      this.#rejectAll(error instanceof Error ? error : new Error(String(error)));
      this.#asking = [];
    } finally {
      this.#running = false;
      if (this.#queue.length === 0) {
        this.#sweep?.cancel();
        this.#sweep = undefined;
      }
    }
  }

  /** The callers of the next request, in the order of their coming. Empty if all who waited are gone. */
  #nextBatch(): readonly Waiter[] {
    const waiting = this.#queue.filter((waiter) => !waiter.settled);
    let count = 0;
    let end = 0;
    while (end < waiting.length && count + waiting[end]!.count <= TIMESTAMPS_MAX) {
      count += waiting[end]!.count;
      end += 1;
    }
    this.#queue = waiting.slice(end);
    return waiting.slice(0, end);
  }

  #give(answer: Exclude<TimestampAnswer, { kind: 'lost' }>, count: number, batch: readonly Waiter[]): void {
    const { clock, translate } = this.#options;
    if (answer.kind === 'refused') {
      this.#stop(answer.error, batch);
      return;
    }
    if (answer.count !== count) {
      this.#stop(translate(new TimestampError('other-count', `${answer.count} for ${count}`)), batch);
      return;
    }
    // The answer names the last timestamp of the run. The first caller gets the lowest.
    const first = answer.last - BigInt(count - 1);
    if (first <= this.#last) {
      this.#refuse(translate(new TimestampError('regression', `${first} after ${this.#last}`)), batch);
      return;
    }
    this.#last = answer.last;
    this.#lastAtMs = clock.nowMs();
    let next = first;
    for (const waiter of batch) {
      this.#settle(waiter)?.resolve(next);
      next += BigInt(waiter.count);
    }
  }

  /**
   * The server went back. Nobody gets such a timestamp, because snapshot isolation depends on the order. Later callers ask again, over a
   * new stream, and get one as soon as the server has passed what this client has seen.
   */
  #refuse(error: Error, batch: readonly Waiter[]): void {
    this.#options.stream.drop();
    for (const waiter of batch) this.#settle(waiter)?.reject(error);
  }

  /** Ends the client, whose server does not keep to the protocol or refuses it. */
  #stop(error: Error, batch: readonly Waiter[]): void {
    this.#fatal = error;
    for (const waiter of batch) this.#settle(waiter)?.reject(error);
    this.#rejectAll(error);
    this.#options.stream.drop();
    this.#options.onFatal(error);
  }
}
