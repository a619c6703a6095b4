import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogPosition, logPosition } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { Prng, realClock } from '@engram/sim';
import { type LogBatch, type Storage, StorageCorruptError } from '@engram/storage';
import { batches, never, record, sealOf, stream } from '@engram/storage/testing';
import { describe, expect, test } from 'vitest';
import { badDisk } from './bad-disk.ts';
import type { SegmentStorage } from '../src/segment-storage.ts';
import { SegmentBed } from './segment-bed.ts';

const SEGMENT_BYTES = 16 << 10;
const at = logPosition;

/** Appends records of 200 bytes, so that a segment holds about 70. */
async function append(storage: Storage, from: number, sizes: readonly number[]): Promise<number> {
  let position = from;
  for (const size of sizes) {
    const records = Array.from({ length: size }, (_, index) => record(position + index, 200));
    const outcome = await storage.log.append({ first: at(position), records }, sealOf(1));
    expect(outcome.kind).toBe('committed');
    position += size;
  }
  return position;
}

/** Waits for sealing, which runs in the background, so that the cleaner sees every segment. */
async function clean(storage: SegmentStorage): Promise<void> {
  await storage.sealed();
  await storage.cleaner.run();
}

async function checkpoint(storage: Storage, from: number): Promise<void> {
  await storage.values.saveCheckpoint(at(from), stream([]));
}

function range(from: number, to: number, step = 1): LogPosition[] {
  const positions: LogPosition[] = [];
  for (let position = from; position < to; position += step) positions.push(at(position));
  return positions;
}

async function expectRecords(storage: Storage, positions: readonly number[]): Promise<void> {
  const seen = await storage.values.getMany(positions.map(at), never);
  const wrong = positions.find((position, index) => Buffer.compare(seen[index]!, record(position, 200)) !== 0);
  expect(wrong).toBeUndefined();
}

async function readAll(storage: Storage, from: number): Promise<LogBatch[]> {
  const batches: LogBatch[] = [];
  for await (const batch of storage.log.read(at(from), never)) batches.push(batch);
  return batches;
}

/** The names of the segment files, sorted. */
async function segmentFiles(bed: SegmentBed): Promise<string[]> {
  return (await readdir(bed.path)).filter((name) => name.endsWith('.seg')).sort();
}

