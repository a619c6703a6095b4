import { compareBytes, utf8 } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTikvError } from '../index.ts';
import { decodeMemcomparable, encodeMemcomparable } from '../src/codec/memcomparable.ts';
import type { Region } from '../src/region/region.ts';
import { RegionCache } from '../src/region/region-cache.ts';
import { decodeMembers, noRegion, regionSet } from './support/cache.ts';
import { Bench, k, text } from './support/bench.ts';

const keys = [
  [],
  [0],
  [1, 2, 3, 4, 5, 6, 7],
  [1, 2, 3, 4, 5, 6, 7, 8],
  [1, 2, 3, 4, 5, 6, 7, 8, 9],
  new Array(16).fill(7),
  new Array(20).fill(255),
].map((bytes) => Uint8Array.from(bytes));

test('case 14: keys of all lengths keep their bytes and their order; what no key encodes to is refused', () => {
  for (const key of keys) expect(decodeMemcomparable(encodeMemcomparable(key))).toEqual(key);
  expect(Buffer.from(encodeMemcomparable(utf8('probe/m'))).toString('hex')).toBe('70726f62652f6d00fe');
  expect(Buffer.from(encodeMemcomparable(utf8('12345678'))).toString('hex')).toBe(
    '3132333435363738ff0000000000000000f7',
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 30 }), fc.uint8Array({ maxLength: 30 }), (left, right) => {
      expect(Math.sign(compareBytes(encodeMemcomparable(left), encodeMemcomparable(right)))).toBe(
        Math.sign(compareBytes(left, right)),
      );
    }),
  );
  for (const bad of [
    '',
    '00',
    '0000000000000000f6',
    '0100000000000001fe',
    '0000000000000000f700',
    '0000000000000000ff',
  ]) {
    expect(() => decodeMemcomparable(Buffer.from(bad, 'hex'))).toThrow(
      expect.objectContaining({ code: 'corrupt-key' }),
    );
  }
});

test('case 15: an empty end holds the highest keys, an empty start the lowest', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  const txn = await bench.run(bench.client.begin());
  const high = Uint8Array.from(new Array(30).fill(255));
  txn.put(high, k('high'));
  txn.put(Uint8Array.of(0), k('low'));
  expect((await bench.run(txn.commit())).kind).toBe('committed');
  expect(text(await bench.run(bench.client.get(high)))).toBe('high');
  expect(text(await bench.run(bench.client.get(Uint8Array.of(0))))).toBe('low');
  expect(await bench.run(bench.client.get(new Uint8Array(0)))).toBeUndefined();
});

test('case 16: a split between grouping and sending: both halves are sent, without waiting', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '0', z: '0' });
  bench.cluster.regions.split(k('m'));
  bench.sleeps.length = 0;
  bench.cluster.calls.length = 0;
  await bench.put({ a: '1', z: '2' }, { mode: '2pc' });
  expect(bench.sleeps).toEqual([]);
  expect(bench.cluster.sent('Prewrite')).toHaveLength(3);
  expect(await bench.scan('a', '')).toEqual(['a=1', 'z=2']);
});

test('case 17: the refusal names one half only: PD is asked for the other', async () => {
  const bench = await Bench.make({ flavour: 'unistore' });
  await bench.put({ a: '0', z: '0' });
  bench.cluster.regions.split(k('m'));
  bench.cluster.pdCalls.length = 0;
  await bench.put({ a: '1', z: '2' }, { mode: '2pc' });
  expect(bench.cluster.pdCalls.filter((call) => call.endsWith('/GetRegion'))).toHaveLength(1);
  expect(await bench.scan('a', '')).toEqual(['a=1', 'z=2']);
});

test('case 18: a store that is behind: wait and ask again, and keep the newer epoch', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '1' });
  const region = bench.cluster.regions.holding(k('a'));
  bench.sleeps.length = 0;
  bench.cluster.next(
    'Get',
    {
      kind: 'region-error',
      error: {
        epochNotMatch: {
          currentRegions: [{ id: region.id, regionEpoch: { version: 1, confVer: 1 }, peers: region.peers }],
        },
      },
    },
    2,
  );
  expect(await bench.get('a')).toBe('1');
  expect(bench.sleeps).toEqual([
    ['regionMiss', 2],
    ['regionMiss', 4],
  ]);
  expect(bench.cluster.sent('Get').every(({ context }) => context?.regionEpoch?.version === region.version)).toBe(true);
});

test('case 19: a leader that is not among the known peers: the region is loaded anew', async () => {
  const bench = await Bench.make({ stores: 4 });
  await bench.put({ a: '1' });
  const fresh = await bench.connect();
  await bench.run(fresh.get(k('a')));
  bench.cluster.regions.holding(k('a'));
  bench.cluster.regions.movePeer(k('a'), 3, 4);
  const region = bench.cluster.regions.holding(k('a'));
  bench.cluster.next('Get', {
    kind: 'region-error',
    error: { notLeader: { regionId: region.id, leader: { id: 999, storeId: 4 } } },
  });
  bench.cluster.pdCalls.length = 0;
  expect(text(await bench.run(fresh.get(k('a'))))).toBe('1');
  expect(bench.cluster.pdCalls).toContain('0/GetRegion');
});

