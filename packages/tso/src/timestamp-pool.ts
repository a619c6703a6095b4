import { assert, type Clock, type Logger } from '@engram/core';
import type { Timestamp } from './timestamp.ts';

const SIZE = 20_000;
/** The pool keeps this many while PD answers. Appends come one after another, so this many take 20 s or more. */
const LEFT_MIN = 17_500;
/** Above this age, new timestamps are fetched in the background. Older ones are used until PD answers. */
const REFETCH_AGE_MS = 30_000;
/** Younger timestamps are far above any safe point, because versions are kept for minutes at least. */
const AGE_MAX_MS = 120_000;

/** Of a call that may wait for timestamps. */
export interface PoolCall {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Allocates runs of timestamps: a client of PD. */
export interface TimestampRuns {
  /** The first of `count` consecutive timestamps, above all that any client saw before the call. */
  timestampRun(count: number, call: PoolCall): Promise<Timestamp>;
}

export interface TimestampPoolOptions {
  readonly client: TimestampRuns;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the storage closes. */
  readonly closing: AbortSignal;
}

/**
 * Start timestamps that were fetched ahead, so that an append does not wait for PD, and goes on while PD elects a leader. An
 * old timestamp is harmless, because an append writes each value once. Timestamps are given in ascending order, also by
 * `fresh`, so that the commit timestamps of a region ascend with the log.
 */
export class TimestampPool {
  readonly #options: TimestampPoolOptions;
  /** The rest of the current run begins here, and ends before `#end`. */
  #next: Timestamp = 0n;
  #end: Timestamp = 0n;
  #fetchedMs = 0;
  #last: Timestamp = 0n;
  #fetching: Promise<void> | undefined;

  constructor(options: TimestampPoolOptions) {
    this.#options = options;
  }

  /** Gives a timestamp that was fetched before, or a new one if all are used or too old. Rejects with the client's error. */
  async take(call: PoolCall): Promise<Timestamp> {
    const ageMs = this.#options.clock.nowMs() - this.#fetchedMs;
    if (ageMs > AGE_MAX_MS) this.#next = this.#end;
    if (this.#next === this.#end) return await this.fresh(call);
    const timestamp = this.#next;
    this.#next += 1n;
    if (ageMs > REFETCH_AGE_MS || this.#end - this.#next <= LEFT_MIN) this.refill();
    return this.#give(timestamp);
  }

  /** Gives a new timestamp of PD: above every timestamp that any client saw before the call. */
  async fresh(call: PoolCall): Promise<Timestamp> {
    const { client, clock } = this.#options;
    const askedMs = clock.nowMs();
    const first = await client.timestampRun(SIZE, call);
    this.#keep(first + 1n, first + BigInt(SIZE), askedMs);
    return this.#give(first);
  }

  /** Discards the pool. Later timestamps are above every timestamp that any client saw before the call. */
  renew(): void {
    this.#next = this.#end;
    this.#fetching = undefined;
    this.refill();
  }

  /** Fetches in the background. No call waits for it, and a failure only delays the next timestamps. */
  refill(): void {
    const { client, clock, closing, logger } = this.#options;
    if (this.#fetching !== undefined || closing.aborted) return;
    const askedMs = clock.nowMs();
    const fetching = client.timestampRun(SIZE, { signal: closing }).then(
      (first) => {
        if (this.#fetching === fetching) this.#keep(first, first + BigInt(SIZE), askedMs);
      },
      (error: unknown) => logger.debug({ err: error }, 'cannot fetch timestamps ahead'),
    );
    this.#fetching = fetching;
    void fetching.finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
  }

  /** Ages count from the request: PD may have allocated the timestamps as soon as it was sent. */
  #keep(first: Timestamp, end: Timestamp, askedMs: number): void {
    const next = first > this.#last ? first : this.#last + 1n;
    // The answer to an earlier request may come last. A later run begins above all of it.
    if (next >= end) return;
    this.#next = next;
    this.#end = end;
    this.#fetchedMs = askedMs;
  }

  #give(timestamp: Timestamp): Timestamp {
    assert(timestamp > this.#last, 'a timestamp is given out of order');
    this.#last = timestamp;
    return timestamp;
  }
}
