import { logPosition, type Seal } from '@engram/core';
import { RetryQueue } from '@engram/retry-queue';
import { Prng, quiet, SimClock } from '@engram/sim';
import { type FaultPlan, type LogBatch, MemoryStorage, StorageFailedError, seededFaults } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';

const RUNS = 200;
const WRITES = 60;
const chances = {
  uncertainThere: 0.15,
  uncertainLost: 0.15,
  uncertainLate: 0.15,
  failedThere: 0.02,
  failedLost: 0.02,
  fenced: 0.03,
};

const start = Number(process.env['SEED'] ?? Date.now() % 2 ** 32);

/** One writer, whose storage loses answers and requests, is sealed by other writers, and sometimes fails and is reopened. */
class Run {
  readonly counts = { committed: 0, fenced: 0, failed: 0, retried: 0 };
  readonly #prng: Prng;
  readonly #clock = new SimClock();
  readonly #plan: FaultPlan;
  #storage: MemoryStorage;
  #seal: Seal = sealOf(1);
  #made = 0;
  /** Values of the acknowledged batches, in order. */
  readonly #acknowledged: number[] = [];
  /** Values of batches whose append failed. Each is in the log once or not at all. */
  readonly #open = new Set<number>();

  constructor(seed: number) {
    this.#prng = new Prng(seed);
    this.#plan = seededFaults(this.#prng, chances);
    this.#storage = new MemoryStorage(this.#plan);
  }

  async run(): Promise<void> {
    while (this.#made < WRITES) await this.#lead();
    await this.#verify();
  }

  /** Appends batches with a new seal until an append is fenced or the storage fails. */
  async #lead(): Promise<void> {
    this.#seal = sealOf(this.#seal.epoch + 2, BigInt(1 + this.#prng.below(3)));
    let next = await this.#storage.log.seal(this.#seal);
    const log = new RetryQueue({ log: this.#storage.log, clock: this.#clock, logger: quiet, signal: never });
    while (this.#made < WRITES) {
      const made = Array.from({ length: 1 + this.#prng.below(3) }, (_, index) => this.#made + index);
      this.#made += made.length;
      const batch: LogBatch = { first: next, records: made.map((value) => Uint8Array.of(value)) };
      const kind = await this.#append(log, batch);
      this.counts[kind] += 1;
      if (kind === 'committed') this.#acknowledged.push(...made);
      if (kind === 'failed') {
        for (const value of made) this.#open.add(value);
        await this.#storage[Symbol.asyncDispose]();
        this.#storage = this.#storage.reopen(this.#plan);
      }
      if (kind !== 'committed') return;
      next = logPosition(next + made.length);
    }
  }

  async #append(log: RetryQueue, batch: LogBatch): Promise<'committed' | 'fenced' | 'failed'> {
    const append = log.append(batch, this.#seal).then(
      ({ kind }) => kind,
      (error: unknown) => {
        if (error instanceof StorageFailedError) return 'failed' as const;
        throw error;
      },
    );
    let ended = false;
    const end = append.then(
      () => (ended = true),
      () => (ended = true),
    );
    for (let turns = 0; !ended; turns += 1) {
      await this.#clock.settle(2);
      if (log.unsettled === undefined) continue;
      this.counts.retried += 1;
      expect(log.unsettled.batch).toBe(batch);
      this.#clock.advance(1000);
      expect(turns).toBeLessThan(100);
    }
    await end;
    expect(log.unsettled).toBeUndefined();
    expect(this.#clock.waiting).toBe(0);
    const kind = await append;
    if (kind === 'superseded' || kind === 'trimmed') throw new Error(`${kind} by nobody`);
    return kind;
  }

  async #verify(): Promise<void> {
    const seen: number[] = [];
    for await (const { records } of this.#storage.log.read(logPosition(1), never)) {
      seen.push(...records.map((record) => record[0]!));
    }
    expect(new Set(seen).size, 'a batch is there twice').toBe(seen.length);
    expect(seen.filter((value) => !this.#open.has(value))).toEqual(this.#acknowledged);
    expect(seen).toEqual(seen.toSorted((left, right) => left - right));
  }
}

test(`no acknowledged batch is lost, none is there twice, and none that was refused is there (SEED=${start})`, async () => {
  const sums = { committed: 0, fenced: 0, failed: 0, retried: 0 };
  for (let seed = start; seed < start + RUNS; seed += 1) {
    const run = new Run(seed);
    try {
      await run.run();
    } catch (error) {
      throw new Error(`SEED=${seed}`, { cause: error });
    }
    for (const kind of Object.keys(sums) as (keyof typeof sums)[]) sums[kind] += run.counts[kind];
  }
  // Each outcome must have occurred, otherwise the runs prove nothing.
  expect(sums.committed).toBeGreaterThan(RUNS * 10);
  expect(sums.retried).toBeGreaterThan(RUNS * 5);
  expect(sums.fenced).toBeGreaterThan(RUNS / 4);
  expect(sums.failed).toBeGreaterThan(RUNS / 4);
});
