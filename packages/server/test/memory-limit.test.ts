import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RawClient } from '@engram/transport/testing';
import { windowUpdateFrame } from '@engram/http2';
import { etcdserverpb } from '@engram/wire';
import { Engram } from './support/engram-process.ts';

/* A member with a limit of 256 MiB, and clients that request much and read nothing. */

const MiB = 1024 * 1024;
const limit = 256 * MiB;
const MOD = 3;
const VALUE = 4;
const DESCEND = 2;

function peakBytes(engram: Engram): number {
  return 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${engram.child.pid}/status`, 'utf8'))?.[1]);
}

async function gauges(engram: Engram, name: string): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${engram.url}/metrics`)).text();
  const lines = text.matchAll(new RegExp(`^${name}(?:\\{resource="(\\w+)"\\})? (\\S+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, resource = '', value]) => [resource, Number(value)]));
}

test('lists that nobody reads do not take a node above its limit, and others are served', async () => {
  await using engram = await Engram.start([`--memory-limit=${limit}`]);
  using modest = await RawClient.open(engram.port);
  modest.write(windowUpdateFrame(0, 2 ** 30));
  const value = Buffer.alloc(15_000, 'v');
  for (let at = 0; at < 2_000; at += 1) {
    const put = etcdserverpb.encodePutRequest({ key: Buffer.from(`key/${at}`), value });
    modest.write(modest.request(2 * at + 1, '/etcdserverpb.KV/Put', put));
    expect(await modest.outcome(2 * at + 1)).toBe('grpc-status: 0');
    modest.received.length = 0;
  }
  const everything = { key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0) };
  const lists = [
    everything,
    { ...everything, sortTarget: MOD, sortOrder: DESCEND },
    { ...everything, sortTarget: VALUE, sortOrder: DESCEND },
    { ...everything, minModRevision: 2 },
  ].map((request) => etcdserverpb.encodeRangeRequest(request));
  const greedy = await Promise.all(Array.from({ length: 20 }, () => RawClient.open(engram.port)));
  for (const [at, client] of greedy.entries()) {
    client.socket.pause();
    const list = lists[at % lists.length]!;
    for (let id = 1; id < 20; id += 2) client.write(client.request(id, '/etcdserverpb.KV/Range', list));
  }
  for (let id = 10_001; id < 10_401; id += 2) {
    const put = etcdserverpb.encodePutRequest({ key: Buffer.from('key/modest'), value: Buffer.from(`${id}`) });
    modest.write(modest.request(id, '/etcdserverpb.KV/Put', put));
    expect(await modest.outcome(id)).toBe('grpc-status: 0');
  }
  expect(await gauges(engram, 'engram_memory_limit_bytes')).toEqual({ '': limit });
  const limits = await gauges(engram, 'engram_budget_limit');
  expect(limits).toMatchObject({ answer_bytes: 12 * MiB, value_cache_bytes: 12 * MiB, log_queue_bytes: 6 * MiB });
  const used = await gauges(engram, 'engram_budget_used');
  expect(Object.keys(used)).toEqual(Object.keys(limits));
  expect(used['value_cache_bytes']).toBeGreaterThan(0);
  expect(used['value_cache_bytes']).toBeLessThanOrEqual(12 * MiB);
  expect(peakBytes(engram)).toBeLessThan(limit);
  for (const client of greedy) client[Symbol.dispose]();
});

test('long values that nobody reads do not take a node above its limit, and others are served', async () => {
  await using engram = await Engram.start([`--memory-limit=${limit}`]);
  using modest = await RawClient.open(engram.port);
  modest.write(windowUpdateFrame(0, 2 ** 30));
  const call = async (id: number, key: string, value: Uint8Array): Promise<void> => {
    const put = etcdserverpb.encodePutRequest({ key: Buffer.from(key), value });
    modest.write(modest.request(id, '/etcdserverpb.KV/Put', put));
    expect(await modest.outcome(id)).toBe('grpc-status: 0');
    modest.received.length = 0;
  };
  // More than the cache of values holds, so that they are read from the disk.
  for (let at = 0; at < 150; at += 1) await call(2 * at + 1, `key/${at}`, Buffer.alloc(200_000, 'v'));
  const greedy = await Promise.all(Array.from({ length: 4 }, () => RawClient.open(engram.port)));
  for (const client of greedy) {
    client.socket.pause();
    for (let at = 0; at < 300; at += 1) {
      const get = etcdserverpb.encodeRangeRequest({ key: Buffer.from(`key/${at % 150}`) });
      client.write(client.request(2 * at + 1, '/etcdserverpb.KV/Range', get));
    }
  }
  for (let id = 10_001; id < 10_401; id += 2) await call(id, 'key/modest', Buffer.from(`${id}`));
  const { answer_bytes: answerBytes } = await gauges(engram, 'engram_budget_used');
  // The bound, and one answer more of each client.
  expect(answerBytes).toBeLessThan(12 * MiB + 4 * 200_100);
  expect(answerBytes).toBeGreaterThan(6 * MiB);
  expect(peakBytes(engram)).toBeLessThan(limit);
  for (const client of greedy) client[Symbol.dispose]();
});

/** Takes 150 MiB of a process before its program begins: more than three quarters of the limit with what a node takes. */
const taking = `--import=data:text/javascript,globalThis.taken=Buffer.alloc(${150 * MiB},1)`;

test('a node collects its garbage near its limit, and without one it leaves that to V8', async () => {
  await using limited = await Engram.start([`--memory-limit=${limit}`], { env: { NODE_OPTIONS: taking } });
  await using free = await Engram.start(['--memory-limit=-1'], { env: { NODE_OPTIONS: taking } });
  const collections = async (engram: Engram): Promise<number> =>
    (await gauges(engram, 'engram_memory_collections_total'))[''] ?? Number.NaN;
  await expect.poll(() => collections(limited), { timeout: 20_000 }).toBeGreaterThan(0);
  expect(await collections(free)).toBe(0);
});
