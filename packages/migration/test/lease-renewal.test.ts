import { sleep } from '@engram/core';
import { MigrationError, renewLeases } from '@engram/migration';
import { quiet, SimClock } from '@engram/sim';
import { afterEach, beforeEach, expect, test } from 'vitest';

let clock: SimClock;
let leases: Map<bigint, number>;
let renewed: { readonly atMs: number; readonly ids: readonly bigint[] }[];
let failing: MigrationError | undefined;
let exchangeMs: number;
let stop: AbortController;
let run: Promise<unknown>;

beforeEach(() => {
  clock = new SimClock();
  leases = new Map([[1n, 6]]);
  renewed = [];
  failing = undefined;
  exchangeMs = 0;
  stop = new AbortController();
  const keepAlive = async (ids: readonly bigint[]): Promise<void> => {
    if (failing !== undefined) throw failing;
    if (exchangeMs > 0) await sleep(clock, exchangeMs);
    renewed.push({ atMs: clock.nowMs(), ids });
  };
  run = renewLeases({ leases: () => leases, keepAlive, clock, logger: quiet }, stop.signal).catch(
    (error: unknown) => error,
  );
});
afterEach(() => stop.abort(new Error('the test ends')));

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    clock.advance(100);
    await clock.settle(2);
  }
}

test('each lease is renewed at once, and three times in its time', async () => {
  await pass(12_000);
  const times = renewed.map(({ atMs }) => atMs);
  expect(times[0]).toBe(0);
  for (const [at, ms] of times.slice(1).entries()) expect(ms - times[at]!).toBeLessThanOrEqual(2500);
});

test('a lease that comes is renewed within half a second, and one that went is forgotten', async () => {
  await pass(1000);
  leases = new Map([[2n, 600]]);
  await pass(600);
  expect(renewed.at(-1)?.ids).toEqual([2n]);
  await pass(10_000);
  expect(renewed.at(-1)?.ids).toEqual([2n]);
});

test('what fails for a while is tried again at once, and what is refused ends it', async () => {
  failing = new MigrationError('interrupted', 'no answer');
  await pass(3000);
  failing = undefined;
  const before = renewed.length;
  await pass(600);
  expect(renewed.length).toBe(before + 1);
  failing = new MigrationError('refused', 'no');
  await pass(3000);
  expect(await run).toBe(failing);
});

test('of more leases than can be renewed in time, those that have waited for longest come first', async () => {
  exchangeMs = 5000;
  leases = new Map(Array.from({ length: 25_000 }, (_, at) => [BigInt(at + 1), 30]));
  await pass(60_000);
  const newest = new Map<bigint, number>();
  for (const { atMs, ids } of renewed) for (const id of ids) newest.set(id, atMs);
  expect(newest.size).toBe(leases.size);
  for (const atMs of newest.values()) expect(atMs).toBeGreaterThan(60_000 - 30_000);
});

test('it ends with the signal', async () => {
  stop.abort(new Error('enough'));
  expect(await run).toMatchObject({ message: 'enough' });
});
