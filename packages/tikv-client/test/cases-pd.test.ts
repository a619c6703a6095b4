import { GrpcCode } from '@engram/core';
import { composeTimestamp } from '@engram/tso';
import { expect, test } from 'vitest';
import { isTikvError, TikvError, TransportError } from '../index.ts';
import { Bench, k } from './support/bench.ts';

const unavailable = (text: string) => new TransportError(GrpcCode.UNAVAILABLE, text);
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof TikvError ? error.code : String(error)),
  );

test('case 1: the first seed is down, the second follows: the leader is found, and all later calls go there', async () => {
  const bench = Bench.bare({ pdMembers: 3 });
  bench.cluster.pd.leader = 2;
  bench.cluster.down.add('pd0:2379');
  bench.client = await bench.connect({ pdAddresses: ['pd0:2379', 'pd1:2379'] });
  bench.cluster.pdCalls.length = 0;
  await bench.put({ a: '1' });
  expect(bench.client.status.pdLeader).toBe('pd2:2379');
  expect(bench.cluster.pdCalls.length).toBeGreaterThan(2);
  expect(bench.cluster.pdCalls.every((call) => call.startsWith('2/'))).toBe(true);
});

test('case 2: no leader for three seconds: calls wait and succeed after it', async () => {
  const bench = await Bench.make({ pdMembers: 3 });
  await bench.put({ a: '1' });
  bench.cluster.pd.leader = -1;
  bench.clock.after(3_000, () => {
    bench.cluster.pd.leader = 1;
  });
  const startMs = bench.clock.nowMs();
  expect(await bench.get('a')).toBe('1');
  expect(bench.clock.nowMs() - startMs).toBeLessThan(8_000);
  const fresh = Bench.bare({ pdMembers: 3 });
  fresh.cluster.pd.leader = -1;
  fresh.clock.after(3_000, () => {
    fresh.cluster.pd.leader = 1;
  });
  fresh.client = await fresh.connect();
  expect(fresh.client.status.pdLeader).toBe('pd1:2379');
});

test('case 3: the leader is killed with a hundred callers waiting: all get larger timestamps after the failover', async () => {
  const bench = await Bench.make({ pdMembers: 3 });
  const before = await bench.run(bench.client.timestamp());
  bench.cluster.paused.add('pd0:2379');
  const waiting = Array.from({ length: 100 }, () => bench.client.timestamp({ timeoutMs: 20_000 }));
  bench.clock.after(500, () => bench.cluster.kill('pd0:2379'));
  bench.clock.after(4_000, () => {
    bench.cluster.pd.leader = 1;
  });
  const all = await bench.run(Promise.all(waiting));
  expect(new Set(all).size).toBe(100);
  expect(all.every((timestamp) => timestamp > before)).toBe(true);
  // Without a new leader no call outlives its deadline.
  bench.cluster.pd.leader = -1;
  for (const address of bench.cluster.pdAddresses) bench.cluster.kill(address);
  const startMs = bench.clock.nowMs();
  expect(await bench.run(codeOf(bench.client.timestamp({ timeoutMs: 1_000 })))).toBe('deadline-exceeded');
  expect(bench.clock.nowMs() - startMs).toBeLessThan(1_200);
});

test('case 4: a seed of another cluster is refused by name, and never asked for a timestamp', async () => {
  const bench = Bench.bare({ pdMembers: 1 });
  const other = Bench.bare({ pdMembers: 1 });
  other.cluster.pd.clusterId = 5n;
  const transport = {
    connect: (address: string, secure: boolean) =>
      address === 'other:1'
        ? other.cluster.transport.connect('pd0:2379', secure)
        : bench.cluster.transport.connect(address, secure),
  };
  // The other cluster has its own simulated clock, which must be advanced too.
  const both = bench.connect({ pdAddresses: ['pd0:2379', 'other:1'], transport });
  const pump = (async () => {
    for (let turn = 0; turn < 20; turn += 1) await other.clock.pass(1);
  })();
  await expect(both).rejects.toMatchObject({ code: 'cluster-mismatch' });
  await pump;
  expect(other.cluster.pdCalls).toEqual(['0/GetMembers']);
  await expect(bench.connect({ clusterId: 9n })).rejects.toMatchObject({ code: 'cluster-mismatch' });
});

test('case 5: PD refuses our cluster id: fatal, asked once', async () => {
  const bench = await Bench.make();
  bench.cluster.pd.clusterId += 1n;
  expect(await bench.run(codeOf(bench.client.get(k('a'))))).toBe('cluster-mismatch');
  expect(bench.cluster.pdCalls.filter((call) => call === '0/GetRegion')).toHaveLength(1);
});

