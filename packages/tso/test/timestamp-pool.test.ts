import { quiet, SimClock } from '@engram/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PoolCall, type Timestamp, TimestampPool } from '../index.ts';

const call: PoolCall = { timeoutMs: 1000 };

/** Allocates runs of timestamps, unless it is gone. */
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

test('after fresh and renew nothing is given that PD had allocated before', async () => {
  const pd = new Pd();
  const { pool } = poolOf(pd);
  await pool.take(call);
  const before = pd.next;
  expect(await pool.fresh(call)).toBeGreaterThanOrEqual(before);
  const again = pd.next;
  pool.renew();
  expect(await pool.take(call)).toBeGreaterThanOrEqual(again);
});

const action = fc.oneof(
  fc.constantFrom('take' as const, 'take' as const, 'fresh' as const, 'renew' as const, 'refill' as const),
  fc.record({ passMs: fc.constantFrom(100, 31_000, 119_000, 125_000) }),
  fc.record({ answer: fc.nat() }),
);

test('whatever the order of the answers, timestamps ascend, and none is older than two minutes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const clock = new SimClock();
      let next = 1n;
      const asked: { readonly first: Timestamp; readonly atMs: number; readonly answer: () => void }[] = [];
      const dealtAtMs = (timestamp: Timestamp): number =>
        runs.find(({ first, count }) => timestamp >= first && timestamp < first + BigInt(count))!.atMs;
      const runs: { readonly first: Timestamp; readonly count: number; readonly atMs: number }[] = [];
      const timestampRun = (count: number): Promise<Timestamp> => {
        const first = next;
        next += BigInt(count);
        runs.push({ first, count, atMs: clock.nowMs() });
        return new Promise((resolve) => {
          asked.push({ first, atMs: clock.nowMs(), answer: () => resolve(first) });
        });
      };
      const closing = new AbortController().signal;
      const pool = new TimestampPool({ client: { timestampRun }, clock, logger: quiet, closing });
      let last = 0n;
      const answerAll = async (): Promise<void> => {
        while (asked.length > 0) {
          asked.pop()!.answer(); // the newest first
          await Promise.resolve();
        }
      };
      for (const each of actions) {
        if (each === 'renew') pool.renew();
        else if (each === 'refill') pool.refill();
        else if (typeof each === 'object' && 'passMs' in each) clock.advance(each.passMs);
        else if (typeof each === 'object') asked.splice(each.answer % Math.max(1, asked.length), 1)[0]?.answer();
        else {
          await new Promise((resolve) => setImmediate(resolve)); // what was answered has arrived
          const taking = each === 'take' ? pool.take(call) : pool.fresh(call);
          await answerAll();
          const timestamp = await taking;
          if (timestamp <= last || clock.nowMs() - dealtAtMs(timestamp) > 120_000) return false;
          last = timestamp;
        }
      }
      return true;
    }),
    { numRuns: 500 },
  );
});
