import type { CallOptions, Timestamp } from '@engram/tikv-client';
import { quiet, SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { TimestampPool } from '../src/timestamp-pool.ts';

const call: CallOptions = { timeoutMs: 1000 };

/** Deals runs of timestamps, unless it is gone. */
class Pd {
  next: Timestamp = 1n;
  gone = false;
  asked = 0;

  async timestampRun(count: number): Promise<Timestamp> {
    this.asked += 1;
    if (this.gone) throw new Error('PD does not answer');
    const first = this.next;
    this.next += BigInt(count);
    return first;
  }
}

function poolOf(pd: Pd): { readonly pool: TimestampPool; readonly clock: SimClock } {
  const clock = new SimClock();
  return {
    pool: new TimestampPool({ client: pd, clock, logger: quiet, closing: new AbortController().signal }),
    clock,
  };
}

test.each([1, 2499, 2500, 2501, 20_001, 50_000])('after %d appends PD may be gone for 17,500 more', async (before) => {
  const pd = new Pd();
  const { pool } = poolOf(pd);
  let last = 0n;
  const take = async (count: number): Promise<void> => {
    for (let taken = 0; taken < count; taken += 1) {
      const timestamp = await pool.take(call);
      if (timestamp <= last) throw new Error(`${timestamp} after ${last}`);
      last = timestamp;
    }
  };
  await take(before);
  pd.gone = true;
  await take(17_500);
  expect(last).toBeLessThan(pd.next);
});

test('PD is not asked for each append', async () => {
  const pd = new Pd();
  const { pool } = poolOf(pd);
  for (let taken = 0; taken < 2000; taken += 1) await pool.take(call);
  expect(pd.asked).toBe(1);
});

test('what is older than two minutes is not used', async () => {
  const pd = new Pd();
  const { pool, clock } = poolOf(pd);
  await pool.take(call);
  const young = pd.next;
  clock.advance(119_000);
  expect(await pool.take(call)).toBeLessThan(young); // and new ones are fetched meanwhile
  pd.gone = true;
  clock.advance(121_000);
  pd.gone = false;
  const newest = pd.next;
  expect(await pool.take(call)).toBeGreaterThanOrEqual(newest);
});

test('after fresh and renew nothing is dealt that PD had dealt before', async () => {
  const pd = new Pd();
  const { pool } = poolOf(pd);
  await pool.take(call);
  const before = pd.next;
  expect(await pool.fresh(call)).toBeGreaterThanOrEqual(before);
  const again = pd.next;
  pool.renew();
  expect(await pool.take(call)).toBeGreaterThanOrEqual(again);
});
