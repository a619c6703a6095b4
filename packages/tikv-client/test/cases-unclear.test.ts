import { expect, test } from 'vitest';
import type { CommitOutcome, TikvClient, Transaction } from '../index.ts';
import { composeTimestamp, maxTimestamp } from '@engram/tso';
import { type CheckTxnStatusRequest, CommitRole, type CommitRequest } from '../src/proto/gen/kvrpcpb.ts';
import { Bench, k, orphanLock, text } from './support/bench.ts';

type Mode = '1pc' | 'async' | '2pc';

/** A transaction whose client stops before the second phase: no store executes its commits. `result` is its promise. */
async function orphan(
  bench: Bench,
  client: TikvClient,
  entries: Readonly<Record<string, string>>,
  mode: Mode,
): Promise<{ txn: Transaction; result: Promise<CommitOutcome> }> {
  const undo = bench.cluster.script(({ command }) =>
    command === 'Commit' || command === 'TxnHeartBeat' ? { kind: 'silence', executed: false } : undefined,
  );
  const txn = await bench.run(client.begin());
  for (const [key, value] of Object.entries(entries)) txn.put(k(key), k(value));
  const result = txn.commit({ mode, timeoutMs: 100_000 }).catch((error: unknown) => error as CommitOutcome);
  await bench.clock.pass(20);
  await bench.run(client.close(0));
  undo();
  return { txn, result };
}

test('case 38: a coordinator dies after the prewrites: readers wait, then see the old value; its late commit fails', async () => {
  const bench = await Bench.make({}, { requestTimeoutMs: 1_000 });
  await bench.put({ a: '0' });
  const dying = await bench.connect();
  const { txn } = await orphan(bench, dying, { a: '1' }, '2pc');
  expect(bench.cluster.mvcc.locks()).toEqual([k('a')]);
  // A writer cannot push the lock, so it waits until the lock expires.
  const startMs = bench.clock.nowMs();
  await bench.put({ a: '2' });
  expect(bench.clock.nowMs() - startMs).toBeGreaterThan(2_500);
  expect(await bench.get('a')).toBe('2');
  const late = bench.cluster.mvcc.commit({
    context: undefined,
    startVersion: txn.startTs,
    keys: [k('a')],
    commitVersion: bench.cluster.pd.timestamp(),
    commitRole: 1,
    primaryKey: k('a'),
    useAsyncCommit: false,
  });
  expect(late.error?.txnLockNotFound).toBeDefined();
});

test('case 39: it dies when all keys of an async commit are locked: after their time readers see the new value', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  const { result } = await orphan(bench, await bench.connect(), { a: '1', z: '1' }, 'async');
  const outcome = await result;
  expect(outcome.kind).toBe('committed');
  const floors = [k('a'), k('z')].map((key) => bench.cluster.mvcc.row(key).lock!.minCommitTs);
  expect(await bench.get('z')).toBe('1');
  expect(await bench.get('a')).toBe('1');
  await bench.idle();
  const committed = bench.cluster.mvcc.row(k('z')).writes[0]!;
  expect(committed.commitTs).toBe(maxTimestamp(floors[0]!, floors[1]!));
  expect(outcome).toMatchObject({ commitTs: committed.commitTs });
});

test('case 40: the same, but one key was never locked: readers roll it back, and the late prewrite is refused', async () => {
  const bench = await Bench.make({}, { requestTimeoutMs: 1_000 });
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  const undo = bench.cluster.script(({ command, request }) =>
    command === 'Prewrite' && (request as { mutations: { key: Uint8Array }[] }).mutations[0]?.key[0] === 122
      ? { kind: 'silence', executed: false }
      : undefined,
  );
  const dying = await bench.connect();
  const txn = await bench.run(dying.begin());
  txn.put(k('a'), k('1'));
  txn.put(k('z'), k('1'));
  const result = txn.commit({ mode: 'async' }).catch(() => undefined);
  await bench.clock.pass(50);
  await bench.run(dying.close(0));
  await bench.run(result);
  undo();
  expect(await bench.get('a')).toBe('0');
  await bench.idle();
  expect(bench.cluster.mvcc.locks()).toEqual([]);
  const late = bench.cluster.mvcc.row(k('z')).writes.find(({ startTs }) => startTs === txn.startTs);
  expect(late?.kind).toBe('rollback');
});

test('case 41: one lock of an async commit is a plain one: its primary decides, by the rules of two phases', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  const { txn } = await orphan(bench, await bench.connect(), { a: '1', z: '1' }, 'async');
  bench.cluster.mvcc.row(k('z')).lock!.useAsyncCommit = false;
  expect(await bench.get('a')).toBe('0');
  await bench.idle();
  const forced = bench.cluster
    .sent('CheckTxnStatus')
    .filter(({ request }) => (request as CheckTxnStatusRequest).forceSyncCommit);
  expect(forced).toHaveLength(1);
  expect(bench.cluster.mvcc.row(k('a')).writes.find(({ startTs }) => startTs === txn.startTs)?.kind).toBe('rollback');
});

