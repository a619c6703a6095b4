import { expect, test } from 'vitest';
import type { OnePhaseOutcome } from '../index.ts';
import { MAX_TIMESTAMP, type Timestamp } from '@engram/tso';
import type { PrewriteRequest } from '../src/proto/gen/kvrpcpb.ts';
import { Bench, k } from './support/bench.ts';

const SECOND = 1_000;

/** The append of a fenced log: checks that the seal is absent, and inserts the slot. */
function append(bench: Bench, startTs: Timestamp, slot: string, options = {}): Promise<OnePhaseOutcome> {
  const txn = bench.client.beginAt(startTs);
  txn.checkNotExists(k('log/1/seal'));
  txn.insert(k(`log/1/${slot}`), k('batch'));
  return bench.run(txn.commitOnePhase({ causal: true, ...options }));
}

/** A bench, and a pool of timestamps that are a minute old. */
async function withPool(size: number, cluster = {}, options = {}): Promise<{ bench: Bench; pool: Timestamp[] }> {
  const bench = await Bench.make(cluster, options);
  const pool = [...(await bench.run(bench.client.timestamps(size)))];
  await bench.clock.pass(60 * SECOND);
  return { bench, pool };
}

const prewrites = (bench: Bench): readonly PrewriteRequest[] =>
  bench.cluster.sent('Prewrite').map(({ request }) => request as PrewriteRequest);

/** Expects that no lock is left, and that no second phase was tried. */
function expectNothingLeft(bench: Bench): void {
  expect(bench.cluster.mvcc.locks()).toEqual([]);
  expect(bench.cluster.sent('Commit')).toEqual([]);
}

test('a pool: consecutive timestamps with one question, nobody else’s, and other counts are refused', async () => {
  const bench = await Bench.make();
  const before = bench.cluster.pdCalls.length;
  const [pool, one, more] = await bench.run(
    Promise.all([bench.client.timestamps(1_000), bench.client.timestamp(), bench.client.timestamps(2)]),
  );
  expect(bench.cluster.pdCalls.slice(before)).toEqual(['0/Tso']);
  const all = [...pool, one, ...more];
  expect(all).toEqual(Array.from({ length: 1_003 }, (_, at) => pool[0]! + BigInt(at)));
  const large = await bench.run(
    Promise.all([bench.client.timestamps(20_000), bench.client.timestamps(20_000), bench.client.timestamp()]),
  );
  expect(new Set(large.flat()).size).toBe(40_001);
  for (const count of [0, -1, 1.5, 20_001, Number.NaN])
    await expect(bench.run(bench.client.timestamps(count))).rejects.toMatchObject({ code: 'invalid-argument' });
});

test('committed: one request, no timestamp from PD, no bound for the commit timestamp', async () => {
  const { bench, pool } = await withPool(2);
  await append(bench, pool[0]!, '1'); // finds the region
  bench.cluster.calls.length = 0;
  const pdCalls = bench.cluster.pdCalls.length;
  const outcome = await append(bench, pool[1]!, '2');
  expect(outcome.kind).toBe('committed');
  expect(bench.cluster.calls.map(({ command }) => command)).toEqual(['Prewrite']);
  expect(bench.cluster.pdCalls).toHaveLength(pdCalls);
  expect(prewrites(bench)).toMatchObject([
    { tryOnePc: true, useAsyncCommit: false, maxCommitTs: 0n, startVersion: pool[1] },
  ]);
  expect(await bench.scan('log/', 'log0')).toEqual(['log/1/1=batch', 'log/1/2=batch']);
  expectNothingLeft(bench);
});

test('exists and conflict: a seal or a slot that came before the start timestamp, and one that came after it', async () => {
  for (const taken of ['seal', '1']) {
    const { bench, pool } = await withPool(1);
    await bench.put({ [`log/1/${taken}`]: 'x' });
    const key = k(`log/1/${taken}`);
    expect(await append(bench, pool[0]!, '1')).toMatchObject({ kind: 'conflict', reason: 'newer-write', key });
    const fresh = await bench.run(bench.client.timestamp());
    expect(await append(bench, fresh, '1')).toMatchObject({ kind: 'exists', key });
    await bench.idle();
    expect(bench.cluster.mvcc.row(k('log/1/1')).writes).toHaveLength(taken === '1' ? 1 : 0);
    expectNothingLeft(bench);
  }
});

test('not-one-phase, regions: known before, found out by the request, and not said of regions that have merged', async () => {
  const { bench, pool } = await withPool(4);
  bench.cluster.regions.split(k('log/1/m'));
  expect(await append(bench, pool[0]!, '1')).toEqual({ kind: 'not-one-phase', reason: 'regions' });
  expect(prewrites(bench)).toEqual([]);
  bench.cluster.regions.mergeWithNext(k('log/1/1'));
  expect((await append(bench, pool[1]!, '1')).kind).toBe('committed');
  bench.cluster.regions.split(k('log/1/m'));
  expect(await append(bench, pool[2]!, '2')).toEqual({ kind: 'not-one-phase', reason: 'regions' });
  await bench.idle();
  expect(await bench.scan('log/', 'log0')).toEqual(['log/1/1=batch']);
  expectNothingLeft(bench);
});

