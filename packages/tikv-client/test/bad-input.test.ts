import { expect, test } from 'vitest';
import type { TikvClient, TikvClientOptions } from '../index.ts';
import { composeTimestamp } from '@engram/tso';
import { Bench, k } from './support/bench.ts';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: { code?: string }) => error.code ?? String(error),
  );

/** A timestamp of the cluster's first millisecond. */
const allocated = composeTimestamp(1_700_000_000_000, 0);

/** Every asynchronous call of the public API: its name and a function that starts it. */
const calls = (
  client: TikvClient,
): Record<string, (options: { signal?: AbortSignal; timeoutMs?: number }) => Promise<unknown>> => {
  const one = async <T>(rows: AsyncIterable<T>): Promise<void> => {
    for await (const _ of rows) return;
  };
  return {
    timestamp: (options) => client.timestamp(options),
    get: (options) => client.get(k('a'), options),
    snapshot: (options) => client.snapshot(options),
    begin: (options) => client.begin(options),
    'snapshot.get': (options) => client.snapshotAt(allocated).get(k('a'), options),
    'snapshot.batchGet': (options) => client.snapshotAt(allocated).batchGet([k('a'), k('b')], options),
    'snapshot.scan': (options) => one(client.snapshotAt(allocated).scan(k('a'), k('z'), options)),
    'snapshot.scan backwards': (options) =>
      one(client.snapshotAt(allocated).scan(k('a'), k('z'), { ...options, reverse: true })),
    'txn.get': (options) => client.beginAt(allocated).get(k('a'), options),
    'txn.batchGet': (options) => client.beginAt(allocated).batchGet([k('a'), k('b')], options),
    'txn.scan': (options) => one(client.beginAt(allocated).scan(k('a'), k('z'), options)),
    'txn.commit': (options) => {
      const txn = client.beginAt(allocated);
      txn.put(k('a'), k('1'));
      return txn.commit({ ...options, mode: '2pc' });
    },
    'admin.split': (options) => client.admin.split([k('m')], options),
    'admin.regions': (options) => client.admin.regions(k('a'), k('z'), options),
    'admin.scatter': (options) => client.admin.scatter([1], options),
    'admin.waitForOperator': (options) => client.admin.waitForOperator(1, options),
    'admin.deleteRange': (options) => client.admin.deleteRange(k('a'), k('z'), options),
    'admin.unsafeDestroyRange': (options) => client.admin.unsafeDestroyRange(k('a'), k('z'), options),
    'admin.versions': (options) => client.admin.versions(k('a'), options),
    'gc.collect': (options) => client.gc.collect(0, options),
    'gc.hold': (options) => client.gc.hold('x', 1n, 60, options),
    'gc.release': (options) => client.gc.release('x', options),
  };
};
const names = Object.keys(calls({} as TikvClient));

/** A cluster that accepts requests and answers none after the client has connected. */
async function mute(): Promise<Bench> {
  const bench = await Bench.make();
  for (const address of [...bench.cluster.pdAddresses, ...bench.cluster.stores.keys()].map(String))
    bench.cluster.paused.add(address);
  for (const { address } of bench.cluster.pd.stores.values()) bench.cluster.paused.add(address);
  return bench;
}

const firesAfter =
  (delayMs: number) =>
  (bench: Bench): AbortSignal => {
    const stop = new AbortController();
    bench.clock.after(delayMs, () => stop.abort());
    return stop.signal;
  };

async function quiet(bench: Bench): Promise<void> {
  await bench.run(bench.client.close(0));
  expect(bench.cluster.openStreams).toBe(0);
  // Only the fake servers' timers of unary calls are left. They end with the calls' deadlines.
  await bench.clock.pass(10_000);
  expect(bench.clock.waiting).toBe(0);
}

test.each(names)('%s: a signal that has fired before', async (name) => {
  const bench = await Bench.make();
  expect(await bench.run(codeOf(calls(bench.client)[name]!({ signal: AbortSignal.abort() })))).toBe('aborted');
  expect(bench.cluster.calls).toEqual([]);
  await quiet(bench);
});

