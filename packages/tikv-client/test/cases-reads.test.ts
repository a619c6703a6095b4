import { expect, test } from 'vitest';
import { MAX_TIMESTAMP } from '@engram/tso';
import type { BatchGetRequest, GetRequest, ScanRequest } from '../src/proto/gen/kvrpcpb.ts';
import { Bench, k, orphanLock, text } from './support/bench.ts';

test.each(['tikv', 'unistore'] as const)(
  'case 58 (%s): what is not there is not there, for every kind of read',
  async (flavour) => {
    const bench = await Bench.make({ flavour });
    await bench.put({ b: '1' });
    const snapshot = await bench.run(bench.client.snapshot());
    expect(await bench.run(snapshot.get(k('a')))).toBeUndefined();
    expect(await bench.run(bench.client.get(k('a')))).toBeUndefined();
    expect((await bench.run(snapshot.batchGet([k('a'), k('b'), k('c'), k('b')]))).map(text)).toEqual([
      undefined,
      '1',
      undefined,
      '1',
    ]);
    expect(await bench.scan('c', 'z')).toEqual([]);
    expect(await bench.scan('z', 'c')).toEqual([]);
  },
);

test.each([false, true])(
  'case 59 (reverse: %s): five regions, pages of three, two locked rows, splits on the way: every row once, in order, of one cut',
  async (reverse) => {
    const bench = await Bench.make({}, { requestTimeoutMs: 1_000 });
    const names = Array.from({ length: 40 }, (_, at) => `k${String(at).padStart(2, '0')}`);
    bench.cluster.regions.split(...['k08', 'k16', 'k24', 'k32'].map(k));
    await bench.put(Object.fromEntries(names.map((name) => [name, `old-${name}`])), { mode: '2pc' });
    await bench.idle();
    bench.cluster.pd.timestamp(10); // allocated to other clients
    const snapshot = await bench.run(bench.client.snapshot());
    // The client of a transaction below the snapshot's timestamp is gone. It has committed the primary k05, and left locks on
    // two secondaries.
    const startTs = snapshot.timestamp - 2n;
    const lock = orphanLock(startTs, k('k05'), { txnSize: 2n });
    bench.cluster.mvcc
      .row(k('k05'))
      .writes.unshift({ kind: 'put', startTs, commitTs: snapshot.timestamp - 1n, value: k('new-k05') });
    bench.cluster.mvcc.row(k('k19')).lock = { ...lock, value: k('new-k19') };
    bench.cluster.mvcc.row(k('k30')).lock = { ...lock, value: k('new-k30') };
    const rows: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { key, value } of snapshot.scan(k('k'), k('l'), { pageRows: 3, reverse })) {
        rows.push(`${text(key)}=${text(value)}`);
        if (rows.length % 7 === 0)
          bench.cluster.regions.split(k(`k${String((rows.length * 3) % 40).padStart(2, '0')}`));
        if (rows.length === 10) await bench.write({ k35: 'later', k03: 'later' });
      }
    };
    await bench.run(read());
    const expected = names.map((name) =>
      ['k05', 'k19', 'k30'].includes(name) ? `${name}=new-${name}` : `${name}=old-${name}`,
    );
    expect(rows).toEqual(reverse ? expected.toReversed() : expected);
  },
);

test('batch gets give each key its value, in whatever order and however often it was asked for and answered', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('k3'), k('k6'));
  await bench.put(Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7].map((at) => [`k${at}`, `v${at}`])));
  const asked = ['k7', 'k1', 'k4', 'k1', 'none', 'k0', 'k6', 'k7', 'k4', 'k2'];
  const expected = asked.map((name) => (name === 'none' ? undefined : `v${name.slice(1)}`));
  const snapshot = await bench.run(bench.client.snapshot());
  const read = async (): Promise<unknown> => (await bench.run(snapshot.batchGet(asked.map(k)))).map(text);
  expect(await read()).toEqual(expected);
  const answers: readonly ((keys: readonly string[]) => readonly string[])[] = [
    (keys) => keys.toReversed(),
    (keys) => [...new Set(keys)],
    (keys) => [...new Set(keys)].toReversed(),
  ];
  for (const answer of answers) {
    const stop = bench.cluster.script(({ command, request }) => {
      if (command !== 'BatchGet') return undefined;
      const keys = (request as BatchGetRequest).keys.map((key) => text(key)!).filter((key) => key !== 'none');
      return {
        kind: 'answer',
        response: { pairs: answer(keys).map((key) => ({ key: k(key), value: k(`v${key.slice(1)}`) })) },
      };
    });
    expect(await read()).toEqual(expected);
    stop();
  }
});