test('not-one-phase, size: more than one request may carry', async () => {
  const { bench, pool } = await withPool(1, {}, { writeBatchBytes: 1_000 });
  const txn = bench.client.beginAt(pool[0]!);
  txn.checkNotExists(k('log/1/seal'));
  txn.insert(k('log/1/1'), new Uint8Array(800).fill(1));
  expect(await bench.run(txn.commitOnePhase())).toEqual({ kind: 'not-one-phase', reason: 'size' });
  expect(prewrites(bench)).toEqual([]);
});

test('not-one-phase, declined: the locks that the store left are gone before it is said', async () => {
  const { bench, pool } = await withPool(2);
  bench.cluster.mvcc.declinesOnePhase = true;
  expect(await append(bench, pool[0]!, '1')).toEqual({ kind: 'not-one-phase', reason: 'declined' });
  expect(prewrites(bench)).toMatchObject([{ lockTtl: 1 }]);
  expectNothingLeft(bench);
  // A late copy of the request cannot lock the slot again.
  expect(bench.cluster.mvcc.row(k('log/1/1')).writes).toMatchObject([{ kind: 'rollback', startTs: pool[0] }]);
  bench.cluster.mvcc.declinesOnePhase = false;
  expect((await append(bench, pool[1]!, '1')).kind).toBe('committed');
});

test('declined, and the locks cannot be cleared in time: undetermined until they are', async () => {
  const { bench, pool } = await withPool(1);
  bench.cluster.mvcc.declinesOnePhase = true;
  const undo = bench.cluster.script(({ command }) =>
    command === 'BatchRollback' ? { kind: 'silence', executed: false } : undefined,
  );
  const outcome = await append(bench, pool[0]!, '1', { timeoutMs: 8 * SECOND });
  if (outcome.kind !== 'undetermined') throw new Error(outcome.kind);
  expect(outcome).toMatchObject({ startTs: pool[0], primary: k('log/1/1') });
  undo();
  expect(await bench.run(outcome.settle())).toEqual({ kind: 'rolled-back' });
  await bench.idle();
  expectNothingLeft(bench);
});

test('undetermined: the answer is lost for good; settled, it is there or never will be', async () => {
  for (const executed of [true, false]) {
    const { bench, pool } = await withPool(1);
    const undo = bench.cluster.script(({ command }) =>
      command === 'Prewrite' ? { kind: 'silence', executed } : undefined,
    );
    const outcome = await append(bench, pool[0]!, '1', { timeoutMs: 8 * SECOND });
    if (outcome.kind !== 'undetermined') throw new Error(outcome.kind);
    undo();
    expect((await bench.run(outcome.settle())).kind).toBe(executed ? 'committed' : 'rolled-back');
    await bench.idle();
    expect(await bench.scan('log/', 'log0')).toEqual(executed ? ['log/1/1=batch'] : []);
    expectNothingLeft(bench);
  }
});

test('an answer that was lost once is found out by asking again, also when the seal came in between', async () => {
  for (const flavour of ['tikv', 'unistore'] as const) {
    for (const sealed of [false, true]) {
      const { bench, pool } = await withPool(1, { flavour });
      const other = await bench.connect();
      bench.cluster.script(({ command, request }) => {
        if (command !== 'Prewrite' || (request as PrewriteRequest).startVersion !== pool[0]) return undefined;
        const first = prewrites(bench).filter(({ startVersion }) => startVersion === pool[0]).length === 1;
        return first ? { kind: 'silence', executed: true } : undefined;
      });
      const writing = append(bench, pool[0]!, '1');
      if (sealed) {
        const seal = await other.begin();
        seal.insert(k('log/1/seal'), k('x'));
        await bench.run(seal.commitOnePhase());
      }
      expect((await writing).kind).toBe('committed');
      expectNothingLeft(bench);
    }
  }
});

test('what is no one-phase commit is refused before anything is sent', async () => {
  const bench = await Bench.make();
  const empty = await bench.run(bench.client.begin());
  await expect(bench.run(empty.commitOnePhase())).rejects.toMatchObject({ code: 'invalid-argument' });
  const checks = await bench.run(bench.client.begin());
  checks.checkNotExists(k('a'));
  await expect(bench.run(checks.commitOnePhase())).rejects.toMatchObject({ code: 'invalid-argument' });
  await expect(bench.run(checks.commitOnePhase())).rejects.toMatchObject({ code: 'transaction-ended' });
  expect(bench.cluster.calls).toEqual([]);
});

test('an old start timestamp: locks of two phases live from now on, and beyond a day or the safe point it is refused', async () => {
  const { bench, pool } = await withPool(3, {}, { lockTtlMs: 3 * SECOND });
  const txn = bench.client.beginAt(pool[0]!);
  txn.put(k('a'), k('1'));
  expect((await bench.run(txn.commit({ mode: '2pc' }))).kind).toBe('committed');
  expect(prewrites(bench)[0]?.lockTtl).toBeGreaterThanOrEqual(63 * SECOND);
  await bench.run(bench.client.gc.collect(30 * SECOND));
  const collected = bench.client.beginAt(pool[1]!);
  collected.put(k('a'), k('2'));
  await expect(bench.run(collected.commitOnePhase({ causal: true }))).rejects.toMatchObject({ code: 'gc-too-early' });
  await bench.clock.pass(86_400 * SECOND);
  const aged = bench.client.beginAt(pool[2]!);
  aged.put(k('a'), k('2'));
  await expect(bench.run(aged.commitOnePhase({ causal: true }))).rejects.toMatchObject({ code: 'transaction-ended' });
  expect(pool.every((timestamp) => timestamp < MAX_TIMESTAMP)).toBe(true);
});
