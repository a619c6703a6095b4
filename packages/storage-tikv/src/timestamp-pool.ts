import { assert, type Clock, type Logger } from '@engram/core';
import type { CallOptions, TikvClient, Timestamp } from '@engram/tikv-client';

const SIZE = 256;
/** Older ones are used while PD does not answer; otherwise new ones are fetched beside the work. */
const REFETCH_AGE_MS = 30_000;
/** Far above any safe point: versions are kept for minutes at least. */
const AGE_MAX_MS = 120_000;

export interface TimestampPoolOptions {
  readonly client: TikvClient;
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
  /** The lowest, which is the next, at the end. */
  #descending: Timestamp[] = [];
  #fetchedMs = 0;
  #last: Timestamp = 0n;
  #fetching: Promise<void> | undefined;

  constructor(options: TimestampPoolOptions) {
    this.#options = options;
  }

  /** One that was fetched before, if there is one that is young enough. Rejects with the client's error. */
  async take(call: CallOptions): Promise<Timestamp> {
    const ageMs = this.#options.clock.nowMs() - this.#fetchedMs;
    if (ageMs > AGE_MAX_MS) this.#descending = [];
    if (this.#descending.length === 0) return await this.fresh(call);
    if (ageMs > REFETCH_AGE_MS || this.#descending.length < SIZE / 2) this.refill();
    return this.#deal(this.#descending.pop()!);
  }

  /** One that PD deals now: above all that anybody saw before the call. */
  async fresh(call: CallOptions): Promise<Timestamp> {
    const [first, ...ahead] = await this.#options.client.timestamps(SIZE, call);
    assert(first !== undefined, 'a question for timestamps without an answer');
    this.#keep(ahead);
    return this.#deal(first);
  }

  /** Forgets what was fetched: what is dealt from now on is above all that anybody saw before the call. */
  renew(): void {
    this.#descending = [];
    this.#fetching = undefined;
    this.refill();
  }

  /** Fetches beside the work; nothing waits for it, and a failure only means that the next ones come later. */
  refill(): void {
    const { client, closing, logger } = this.#options;
    if (this.#fetching !== undefined || closing.aborted) return;
    const fetching = client.timestamps(SIZE, { signal: closing }).then(
      (dealt) => {
        if (this.#fetching === fetching) this.#keep(dealt);
      },
      (error: unknown) => logger.debug({ err: error }, 'cannot fetch timestamps ahead'),
    );
    this.#fetching = fetching;
    void fetching.finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
  }

  #keep(dealt: readonly Timestamp[]): void {
    const above = dealt.filter((timestamp) => timestamp > this.#last);
    // The answer of an earlier question may come last.
    if (above.length === 0 || (this.#descending[0] ?? 0n) > above.at(-1)!) return;
    this.#descending = above.reverse();
    this.#fetchedMs = this.#options.clock.nowMs();
  }

  #deal(timestamp: Timestamp): Timestamp {
    assert(timestamp > this.#last, 'a timestamp is dealt out of order');
    this.#last = timestamp;
    return timestamp;
  }
}
