import { assert, type Clock, type Logger } from '@engram/core';
import type { CallOptions, TikvClient, Timestamp } from '@engram/tikv-client';

const SIZE = 20_000;
/** There are always so many while PD answers: appends come one after another, and so many take 20 s or more. */
const LEFT_MIN = 17_500;
/** Older ones are used while PD does not answer; otherwise new ones are fetched beside the work. */
const REFETCH_AGE_MS = 30_000;
/** Far above any safe point: versions are kept for minutes at least. */
const AGE_MAX_MS = 120_000;

export interface TimestampPoolOptions {
  readonly client: Pick<TikvClient, 'timestampRun'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the storage. */
  readonly closing: AbortSignal;
}

/**
 * Start timestamps that were fetched ahead, so that an append does not wait for PD, and goes on while PD elects. An old
 * one is harmless: what an append writes is written once. They are dealt in ascending order, also by `fresh`, so that the
 * commit timestamps of a region ascend with the log.
 */
export class TimestampPool {
  readonly #options: TimestampPoolOptions;
  /** A run: what is left of it begins here, and ends before `#end`. */
  #next: Timestamp = 0n;
  #end: Timestamp = 0n;
  #fetchedMs = 0;
  #last: Timestamp = 0n;
  #fetching: Promise<void> | undefined;

  constructor(options: TimestampPoolOptions) {
    this.#options = options;
  }

  /** One that was fetched before, if there is one that is young enough. Rejects with the client's error. */
  async take(call: CallOptions): Promise<Timestamp> {
    const ageMs = this.#options.clock.nowMs() - this.#fetchedMs;
    if (ageMs > AGE_MAX_MS) this.#next = this.#end;
    if (this.#next === this.#end) return await this.fresh(call);
    const timestamp = this.#next;
    this.#next += 1n;
    if (ageMs > REFETCH_AGE_MS || this.#end - this.#next <= LEFT_MIN) this.refill();
    return this.#deal(timestamp);
  }

  /** One that PD deals now: above all that anybody saw before the call. */
  async fresh(call: CallOptions): Promise<Timestamp> {
    const first = await this.#options.client.timestampRun(SIZE, call);
    this.#keep(first + 1n, first + BigInt(SIZE));
    return this.#deal(first);
  }

  /** Forgets what was fetched: what is dealt from now on is above all that anybody saw before the call. */
  renew(): void {
    this.#next = this.#end;
    this.#fetching = undefined;
    this.refill();
  }

  /** Fetches beside the work; nothing waits for it, and a failure only means that the next ones come later. */
  refill(): void {
    const { client, closing, logger } = this.#options;
    if (this.#fetching !== undefined || closing.aborted) return;
    const fetching = client.timestampRun(SIZE, { signal: closing }).then(
      (first) => {
        if (this.#fetching === fetching) this.#keep(first, first + BigInt(SIZE));
      },
      (error: unknown) => logger.debug({ err: error }, 'cannot fetch timestamps ahead'),
    );
    this.#fetching = fetching;
    void fetching.finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
  }

  #keep(first: Timestamp, end: Timestamp): void {
    const next = first > this.#last ? first : this.#last + 1n;
    // The answer of an earlier question may come last.
    if (next >= end || this.#end > end) return;
    this.#next = next;
    this.#end = end;
    this.#fetchedMs = this.#options.clock.nowMs();
  }

  #deal(timestamp: Timestamp): Timestamp {
    assert(timestamp > this.#last, 'a timestamp is dealt out of order');
    this.#last = timestamp;
    return timestamp;
  }
}
