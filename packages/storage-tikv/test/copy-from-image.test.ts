import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageTrimmedError } from '@engram/storage';
import { never, record, sealOf, stream } from '@engram/storage/testing';
import type { TikvStorage } from '@engram/storage-tikv';
import { expect, test } from 'vitest';
import { expectWhole, imageAt, liveBefore } from './image-bed.ts';
import { at, batchOf } from './sim-bed.ts';
import { TikvBed } from './tikv-bed.ts';

const first = sealOf(1);
const small = { segmentBytes: 300, partBytesMax: 200 };

/** Appends batches of four records, from `from` up to `end`. */
async function fill(storage: TikvStorage, from: number, end: number): Promise<void> {
  for (let position = from; position < end; position += 4) {
    const batch = batchOf(position, Math.min(position + 3, end - 1));
    expect(await storage.log.append(batch, first)).toEqual({ kind: 'committed' });
  }
}

/** A log of 80 records whose beginning was trimmed behind an image, and the node without a disk that holds it. */
async function trimmed(from = 61): Promise<{ readonly bed: TikvBed; readonly leader: TikvStorage }> {
  const bed = await TikvBed.make({ local: 'disk', ...small });
  const leader = await bed.open({ local: { kind: 'memory' } });
  await leader.log.seal(first);
  await fill(leader, 1, 81);
  expect(await leader.image.save(at(from), imageAt(from), never)).toBe('published');
  expect((await leader.image.trim(never))!.before).toBeGreaterThan(1);
  return { bed, leader };
}

function readsSince(bed: TikvBed): () => number {
  const count = (): number =>
    bed.cluster.calls.filter(({ command }) => ['Get', 'BatchGet', 'Scan'].includes(command)).length;
  const before = count();
  return () => count() - before;
}

test.each([61, 63, 81])('a copy begins where the image at %i does, and is of use to the next start', async (from) => {
  const { bed, leader } = await trimmed(from);
  await using _ = bed;
  const node = await bed.open();
  await expectWhole(node, 81);
  await fill(leader, 81, 93);
  await expectWhole(node, 93);
  await node.values.saveCheckpoint(at(85), stream([record(1)]));
  await node[Symbol.asyncDispose]();
  const again = await bed.open();
  expect((await again.values.loadCheckpoint())?.from).toBe(85);
  const reads = readsSince(bed);
  const behind = Array.from({ length: 93 - from }, (_, index) => at(from + index));
  const found = await again.values.getMany(behind, never);
  expect(found.map((bytes) => Buffer.from(bytes).readUInt32LE())).toEqual(behind);
  expect(reads()).toBe(0);
  // Records before the copy come from the image.
  const before = liveBefore(from);
  expect((await again.values.getMany(before, never)).map((bytes) => Buffer.from(bytes).readUInt32LE())).toEqual(before);
  expect(bed.logger.warnings).toEqual([]);
});

test('a copy that began at an image, and was not closed, is of use to the next start', async () => {
  const { bed, leader } = await trimmed();
  await using _ = bed;
  const node = await bed.open();
  await expectWhole(node, 81);
  // The copy wrote its mark with its first batch.
  await fill(leader, 81, 101);
  await expectWhole(node, 101);
  await cp(join(bed.path, 'copy'), join(bed.path, 'left'), { recursive: true });
  await node[Symbol.asyncDispose]();
  await rm(join(bed.path, 'copy'), { recursive: true });
  await cp(join(bed.path, 'left'), join(bed.path, 'copy'), { recursive: true });
  const again = await bed.open();
  const reads = readsSince(bed);
  expect(
    (await again.values.getMany([at(70), at(95)], never)).map((bytes) => Buffer.from(bytes).readUInt32LE()),
  ).toEqual([70, 95]);
  expect(reads()).toBe(0);
  await expectWhole(again, 101);
  expect(bed.logger.warnings).toEqual([]);
});