describe('cleaning', () => {
  test('removes segments of which nothing lives, with their tables', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    let storage = await bed.openSealed();
    const end = await append(storage, 1, batches(40, 10));
    await checkpoint(storage, end);
    const before = await segmentFiles(bed);
    await storage.values.drop(range(1, 300));
    await clean(storage);
    const after = await segmentFiles(bed);
    expect(after.length).toBeLessThan(before.length);
    expect(storage.values.size().totalBytes).toBeLessThan(208 * 100 + 3 * SEGMENT_BYTES);
    storage = await bed.reopen(storage);
    const names = await readdir(bed.path);
    for (const name of names.filter((file) => file.endsWith('.idx'))) {
      expect(names).toContain(name.replace('.idx', '.seg'));
    }
    await expectRecords(storage, range(300, end));
    await expect(storage.values.getMany([at(5)], never)).rejects.toThrow(StorageCorruptError);
    expect(bed.logger.warnings).toEqual([]);
  });

  test('rewrites neighbours that are mostly garbage into one, now and after it was opened again', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    let storage = await bed.openSealed();
    const end = await append(storage, 1, [...batches(60, 1), ...batches(34, 10)]);
    await checkpoint(storage, end);
    const live = range(1, end).filter((position) => position % 4 === 0);
    await storage.values.drop(range(1, end).filter((position) => position % 4 !== 0));
    await clean(storage);
    expect(bed.logger.rewrites).toBeGreaterThan(0);
    const { totalBytes, inUseBytes } = storage.values.size();
    expect(inUseBytes).toBe(live.length * 208);
    // The segment that is appended to may hold garbage.
    expect(totalBytes).toBeLessThan(2 * inUseBytes + SEGMENT_BYTES);
    await expectRecords(storage, live);
    storage = await bed.reopen(storage);
    await expectRecords(storage, live);
    expect(storage.values.size()).toEqual({ totalBytes, inUseBytes });
    await append(storage, end, [3]);
    await expectRecords(storage, [end, ...live.toReversed()]);
  });

  test('gives way as it copies, and as it looks for what lives', async () => {
    const slicesOf = async (steps: number): Promise<number> => {
      const loop = new Loop({ clock: realClock, pace: new StepPace(steps) });
      await using bed = await SegmentBed.make(SEGMENT_BYTES, { loop });
      const storage = await bed.openSealed();
      const end = await append(storage, 1, batches(60, 10));
      await checkpoint(storage, end);
      const live = range(1, end).filter((position) => position % 4 === 0);
      await storage.values.drop(range(1, end).filter((position) => position % 4 !== 0));
      await clean(storage);
      expect(bed.logger.rewrites).toBeGreaterThan(0);
      await expectRecords(storage, live);
      return loop.usage.get('background')!.slices;
    };
    const whole = await slicesOf(Number.POSITIVE_INFINITY);
    // Each of nearly 60 frames is looked at, and each of nearly 150 records copied.
    expect((await slicesOf(0)) - whole).toBeGreaterThan(40 + 100);
  });

  test('keeps the batches that nothing was dropped of, whole and in parts', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    const storage = await bed.openSealed();
    const sizes = Array.from({ length: 60 }, (_, index) => 1 + (index % 9));
    const end = await append(storage, 1, sizes);
    const before = await readAll(storage, 1);
    await checkpoint(storage, end);
    // Drops most of the first segments, with holes in batches, and nothing from 100 on.
    await storage.values.drop(range(1, 100).filter((position) => position % 3 !== 0));
    await storage.values.reclaim?.();
    expect(bed.logger.rewrites).toBeGreaterThan(0);
    for (const from of [100, 101, 102, 107, 150, end - 1, end]) {
      const expected = before
        .filter(({ first, records }) => first + records.length > from)
        .map(({ first, records, wallMs }) => ({
          first: Math.max(first, from),
          records: records.slice(Math.max(0, from - first)),
          wallMs,
        }));
      expect(await readAll(storage, from)).toEqual(expected);
    }
    // Record 58 is in the first segment, which has at least 66 records.
    await expect(readAll(storage, 58)).rejects.toThrow('record 58 is missing');
  });

  test('waits for the checkpoint: what a replay needs stays where it is', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    const storage = await bed.openSealed();
    const end = await append(storage, 1, batches(40, 10));
    await checkpoint(storage, 200);
    await storage.values.drop(range(1, 200));
    await clean(storage);
    const replay = await readAll(storage, 200);
    expect(replay.map(({ records }) => records.length).reduce((sum, count) => sum + count, 0)).toBe(end - 200);
  });

  test('does not rest once it is to stop: nobody would end that rest', async () => {
    // Timers of this clock do not fire, as those of a process that nothing else keeps alive.
    const clock = { ...realClock, nowMs: () => realClock.nowMs(), after: () => ({ cancel: () => {} }) };
    await using bed = await SegmentBed.make(SEGMENT_BYTES, { clock });
    const storage = await bed.openSealed();
    const end = await append(storage, 1, batches(40, 10));
    await checkpoint(storage, end);
    await storage.values.drop(range(1, end).filter((position) => position % 4 !== 0));
    await storage.sealed();
    const cleaning = storage.cleaner.run();
    await storage[Symbol.asyncDispose](); // a slice is being copied, and no rest has begun
    await cleaning;
    expect(bed.logger.warnings).toEqual([]);
  });

  test('leaves a read its file until it is done', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    const storage = await bed.openSealed();
    const end = await append(storage, 1, batches(40, 10));
    await checkpoint(storage, end);
    let position = 1;
    // A segment ends when the next one is ready, and the first has at least seven batches of ten.
    const live = 60;
    for await (const batch of storage.log.read(at(1), never)) {
      if (position === 1) {
        await storage.values.drop(range(live + 1, end));
        await storage.values.reclaim?.();
      }
      for (const bytes of batch.records) {
        expect(Buffer.compare(bytes, record(position, 200))).toBe(0);
        position += 1;
      }
      // The read yields all live records of this segment, although the segment was replaced long ago.
      if (position > live) break;
    }
    expect(bed.logger.rewrites).toBeGreaterThan(0);
  });

  test('leaves a segment with a damaged record as it is, says so, and goes on with the others', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    let storage = await bed.openSealed();
    const end = await append(storage, 1, batches(40, 10));
    await checkpoint(storage, end);
    await storage[Symbol.asyncDispose]();
    const [first] = await segmentFiles(bed);
    const bytes = await readFile(join(bed.path, first!));
    bytes[1000] = bytes[1000]! ^ 1;
    await writeFile(join(bed.path, first!), bytes);
    storage = await bed.open();
    await storage.values.drop(range(1, end).filter((position) => position % 5 !== 0));
    await clean(storage);
    expect(bed.logger.warnings.join()).toMatch(/a record is damaged/);
    expect(await segmentFiles(bed)).toContain(first);
    expect(bed.logger.rewrites).toBeGreaterThan(0);
    await expectRecords(storage, [200, 300]);
    await expect(storage.values.getMany(range(5, 60, 5), never)).rejects.toThrow(first);
  });

  test('leaves a segment with a bad sector as it is, says so, goes on with the others, and removes it when nothing lives in it', async () => {
    let bad = '';
    const ground = badDisk((asked) =>
      asked.operation === 'read' && asked.path === bad && asked.from < 1512 && asked.to > 1000 ? 'EIO' : undefined,
    );
    await using bed = await SegmentBed.make(SEGMENT_BYTES, { ground });
    const storage = await bed.openSealed();
    const end = await append(storage, 1, batches(60, 10));
    await checkpoint(storage, end);
    const [first] = await segmentFiles(bed);
    const before = storage.values.size().totalBytes;
    bad = join(bed.path, first!);
    await storage.values.drop(range(1, end).filter((position) => position % 5 !== 0));
    await clean(storage);
    expect(bed.logger.warnings).toEqual(['a record is damaged: its segment is not cleaned']);
    expect(await segmentFiles(bed)).toContain(first);
    expect(storage.values.size().totalBytes).toBeLessThan(before * 0.7);
    // A segment has fewer than 160 records, also one that has grown to twice its size.
    await expectRecords(storage, range(160, end, 5));
    await storage.values.drop(range(5, 160, 5));
    await clean(storage);
    expect(await segmentFiles(bed)).not.toContain(first);
    await expectRecords(storage, range(160, end, 5));
  });

  test('leaves no file behind where the disk has no room for a new one, and frees the space later', async () => {
    let full = false;
    const ground = badDisk((asked) =>
      full && asked.operation === 'write' && asked.path.endsWith('.idx') ? 'ENOSPC' : undefined,
    );
    await using bed = await SegmentBed.make(SEGMENT_BYTES, { ground });
    const storage = await bed.openSealed();
    const end = await append(storage, 1, batches(60, 10));
    await checkpoint(storage, end);
    await storage.sealed();
    const before = await readdir(bed.path);
    full = true;
    await storage.values.drop(range(1, end).filter((position) => position % 5 !== 0));
    for (let time = 0; time < 3; time += 1) await storage.cleaner.run();
    expect(bed.logger.warnings.length).toBeGreaterThan(0);
    expect((await readdir(bed.path)).sort()).toEqual(before.sort());
    full = false;
    await storage.cleaner.run();
    expect(bed.logger.rewrites).toBeGreaterThan(0);
    await expectRecords(storage, range(5, end, 5));
  });

  test('a store that is small beside a segment holds its space to a part of one', async () => {
    await using bed = await SegmentBed.make(1 << 20);
    const storage = await bed.openSealed();
    let end = 1;
    for (let round = 0; round < 40; round += 1) {
      const begin = end;
      end = await append(storage, end, Array<number>(10).fill(20));
      await checkpoint(storage, end);
      // The last 50 records live.
      await storage.values.drop(range(Math.max(1, begin - 50), end - 50));
      await clean(storage);
      const { totalBytes, inUseBytes } = storage.values.size();
      expect(inUseBytes).toBe(50 * 208);
      expect(totalBytes).toBeLessThan(2 * inUseBytes + (1 << 20) / 8 + 60_000);
    }
    await expectRecords(storage, range(end - 50, end));
    expect((await segmentFiles(bed)).length).toBeLessThan(6);
  });

  test('the segment that is appended to stays while it is not mostly garbage', async () => {
    await using bed = await SegmentBed.make(1 << 20);
    const storage = await bed.openSealed();
    const end = await append(storage, 1, Array<number>(100).fill(20));
    await checkpoint(storage, end);
    await storage.values.drop(range(1, 990));
    await clean(storage);
    expect(await segmentFiles(bed)).toEqual(['0000000000000001.seg']);
    // Nor while it has less than an eighth of a full one.
    const other = await SegmentBed.make(64 << 20);
    const large = await other.openSealed();
    await checkpoint(large, await append(large, 1, Array<number>(100).fill(20)));
    await large.values.drop(range(1, 2000));
    await clean(large);
    expect(await segmentFiles(other)).toEqual(['0000000000000001.seg']);
    await other[Symbol.asyncDispose]();
  });

  test('segments behind the checkpoint are cleaned of what lies before it', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    const storage = await bed.openSealed();
    const before = await append(storage, 1, [60]);
    await checkpoint(storage, before);
    const end = await append(storage, before, [5, 4, 1, 6]);
    await storage.values.drop(range(1, before));
    await storage.values.reclaim!();
    expect(storage.values.size().totalBytes).toBeLessThan(208 * 16 + 500);
    expect((await readAll(storage, before)).map(({ records }) => records.length)).toEqual([5, 4, 1, 6]);
    const again = await bed.reopen(storage);
    expect(await again.log.seal(sealOf(1))).toBe(end);
    expect((await readAll(again, before)).map(({ records }) => records.length)).toEqual([5, 4, 1, 6]);
  });

  test('holds the space of a store that is updated for ever to twice what lives', { timeout: 120_000 }, async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    const storage = await bed.openSealed();
    const keys = 500;
    const newest = new Array<number>(keys).fill(0);
    let garbage: LogPosition[] = [];
    let end = 1;
    const prng = new Prng(7);
    let highest = 0;
    for (let round = 0; round < 60; round += 1) {
      for (let batch = 0; batch < 10; batch += 1) {
        const size = 1 + (batch % 20);
        for (let index = 0; index < size; index += 1) {
          // Most updates go to few keys; the others stay for long.
          const key = prng.below(prng.chance(1 / 8) ? keys : 40);
          if (newest[key]! > 0) garbage.push(at(newest[key]!));
          newest[key] = end + index;
        }
        end = await append(storage, end, [size]);
      }
      await checkpoint(storage, end);
      await storage.values.drop(garbage);
      garbage = [];
      await clean(storage);
      const { totalBytes, inUseBytes } = storage.values.size();
      expect(inUseBytes).toBe(newest.filter((position) => position > 0).length * 208);
      expect(totalBytes).toBeLessThan(2.4 * inUseBytes + 2 * SEGMENT_BYTES);
      highest = Math.max(highest, totalBytes);
    }
    await expectRecords(
      storage,
      newest.filter((position) => position > 0),
    );
    // The files' sizes are as `size` says. Their number does not grow with the number of writes.
    const files = await segmentFiles(bed);
    expect(files.length).toBeLessThan(25);
    let onDisk = 0;
    for (const name of files) onDisk += (await stat(join(bed.path, name))).size;
    expect(onDisk).toBeLessThan(highest + 3 * SEGMENT_BYTES);
  });
});

describe('reclaiming', () => {
  test('gives back what was dropped of the segment that is appended to', async () => {
    await using bed = await SegmentBed.make();
    const storage = await bed.openSealed();
    const end = await append(storage, 1, [50, 50]);
    await checkpoint(storage, end);
    await storage.values.drop(range(1, 96));
    await storage.values.reclaim?.();
    expect(storage.values.size().totalBytes).toBeLessThan(6 * 210 + 100);
    await expectRecords(storage, range(96, end));
    await append(storage, end, [2]);
    await expectRecords(await bed.reopen(storage), range(96, end + 2));
  });

  test('of nothing, and twice at a time, is nothing', async () => {
    await using bed = await SegmentBed.make(SEGMENT_BYTES);
    const storage = await bed.openSealed();
    await storage.values.reclaim?.();
    const end = await append(storage, 1, batches(20, 10));
    await Promise.all([storage.values.reclaim?.(), storage.values.reclaim?.(), append(storage, end, [5, 5])]);
    await expectRecords(storage, range(1, end + 10));
    expect((await readAll(storage, 1)).length).toBe(22);
  });
});
