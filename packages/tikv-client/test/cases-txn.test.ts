import { expect, onTestFinished, test, vi } from 'vitest';
import type { GetRequest, PrewriteRequest } from '../src/proto/gen/kvrpcpb.ts';
import type { CommitOutcome, Transaction } from '../index.ts';
import { BackgroundTasks } from '../src/runtime/background-tasks.ts';
import { physicalMs } from '@engram/tso';
import { Bench, k, orphanLock, text } from './support/bench.ts';

/** Buffers writes, as `Bench.write` does, but leaves the commit to the test. */
async function begin(bench: Bench, fill: (txn: Transaction) => void): Promise<Transaction> {
  const txn = await bench.run(bench.client.begin());
  fill(txn);
  return txn;
}
const kinds = (outcomes: readonly CommitOutcome[]): string[] => outcomes.map(({ kind }) => kind);
const writes = ['Prewrite', 'Commit', 'BatchRollback', 'ResolveLock'] as const;
const sentWrites = (bench: Bench): string[] =>
  bench.cluster.calls.map(({ command }) => command).filter((command) => writes.some((name) => name === command));

test('case 28: what wrote nothing commits without a write call', async () => {
  const bench = await Bench.make();
  const reader = await begin(bench, () => {});
  await bench.run(reader.get(k('a')));
  expect(await bench.run(reader.commit())).toMatchObject({ kind: 'committed', mode: 'read-only' });
  expect(await bench.run((await begin(bench, () => {})).commit())).toMatchObject({ kind: 'committed' });
  expect(sentWrites(bench)).toEqual([]);
});

test('case 29: one region, one phase: a single prewrite, visible exactly from its commit timestamp on', async () => {
  const bench = await Bench.make();
  const txn = await begin(bench, (own) => own.put(k('a'), k('1')));
  const outcome = await bench.run(txn.commit());
  expect(outcome).toMatchObject({ kind: 'committed', mode: '1pc' });
  if (outcome.kind !== 'committed') return;
  expect(sentWrites(bench)).toEqual(['Prewrite']);
  // The request has no fields of async commit, because some stores write the list of other keys beside every record.
  expect(bench.cluster.sent('Prewrite')[0]!.request).toMatchObject({
    tryOnePc: true,
    useAsyncCommit: false,
    secondaries: [],
  });
  expect(text(await bench.run(bench.client.snapshotAt(outcome.commitTs).get(k('a'))))).toBe('1');
  expect(await bench.run(bench.client.snapshotAt(outcome.commitTs - 1n).get(k('a')))).toBeUndefined();
});

test('case 30: a calculated timestamp above the bound: two phases follow, and no lock stays', async () => {
  const bench = await Bench.make();
  const txn = await begin(bench, (own) => own.put(k('a'), k('1')));
  expect(await bench.run(txn.commit({ maxCommitTs: txn.startTs }))).toMatchObject({ kind: 'committed', mode: '2pc' });
  await bench.idle();
  expect(sentWrites(bench)).toEqual(['Prewrite', 'Commit']);
  expect(bench.cluster.mvcc.locks()).toEqual([]);
});

test.each(['1pc', 'async', '2pc'] as const)(
  'case 31 (%s): the second of two overlapping writers conflicts and leaves no lock',
  async (mode) => {
    const bench = await Bench.make();
    bench.cluster.regions.split(k('m'));
    const first = await begin(bench, (own) => own.put(k('a'), k('1')));
    const second = await begin(bench, (own) => {
      own.put(k('a'), k('2'));
      own.put(k('z'), k('2'));
    });
    expect((await bench.run(first.commit({ mode }))).kind).toBe('committed');
    const outcome = await bench.run(second.commit({ mode }));
    expect(outcome).toMatchObject({ kind: 'conflict', reason: 'newer-write', conflictStartTs: first.startTs });
    await bench.idle();
    expect(bench.cluster.mvcc.locks()).toEqual([]);
    expect(await bench.scan('a', '')).toEqual(['a=1']);
  },
);

