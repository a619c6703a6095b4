import { expect, test } from 'vitest';
import type { Transaction } from '../index.ts';
import { physicalMs, shiftTimestamp } from '@engram/tso';
import { Bench, k, orphanLock } from './support/bench.ts';

const SECOND = 1_000;

test('case 67: two collectors: the safe point only grows, and the lower wish is told the higher one', async () => {
  for (const modern of [false, true]) {
    const bench = await Bench.make();
    if (modern) bench.cluster.pd.unimplemented.clear();
    await bench.put({ a: '1' });
    await bench.clock.pass(600 * SECOND);
    const high = await bench.run(bench.client.gc.collect(60 * SECOND));
    const low = await bench.run(bench.client.gc.collect(300 * SECOND));
    expect(low.safePoint).toBe(high.safePoint);
    expect(bench.cluster.pd.gcSafePoint).toBe(high.safePoint);
    await bench.clock.pass(600 * SECOND);
    expect((await bench.run(bench.client.gc.collect(60 * SECOND))).safePoint).toBeGreaterThan(high.safePoint);
  }
});

test('case 68: orphans of both kinds below the safe point are settled before it moves', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', b: '0', z: '0' });
  const startTs = await bench.run(bench.client.timestamp());
  const lock = orphanLock(startTs, k('a'));
  bench.cluster.mvcc.row(k('a')).lock = lock;
  const asyncTs = await bench.run(bench.client.timestamp());
  const asyncLock = { ...lock, startTs: asyncTs, primary: k('b'), useAsyncCommit: true, minCommitTs: asyncTs + 5n };
  bench.cluster.mvcc.row(k('b')).lock = { ...asyncLock, secondaries: [k('z')] };
  bench.cluster.mvcc.row(k('z')).lock = { ...asyncLock, minCommitTs: asyncTs + 9n };
  await bench.clock.pass(600 * SECOND);
  const safePointsAtResolve: bigint[] = [];
  bench.cluster.script(({ command }) => {
    if (command === 'ResolveLock') safePointsAtResolve.push(bench.cluster.pd.gcSafePoint);
    return undefined;
  });
  const result = await bench.run(bench.client.gc.collect(60 * SECOND));
  expect(result.resolvedLocks).toBeGreaterThan(0);
  expect(bench.cluster.mvcc.locks()).toEqual([]);
  expect(safePointsAtResolve.every((safePoint) => safePoint === 0n)).toBe(true);
  expect(bench.cluster.pd.gcSafePoint).toBe(result.safePoint);
  bench.cluster.mvcc.collect(result.safePoint);
  expect(await bench.scan('a', '')).toEqual(['a=0', 'b=1', 'z=1']);
  expect(bench.cluster.mvcc.row(k('z')).writes[0]?.commitTs).toBe(asyncTs + 9n);
});

test('an async commit of which a lock is a plain one is ended below the safe point, however long its locks live', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  const startTs = await bench.run(bench.client.timestamp());
  const lock = orphanLock(startTs, k('a'), { ttlMs: 3_600 * SECOND, minCommitTs: startTs + 5n });
  bench.cluster.mvcc.row(k('a')).lock = { ...lock, useAsyncCommit: true, secondaries: [k('z')] };
  bench.cluster.mvcc.row(k('z')).lock = lock;
  await bench.clock.pass(600 * SECOND);
  const { resolvedLocks } = await bench.run(bench.client.gc.collect(60 * SECOND));
  expect(resolvedLocks).toBe(2);
  expect(await bench.scan('a', '')).toEqual(['a=0', 'z=0']);
});

test('orphans of more transactions than the client remembers are settled', async () => {
  const bench = await Bench.make();
  const folders = ['a', 'f', 'm', 's'];
  bench.cluster.regions.split(...folders.slice(1).map(k));
  const startTs = await bench.run(bench.client.timestamp());
  for (const folder of folders) {
    for (let number = 0; number < 700; number += 1) {
      const key = k(`${folder}${number}`);
      const ownTs = startTs - BigInt(number * folders.length + folders.indexOf(folder));
      bench.cluster.mvcc.row(key).lock = orphanLock(ownTs, key);
    }
  }
  await bench.clock.pass(600 * SECOND);
  const { resolvedLocks } = await bench.run(bench.client.gc.collect(60 * SECOND));
  expect(resolvedLocks).toBe(4 * 700);
  expect(bench.cluster.mvcc.locks()).toEqual([]);
});

test('case 69: somebody else holds an older version: the safe point stays there until that ends', async () => {
  for (const modern of [false, true]) {
    const bench = await Bench.make();
    if (modern) bench.cluster.pd.unimplemented.clear();
    await bench.put({ a: '1' });
    const held = await bench.run(bench.client.timestamp());
    await bench.run(bench.client.gc.collect(0));
    await bench.clock.pass(1_001);
    await bench.run(bench.client.gc.hold('backup', shiftTimestamp(held, 1_000), 900));
    await bench.clock.pass(600 * SECOND);
    const first = await bench.run(bench.client.gc.collect(60 * SECOND));
    expect(first.heldBack).toBe(true);
    expect(physicalMs(first.safePoint)).toBe(physicalMs(held) + 1_000);
    await bench.clock.pass(600 * SECOND);
    const second = await bench.run(bench.client.gc.collect(60 * SECOND));
    expect(second.heldBack).toBe(false);
    expect(second.safePoint).toBeGreaterThan(first.safePoint);
    await bench.clock.pass(1_001);
    await bench.run(bench.client.gc.hold('backup', second.safePoint + 1n, 900));
    await bench.run(bench.client.gc.release('backup'));
    await bench.clock.pass(60 * SECOND);
    expect((await bench.run(bench.client.gc.collect(0))).heldBack).toBe(false);
  }
});

