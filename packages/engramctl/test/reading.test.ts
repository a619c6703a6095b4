import { prefixRange, utf8 } from '@engram/core';
import type { etcdserverpb } from '@engram/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseEndpoint } from '../src/client/endpoint.ts';
import { type ClientOptions, EtcdClient } from '../src/client/etcd-client.ts';
import { rangePages } from '../src/client/range-pages.ts';
import { FakeMember } from './support/fake-member.ts';
import { ctl, Engram } from './support/processes.ts';
import { Store } from './support/store.ts';

const never = new AbortController().signal;
const OPTIONS: ClientOptions = {
  tls: undefined,
  dialTimeoutMs: 30_000,
  commandTimeoutMs: 30_000,
  keepaliveTimeMs: 10_000,
  keepaliveTimeoutMs: 5000,
  receiveBytesMax: 1 << 20,
  sendBytesMax: 1 << 20,
  token: undefined,
};
/** More than the first page has. */
const KEYS = 600;

describe('a store that changes while it is read', () => {
  let engram: Engram;
  let store: Store;
  let client: EtcdClient;
  beforeAll(async () => {
    engram = await Engram.start();
    store = new Store(engram.address);
    client = new EtcdClient(parseEndpoint(engram.address), OPTIONS);
    for (let at = 0; at < KEYS; at += 1) await store.put(`/key-${at}`, 'x');
  });
  afterAll(async () => {
    client[Symbol.dispose]();
    store[Symbol.dispose]();
    await engram[Symbol.asyncDispose]();
  });
  const pages = (revision = 0): AsyncGenerator<etcdserverpb.RangeResponse> =>
    rangePages(client, { range: prefixRange(utf8('/key-')), revision, keysOnly: false }, never);

  test('is read as it was at the first page', async () => {
    const reading = pages();
    const first = (await reading.next()).value as etcdserverpb.RangeResponse;
    expect([first.kvs.length < KEYS, first.more]).toEqual([true, true]);
    await store.put('/key-0', 'later');
    await store.remove('/key-99');
    await store.put('/key-zzz', 'new');
    const kvs = [...first.kvs];
    for await (const page of reading) kvs.push(...page.kvs);
    const keys = kvs.map(({ key }) => Buffer.from(key).toString());
    expect(keys).toEqual([...keys].toSorted());
    expect([keys.length, new Set(keys).size, keys.includes('/key-99'), keys.includes('/key-zzz')]).toEqual([
      KEYS,
      KEYS,
      true,
      false,
    ]);
    expect(kvs.every(({ value }) => Buffer.from(value).toString() === 'x')).toBe(true);
  });

  test('and is compacted above that ends with what to do', async () => {
    const reading = pages();
    const first = (await reading.next()).value as etcdserverpb.RangeResponse;
    const revision = await store.put('/other', 'x');
    await store.compact(revision);
    await expect(reading.next()).rejects.toMatchObject({
      fault: 'failed',
      message: `the revision ${first.header?.revision} was compacted while it was read: try again, or read a snapshot (etcdctl snapshot save)`,
    });
  });

  test('and is read at a revision that is compacted says so as etcd does', async () => {
    await expect(pages(2).next()).rejects.toMatchObject({
      message: 'etcdserver: mvcc: required revision has been compacted',
    });
  });
});

describe('a member that takes a call and never answers', () => {
  test('is left at the bound of a command, and is reported', async () => {
    await using member = await FakeMember.start(1n, { status: {}, members: [1n], hangs: ['Status', 'Range'] });
    const args = ['--dial-timeout=30s', '--command-timeout=200ms', '--endpoints', member.address];
    const check = await ctl(['check', ...args]);
    expect([check.code, check.out]).toEqual([
      2,
      expect.stringContaining('no answer to /etcdserverpb.Maintenance/Status within 200 ms'),
    ]);
    const inspect = await ctl(['inspect', ...args]);
    expect([inspect.code, inspect.err]).toEqual([
      2,
      expect.stringContaining('no answer to /etcdserverpb.KV/Range within 200 ms'),
    ]);
  });

  test('of its reads alone is critical, and the rest of the report is there', async () => {
    await using member = await FakeMember.start(1n, { status: {}, members: [1n], hangs: ['Range', 'Alarm'] });
    const { code, out } = await ctl([
      'check',
      '--dial-timeout=30s',
      '--command-timeout=3s',
      '--endpoints',
      member.address,
    ]);
    expect(code).toBe(2);
    expect(out).toContain('critical: member m1 (1) does not serve linearizable reads: context deadline exceeded');
    expect(out).toMatch(/critical: \S+ does not tell its alarms: context deadline exceeded/);
    expect(out).toContain('member m1 1: leader at ');
  });

  test('of a watch is left as long after its last word as a command may take', async () => {
    await using member = await FakeMember.start(1n, { status: {} });
    const { code, out, err } = await ctl([
      'history',
      'a',
      '--dial-timeout=30s',
      '--command-timeout=3s',
      '--endpoints',
      member.address,
    ]);
    expect([code, out, err]).toEqual([
      1,
      '',
      'Error: context deadline exceeded: nothing of the watch within 3000 ms\n',
    ]);
  });

  test('is left at once by an interrupt', async () => {
    await using member = await FakeMember.start(1n, { status: {} });
    for (const args of [['history', 'a'], ['check']]) {
      await using hanging = await FakeMember.start(1n, { status: {}, hangs: ['Status'] });
      const stop = new AbortController();
      const endpoint = args[0] === 'check' ? hanging.address : member.address;
      const work = ctl([...args, '--dial-timeout=1h', '--command-timeout=1h', '--endpoints', endpoint], {
        signal: stop.signal,
      });
      await (args[0] === 'check' ? hanging : member).called(args[0] === 'check' ? 'Status' : 'Watch');
      stop.abort(new Error('stopped by SIGINT'));
      expect(await work).toEqual({ code: 5, out: '', err: 'Error: stopped by SIGINT\n' });
    }
  });
});