test.each(names)('%s: a signal that fires while it waits', async (name) => {
  const bench = await mute();
  const stop = new AbortController();
  bench.clock.after(300, () => stop.abort());
  const startMs = bench.clock.nowMs();
  expect(await bench.run(codeOf(calls(bench.client)[name]!({ signal: stop.signal })))).toBe('aborted');
  expect(bench.clock.nowMs() - startMs).toBeLessThan(310);
  await quiet(bench);
});

test.each(names)('%s: a deadline that passes while it waits', async (name) => {
  const bench = await mute();
  const startMs = bench.clock.nowMs();
  const code = await bench.run(codeOf(calls(bench.client)[name]!({ timeoutMs: 1_000 })));
  expect(['deadline-exceeded', 'pd-unreachable']).toContain(code);
  expect(bench.clock.nowMs() - startMs).toBeLessThan(1_100);
  await quiet(bench);
});

test.each(names)('%s: the client is closed while it waits, and before', async (name) => {
  const bench = await mute();
  const waiting = codeOf(calls(bench.client)[name]!({}));
  bench.clock.after(200, () => void bench.client.close(0));
  const startMs = bench.clock.nowMs();
  expect(await bench.run(waiting)).toBe('closed');
  expect(bench.clock.nowMs() - startMs).toBeLessThan(210);
  expect(await codeOf(calls(bench.client)[name]!({}))).toBe('closed');
  await quiet(bench);
});

test.each([
  { name: 'a signal that has fired before', signal: () => AbortSignal.abort(), code: 'aborted', tookMs: 0 },
  { name: 'a signal that fires while it waits', signal: firesAfter(300), code: 'aborted', tookMs: 300 },
  { name: 'a deadline that passes while it waits', signal: () => undefined, code: 'pd-unreachable', tookMs: 1_500 },
])('connect: $name', async ({ signal, code, tookMs }) => {
  const bench = Bench.bare();
  for (const address of bench.cluster.pdAddresses) bench.cluster.paused.add(address);
  const options = { signal: signal(bench), timeoutMs: 1_500 };
  expect(await codeOf(bench.connect(options))).toBe(code);
  expect(bench.clock.nowMs()).toBeGreaterThanOrEqual(tookMs);
  expect(bench.clock.nowMs()).toBeLessThan(tookMs + 100);
  expect(bench.cluster.openStreams).toBe(0);
  await bench.clock.pass(10_000);
  expect(bench.clock.waiting).toBe(0);
});

test.each<Partial<TikvClientOptions>>([
  { callTimeoutMs: 0 },
  { requestTimeoutMs: Number.NaN },
  { writeBatchBytes: 64 << 20 },
  { concurrency: -1 },
  { pdAddresses: [] },
  { pdAddresses: ['no port'] },
  { pdAddresses: ['ftp://a:1'] },
])('options out of bounds are refused: %j', async (options) => {
  expect(
    await Bench.bare()
      .connect(options)
      .then(
        () => 'no error',
        (error: { code: string }) => error.code,
      ),
  ).toBe('invalid-argument');
});

test('arguments out of bounds are refused before anything is sent', async () => {
  const bench = await Bench.make();
  const { client } = bench;
  const long = new Uint8Array(5_000);
  expect(await bench.run(codeOf(client.get(long)))).toBe('key-too-large');
  expect(await bench.run(codeOf(client.timestamp({ timeoutMs: -1 })))).toBe('invalid-argument');
  expect(() => client.snapshotAt(0n)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  expect(await bench.run(codeOf(client.snapshotAt(2n ** 64n - 1n).batchGet([k('a')])))).toBe('invalid-argument');
  expect(await bench.run(codeOf(client.gc.collect(-1)))).toBe('invalid-argument');
  expect(await bench.run(codeOf(client.gc.hold('gc_worker', 1n, 1)))).toBe('invalid-argument');
  const txn = client.beginAt(5n);
  expect(() => txn.put(new Uint8Array(0), k('1'))).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  expect(() => txn.assertExists(k('a'))).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  txn.put(k('a'), k('1'));
  expect(() => txn.insert(k('a'), k('2'))).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  txn.delete(k('b'));
  expect(() => txn.checkNotExists(k('b'))).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
  expect(bench.cluster.calls).toEqual([]);
});