test('case 42: a reader pushes a live lock and reads the old value at once; the commit moves above it', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '0' });
  // A reader with a later timestamp comes after the commit timestamp was taken and before the commit arrives.
  bench.cluster.next('Commit', { kind: 'delay', ms: 200 });
  const other = await bench.connect();
  const txn = await bench.run(other.begin());
  txn.put(k('a'), k('1'));
  const writing = txn.commit({ mode: '2pc' });
  await bench.clock.pass(50);
  const startMs = bench.clock.nowMs();
  const snapshot = await bench.run(bench.client.snapshot());
  expect(text(await bench.run(snapshot.get(k('a'))))).toBe('0');
  expect(bench.clock.nowMs() - startMs).toBeLessThan(50);
  const outcome = await bench.run(writing);
  expect(outcome.kind).toBe('committed');
  expect(bench.cluster.sent('Commit')).toHaveLength(2);
  expect(outcome.kind === 'committed' && outcome.commitTs > snapshot.timestamp).toBe(true);
  expect(text(await bench.run(snapshot.get(k('a'))))).toBe('0');
  expect(await bench.get('a')).toBe('1');
});

test('case 43: the answer of the primary’s commit is lost, the server had committed: success, at that timestamp, once', async () => {
  const bench = await Bench.make();
  bench.cluster.next('Commit', { kind: 'lose' });
  const commitTs = await bench.put({ a: '1' }, { mode: '2pc' });
  // Between the two commits another peer is asked, which names the same leader.
  expect(bench.cluster.sent('Commit').map(({ storeId }) => storeId)).toEqual([1, 2, 1]);
  expect(bench.cluster.mvcc.row(k('a')).writes).toHaveLength(1);
  expect(bench.cluster.mvcc.row(k('a')).writes[0]?.commitTs).toBe(commitTs);
});

test('case 44: the same, but the server never got it: the second sending commits', async () => {
  const bench = await Bench.make();
  bench.cluster.next('Commit', { kind: 'refuse' });
  const commitTs = await bench.put({ a: '1' }, { mode: '2pc' });
  expect(bench.cluster.mvcc.row(k('a')).writes[0]?.commitTs).toBe(commitTs);
});

test('case 45: the same, and a reader has rolled it back meanwhile: a definite failure', async () => {
  const bench = await Bench.make();
  const txn = await bench.run(bench.client.begin());
  txn.put(k('a'), k('1'));
  let rolledBack = false;
  bench.cluster.script(({ command }) => {
    if (command !== 'Commit' || rolledBack) return undefined;
    rolledBack = true;
    bench.cluster.mvcc.batchRollback({ context: undefined, startVersion: txn.startTs, keys: [k('a')] });
    return { kind: 'refuse' };
  });
  expect(await bench.run(txn.commit({ mode: '2pc' }))).toMatchObject({ kind: 'conflict', reason: 'rolled-back' });
  expect(await bench.get('a')).toBeUndefined();
});

test.each(['tikv', 'unistore'] as const)(
  'case 46 (%s): the answer of a one-phase commit is lost: the second sending finds it committed',
  async (flavour) => {
    const bench = await Bench.make({ flavour });
    bench.cluster.next('Prewrite', { kind: 'lose' });
    const txn = await bench.run(bench.client.begin());
    txn.put(k('a'), k('1'));
    const outcome = await bench.run(txn.commit());
    expect(outcome).toMatchObject({
      kind: 'committed',
      mode: '1pc',
      commitTs: bench.cluster.mvcc.row(k('a')).writes[0]!.commitTs,
    });
    expect(bench.cluster.mvcc.row(k('a')).writes).toHaveLength(1);
    const resent = bench.cluster.sent('Prewrite').map(({ context }) => context?.isRetryRequest);
    expect(resent).toEqual([false, true, true]);
  },
);

test('case 46, an insert: the refusal of the second sending is the echo of the first', async () => {
  const bench = await Bench.make();
  let first = true;
  bench.cluster.script(({ command }) => {
    if (command !== 'Prewrite') return undefined;
    if (!first) return { kind: 'answer', response: { errors: [{ alreadyExist: { key: k('a') } }] } };
    first = false;
    return { kind: 'lose' };
  });
  const txn = await bench.run(bench.client.begin());
  txn.insert(k('a'), k('1'));
  expect(await bench.run(txn.commit())).toMatchObject({ kind: 'committed' });
});