const fenced = (txn: Transaction, epoch: number, log: string): void => {
  txn.checkNotExists(k(`fence/${epoch + 1}`));
  txn.insert(k(log), k('batch'));
};

test('case 70: after a takeover the old leader’s batch is refused whole; what came before it is seen by the new one', async () => {
  const bench = await Bench.make();
  const begin = async (fill: (txn: Transaction) => void): Promise<Transaction> => {
    const txn = await bench.run(bench.client.begin());
    fill(txn);
    return txn;
  };
  const before = await begin((txn) => fenced(txn, 1, 'log/1'));
  expect((await bench.run(before.commitOnePhase())).kind).toBe('committed');
  const takeover = await begin((txn) => txn.insert(k('fence/2'), k('new leader')));
  expect((await bench.run(takeover.commit())).kind).toBe('committed');
  const after = await begin((txn) => fenced(txn, 1, 'log/2'));
  expect(await bench.run(after.commitOnePhase())).toMatchObject({ kind: 'exists', key: k('fence/2') });
  expect(await bench.scan('log/', 'log0')).toEqual(['log/1=batch']);
  await bench.idle();
  expect(bench.cluster.mvcc.row(k('log/2')).writes).toEqual([]);
  const next = await begin((txn) => fenced(txn, 2, 'log/2'));
  expect((await bench.run(next.commitOnePhase())).kind).toBe('committed');
});

test('case 71: the old leader stops for a minute in the middle of its batch: nothing of it lands', async () => {
  for (const held of ['request', 'client'] as const) {
    const bench = await Bench.make({}, { requestTimeoutMs: 120 * SECOND });
    const old = await bench.connect({ requestTimeoutMs: 120 * SECOND });
    const txn = await bench.run(old.begin());
    fenced(txn, 1, 'log/1');
    if (held === 'request') bench.cluster.next('Prewrite', { kind: 'delay', ms: 60 * SECOND });
    const writing = held === 'request' ? txn.commitOnePhase({ timeoutMs: 120 * SECOND }) : undefined;
    await bench.clock.pass(SECOND);
    const takeover = await bench.run(bench.client.begin());
    takeover.insert(k('fence/2'), k('new leader'));
    expect((await bench.run(takeover.commit())).kind).toBe('committed');
    await bench.clock.pass(60 * SECOND);
    const outcome = await bench.run(writing ?? txn.commitOnePhase());
    expect(['exists', 'conflict']).toContain(outcome.kind);
    await bench.idle();
    expect(await bench.scan('log/', 'log0')).toEqual([]);
    expect(bench.cluster.mvcc.locks()).toEqual([]);
  }
});

test('case 72: a batch over two regions is not one phase: it says so, or locks the fence, as the caller says', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('log/'));
  const fails = await bench.run(bench.client.begin());
  fenced(fails, 1, 'log/1');
  expect(await bench.run(fails.commitOnePhase())).toEqual({ kind: 'not-one-phase', reason: 'regions' });
  expect(bench.cluster.sent('Prewrite')).toHaveLength(0);
  const locks = await bench.run(bench.client.begin());
  fenced(locks, 1, 'log/1');
  expect(await bench.run(locks.commit({ lockUnlessOnePhase: [k('fence/1')] }))).toMatchObject({
    kind: 'committed',
    mode: 'async',
  });
  await bench.idle();
  expect(bench.cluster.mvcc.row(k('fence/1')).writes[0]?.kind).toBe('lock');
  // A takeover that writes the fence key conflicts with a batch that is under way.
  const slow = await bench.run(bench.client.begin());
  fenced(slow, 1, 'log/2');
  const takeover = await bench.run(bench.client.begin());
  takeover.put(k('fence/1'), k('closed'));
  expect((await bench.run(takeover.commit())).kind).toBe('committed');
  expect(await bench.run(slow.commit({ lockUnlessOnePhase: [k('fence/1')] }))).toMatchObject({ kind: 'conflict' });
  await bench.idle();
  expect(bench.cluster.mvcc.locks()).toEqual([]);
  // A key cannot be both locked and checked. If the transaction has only checks, the lock becomes its primary.
  const both = await bench.run(bench.client.begin());
  fenced(both, 1, 'log/3');
  await expect(bench.run(both.commit({ lockUnlessOnePhase: [k('fence/2')] }))).rejects.toMatchObject({
    code: 'invalid-argument',
  });
  const checks = await bench.run(bench.client.begin());
  checks.checkNotExists(k('fence/9'));
  checks.checkNotExists(k('log/9'));
  const outcome = await bench.run(checks.commit({ lockUnlessOnePhase: [k('fence/1')], mode: '2pc' }));
  expect(outcome).toMatchObject({ kind: 'committed', mode: '2pc' });
  await bench.idle();
  expect(bench.cluster.mvcc.row(k('fence/1')).writes[0]).toMatchObject({ kind: 'lock', startTs: checks.startTs });
  // If the region was split after the client has cached it, the client finds out, and nothing is written.
  const sneaky = await Bench.make();
  await sneaky.put({ 'fence/1': 'x', 'log/0': 'y' });
  sneaky.cluster.regions.split(k('log/'));
  const late = await sneaky.run(sneaky.client.begin());
  fenced(late, 1, 'log/1');
  expect(await sneaky.run(late.commitOnePhase())).toEqual({ kind: 'not-one-phase', reason: 'regions' });
  expect(sneaky.cluster.mvcc.row(k('log/1')).writes).toEqual([]);
});
