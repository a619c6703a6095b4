import { logPosition } from '@engram/core';
import type { Storage } from '@engram/storage';
import { never, record, sealOf, stream } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import type { FileSystem, StorageFile } from '../src/disk/file-system.ts';
import { giveBack, SHORTEN_BYTES, shorten } from '../src/disk/shorten.ts';
import { nodeGround } from '../src/ground.ts';
import { SegmentBed } from './segment-bed.ts';

const MIB = 1 << 20;

/** Has a length, and notes what is done to it. */
function noted(length: number, done: string[], truncates: (to: number) => void = () => undefined): StorageFile {
  let size = length;
  return {
    size: () => Promise.resolve(size),
    truncate: async (to) => {
      truncates(to);
      done.push(`to ${to / MIB}`);
      size = to;
    },
    sync: async () => void done.push('sync'),
    close: async () => void done.push('close'),
    read: () => Promise.reject(new Error('read')),
    readNow: () => 0,
    write: () => Promise.reject(new Error('written')),
  };
}

test('a file is shortened step by step, each step synced', async () => {
  const done: string[] = [];
  await shorten(noted(2.5 * MIB, done), 0.25 * MIB, () => true);
  expect(done).toEqual(['to 1.5', 'sync', 'to 0.5', 'sync', 'to 0.25', 'sync']);
});

test('a file that is short enough stays as it is', async () => {
  const done: string[] = [];
  await shorten(noted(MIB, done), MIB, () => true);
  expect(done).toEqual([]);
});

test('what is left is done at once when it may not go on', async () => {
  const done: string[] = [];
  await shorten(noted(64 * MIB, done), 0, () => done.length === 0);
  expect(done).toEqual(['to 63', 'sync', 'to 0']);
});

test('a removed file is closed, whatever fails, and is not shortened where that is not wanted', async () => {
  const done: string[] = [];
  await giveBack(noted(4 * MIB, done), () => false);
  const failing = noted(4 * MIB, done, (to) => {
    if (to < 3 * MIB) throw new Error('EIO');
  });
  await giveBack(failing, () => true);
  expect(done).toEqual(['close', 'to 3', 'sync', 'close']);
});

/** The ground with the lengths that files were shortened by, by kind of file, and how many of them were open at a time. */
function watched(): {
  readonly ground: typeof nodeGround;
  readonly steps: Record<string, number[]>;
  readonly open: { now: number; max: number };
} {
  const steps: Record<string, number[]> = { seg: [], ckpt: [] };
  const counts = { now: 0, max: 0 };
  const { fileSystem } = nodeGround;
  const open: FileSystem['open'] = async (path, mode) => {
    const file = await fileSystem.open(path, mode);
    if (mode !== 'update' || !/\.(seg|ckpt)$/.test(path)) return file;
    counts.now += 1;
    counts.max = Math.max(counts.max, counts.now);
    const close = file.close.bind(file);
    file.close = () => {
      counts.now -= 1;
      return close();
    };
    const truncate = file.truncate.bind(file);
    file.truncate = async (length) => {
      steps[path.split('.').at(-1)!]?.push((await file.size()) - length);
      await truncate(length);
    };
    return file;
  };
  return { ground: { ...nodeGround, fileSystem: { ...fileSystem, open } }, steps, open: counts };
}

async function filled(storage: Storage, records: number): Promise<void> {
  for (let position = 1; position <= records; position += 4) {
    const some = Array.from({ length: 4 }, (_, index) => record(position + index, 60_000));
    await storage.log.append({ first: logPosition(position), records: some }, sealOf(1));
  }
}

const chunks = (count: number) => stream(Array.from({ length: count }, (_, at) => new Uint8Array(100_000).fill(at)));

test('the space of removed segments and checkpoints is given back in steps', async () => {
  const { ground, steps } = watched();
  await using bed = await SegmentBed.make(4 * MIB, { ground });
  const storage = await bed.openSealed();
  await filled(storage, 240);
  await storage.values.saveCheckpoint(logPosition(241), chunks(32));
  await storage.values.drop(Array.from({ length: 200 }, (_, at) => logPosition(at + 1)));
  await storage.sealed();
  await storage.cleaner.run();
  expect(steps['seg']!.reduce((sum, step) => sum + step, 0)).toBeGreaterThan(8 * MIB);
  await storage.values.saveCheckpoint(logPosition(241), chunks(1));
  expect(steps['ckpt']!.reduce((sum, step) => sum + step, 0)).toBeGreaterThan(3 * MIB);
  expect(Math.max(...Object.values(steps).flat())).toBe(SHORTEN_BYTES);
  expect(bed.logger.warnings).toEqual([]);
});

test('a checkpoint that is being read stays whole', async () => {
  const { ground, steps } = watched();
  await using bed = await SegmentBed.make(4 * MIB, { ground });
  const storage = await bed.openSealed();
  await storage.values.saveCheckpoint(logPosition(1), chunks(32));
  const reading = (await storage.values.loadCheckpoint())!.chunks(never)[Symbol.asyncIterator]();
  expect((await reading.next()).value).toEqual(new Uint8Array(100_000));
  await storage.values.saveCheckpoint(logPosition(1), chunks(1));
  let last: Uint8Array | undefined;
  for (let next = await reading.next(); next.done !== true; next = await reading.next()) last = next.value;
  expect([last?.[0], steps['ckpt']]).toEqual([31, []]);
  await storage.values.saveCheckpoint(logPosition(1), chunks(1));
  expect(steps['ckpt'], 'once it was read').toHaveLength(1);
});

test('a segment that is being read stays whole until then', async () => {
  const { ground, steps } = watched();
  await using bed = await SegmentBed.make(4 * MIB, { ground });
  const storage = await bed.openSealed();
  await filled(storage, 240);
  await storage.values.saveCheckpoint(logPosition(241), stream([]));
  await storage.sealed();
  let position = 1;
  for await (const { records } of storage.log.read(logPosition(1), never)) {
    if (position === 1) {
      await storage.values.drop(Array.from({ length: 60 }, (_, at) => logPosition(at + 1)));
      await storage.cleaner.run('any');
    }
    for (const bytes of records) expect(bytes).toEqual(record(position++, 60_000));
    if (position > 60) break;
  }
  expect(bed.logger.rewrites).toBe(1);
  expect(steps['seg']).toEqual([]);
});

test('of many removed segments a few are open at a time', async () => {
  const { ground, open } = watched();
  await using bed = await SegmentBed.make(256 << 10, { ground });
  const storage = await bed.openSealed();
  await filled(storage, 200);
  await storage.values.saveCheckpoint(logPosition(201), stream([]));
  const others = open.now;
  await storage.values.drop(Array.from({ length: 200 }, (_, at) => logPosition(at + 1)));
  await storage.sealed();
  await storage.cleaner.run('any');
  expect(open).toEqual({ now: others, max: others + 16 });
});