test('what PD refuses in the words of another cluster, and is in ours, is asked again', async () => {
  const bench = await Bench.make();
  let refusals = 2;
  bench.cluster.scriptPd((_, method) => {
    if (method !== 'GetRegion' || refusals === 0) return undefined;
    refusals -= 1;
    return new TransportError(GrpcCode.FAILED_PRECONDITION, 'mismatch cluster id, need 1 but got 2');
  });
  expect(await bench.run(bench.client.get(k('a')))).toBeUndefined();
  expect(refusals).toBe(0);
});

test.each([
  { name: 'is kept where PD has answered, whatever it says', lost: false, words: 'gone', connections: 0 },
  { name: 'is made anew where it was lost, whatever was said', lost: true, words: 'not leader', connections: 1 },
])('the connection to PD $name', async ({ lost, words, connections }) => {
  const bench = Bench.bare({ pdMembers: 1 });
  let made = 0;
  const transport = {
    connect: (address: string, secure: boolean) => {
      if (address === 'pd0:2379') made += 1;
      return bench.cluster.transport.connect(address, secure);
    },
  };
  const client = await bench.connect({ transport });
  const before = made;
  let failures = 1;
  bench.cluster.scriptPd((_, method) => {
    if (method !== 'GetRegion' || failures === 0) return undefined;
    failures -= 1;
    return new TransportError(GrpcCode.UNAVAILABLE, words, { lost });
  });
  expect(await bench.run(client.get(k('a')))).toBeUndefined();
  expect(made - before).toBe(connections);
});

test('case 6: one answer for five callers: they get consecutive timestamps, the last one named, in the order of their coming', async () => {
  const bench = await Bench.make();
  bench.cluster.pd.mangleTso = (answer) => ({ ...answer, timestamp: { physical: 1_800_000_000_000, logical: 10 } });
  const all = await bench.run(Promise.all(Array.from({ length: 5 }, () => bench.client.timestamp())));
  expect(all.map((timestamp) => Number(timestamp & 0x3ffffn))).toEqual([6, 7, 8, 9, 10]);
  expect(bench.cluster.pdCalls.filter((call) => call.endsWith('/Tso'))).toHaveLength(1);
});

test('case 7: a timestamp below one that was seen before goes to nobody, and the client goes on when PD has passed it', async () => {
  const bench = await Bench.make();
  await bench.run(bench.client.timestamp());
  bench.cluster.pd.mangleTso = (answer) => ({ ...answer, timestamp: { physical: 1_000, logical: 1 } });
  expect(await bench.run(codeOf(bench.client.timestamp()))).toBe('timestamp-regression');
  bench.cluster.pd.mangleTso = undefined;
  // Reads at the newest version need no timestamp.
  expect(await bench.run(bench.client.get(k('a')))).toBeUndefined();
  expect(await bench.run(bench.client.timestamp())).toBeGreaterThan(composeTimestamp(1_000, 1));
});

test('an answer with another number of timestamps than was asked for ends the whole client, which tells why', async () => {
  const bench = await Bench.make();
  await bench.run(bench.client.timestamp());
  expect(bench.client.ended.aborted).toBe(false);
  bench.cluster.pd.mangleTso = (answer) => ({ ...answer, count: 7 });
  expect(await bench.run(codeOf(bench.client.timestamp()))).toBe('protocol-error');
  bench.cluster.pd.mangleTso = undefined;
  expect(await bench.run(codeOf(bench.client.get(k('a'))))).toBe('protocol-error');
  expect(bench.client.ended.reason).toMatchObject({ code: 'protocol-error' });
});

test('case 8: nobody waits, nothing is asked: PD never sees a count of 0', async () => {
  const bench = await Bench.make();
  const aborted = new AbortController();
  const gone = codeOf(bench.client.timestamp({ signal: aborted.signal }));
  aborted.abort();
  expect(await bench.run(gone)).toBe('aborted');
  await bench.clock.pass(5_000);
  expect(bench.cluster.pdCalls.filter((call) => call.endsWith('/Tso'))).toHaveLength(0);
  await bench.run(bench.client.timestamp());
});

test('case 9: PD knows no region yet: waits as for PD, then works', async () => {
  const bench = await Bench.make();
  await bench.put({ seed: '1' });
  const fresh = await bench.connect();
  bench.cluster.regions.pdView = [];
  bench.sleeps.length = 0;
  bench.clock.after(1_000, () => bench.cluster.regions.followPd());
  expect(await bench.run(fresh.get(k('seed')))).toBeDefined();
  expect(bench.sleptMs('pdRPC')).toBeGreaterThan(400);
});