test('case 60: a backward scan whose upper bound is a region’s start begins in the region before', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '1', l: '2', m: '3' });
  const fresh = await bench.connect();
  bench.client = fresh;
  expect(await bench.scan('a', 'm', { reverse: true })).toEqual(['l=2', 'a=1']);
  expect(await bench.scan('a', '', { reverse: true })).toEqual(['m=3', 'l=2', 'a=1']);
});

test.each([false, true])(
  'case 61 (reverse: %s): a limit that ends exactly with a region: no row twice, none missing',
  async (reverse) => {
    const bench = await Bench.make();
    bench.cluster.regions.split(k('c'), k('e'));
    const rows = { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' };
    await bench.put(rows);
    const all = Object.entries(rows).map(([key, value]) => `${key}=${value}`);
    const expected = reverse ? all.toReversed() : all;
    for (const pageRows of [1, 2, 3, 4]) {
      for (let limit = 0; limit <= 7; limit += 1) {
        expect(await bench.scan('a', 'z', { reverse, limit, pageRows })).toEqual(expected.slice(0, limit));
      }
    }
  },
);

test('case 62: nothing of an answer with an error is used', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1', b: '2' });
  const dead = await bench.run(bench.client.timestamp());
  bench.cluster.next('BatchGet', {
    kind: 'answer',
    response: {
      pairs: [{ key: k('a'), value: k('wrong') }],
      error: { locked: { key: k('b'), primaryLock: k('b'), lockVersion: dead, lockTtl: 0, txnSize: 1n } },
    },
  });
  const snapshot = await bench.run(bench.client.snapshot());
  expect((await bench.run(snapshot.batchGet([k('a'), k('b')]))).map(text)).toEqual(['1', '2']);
  const second = bench.cluster.sent('BatchGet').at(-1)!.request as BatchGetRequest;
  expect(second.keys).toHaveLength(2);
});

/** A transaction of another client between its two phases: keys a (its primary) and z are locked, in two regions. */
async function halfway(bench: Bench): Promise<bigint> {
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: 'old', z: 'old' });
  await bench.idle();
  const startTs = bench.cluster.pd.timestamp();
  for (const name of ['a', 'z']) {
    bench.cluster.mvcc.row(k(name)).lock = orphanLock(startTs, k('a'), {
      ttlMs: 60_000,
      txnSize: 2n,
      value: k('new'),
    });
  }
  return startTs;
}

test('case 63: a lock that one read of the newest value skipped is a commit for the next one, and no advice piles up', async () => {
  const bench = await Bench.make();
  const startTs = await halfway(bench);
  expect(text(await bench.run(bench.client.get(k('z'))))).toBe('old'); // the transaction commits after this read began
  const primary = bench.cluster.mvcc.row(k('a'));
  primary.lock = undefined;
  primary.writes.unshift({ kind: 'put', startTs, commitTs: bench.cluster.pd.timestamp(), value: k('new') });
  expect(text(await bench.run(bench.client.get(k('z'))))).toBe('new');
  await bench.idle();
  await bench.run(bench.client.get(k('z')));
  const last = bench.cluster.sent('Get').at(-1)?.request as GetRequest;
  expect([...(last.context?.resolvedLocks ?? []), ...(last.context?.committedLocks ?? [])]).toEqual([]);
});

