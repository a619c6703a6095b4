import { nodeItself } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import { keyText, leaseId, type Op, putOp, utf8 } from '@engram/core';
import type { StoreImage } from '@engram/backend';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { type Node, openNode } from './harness.ts';
import { refusal } from './ops.ts';

const put = (key: string): Op => putOp(utf8(key), utf8(key));
const remove = (key: string): Op => ({ kind: 'delete-range', range: { key: utf8(key), end: utf8('') }, prevKv: false });
const write = (node: Node, ...success: Op[]) => node.backend.txn({ compares: [], success, failure: [] }, nodeItself);
const never = new AbortController().signal;

async function plain(image: StoreImage): Promise<string[]> {
  const kvs = await image.read(0, image.count, never);
  return kvs.map((kv, at) => {
    expect(kv.length).toBe(image.bytes(at));
    const mark = image.isTombstone(at) ? '-' : '+';
    return `${image.modRevision(at)}.${image.sub(at)}${mark}${keyText(decodeKeyValue(kv).key)}`;
  });
}

test('an image has every version that is readable, in the order in which they came', async () => {
  const node = await openNode(new MemoryStorage());
  await using backend = node.backend;
  await write(node, put('b'), put('a'));
  await write(node, put('a'));
  await write(node, remove('b'));
  await write(node, put('c'));
  using whole = await backend.image(never);
  expect(whole).toMatchObject({ revision: 5, compactRevision: -1, count: 5 });
  expect(await plain(whole)).toEqual(['2.0+b', '2.1+a', '3.0+a', '4.0-b', '5.0+c']);
});

test('what is compacted is not in it, the change at the compact revision is', async () => {
  const node = await openNode(new MemoryStorage());
  await using backend = node.backend;
  await write(node, put('a'), put('b'));
  await write(node, put('a'));
  await write(node, remove('b'));
  await write(node, put('a'));
  await backend.compact(4, true, nodeItself);
  using image = await backend.image(never);
  expect(await plain(image)).toEqual(['3.0+a', '4.0-b', '5.0+a']);
});

test('it stays as it was taken, whatever is written or compacted meanwhile', async () => {
  const node = await openNode(new MemoryStorage(), { cacheBytesMax: 1 });
  await using backend = node.backend;
  for (let at = 0; at < 5_000; at += 1) await write(node, put(`k${at % 3_000}`));
  const taking = backend.image(never);
  const writing = Promise.all(Array.from({ length: 200 }, (_, at) => write(node, put(`k${at}`))));
  const image = await taking;
  await writing;
  await backend.compact(backend.revision, false, nodeItself);
  await node.clock.settle();
  // If the compaction had freed versions of the image, these writes would get their places in the index.
  for (let at = 0; at < 500; at += 1) await write(node, put(`new${at}`));
  const versions = await plain(image);
  expect(versions).toHaveLength(5_000);
  expect(versions).toEqual(Array.from({ length: 5_000 }, (_, at) => `${at + 2}.0+k${at % 3_000}`));
  image[Symbol.dispose]();
  await node.clock.settle(200);
  using after = await backend.image(never);
  expect(after.count).toBe(3_500);
  expect(() => image.modRevision(0)).toThrow('an image that was let go');
});

test('nobody who gives up holds anything', async () => {
  const node = await openNode(new MemoryStorage());
  await using backend = node.backend;
  await write(node, put('a'));
  const gone = new AbortController();
  const taking = backend.image(gone.signal);
  gone.abort();
  await expect(taking).rejects.toThrow();
  await write(node, put('a'));
  await backend.compact(3, true, nodeItself);
});

test('images count for what they take until they are disposed; above the bound only one is taken', async () => {
  const node = await openNode(new MemoryStorage(), { imagesBytesMax: 100 });
  await using backend = node.backend;
  for (let at = 0; at < 10; at += 1) await write(node, put(`k${at}`));
  const one = await backend.image(never);
  expect(backend.replica.imagesBytes).toBe(80);
  await expect(backend.image(never)).rejects.toThrow('too many requests');
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  expect(backend.replica.imagesBytes).toBe(0);
  for (let at = 0; at < 10; at += 1) await write(node, put(`k${at}`));
  using large = await backend.image(never);
  expect(large.count).toBe(20);
  expect(backend.replica.imagesBytes).toBe(160);
});

test('an image whose versions a compaction takes away while it is taken is refused, and holds nothing', async () => {
  const node = await openNode(new MemoryStorage(), { sliceSteps: 1, imageHoldMaxMs: 10 });
  await using backend = node.backend;
  await write(node, ...Array.from({ length: 500 }, (_, at) => put(`k${at}`)));
  await write(node, put('k1'));
  const taking = refusal(backend.image(never));
  await backend.compact(3, false, nodeItself);
  await node.clock.settle(3);
  node.clock.advance(11);
  expect(await taking).toBe('Compacted');
  expect(backend.replica.pins.size).toBe(0);
  expect(backend.replica.imagesBytes).toBe(0);
});

test('an image that is given up while it is taken counts no longer', async () => {
  const node = await openNode(new MemoryStorage(), { imagesBytesMax: 100 });
  await using backend = node.backend;
  for (let at = 0; at < 10; at += 1) await write(node, put(`k${at}`));
  await expect(backend.image(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  expect(backend.replica.imagesBytes).toBe(0);
  expect(backend.replica.pins.size).toBe(0);
});

test('leases in the order of their keys are those of the call, and shared while none comes or goes', async () => {
  const { backend } = await openNode(new MemoryStorage(), { sliceSteps: 1 });
  for (const id of [5n, -1n, 3n]) await backend.leaseGrant(leaseId(id), 60, nodeItself);
  const [first, second] = [await backend.leases('by-id', nodeItself), await backend.leases('by-id', nodeItself)];
  expect(first.map(({ id }) => id)).toEqual([3n, 5n, -1n]);
  expect(second).toBe(first);
  const asked = backend.leases('by-id', nodeItself);
  await backend.leaseRevoke(leaseId(5n), nodeItself);
  expect(await asked).toHaveLength(3);
  expect((await backend.leases('by-id', nodeItself)).map(({ id }) => id)).toEqual([3n, -1n]);
});