test('case 20: nobody leads, five times: the sleeps double from two milliseconds', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  bench.sleeps.length = 0;
  bench.cluster.next('Get', { kind: 'region-error', error: { notLeader: {} } }, 5);
  expect(await bench.get('a')).toBe('1');
  expect(bench.sleeps.map(([, ms]) => ms)).toEqual([2, 4, 8, 16, 32]);
});

test('case 21: the address belongs to another store now: it is read anew, and the call works there', async () => {
  const bench = await Bench.make({ stores: 1 });
  await bench.put({ a: '1' });
  bench.cluster.next('Get', {
    kind: 'region-error',
    error: { storeNotMatch: { requestStoreId: 1, actualStoreId: 9 } },
  });
  const streams = bench.cluster.openStreams;
  bench.cluster.pdCalls.length = 0;
  expect(await bench.get('a')).toBe('1');
  expect(bench.cluster.pdCalls).toContain('0/GetStore');
  expect(bench.cluster.openStreams).toBe(streams);
});

test('case 22: a store that moved is found within one retry', async () => {
  const bench = await Bench.make({ stores: 1 });
  await bench.put({ a: '1' });
  bench.cluster.pd.stores.set(1, { address: 'elsewhere:20160', state: 0 });
  bench.cluster.kill('store1:20160');
  bench.cluster.calls.length = 0;
  const startMs = bench.clock.nowMs();
  expect(await bench.get('a')).toBe('1');
  expect(bench.clock.nowMs() - startMs).toBeLessThan(200);
});

test('case 23: an error that nobody knows: the next replica, then PD, and in the end an error that says why', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  bench.cluster.next('Get', { kind: 'region-error', error: { message: 'the moon is full' } }, 2);
  bench.cluster.calls.length = 0;
  expect(await bench.get('a')).toBe('1');
  expect(new Set(bench.cluster.sent('Get').map(({ storeId }) => storeId)).size).toBeGreaterThan(1);
  const short = await bench.connect({ backoffBudgetMs: 1_000 });
  bench.cluster.script(({ command }) =>
    command === 'Get' ? { kind: 'region-error', error: { message: 'the moon is full' } } : undefined,
  );
  const error = await bench.run(short.get(k('a')).catch((reason: unknown) => reason));
  expect(isTikvError(error, 'backoff-exhausted')).toBe(true);
  expect(String(error)).toMatch(/regionScheduling.*the moon is full/);
});

test('case 24: a busy server: its sleeps are counted apart, and a signal ends them at once', async () => {
  const bench = await Bench.make({}, { backoffBudgetMs: 1 });
  await bench.put({ a: '1' });
  bench.cluster.next(
    'Get',
    { kind: 'region-error', error: { serverIsBusy: { reason: 'scheduler', backoffMs: 700 } } },
    3,
  );
  bench.sleeps.length = 0;
  expect(await bench.get('a')).toBe('1');
  expect(bench.sleeps.filter(([kind]) => kind === 'serverBusy').map(([, ms]) => ms)).toEqual([700, 700, 700]);
  bench.cluster.script(({ command }) =>
    command === 'Get' ? { kind: 'region-error', error: { serverIsBusy: { backoffMs: 10_000 } } } : undefined,
  );
  const stop = new AbortController();
  const startMs = bench.clock.nowMs();
  bench.clock.after(100, () => stop.abort());
  await expect(bench.run(bench.client.get(k('a'), { signal: stop.signal }))).rejects.toMatchObject({ code: 'aborted' });
  expect(bench.clock.nowMs() - startMs).toBeLessThan(150);
});

test('case 25: a merge: both old entries go, and a scan sees each key once', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '1', n: '2', z: '3' });
  expect(bench.client.status.cachedRegions).toBe(2);
  bench.cluster.regions.mergeWithNext(k('a'));
  expect(await bench.scan('a', '')).toEqual(['a=1', 'n=2', 'z=3']);
  expect(bench.client.status.cachedRegions).toBe(1);
});

test('case 26: late and unknown answers are ignored; at a reset all that wait fail once, reads go on, writes are settled', async () => {
  const bench = await Bench.make({ stores: 1 }, { requestTimeoutMs: 500 });
  await bench.put({ a: '1' });
  bench.cluster.next('Get', { kind: 'twice' });
  expect(await bench.get('a')).toBe('1');
  bench.cluster.next('Get', { kind: 'delay', ms: 800 });
  expect(await bench.get('a')).toBe('1');
  await bench.clock.pass(2_000);
  const snapshot = await bench.run(bench.client.snapshot());
  bench.cluster.calls.length = 0;
  bench.cluster.next('Get', { kind: 'silence', executed: false }, 200);
  const reads = Array.from({ length: 200 }, () => snapshot.get(k('a')));
  bench.clock.after(100, () => bench.cluster.breakStreams('store1:20160'));
  expect((await bench.run(Promise.all(reads))).map(text)).toEqual(new Array(200).fill('1'));
  expect(bench.cluster.sent('Get')).toHaveLength(400);
  bench.cluster.next('Prewrite', { kind: 'lose' });
  expect(await bench.put({ b: '2' })).toBeGreaterThan(0n);
  expect(await bench.get('b')).toBe('2');
});