test('case 32: an insert of what exists writes nothing in any region; after a deletion it works', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ z: '1' });
  const insert = await begin(bench, (own) => {
    own.put(k('a'), k('2'));
    own.insert(k('z'), k('2'));
  });
  expect(await bench.run(insert.commit())).toMatchObject({ kind: 'exists', key: k('z') });
  await bench.idle();
  expect(bench.cluster.mvcc.locks()).toEqual([]);
  expect(await bench.scan('a', '')).toEqual(['z=1']);
  const remove = await begin(bench, (own) => own.delete(k('z')));
  await bench.run(remove.commit());
  const again = await begin(bench, (own) => own.insert(k('z'), k('3')));
  expect((await bench.run(again.commit())).kind).toBe('committed');
});

test('case 33: checks take no lock and no commit; the primary is another key; checks alone are one prewrite and nothing else', async () => {
  const bench = await Bench.make();
  const mixed = await begin(bench, (own) => {
    own.checkNotExists(k('a'));
    own.put(k('b'), k('1'));
  });
  expect((await bench.run(mixed.commit({ mode: '2pc' }))).kind).toBe('committed');
  expect((bench.cluster.sent('Prewrite')[0]!.request as PrewriteRequest).primaryLock).toEqual(k('b'));
  expect((bench.cluster.sent('Commit')[0]!.request as { keys: Uint8Array[] }).keys).toEqual([k('b')]);
  bench.cluster.calls.length = 0;
  const alone = await begin(bench, (own) => own.checkNotExists(k('a')));
  expect((await bench.run(alone.commit())).kind).toBe('committed');
  const refused = await begin(bench, (own) => own.checkNotExists(k('b')));
  expect(await bench.run(refused.commit())).toMatchObject({ kind: 'exists' });
  await bench.idle();
  expect(sentWrites(bench)).toEqual(['Prewrite', 'Prewrite']);
  expect(bench.cluster.mvcc.locks()).toEqual([]);
});

test('case 34: an error beside a commit timestamp is an error', async () => {
  const bench = await Bench.make({ flavour: 'unistore' });
  await bench.put({ a: '1' });
  const insert = await begin(bench, (own) => own.insert(k('a'), k('2')));
  expect((await bench.run(insert.commit())).kind).toBe('exists');
  expect(await bench.get('a')).toBe('1');
});

test('case 35: a value of no length is refused at once', async () => {
  const bench = await Bench.make();
  const txn = await begin(bench, () => {});
  expect(() => txn.put(k('a'), new Uint8Array(0))).toThrow(expect.objectContaining({ code: 'empty-value' }));
  expect(() => txn.insert(k('a'), new Uint8Array(0))).toThrow(expect.objectContaining({ code: 'empty-value' }));
});

test('case 36: put and delete of one key is one deletion; insert and delete writes nothing', async () => {
  const bench = await Bench.make();
  const txn = await begin(bench, (own) => {
    own.put(k('a'), k('1'));
    own.delete(k('a'));
  });
  await bench.run(txn.commit());
  expect((bench.cluster.sent('Prewrite')[0]!.request as PrewriteRequest).mutations.map(({ op }) => op)).toEqual([1]);
  const nothing = await begin(bench, (own) => {
    own.insert(k('b'), k('1'));
    own.delete(k('b'));
  });
  await bench.run(nothing.commit());
  expect(bench.cluster.mvcc.row(k('b')).writes).toEqual([]);
});

test('case 37: the second batch is refused: the first one is rolled back behind it, and a reader waits no longer than the lock lives', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  const loser = await begin(bench, (own) => {
    own.put(k('a'), k('1'));
    own.put(k('z'), k('1'));
  });
  await bench.put({ z: '2' });
  // The loser's rollbacks arrive late.
  bench.cluster.script(({ command }) => (command === 'BatchRollback' ? { kind: 'delay', ms: 60_000 } : undefined));
  expect((await bench.run(loser.commit({ mode: '2pc' }))).kind).toBe('conflict');
  expect(bench.cluster.mvcc.locks()).toEqual([k('a')]);
  const other = await bench.connect();
  const startMs = bench.clock.nowMs();
  const read = other.snapshot().then((snapshot) => snapshot.get(k('a')));
  expect(text(await bench.run(read))).toBe('0');
  expect(bench.clock.nowMs() - startMs).toBeLessThan(3_500);
});

