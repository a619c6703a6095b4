import { SimClock, TestLogger } from '@engram/sim';
import { never } from '@engram/storage/testing';
import { physicalMs, shiftTimestamp } from '@engram/tso';
import { expect, test } from 'vitest';
import { emptyChain } from '../src/format/chain.ts';
import { LogKeys } from '../src/format/log-keys.ts';
import { SafePointKeeper } from '../src/needs/safe-point-keeper.ts';
import { TikvBed } from './tikv-bed.ts';

const RETENTION_MS = 1000;
const INTERVAL_MS = 100;

/** A leader that keeps the safe point, with a clock of its own. PD uses the machine's clock. */
class Keeper {
  readonly clock = new SimClock();
  readonly logger = new TestLogger();
  readonly #keeper: SafePointKeeper;
  readonly #bed: TikvBed;
  moves = 0;

  constructor(bed: TikvBed, prefix: string, retentionMs = RETENTION_MS) {
    const { client } = bed;
    const source = { client, keys: new LogKeys(prefix), empty: emptyChain(1n), name: 'log', timeoutMs: 5_000 };
    this.#bed = bed;
    this.logger.info = () => {
      this.moves += 1;
    };
    this.#keeper = new SafePointKeeper(source, prefix, this.clock, this.logger, {
      retentionMs,
      intervalMs: INTERVAL_MS,
    });
  }

  /** Lets `ms` pass, with a call of `keep` in each interval. */
  async pass(ms: number, beside: () => Promise<unknown> = async () => {}): Promise<void> {
    for (let passed = 0; passed < ms; passed += INTERVAL_MS) {
      await this.#keeper.keep(never);
      await beside();
      await this.clock.pass(INTERVAL_MS);
    }
  }

  /** How far the safe point lies behind PD's time. */
  async behindMs(): Promise<number> {
    const { client } = this.#bed;
    return physicalMs(await client.timestamp()) - physicalMs(await client.gc.safePoint());
  }
}

test('who finds that nobody moves the safe point does it after some time, and goes on with it', async () => {
  await using bed = await TikvBed.make();
  const keeper = new Keeper(bed, 'a');
  await keeper.pass(RETENTION_MS);
  expect(keeper.moves).toBe(0);
  expect(await bed.client.gc.safePoint()).toBe(0n);
  await keeper.pass(5 * INTERVAL_MS);
  expect(keeper.moves).toBe(5);
  const behindMs = await keeper.behindMs();
  expect(behindMs).toBeGreaterThanOrEqual(RETENTION_MS);
  expect(behindMs).toBeLessThan(RETENTION_MS + 30_000);
  expect(keeper.logger.warnings).toEqual([]);
});

test('it is left to another who moves it, and taken up when that one no longer does', async () => {
  await using bed = await TikvBed.make();
  const keeper = new Keeper(bed, 'a');
  await keeper.pass(5 * RETENTION_MS, () => bed.client.gc.collect(2 * RETENTION_MS));
  expect(keeper.moves).toBe(0);
  await keeper.pass(RETENTION_MS);
  expect(keeper.moves).toBe(0);
  await keeper.pass(3 * INTERVAL_MS);
  expect(keeper.moves).toBeGreaterThan(0);
});

test('who has taken it up leaves it when another moves it', async () => {
  await using bed = await TikvBed.make();
  let ageMs = 60_000;
  const hold = async (): Promise<void> =>
    await bed.client.gc.hold('other', shiftTimestamp(await bed.client.timestamp(), -ageMs), 60);
  await hold();
  const keeper = new Keeper(bed, 'a');
  await keeper.pass(RETENTION_MS + 3 * INTERVAL_MS);
  expect(keeper.moves).toBe(3);
  await keeper.pass(2 * RETENTION_MS, async () => {
    ageMs -= 1000;
    await hold();
    await bed.client.gc.collect(0);
  });
  // The fourth move was before the other process began to move the safe point.
  expect(keeper.moves).toBe(4);
});

test('of two clusters one moves it, and the other when that one is gone', async () => {
  await using bed = await TikvBed.make();
  const [first, second] = [new Keeper(bed, 'a'), new Keeper(bed, 'b')];
  for (let turn = 0; turn < 5 * (RETENTION_MS / INTERVAL_MS); turn += 1) {
    await first.pass(INTERVAL_MS);
    await second.pass(INTERVAL_MS);
  }
  expect(first.moves).toBeGreaterThan(3 * (RETENTION_MS / INTERVAL_MS));
  expect(second.moves).toBe(0);
  await second.pass(2 * RETENTION_MS);
  expect(second.moves).toBeGreaterThan(0);
});

test('versions that another cluster keeps for longer are not collected', async () => {
  await using bed = await TikvBed.make();
  const long = new Keeper(bed, 'b', 60_000);
  await long.pass(INTERVAL_MS);
  const keeper = new Keeper(bed, 'a');
  await keeper.pass(RETENTION_MS + 2 * INTERVAL_MS);
  expect(keeper.moves).toBeGreaterThan(0);
  expect(await keeper.behindMs()).toBeGreaterThanOrEqual(60_000);
  expect(long.logger.warnings).toEqual([]);
});

test('where another collects what is younger than is kept here, that is said, and nothing else ends', async () => {
  await using bed = await TikvBed.make();
  await bed.client.gc.collect(0);
  const keeper = new Keeper(bed, 'a', 60_000);
  await keeper.pass(INTERVAL_MS);
  expect(keeper.logger.warnings).toEqual([
    'another collects versions of TiKV that are younger than this cluster keeps',
  ]);
});

test('a retention of nothing leaves it alone', async () => {
  await using bed = await TikvBed.make();
  const keeper = new Keeper(bed, 'a', 0);
  const before = bed.cluster.calls.length;
  await keeper.pass(3 * INTERVAL_MS);
  expect(bed.cluster.calls.length).toBe(before);
});