test('case 27: answers in reverse order, cut over messages, reach their callers', async () => {
  const bench = await Bench.make({ stores: 1 });
  const names = Array.from({ length: 50 }, (_, at) => `k${at}`);
  await bench.put(Object.fromEntries(names.map((name) => [name, `v-${name}`])));
  bench.cluster.answerOrder = 'reversed';
  const values = await bench.run(Promise.all(names.map((name) => bench.client.get(k(name)))));
  expect(values.map(text)).toEqual(names.map((name) => `v-${name}`));
});

test('the cache keeps no overlaps, whatever comes in, and never goes back to an older epoch', () => {
  const bound = fc.integer({ min: 0, max: 9 });
  const region = fc.record({
    id: fc.integer({ min: 1, max: 6 }),
    from: bound,
    to: bound,
    version: fc.integer({ min: 1, max: 5 }),
  });
  fc.assert(
    fc.property(fc.array(region, { maxLength: 30 }), (inserts) => {
      const cache = new RegionCache(1e9);
      const newest = new Map<number, number>();
      for (const { id, from, to, version } of inserts) {
        if (from >= to) continue;
        const made: Region = noRegion(id, from, to, version);
        const accepted = cache.insert(made);
        for (const at of decodeMembers(made)) {
          if (accepted) newest.set(at, version);
          const found = cache.find(Uint8Array.of(at), 0);
          if (accepted) expect(found).toBe(made);
        }
        expect(regionSet(cache)).toBe(true);
      }
    }),
  );
});

test.each([1_500, 2_500, 3_500, 4_500, 5_500, 6_500, 7_500])(
  'a store stops, and the others elect after %i ms: who asks for its region waits for the election, not for the store',
  async (electionMs) => {
    const bench = await Bench.make();
    await bench.put({ a: '1' });
    const { clock, cluster, client } = bench;
    const startMs = clock.nowMs();
    cluster.paused.add('store1:20160');
    clock.after(electionMs, () => cluster.regions.transferLeader(k('a'), 2));
    const served: number[] = [];
    const work = async (): Promise<void> => {
      while (served.length < 20) {
        expect(text(await client.get(k('a'), { timeoutMs: 20_000 }))).toBe('1');
        served.push(clock.nowMs() - startMs);
      }
    };
    await bench.run(Promise.all(Array.from({ length: 20 }, work)));
    expect(Math.min(...served)).toBeGreaterThanOrEqual(electionMs);
    // A hint may be heard just before the election, and is doubted for half a second.
    expect(Math.max(...served)).toBeLessThan(Math.max(2_100, electionMs) + 600);
    // Store 1 runs and leads again. Only a health check finds that out, and the previous one may have been lost a moment ago.
    cluster.revive('store1:20160');
    cluster.regions.transferLeader(k('a'), 1);
    const backMs = clock.nowMs();
    expect(text(await bench.run(client.get(k('a'))))).toBe('1');
    expect(clock.nowMs() - backMs).toBeLessThan(2_100);
    expect(cluster.sent('Get').at(-1)?.storeId).toBe(1);
  },
);

test('a small request that a store refuses in the words of a large one is sent again', async () => {
  const bench = await Bench.make();
  bench.cluster.next('Prewrite', { kind: 'exhausted', words: 'Received message larger than max (5 vs. 4)' }, 3);
  await bench.put({ a: '1' });
  expect(await bench.get('a')).toBe('1');
});

test('a request that is longer than servers usually take, and has no room, is over the limit', async () => {
  const bench = await Bench.make();
  bench.cluster.next('Prewrite', { kind: 'exhausted', words: 'no room' }, 1_000);
  const write = (bytes: number) =>
    bench.run(
      bench.write({ a: 'x'.repeat(bytes) }, { mode: '2pc', timeoutMs: 2_000 }).catch((error: unknown) => error),
    );
  expect(await write(4 << 20)).toMatchObject({ code: 'transaction-too-large' });
  expect(await write(3 << 20)).toMatchObject({ code: 'deadline-exceeded' });
});

test('a store that refuses a timestamp it has not heard of yet is asked again', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  const error = { message: 'invalid max_ts update: 100 is larger than the limit 90' };
  bench.cluster.next('Get', { kind: 'region-error', error }, 2);
  expect(await bench.get('a')).toBe('1');
});
