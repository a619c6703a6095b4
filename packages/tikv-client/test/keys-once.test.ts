import { expect, test } from 'vitest';
import type { Undetermined } from '../index.ts';
import type { BatchGetRequest, ResolveLockRequest, SplitRegionRequest } from '../src/proto/gen/kvrpcpb.ts';
import type { FakeCall } from '../testing.ts';
import { Bench, k, text } from './support/bench.ts';

/** The keys of each request, as text. */
const keysOf = (calls: readonly FakeCall[]): string[][] =>
  calls.map(({ request }) => (request as BatchGetRequest).keys.map((key) => text(key)!));

/** An async commit of `a` and `z`, in two regions, whose answers are all lost until the deadline. */
async function lost(bench: Bench, executed: (call: FakeCall) => boolean): Promise<Undetermined> {
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  await bench.idle();
  bench.cluster.calls.length = 0;
  const undo = bench.cluster.script((call) =>
    call.command === 'Prewrite' ? { kind: 'silence', executed: executed(call) } : undefined,
  );
  const outcome = await bench.run(bench.write({ a: '1', z: '1' }, { mode: 'async', timeoutMs: 1_500 }));
  if (outcome.kind !== 'undetermined') throw new Error(outcome.kind);
  undo();
  return outcome;
}

test('settle commits an async transaction all of whose keys are locked: ResolveLock names each key once', async () => {
  const bench = await Bench.make({}, { requestTimeoutMs: 1_000 });
  const outcome = await lost(bench, () => true);
  expect((await bench.run(outcome.settle())).kind).toBe('committed');
  expect(keysOf(bench.cluster.sent('ResolveLock')).toSorted()).toEqual([['a'], ['z']]);
  expect(await bench.scan('a', '')).toEqual(['a=1', 'z=1']);
  expect(bench.cluster.mvcc.locks()).toEqual([]);
});

test('settle rolls an async transaction back whose second key never got its lock, naming each key once', async () => {
  const bench = await Bench.make({}, { requestTimeoutMs: 1_000 });
  const outcome = await lost(
    bench,
    ({ request }) =>
      text((request as { primaryLock: Uint8Array }).primaryLock) === 'a' && keysOfPrewrite(request).includes('a'),
  );
  expect((await bench.run(outcome.settle())).kind).toBe('rolled-back');
  for (const { request } of bench.cluster.sent('ResolveLock')) {
    const keys = (request as ResolveLockRequest).keys.map((key) => text(key));
    expect(new Set(keys).size).toBe(keys.length);
  }
  expect(await bench.scan('a', '')).toEqual(['a=0', 'z=0']);
  expect(bench.cluster.mvcc.locks()).toEqual([]);
});

const keysOfPrewrite = (request: unknown): (string | undefined)[] =>
  (request as { mutations: { key: Uint8Array }[] }).mutations.map(({ key }) => text(key));

test('one region: the primary and the other keys of one ResolveLock are each there once', async () => {
  const bench = await Bench.make({}, { requestTimeoutMs: 1_000 });
  const undo = bench.cluster.script(({ command }) =>
    command === 'Prewrite' ? { kind: 'silence', executed: true } : undefined,
  );
  const outcome = await bench.run(bench.write({ a: '1', b: '1', c: '1' }, { mode: 'async', timeoutMs: 1_500 }));
  if (outcome.kind !== 'undetermined') throw new Error(outcome.kind);
  undo();
  expect((await bench.run(outcome.settle())).kind).toBe('committed');
  await bench.idle();
  expect(keysOf(bench.cluster.sent('ResolveLock'))).toEqual([['a', 'b', 'c']]);
  expect(await bench.scan('a', '')).toEqual(['a=1', 'b=1', 'c=1']);
});

test('a batch get of keys that come twice asks for each once and answers every place', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '1', b: '2', z: '3' });
  const snapshot = await bench.run(bench.client.snapshot());
  const keys = ['z', 'a', 'x', 'a', 'b', 'z', 'x', 'a'];
  const values = await bench.run(snapshot.batchGet(keys.map(k)));
  expect(values.map(text)).toEqual(['3', '1', undefined, '1', '2', '3', undefined, '1']);
  expect(keysOf(bench.cluster.sent('BatchGet')).flat().toSorted()).toEqual(['a', 'b', 'x', 'z']);
});

test('splits: keys in any order and more than once reach the store in order and once', async () => {
  const bench = await Bench.make();
  await bench.run(bench.client.admin.split(['t', 'g', 'm', 'g', 't'].map(k)));
  const asked = bench.cluster
    .sent('SplitRegion')
    .map(({ request }) => (request as SplitRegionRequest).splitKeys.map(text));
  expect(asked).toEqual([['g', 'm', 't']]);
  expect(bench.cluster.regions.all().map(({ start }) => text(start))).toEqual(['', 'g', 'm', 't']);
});

test('long lists of keys are cut by number and by size', async () => {
  const bench = await Bench.make();
  const many = Array.from({ length: 2_500 }, (_, at) => k(`a${String(at).padStart(5, '0')}`));
  const snapshot = await bench.run(bench.client.snapshot());
  await bench.run(snapshot.batchGet(many));
  expect(bench.cluster.sent('BatchGet').map(({ request }) => (request as BatchGetRequest).keys.length)).toEqual([
    1_024, 1_024, 452,
  ]);
  bench.cluster.calls.length = 0;
  const wide = Array.from({ length: 300 }, (_, at) => Buffer.concat([k(`b${at}`), Buffer.alloc(4_000, 98)]));
  await bench.run(snapshot.batchGet(wide));
  const sizes = bench.cluster.sent('BatchGet').map(({ request }) => (request as BatchGetRequest).keys.length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300);
  expect(Math.max(...sizes)).toBeLessThanOrEqual((1 << 20) / 4_000);
});

test('many small writes: a prewrite stays below what an entry of the Raft log may have', async () => {
  const bench = await Bench.make();
  const txn = await bench.run(bench.client.begin());
  txn.put(Buffer.concat([k('key/'), Buffer.alloc(4_000)]), k('v')); // the primary, which every lock names
  for (let at = 0; at < 3_000; at += 1) txn.put(k(`key/${at}`), k('v'));
  expect((await bench.run(txn.commit())).kind).toBe('committed');
  // The scripted store would have stopped over an entry above 8 MiB.
  expect(bench.cluster.sent('Prewrite').length).toBeGreaterThan(2);
});
