import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { etcdserverpb } from '@engram/wire';
import { Engram } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

const PAGE_BYTES = 4096;
const PAGE_HEADER_BYTES = 16;

/** The snapshot file, checked as etcdctl does while saving it. */
async function save(client: GrpcClient): Promise<Buffer> {
  const { messages, status } = await client.call('/etcdserverpb.Maintenance/Snapshot', new Uint8Array(0));
  expect(status).toBe('0: ');
  const parts = messages.map((message) => etcdserverpb.decodeSnapshotResponse(message));
  const last = parts.pop();
  const file = Buffer.concat(parts.map(({ blob }) => blob));
  let remaining = file.length;
  for (const { blob, remainingBytes } of parts) {
    remaining -= blob.length;
    expect(remainingBytes).toBe(remaining);
  }
  expect(last?.remainingBytes).toBe(0);
  expect(Buffer.from(last?.blob ?? []).toString('hex')).toBe(createHash('sha256').update(file).digest('hex'));
  expect(file.length % 512).toBe(0);
  return file;
}

/** 64-bit FNV-1a, as bbolt uses for its meta pages. */
function checksum(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash;
}

/** The ids of the pages in file order, without the overflow pages. Fails if a page has another id than its place. */
function pageIds(file: Buffer): number[] {
  const ids: number[] = [];
  for (let page = 0; page < file.length / PAGE_BYTES; ) {
    const at = page * PAGE_BYTES;
    expect(Number(file.readBigUInt64LE(at))).toBe(page);
    ids.push(page);
    page += 1 + file.readUInt32LE(at + 12);
  }
  return ids;
}

test('a snapshot is whole, and a bbolt file from its first page to its last', async () => {
  await using engram = await Engram.start();
  using client = new GrpcClient(engram.url);
  const empty = await save(client);
  for (let at = 0; at < 300; at += 1) await client.put(`key-${at % 100}`, 'v'.repeat(at * 100));
  const file = await save(client);
  expect(file.length).toBeGreaterThan(empty.length + (300 * 299 * 100) / 2);
  for (const saved of [empty, file]) {
    for (const meta of [PAGE_HEADER_BYTES, PAGE_BYTES + PAGE_HEADER_BYTES]) {
      expect(saved.readUInt32LE(meta)).toBe(0xed0cdaed);
      expect(Number(saved.readBigUInt64LE(meta + 40)) * PAGE_BYTES).toBe(saved.length);
      expect(saved.readBigUInt64LE(meta + 56)).toBe(checksum(saved.subarray(meta, meta + 56)));
    }
    expect(pageIds(saved).length).toBeGreaterThan(10);
  }
  expect(file.includes('key-99')).toBe(true);
});

test('writes go on while a snapshot is taken, and are not in it', async () => {
  await using engram = await Engram.start();
  using client = new GrpcClient(engram.url);
  for (let at = 0; at < 50; at += 1) await client.put(`before-${at}`, 'x'.repeat(20_000));
  let begun = (): void => {};
  const first = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const saving = client.call('/etcdserverpb.Maintenance/Snapshot', new Uint8Array(0), { onMessage: () => begun() });
  await first;
  expect(await client.put('after', 'y')).toBe(52);
  const { messages, status } = await saving;
  expect(status).toBe('0: ');
  const file = Buffer.concat(messages.map((message) => etcdserverpb.decodeSnapshotResponse(message).blob));
  expect([file.includes('before-49'), file.includes('after')]).toEqual([true, false]);
});