test.each([
  ['first', ['newest', 'snapshot']],
  ['last', ['snapshot', 'newest']],
] as const)(
  'case 63 (the newest value %s): what a store lets the newest value skip, a snapshot that asks in the same turn must push',
  async (_, order) => {
    const bench = await Bench.make();
    await halfway(bench);
    const snapshot = await bench.run(bench.client.snapshot());
    const read = { newest: () => bench.client.get(k('z')), snapshot: () => snapshot.get(k('z')) };
    const values = await bench.run(Promise.all(order.map((who) => read[who]())));
    expect(values.map(text)).toEqual(['old', 'old']);
    // If the transaction took its commit timestamp before the snapshot's, it must now take another.
    expect(bench.cluster.mvcc.row(k('a')).lock?.minCommitTs).toBeGreaterThan(snapshot.timestamp);
  },
);

test('case 63: the newest value of a key that an async commit has locked is the new one, once the writer knows', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('m'));
  await bench.put({ a: '0', z: '0' });
  bench.cluster.script(({ command }) => (command === 'Commit' ? { kind: 'delay', ms: 30_000 } : undefined));
  const writer = await bench.connect();
  const txn = await bench.run(writer.begin());
  txn.put(k('a'), k('1'));
  txn.put(k('z'), k('1'));
  expect(await bench.run(txn.commit({ mode: 'async' }))).toMatchObject({ kind: 'committed', mode: 'async' });
  // Another client cannot push such a lock. It waits until the lock expires, then finds all keys locked.
  expect(text(await bench.run(bench.client.get(k('z'))))).toBe('1');
  // The writer knows the state of its transaction and does not wait.
  const startMs = bench.clock.nowMs();
  expect(text(await bench.run(writer.get(k('a'))))).toBe('1');
  expect(bench.clock.nowMs() - startMs).toBeLessThan(50);
  expect(bench.cluster.sent('Get').at(-1)?.request as GetRequest).toMatchObject({ version: MAX_TIMESTAMP });
});

test('case 64: a follower serves what was acknowledged; when it cannot, the leader does', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  const follow = await bench.run(bench.client.snapshot({ replica: 'follower' }));
  bench.cluster.calls.length = 0;
  expect(text(await bench.run(follow.get(k('a'))))).toBe('1');
  expect(bench.cluster.calls[0]?.storeId).not.toBe(1);
  expect(bench.cluster.calls[0]?.context?.replicaRead).toBe(true);
  bench.cluster.next('Get', { kind: 'region-error', error: { readIndexNotReady: { reason: 'splitting' } } });
  expect(text(await bench.run(follow.get(k('a'))))).toBe('1');
  expect(bench.cluster.calls.at(-1)).toMatchObject({ storeId: 1, context: { replicaRead: false } });
  // Only the leader serves the newest-value timestamp.
  await bench.run(bench.client.snapshotAt(MAX_TIMESTAMP, { replica: 'follower' }).get(k('a')));
  expect(bench.cluster.calls.at(-1)?.storeId).toBe(1);
});

test('case 65: a stale read ahead of the replica: one refusal, then the leader', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1' });
  bench.cluster.regions.transferLeader(k('a'), 0);
  bench.cluster.regions.transferLeader(k('a'), 2);
  await bench.get('a');
  const stale = await bench.run(bench.client.snapshot({ replica: 'stale' }));
  bench.cluster.calls.length = 0;
  const refusals: string[] = [];
  for (let read = 0; read < 12; read += 1) {
    bench.cluster.calls.length = 0;
    expect(text(await bench.run(stale.get(k('a'))))).toBe('1');
    refusals.push(
      bench.cluster.calls.map(({ storeId, context }) => `${storeId}${context?.staleRead ? 's' : ''}`).join(','),
    );
  }
  // The leader serves the read at once. Another store refuses it once, and then the leader serves it as a plain read.
  expect(new Set(refusals)).toEqual(new Set(['2s', '1s,2', '3s,2']));
  for (const store of bench.cluster.stores.values()) store.safeTs = stale.timestamp;
  bench.cluster.calls.length = 0;
  await bench.run(stale.get(k('a')));
  expect(bench.cluster.calls).toHaveLength(1);
});