test('a copy that began at an image, and has no checkpoint of its own, goes on from the newest image', async () => {
  const { bed, leader } = await trimmed();
  await using _ = bed;
  const node = await bed.open();
  await expectWhole(node, 81);
  await node[Symbol.asyncDispose]();
  expect(await leader.image.save(at(77), imageAt(77), never)).toBe('published');
  const again = await bed.open();
  expect((await again.values.loadCheckpoint())?.from).toBe(77);
  await expectWhole(again, 81);
  expect(bed.logger.warnings).toEqual([]);
  await again[Symbol.asyncDispose]();
  await fill(leader, 81, 93);
  expect(await leader.image.save(at(93), imageAt(93), never)).toBe('published');
  const third = await bed.open();
  expect(bed.logger.warnings).toEqual(['the copy begins behind what is known, and is fetched again']);
  await expectWhole(third, 93);
});

test('what is dropped before the image is forgotten with the first checkpoint of its own', async () => {
  const { bed } = await trimmed(63);
  await using _ = bed;
  const node = await bed.open();
  await expectWhole(node, 81);
  // The records 61 and 62 are in the first batch of the copy.
  await node.values.drop([at(1), at(60), at(61), at(62)]);
  await expect(node.values.drop([at(63)])).rejects.toThrow('a record that a replay needs may not be dropped');
  await node.values.saveCheckpoint(at(81), stream([record(1)]));
  await node.values.drop([at(63), at(80)]);
  await node[Symbol.asyncDispose]();
  const again = await bed.open();
  expect((await again.values.loadCheckpoint())?.from).toBe(81);
  expect(bed.logger.warnings).toEqual([]);
});

test('a copy that ends before what is left of the log is replaced', async () => {
  await using bed = await TikvBed.make({ local: 'disk', ...small });
  const node = await bed.open();
  await node.log.seal(first);
  await fill(node, 1, 21);
  await node[Symbol.asyncDispose]();
  const leader = await bed.open({ local: { kind: 'memory' } });
  await leader.log.seal(first);
  await fill(leader, 21, 81);
  expect(await leader.image.save(at(81), imageAt(81), never)).toBe('published');
  await leader.image.trim(never);
  const again = await bed.open();
  expect(bed.logger.warnings).toEqual(['the copy ends before what is left of the log, and is fetched again']);
  await expectWhole(again, 81);
});

test('a copy that is damaged before what is left of the log is given up, and the next read begins with the image', async () => {
  await using bed = await TikvBed.make({ local: 'disk', ...small });
  const leader = await bed.open();
  await leader.log.seal(first);
  await fill(leader, 1, 81);
  expect(await leader.image.save(at(81), imageAt(81), never)).toBe('published');
  await leader.values.saveCheckpoint(at(5), stream([record(1)]));
  await leader.image.trim(never);
  await leader[Symbol.asyncDispose]();
  const folder = join(bed.path, 'copy', 'log');
  const segment = join(folder, (await readdir(folder)).filter((name) => name.endsWith('.seg')).sort()[0]!);
  const bytes = await readFile(segment);
  const node = await bed.open();
  expect((await node.values.loadCheckpoint())?.from).toBe(5);
  for (let place = 200; place < bytes.length; place += 97) bytes[place]! ^= 0xff;
  await writeFile(segment, bytes);
  const reading = async (): Promise<void> => {
    for await (const _ of node.log.read(at(5), never));
  };
  await expect(reading()).rejects.toThrow(StorageTrimmedError);
  await expectWhole(node, 81);
  await node[Symbol.asyncDispose]();
  expect(await readdir(join(bed.path, 'copy'))).not.toContain('mark');
  const again = await bed.open();
  await expectWhole(again, 81);
});

test('a node that falls behind a trim while it runs is told so', async () => {
  await using bed = await TikvBed.make({ local: 'disk', ...small });
  const leader = await bed.open({ local: { kind: 'memory' } });
  await leader.log.seal(first);
  await fill(leader, 1, 21);
  const node = await bed.open();
  await expectWhole(node, 21);
  await fill(leader, 21, 81);
  expect(await leader.image.save(at(81), imageAt(81), never)).toBe('published');
  await leader.image.trim(never);
  const reading = async (): Promise<void> => {
    for await (const _ of node.log.read(at(21), never));
  };
  await expect(reading()).rejects.toThrow(StorageTrimmedError);
});
