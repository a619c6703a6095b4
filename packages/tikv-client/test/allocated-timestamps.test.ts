import { expect, test } from 'vitest';
import { isTikvError } from '../index.ts';
import { physicalMs, shiftTimestamp, type Timestamp } from '@engram/tso';
import type { CheckTxnStatusRequest } from '../src/proto/gen/kvrpcpb.ts';
import { Bench, k, orphanLock, text } from './support/bench.ts';

// The scripted cluster checks in every test that no other request carries a timestamp from the future.

const checks = (bench: Bench): readonly CheckTxnStatusRequest[] =>
  bench.cluster.sent('CheckTxnStatus').map(({ request }) => request as CheckTxnStatusRequest);

/** Locks `a` for a client that is gone. */
async function leaveLock(bench: Bench, ttlMs: number): Promise<Timestamp> {
  const startTs = await bench.run(bench.client.timestamp());
  bench.cluster.mvcc.row(k('a')).lock = orphanLock(startTs, k('a'), { ttlMs });
  return startTs;
}

test('CheckTxnStatus judges by allocated timestamps only, and an expired lock stands no longer than it was to live', async () => {
  for (const ttlMs of [300, 1_700, 3_000]) {
    const bench = await Bench.make();
    await bench.put({ a: '0' });
    const startTs = await leaveLock(bench, ttlMs);
    const allocated: Timestamp[] = [];
    bench.cluster.pd.mangleTso = (answer) => {
      allocated.push((BigInt(answer.timestamp!.physical!) << 18n) + BigInt(answer.timestamp!.logical!));
      return answer;
    };
    const beganMs = bench.clock.nowMs();
    const txn = await bench.run(bench.client.begin());
    txn.put(k('a'), k('2'));
    const writing = txn.commit({ mode: '2pc' });
    expect((await bench.run(writing)).kind).toBe('committed');
    expect(bench.clock.nowMs() - beganMs).toBeLessThan(ttlMs + 200);
    expect(bench.clock.nowMs() - beganMs).toBeGreaterThanOrEqual(ttlMs);
    expect(checks(bench).length).toBeGreaterThan(1);
    for (const { currentTs } of checks(bench)) expect([startTs, ...allocated]).toContain(currentTs);
  }
});

test('while a lock lives by any clock, asking about it costs no timestamp', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '0' });
  await leaveLock(bench, 60_000);
  const snapshot = await bench.run(bench.client.snapshot());
  await bench.run(bench.client.get(k('b')));
  await bench.clock.pass(10_000);
  const before = bench.cluster.pdCalls.filter((call) => call.endsWith('Tso')).length;
  expect(text(await bench.run(snapshot.get(k('a'))))).toBe('0');
  expect(checks(bench)).toHaveLength(1);
  expect(bench.cluster.pdCalls.filter((call) => call.endsWith('Tso'))).toHaveLength(before);
});

test('a client that has no timestamp yet asks for one before it judges a lock', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '0' });
  await leaveLock(bench, 100);
  await bench.clock.pass(1_000);
  const reader = await bench.connect();
  expect(text(await bench.run(reader.get(k('a'))))).toBe('0');
  expect(physicalMs(checks(bench)[0]!.currentTs)).toBeGreaterThan(1_000_000_000_000);
});

test('a timestamp from the future is refused with an error of its own, before a store hears of it', async () => {
  const bench = await Bench.make();
  const { client } = bench;
  await bench.put({ a: '1' });
  await bench.idle();
  const now = await bench.run(client.timestamp());
  const code = (promise: Promise<unknown>): Promise<unknown> =>
    bench.run(
      promise.then(
        () => 'no error',
        (error: unknown) => (isTikvError(error) ? error.code : error),
      ),
    );
  bench.cluster.calls.length = 0;
  for (const future of [shiftTimestamp(now, 600_000), shiftTimestamp(now, 1)]) {
    const snapshot = client.snapshotAt(future);
    expect(await code(snapshot.get(k('a')))).toBe('future-timestamp');
    expect(await code(snapshot.batchGet([k('a'), k('b')]))).toBe('future-timestamp');
    expect(await code(snapshot.scan(k('a'), k('z')).next())).toBe('future-timestamp');
    expect(await code(snapshot.pages(k('a'), k('z'), { reverse: true }).next())).toBe('future-timestamp');
    expect(await code(client.beginAt(future).get(k('a')))).toBe('future-timestamp');
    for (const commit of ['commit', 'commitOnePhase'] as const) {
      const txn = client.beginAt(future);
      txn.insert(k('x'), k('1'));
      expect(await code(txn[commit]({ causal: true }))).toBe('future-timestamp');
    }
    expect(await code(client.gc.hold('backup', future, 60))).toBe('future-timestamp');
  }
  expect(bench.cluster.calls).toEqual([]);
  expect(bench.cluster.pd.services.size).toBe(0);
  // When PD's clock has passed the timestamp, it may be used.
  await bench.clock.pass(600_001);
  expect(text(await bench.run(client.snapshotAt(shiftTimestamp(now, 600_000)).get(k('a'))))).toBe('1');
});

test('a timestamp that was allocated to another client is no future one, though ours are all below it', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  const other = await bench.connect();
  await bench.clock.pass(1_000);
  const theirs = await bench.run(other.timestamp());
  expect(text(await bench.run(bench.client.snapshotAt(theirs).get(k('a'))))).toBe('1');
  const pool = await bench.run(other.timestamps(2));
  const txn = bench.client.beginAt(pool[1]!);
  txn.insert(k('b'), k('1'));
  expect((await bench.run(txn.commitOnePhase({ causal: true }))).kind).toBe('committed');
});

test('what was allocated costs no question to PD when it is used', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  const snapshot = await bench.run(bench.client.snapshot());
  await bench.run(snapshot.get(k('a')));
  const before = bench.cluster.pdCalls.length;
  await bench.run(bench.client.snapshotAt(snapshot.timestamp).get(k('a')));
  await bench.run(bench.client.snapshotAt(snapshot.timestamp - 1n).batchGet([k('a')]));
  expect(bench.cluster.pdCalls).toHaveLength(before);
});