test('case 10: a cluster that no store has joined is waited for', async () => {
  const bench = await Bench.make();
  bench.cluster.pd.bootstrapped = false;
  bench.clock.after(2_000, () => {
    bench.cluster.pd.bootstrapped = true;
  });
  expect(await bench.run(bench.client.get(k('a')))).toBeUndefined();
  bench.cluster.pd.bootstrapped = false;
  const fresh = await bench.connect({ backoffBudgetMs: 2_000 });
  const error = await bench.run(fresh.get(k('b'), { timeoutMs: 60_000 }).catch((reason: unknown) => reason));
  expect(isTikvError(error, 'backoff-exhausted')).toBe(true);
  expect(String(error)).toContain('not bootstrapped');
});

test('case 11: a PD without BatchScanRegions is asked with ScanRegions from then on', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('b'), k('c'), k('d'));
  await bench.put({ a: '1', b: '2', c: '3', d: '4' });
  for (const _ of [1, 2]) {
    const fresh = await bench.connect();
    bench.cluster.pdCalls.length = 0;
    await bench.run(fresh.admin.regions(k('a'), k('')));
    await bench.run(fresh.admin.regions(k('a'), k('')));
    expect(bench.cluster.pdCalls.filter((call) => call.endsWith('/BatchScanRegions'))).toHaveLength(1);
  }
  bench.cluster.pd.unimplemented.delete('BatchScanRegions');
  const modern = await bench.connect();
  bench.cluster.pdCalls.length = 0;
  expect(await bench.run(modern.admin.regions(k('a'), k('')))).toHaveLength(4);
  expect(bench.cluster.pdCalls).not.toContain('0/ScanRegions');
});

test('case 12: a region without a leader: some voter is asked, its answer mends the cache, the next request goes direct', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  bench.cluster.regions.transferLeader(k('a'), 0);
  bench.cluster.regions.freezePd();
  bench.cluster.regions.transferLeader(k('a'), 3);
  const fresh = await bench.connect();
  bench.cluster.calls.length = 0;
  await bench.run(fresh.get(k('a')));
  expect(bench.cluster.calls.at(-1)?.storeId).toBe(3);
  expect(bench.cluster.calls.length).toBe(2);
  await bench.run(fresh.get(k('a')));
  expect(bench.cluster.calls.length).toBe(3);
  expect(bench.cluster.calls.at(-1)?.storeId).toBe(3);
});

test('case 13: a hole between regions is looked up again, never skipped', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('b'), k('c'), k('d'));
  await bench.put({ a: '1', b: '2', c: '3', d: '4' });
  const fresh = await bench.connect();
  const all = bench.cluster.regions.all();
  bench.cluster.regions.pdView = all.filter((_, at) => at !== 1);
  bench.clock.after(1_500, () => bench.cluster.regions.followPd());
  const read = async (): Promise<number> => {
    let rows = 0;
    const snapshot = await fresh.snapshot();
    for await (const _ of snapshot.scan(k('a'), k(''))) rows += 1;
    return rows;
  };
  expect(await bench.run(read())).toBe(4);
});

test('PD calls fail with their own error, and connecting to nobody says so', async () => {
  const bench = Bench.bare({ pdMembers: 1 });
  bench.cluster.down.add('pd0:2379');
  await expect(bench.connect({ timeoutMs: 2_000 })).rejects.toMatchObject({ code: 'pd-unreachable' });
  await expect(bench.connect({ pdAddresses: [] })).rejects.toMatchObject({ code: 'invalid-argument' });
  await expect(bench.connect({ pdAddresses: ['nonsense'] })).rejects.toMatchObject({ code: 'invalid-argument' });
  const alive = await Bench.make();
  alive.cluster.scriptPd((_, method) => (method === 'GetRegion' ? unavailable('not leader') : undefined));
  const error = await alive.run(alive.client.get(k('a'), { timeoutMs: 3_000 }).catch((reason: unknown) => reason));
  expect(isTikvError(error, 'deadline-exceeded')).toBe(true);
});

test.each(['aborted', 'deadline-exceeded'])(
  'a call that waits for the address of a store with another call goes on when that one ends: %s',
  async (end) => {
    const bench = await Bench.make();
    let refuses = true;
    bench.cluster.scriptPd((_, method) => (method === 'GetStore' && refuses ? unavailable('not leader') : undefined));
    const stop = new AbortController();
    const first = codeOf(bench.client.get(k('a'), end === 'aborted' ? { signal: stop.signal } : { timeoutMs: 500 }));
    const second = bench.client.get(k('a'));
    bench.clock.after(500, () => {
      stop.abort();
      refuses = false;
    });
    expect(await bench.run(first)).toBe(end);
    expect(await bench.run(second)).toBeUndefined();
  },
);