test('case 66: below the safe point nothing is read; a scan that it overtakes fails at its next page', async () => {
  const bench = await Bench.make();
  const names = Array.from({ length: 30 }, (_, at) => `k${String(at).padStart(2, '0')}`);
  await bench.put(Object.fromEntries(names.map((name) => [name, 'v'])));
  const old = await bench.run(bench.client.snapshot());
  await bench.clock.pass(60_000);
  const rows: string[] = [];
  const read = async (): Promise<void> => {
    for await (const { key } of old.scan(k('k'), k('l'), { pageRows: 5 })) {
      rows.push(text(key)!);
      if (rows.length === 5) {
        bench.cluster.pd.gcSafePoint = old.timestamp + 1n;
        await new Promise<void>((resolve) => void bench.clock.after(11_000, resolve));
      }
    }
  };
  await expect(bench.run(read())).rejects.toMatchObject({ code: 'gc-too-early' });
  expect(rows.length).toBeLessThan(30);
  bench.cluster.calls.length = 0;
  await expect(bench.run(old.get(k('k00')))).rejects.toMatchObject({ code: 'gc-too-early' });
  await expect(bench.run(old.batchGet([k('k00')]))).rejects.toMatchObject({ code: 'gc-too-early' });
  expect(bench.cluster.calls).toEqual([]);
});

test('scans aim at pages of a megabyte, and hold few of them', async () => {
  const bench = await Bench.make();
  const value = 'x'.repeat(64 << 10);
  await bench.put(
    Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${String(at).padStart(2, '0')}`, value])),
  );
  const snapshot = await bench.run(bench.client.snapshot());
  let pages = 0;
  const read = async (): Promise<void> => {
    for await (const page of snapshot.pages(k('k'), k('l'))) {
      pages += 1;
      expect(page.length).toBeLessThanOrEqual(60);
    }
  };
  await bench.run(read());
  await bench.put({ kz: value });
  const reversed = await bench.scan('k', 'l', { reverse: true, limit: 3 });
  expect(reversed.map((row) => row.slice(0, 3))).toEqual(['kz=', 'k59', 'k58']);
  const limits = bench.cluster.sent('Scan').map(({ request }) => (request as ScanRequest).limit);
  expect(Math.min(...limits)).toBeLessThanOrEqual(16);
  expect(pages).toBeGreaterThan(0);
});

test('many scans at once read ahead together no more than one alone may, and ask for smaller pages', async () => {
  const bench = await Bench.make();
  bench.cluster.regions.split(k('k1'), k('k2'), k('k3'));
  const rows = Array.from({ length: 400 }, (_, at) => `k${String(at).padStart(3, '0')}`);
  await bench.put(Object.fromEntries(rows.map((name) => [name, 'x'.repeat(4 << 10)])));
  const snapshot = await bench.run(bench.client.snapshot());
  const scan = (): AsyncGenerator<readonly { key: Uint8Array }[]> => snapshot.pages(k('k'), k('l'));
  const readAll = async (pages: ReturnType<typeof scan>): Promise<readonly string[]> => {
    const names: string[] = [];
    for await (const page of pages) names.push(...page.map(({ key }) => text(key)!));
    return names;
  };
  const limitsOf = (from: number): readonly number[] =>
    bench.cluster
      .sent('Scan')
      .slice(from)
      .map(({ request }) => (request as ScanRequest).limit);

  const scans = Array.from({ length: 100 }, scan);
  await bench.run(Promise.all(scans.map((pages) => pages.next())));
  const untaken = bench.cluster.sent('Scan').length - scans.length;
  expect(untaken).toBeLessThanOrEqual(32);

  const before = bench.cluster.sent('Scan').length;
  const rest = await bench.run(Promise.all(scans.map(readAll)));
  for (const names of rest) expect(names).toEqual(rows.slice(-names.length));
  // A page has a third of a megabyte, in rows of 4 KiB, once their size is known.
  expect(Math.min(...limitsOf(before))).toBeLessThan(100);

  const alone = bench.cluster.sent('Scan').length;
  const left = scan();
  await bench.run(left.next());
  expect(bench.cluster.sent('Scan').length - alone).toBeGreaterThanOrEqual(4);
  await bench.run(left.return(undefined));
  expect(await bench.run(readAll(scan()))).toEqual(rows);
  expect(Math.max(...limitsOf(alone))).toBe(256);
});