test('case 51: the leader has not yet learnt the largest timestamp: asked again, then one phase works', async () => {
  const bench = await Bench.make();
  bench.cluster.next('Prewrite', { kind: 'region-error', error: { maxTimestampNotSynced: {} } }, 2);
  const txn = await begin(bench, (own) => own.put(k('a'), k('1')));
  expect(await bench.run(txn.commit())).toMatchObject({ kind: 'committed', mode: '1pc' });
  expect(bench.sleeps).toEqual([
    ['maxTsNotSynced', 2],
    ['maxTsNotSynced', 4],
  ]);
});

test('case 52: what is too large is refused, here or by the store, and never sent again', async () => {
  const bench = await Bench.make();
  const txn = await begin(bench, () => {});
  expect(() => txn.put(k('a'), new Uint8Array(9 << 20))).toThrow(expect.objectContaining({ code: 'value-too-large' }));
  expect(() => txn.put(new Uint8Array(5_000), k('v'))).toThrow(expect.objectContaining({ code: 'key-too-large' }));
  const small = await bench.connect({ transactionBytesMax: 100 });
  const large = await bench.run(small.begin());
  large.put(k('a'), new Uint8Array(200));
  await expect(bench.run(large.commit())).rejects.toMatchObject({ code: 'transaction-too-large' });
  expect(sentWrites(bench)).toEqual([]);
  bench.cluster.next('Prewrite', {
    kind: 'region-error',
    error: { raftEntryTooLarge: { regionId: 1, entrySize: 9_000_000 } },
  });
  txn.put(k('a'), k('1'));
  await expect(bench.run(txn.commit())).rejects.toMatchObject({ code: 'transaction-too-large' });
  expect(bench.cluster.sent('Prewrite')).toHaveLength(1);
});

test('case 53: many keys, or long ones, are not committed asynchronously; one phase does not mind', async () => {
  const bench = await Bench.make();
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`key${at}`, 'v']));
  expect(await bench.run(bench.write(many))).toMatchObject({ kind: 'committed', mode: '1pc' });
  expect(await bench.run(bench.write(many, { mode: 'async' }))).toMatchObject({ kind: 'committed', mode: '2pc' });
  const long = { [`a${'x'.repeat(2_100)}`]: '1', [`b${'x'.repeat(2_100)}`]: '1' };
  expect(await bench.run(bench.write(long, { mode: 'async' }))).toMatchObject({ mode: '2pc' });
  expect(await bench.run(bench.write({ a: '1', b: '2' }, { mode: 'async' }))).toMatchObject({ mode: 'async' });
});

test('case 54: a younger lock in the way: conflict at once, and nobody is asked about it', async () => {
  const bench = await Bench.make();
  const older = await begin(bench, (own) => own.put(k('a'), k('1')));
  const younger = await begin(bench, (own) => own.put(k('a'), k('2')));
  bench.cluster.script(({ command }) => (command === 'Commit' ? { kind: 'silence', executed: false } : undefined));
  const held = younger.commit({ mode: '2pc', timeoutMs: 20_000 });
  await bench.clock.pass(50);
  expect(await bench.run(older.commit())).toMatchObject({
    kind: 'conflict',
    reason: 'newer-lock',
    conflictStartTs: younger.startTs,
  });
  expect(bench.cluster.sent('CheckTxnStatus')).toHaveLength(0);
  expect((await bench.run(held)).kind).toBe('undetermined');
});

test('a writer that meets the lock of a living transaction waits for its time to live, and asks little meanwhile', async () => {
  const bench = await Bench.make();
  const startTs = await bench.run(bench.client.timestamp());
  bench.cluster.mvcc.row(k('a')).lock = orphanLock(startTs, k('a'));
  const startMs = bench.clock.nowMs();
  const txn = await begin(bench, (own) => own.put(k('a'), k('2')));
  expect((await bench.run(txn.commit())).kind).toBe('committed');
  expect(bench.clock.nowMs() - startMs).toBeGreaterThan(2_900);
  expect(bench.cluster.sent('CheckTxnStatus').length).toBeLessThan(20);
});

