import { Prng, quiet, Scheduler, SimClock } from '@engram/sim';
import { never } from '@engram/storage/testing';
import { LogKeys, openRoot, openTikvStorage, type TikvStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { FakeCluster } from '@engram/tikv-client/testing';
import { expect, test } from 'vitest';
import { at, batchOf, first } from './sim-bed.ts';
import { HeldWay } from './stopping.ts';

const RUNS = Number(process.env['RUNS'] ?? 8);
const start = Number(process.env['SEED'] ?? Date.now() % 2 ** 32);
const APPENDS = 60;
const READERS = 3;
/** A reader stands still for so long at most, while the leader goes on to other segments. */
const HOLD_MS_MAX = 400;

/**
 * One node appends, and begins segments all the time, in regions that lead at different stores. Others read what it has appended, by
 * position and as a log, and stand still again and again, mostly between a timestamp and the reads at it. Throws where they read
 * something else, or miss something.
 */
class SlowReaders {
  readonly #random: Prng;
  readonly #clock: SimClock;
  readonly #cluster: FakeCluster;
  readonly #keys = new LogKeys('test');
  /** The end of what was acknowledged. The record at each position has its position as its value. */
  #next = 1;
  #ended = false;
  reads = 0;

  constructor(seed: number) {
    this.#random = new Prng(seed);
    this.#clock = new SimClock({ scheduler: new Scheduler({ random: this.#random }), wallMs: 1_700_000_000_000 });
    this.#cluster = new FakeCluster({ clock: this.#clock, keepsCalls: false });
  }

  async run(): Promise<void> {
    await this.#clock.run(
      Promise.all([this.#lead(), this.#readElsewhere(), ...Array.from({ length: READERS }, () => this.#readAgain())]),
    );
    if (this.#cluster.refusal !== undefined) throw this.#cluster.refusal;
  }

  async #lead(): Promise<void> {
    await using client = await this.#connect(new HeldWay(this.#clock));
    await using storage = await this.#open(client);
    await storage.log.seal(first);
    for (let segment = 2; segment < 2 + APPENDS; segment += 1) {
      this.#moveRegions(segment);
      const last = this.#next + this.#random.below(3);
      expect((await storage.log.append(batchOf(this.#next, last), first)).kind).toBe('committed');
      this.#next = last + 1;
      await this.#pause(this.#random.below(40));
    }
    this.#ended = true;
  }

  /** Regions begin with segments, so that no segment ends early. */
  #moveRegions(segment: number): void {
    const { regions, stores } = this.#cluster;
    const later = this.#keys.segmentStart(segment + this.#random.between(1, 5));
    if (this.#random.chance(0.6)) regions.split(later);
    if (this.#random.chance(0.6)) regions.transferLeader(later, this.#random.pick([...stores.keys()]));
  }

  /** Others read at the same stores. What is committed at one of them lies above what was read there, and not at the others. */
  async #readElsewhere(): Promise<void> {
    await using client = await this.#connect(new HeldWay(this.#clock));
    while (!this.#ended) {
      await this.#pause(this.#random.below(100));
      const snapshot = await client.snapshot();
      const { start } = this.#random.pick(this.#cluster.regions.all().slice(-5));
      await snapshot.get(start.length === 0 ? Uint8Array.of(0) : start);
    }
  }

  async #readAgain(): Promise<void> {
    const way = new HeldWay(this.#clock);
    await using client = await this.#connect(way);
    while (!this.#ended) {
      await using storage = await this.#open(client);
      do {
        await this.#pause(this.#random.below(60));
        if (this.#random.chance(0.7)) way.hold(this.#random.below(HOLD_MS_MAX), this.#random.between(0, 4));
        if (this.#random.chance(0.5)) await this.#readRecords(storage);
        else await this.#readLog(storage);
      } while (!this.#ended && this.#random.chance(0.9));
    }
  }

  /** Mostly near the end, where segments are new. */
  #begin(end: number): number {
    return this.#random.between(this.#random.chance(0.7) ? Math.max(1, end - 10) : 1, end);
  }

  async #readRecords({ values }: TikvStorage): Promise<void> {
    const from = this.#begin(this.#next);
    const wanted = Array.from({ length: this.#random.below(5) }, (_, index) =>
      at(from + index * this.#random.between(1, 4)),
    );
    const positions = [...new Set(wanted)]
      .filter((position) => position < this.#next)
      .sort((left, right) => left - right);
    const records = await values.getMany(positions, never);
    expect(records.map(numberIn)).toEqual(positions);
    this.reads += 1;
  }

  async #readLog({ log }: TikvStorage): Promise<void> {
    const end = this.#next;
    let next = this.#begin(end);
    for await (const { first: begin, records } of log.read(at(next), never)) {
      expect(begin).toBe(next);
      for (const record of records) {
        expect(numberIn(record)).toBe(next);
        next += 1;
      }
    }
    expect(next).toBeGreaterThanOrEqual(end);
    this.reads += 1;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  #connect(way: HeldWay): Promise<TikvClient> {
    const { pdAddresses, transport } = this.#cluster;
    const random = new Prng(this.#random.uint32());
    return TikvClient.connect({ pdAddresses, transport: way.transport(transport), clock: this.#clock, random });
  }

  async #open(client: TikvClient): Promise<TikvStorage> {
    const found = { clusterId: 7n, members: [] };
    const root = await openRoot({ client, keys: this.#keys, found, timeoutMs: 20_000 });
    return await openTikvStorage({
      client,
      prefix: 'test',
      root,
      local: { kind: 'memory', bytesMax: 100 },
      clock: this.#clock,
      random: new Prng(this.#random.uint32()),
      logger: quiet,
      segmentBytes: this.#random.pick([1, 300]),
    });
  }
}

const numberIn = (record: Uint8Array): number => Buffer.from(record).readUInt32LE();

test(`readers that stand still find every record that was acknowledged (SEED=${start})`, async () => {
  let reads = 0;
  for (let seed = start; seed < start + RUNS; seed += 1) {
    const sim = new SlowReaders(seed);
    try {
      await sim.run();
    } catch (error) {
      throw new Error(`SEED=${seed}`, { cause: error });
    }
    reads += sim.reads;
  }
  expect(reads).toBeGreaterThan(RUNS * 20);
});