test.each(['connect ECONNREFUSED 10.0.0.9:20160', 'No connection established. Last error: gone', 'bad certificate'])(
  'case 47: a store that commits and then ends the connection with %j has the commit nevertheless',
  async (words) => {
    const bench = await Bench.make();
    const undo = bench.cluster.script(({ command }) => (command === 'Commit' ? { kind: 'lose', words } : undefined));
    const txn = await bench.run(bench.client.begin());
    txn.put(k('a'), k('1'));
    const outcome = await bench.run(txn.commit({ mode: '2pc', timeoutMs: 8_000 }));
    expect(outcome).toMatchObject({ kind: 'undetermined', startTs: txn.startTs });
    undo();
    if (outcome.kind === 'undetermined') expect((await bench.run(outcome.settle())).kind).toBe('committed');
  },
);

test.each([
  { mode: '2pc', command: 'Commit', executed: true, settled: 'committed' },
  { mode: '2pc', command: 'Commit', executed: false, settled: 'rolled-back' },
  { mode: '1pc', command: 'Prewrite', executed: true, settled: 'committed' },
  { mode: '1pc', command: 'Prewrite', executed: false, settled: 'rolled-back' },
  { mode: 'async', command: 'Prewrite', executed: true, settled: 'committed' },
  { mode: 'async', command: 'Prewrite', executed: false, settled: 'rolled-back' },
] as const)(
  'case 47: $mode without an answer until the deadline (executed: $executed) is undetermined, and settles as $settled',
  async ({ mode, command, executed, settled }) => {
    const bench = await Bench.make();
    const undo = bench.cluster.script((call) => (call.command === command ? { kind: 'silence', executed } : undefined));
    const txn = await bench.run(bench.client.begin());
    txn.put(k('a'), k('1'));
    txn.put(k('b'), k('1'));
    const startMs = bench.clock.nowMs();
    const outcome = await bench.run(txn.commit({ mode, timeoutMs: 8_000 }));
    expect(bench.clock.nowMs() - startMs).toBeLessThan(8_200);
    expect(outcome).toMatchObject({ kind: 'undetermined', startTs: txn.startTs, primary: k('a') });
    undo();
    if (outcome.kind !== 'undetermined') return;
    expect((await bench.run(outcome.settle())).kind).toBe(settled);
    expect(await bench.scan('a', 'z')).toEqual(settled === 'committed' ? ['a=1', 'b=1'] : []);
    expect((await bench.run(outcome.settle())).kind).toBe(settled);
    await bench.idle();
    expect(bench.cluster.mvcc.locks()).toEqual([]);
  },
);

test('a signal in the middle of a commit: undetermined if the write is out, an error if it is not', async () => {
  const bench = await Bench.make();
  bench.cluster.script((call) => (call.command === 'Commit' ? { kind: 'silence', executed: true } : undefined));
  const stop = new AbortController();
  const txn = await bench.run(bench.client.begin());
  txn.put(k('a'), k('1'));
  bench.clock.after(100, () => stop.abort());
  expect((await bench.run(txn.commit({ mode: '2pc', signal: stop.signal }))).kind).toBe('undetermined');
  const late = await bench.run(bench.client.begin());
  late.put(k('b'), k('1'));
  await expect(bench.run(late.commit({ signal: AbortSignal.abort() }))).rejects.toMatchObject({ code: 'aborted' });
});

test('case 48: the commits of the other keys fail for ever: committed all the same, and readers find it out', async () => {
  const bench = await Bench.make({}, { backgroundBudgetMs: 3_000 });
  bench.cluster.regions.split(k('m'));
  bench.cluster.script(({ command, request }) =>
    command === 'Commit' && (request as { commitRole: number }).commitRole === 2 ? { kind: 'refuse' } : undefined,
  );
  await bench.put({ a: '1', z: '1' }, { mode: '2pc' });
  await bench.idle();
  expect(bench.cluster.mvcc.locks()).toEqual([k('z')]);
  const other = await bench.connect();
  expect(text(await bench.run(other.snapshot().then((snapshot) => snapshot.get(k('z')))))).toBe('1');
  await bench.run(other.idle());
  expect(bench.cluster.mvcc.locks()).toEqual([]);
});

test('a rollback that finds the primary committed touches no other key, and no read takes the transaction for ended', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  await bench.idle();
  // The server executes the commit, but answers that there was no lock.
  bench.cluster.script(({ command, request }) => {
    if (command !== 'Commit' || (request as CommitRequest).commitRole !== CommitRole.Primary) return undefined;
    bench.cluster.mvcc.commit(request as CommitRequest);
    return { kind: 'answer', response: { error: { retryable: 'lock not found' } } };
  });
  expect((await bench.run(bench.write({ a: '1', z: '1' }, { mode: '2pc' }))).kind).toBe('conflict');
  const early = await bench.scan('a', '');
  await bench.idle();
  expect([early, await bench.scan('a', '')]).toEqual([
    ['a=1', 'z=1'],
    ['a=1', 'z=1'],
  ]);
});