test('a transaction reads its own writes over its snapshot, forward and backward', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1', b: '2', c: '3', d: '4' });
  const txn = await begin(bench, (own) => {
    own.put(k('b'), k('B'));
    own.delete(k('c'));
    own.insert(k('bb'), k('new'));
    own.lockKeys(k('d'));
  });
  const rows = async (options: { reverse?: boolean; limit?: number }): Promise<string[]> => {
    const found: string[] = [];
    for await (const { key, value } of txn.scan(k('a'), k('z'), options)) found.push(`${text(key)}=${text(value)}`);
    return found;
  };
  expect(await bench.run(rows({}))).toEqual(['a=1', 'b=B', 'bb=new', 'd=4']);
  expect(await bench.run(rows({ reverse: true, limit: 3 }))).toEqual(['d=4', 'bb=new', 'b=B']);
  expect((await bench.run(txn.batchGet([k('a'), k('b'), k('c'), k('x')]))).map(text)).toEqual([
    '1',
    'B',
    undefined,
    undefined,
  ]);
  expect(text(await bench.run(txn.get(k('bb'))))).toBe('new');
});

test('assertions that do not hold fail the commit with an error; locks conflict with writers', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  const wrong = await begin(bench, (own) => {
    own.put(k('a'), k('2'));
    own.assertNotExists(k('a'));
  });
  await expect(bench.run(wrong.commit({ assertionLevel: 2 }))).rejects.toMatchObject({ code: 'assertion-failed' });
  const right = await begin(bench, (own) => {
    own.put(k('a'), k('2'));
    own.assertExists(k('a'));
  });
  const locker = await begin(bench, (own) => {
    own.lockKeys(k('a'));
    own.put(k('b'), k('1'));
  });
  expect((await bench.run(right.commit())).kind).toBe('committed');
  expect((await bench.run(locker.commit())).kind).toBe('conflict');
});

test('a lock outlives its time while its commit runs, also if the client had no place for a heartbeat', async () => {
  const bench = await Bench.make({}, { callTimeoutMs: 60_000 });
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  await bench.idle();
  const untilMs = bench.clock.nowMs() + 10_000;
  bench.cluster.script(({ command, request }) => {
    const late = command === 'Prewrite' && text((request as PrewriteRequest).mutations[0]?.key) === 'z';
    return late && bench.clock.nowMs() < untilMs ? { kind: 'refuse' } : undefined;
  });
  const other = await bench.connect();
  // As with 4,096 other tasks under way.
  const run = vi.spyOn(BackgroundTasks.prototype, 'run');
  onTestFinished(() => run.mockRestore());
  run.mockReturnValueOnce(false);
  const slow = bench.write({ a: '1', z: '1' }, { mode: '2pc' });
  await bench.clock.pass(4_000);
  expect(run.mock.calls[0]?.[0]).toBe('heartbeat');
  const late = await bench.run(other.begin());
  late.put(k('a'), k('2'));
  const waits = late.commit({ timeoutMs: 30_000 });
  expect((await bench.run(slow)).kind).toBe('committed');
  expect((await bench.run(waits)).kind).toBe('conflict');
});

test('a transaction ends once', async () => {
  const bench = await Bench.make();
  const txn = await begin(bench, (own) => own.put(k('a'), k('1')));
  await bench.run(txn.commit());
  expect(() => txn.put(k('b'), k('1'))).toThrow(expect.objectContaining({ code: 'transaction-ended' }));
  await expect(bench.run(txn.commit())).rejects.toMatchObject({ code: 'transaction-ended' });
  expect(kinds([])).toEqual([]);
  expect(physicalMs(txn.startTs)).toBeGreaterThan(1_600_000_000_000);
  expect(bench.cluster.sent('Get').map(({ request }) => (request as GetRequest).version)).toEqual([]);
});