test('case 49: a secondary that is committed too early is reported as the bug that it is', async () => {
  const errors: string[] = [];
  const none = (): void => {};
  const bench = await Bench.make(
    {},
    { logger: { debug: none, info: none, warn: none, error: (_, message) => errors.push(message) } },
  );
  bench.cluster.regions.split(k('m'));
  bench.cluster.script(({ command, request }) =>
    command === 'Commit' && (request as { commitRole: number }).commitRole === 2
      ? { kind: 'answer', response: { error: { commitTsExpired: { minCommitTs: 99n } } } }
      : undefined,
  );
  await bench.put({ a: '1', z: '1' }, { mode: '2pc' });
  await bench.idle();
  expect(errors.some((message) => message.includes('a bug'))).toBe(true);
});

test('case 50: the primary’s region splits between the phases: the commit goes to the new region', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '0', p: '0' });
  let split = false;
  bench.cluster.script(({ command }) => {
    if (command === 'Commit' && !split) {
      split = true;
      bench.cluster.regions.split(k('o'));
    }
    return undefined;
  });
  const txn = await bench.run(bench.client.begin());
  txn.put(k('p'), k('1'));
  txn.put(k('q'), k('1'));
  expect(await bench.run(txn.commit({ mode: '2pc' }))).toMatchObject({ kind: 'committed', mode: '2pc' });
  await bench.idle();
  expect(bench.cluster.mvcc.locks()).toEqual([]);
  expect(await bench.scan('a', '')).toEqual(['a=0', 'p=1', 'q=1']);
});

test('case 55: a thousand readers of one lock: its transaction is asked about once at a time', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '0' });
  await orphan(bench, await bench.connect(), { a: '1' }, '2pc');
  bench.cluster.calls.length = 0;
  const snapshots = await bench.run(Promise.all(Array.from({ length: 1_000 }, () => bench.client.snapshot())));
  const values = await bench.run(Promise.all(snapshots.map((snapshot) => snapshot.get(k('a')))));
  expect(values.map(text)).toEqual(new Array(1_000).fill('0'));
  expect(bench.cluster.sent('CheckTxnStatus').length).toBeLessThanOrEqual(2);
});

test.each(['tikv', 'unistore'] as const)(
  'case 55 (%s): a thousand readers of a dead lock: it is cleared once, not once for each',
  async (flavour) => {
    const bench = await Bench.make({ flavour });
    await bench.put({ a: '0' });
    await orphan(bench, await bench.connect(), { a: '1' }, '2pc');
    await bench.run(new Promise<void>((resolve) => bench.clock.after(10_000, resolve)));
    bench.cluster.calls.length = 0;
    const snapshots = await bench.run(Promise.all(Array.from({ length: 1_000 }, () => bench.client.snapshot())));
    const values = await bench.run(Promise.all(snapshots.map((snapshot) => snapshot.get(k('a')))));
    expect(values.map(text)).toEqual(new Array(1_000).fill('0'));
    await bench.idle();
    expect(bench.cluster.mvcc.locks()).toEqual([]);
    expect(bench.cluster.sent('ResolveLock').length).toBeLessThanOrEqual(2);
  },
);

test('case 56: the primary of a young lock is not there: wait; of an expired one: it never will be', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  const startTs = await bench.run(bench.client.timestamp());
  // The secondary was prewritten first. The prewrite of the primary is still under way.
  bench.cluster.mvcc.row(k('z')).lock = orphanLock(startTs, k('a'), { txnSize: 2n });
  const startMs = bench.clock.nowMs();
  expect(await bench.get('z')).toBe('0');
  expect(bench.clock.nowMs() - startMs).toBeGreaterThan(2_500);
  expect(bench.sleeps.some(([kind]) => kind === 'txnNotFound')).toBe(true);
  const late = bench.cluster.mvcc.row(k('a')).writes.find((write) => write.startTs === startTs);
  expect(late?.kind).toBe('rollback');
});

test('case 57: our clock is ten minutes wrong: locks still end by PD’s', async () => {
  for (const minutes of [-10, 10]) {
    const bench = await Bench.make();
    bench.clock.jumpWall(minutes * 60_000);
    await bench.put({ a: '0' });
    await orphan(bench, await bench.connect(), { a: '1' }, '2pc');
    const startMs = bench.clock.nowMs();
    await bench.put({ a: '2' });
    const waitedMs = bench.clock.nowMs() - startMs;
    expect(waitedMs).toBeGreaterThan(2_000);
    expect(waitedMs).toBeLessThan(4_500);
  }
  expect(composeTimestamp(1, 0)).toBe(262_144n);
});
