import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logPosition } from '@engram/core';
import { realClock, realRandom } from '@engram/sim';
import { encodeNumbers, StorageCorruptError } from '@engram/storage';
import { reasonOf } from '@engram/storage/contract';
import { openSegmentStorage } from '@engram/storage-segment';
import { appendRecords, never, record, sealOf, stream } from '@engram/storage/testing';
import { ClassicLevel } from 'classic-level';
import { describe, expect, test } from 'vitest';
import { badDisk } from './bad-disk.ts';
import { SegmentBed } from './segment-bed.ts';

const FORMAT_KEY = Uint8Array.of(0x61);
const SEAL_KEY = Uint8Array.of(0x73);

/** Changes the manifest's database from outside. */
async function raw(path: string, work: (level: ClassicLevel<Uint8Array, Uint8Array>) => Promise<void>): Promise<void> {
  const level = new ClassicLevel<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view' });
  await level.open();
  await work(level);
  await level.close();
}

describe('a directory', () => {
  test('is made with its parents, for its owner alone', async () => {
    await using bed = await SegmentBed.make();
    const path = join(bed.path, 'deep', 'down', 'here');
    await bed.open(path);
    for (const made of [path, join(bed.path, 'deep')]) expect((await stat(made)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(path)) {
      if (name !== 'meta') expect((await stat(join(path, name))).mode & 0o777, name).toBe(0o600);
    }
  });

  test.each([
    { name: 'member', why: "etcd's data" },
    { name: 'important.txt', why: 'a file of somebody' },
    { name: 'CURRENT', why: 'a LevelDB database' },
    { name: '1.seg', why: 'not a name that is made here' },
  ])('with $name is not ours, and stays as it is: $why', async ({ name }) => {
    await using bed = await SegmentBed.make();
    const path = join(bed.path, 'data');
    await mkdir(join(path, name), { recursive: true });
    expect(await reasonOf(bed, path)).toBe('not-ours');
    expect(await readdir(path)).toEqual([name]);
  });

  test('with a LevelDB database of something else is not ours, and keeps its keys', async () => {
    await using bed = await SegmentBed.make();
    const meta = join(bed.path, 'meta');
    await raw(meta, async (level) => await level.put(Uint8Array.of(1), Uint8Array.of(2)));
    expect(await reasonOf(bed, bed.path)).toBe('not-ours');
    await raw(meta, async (level) => expect(await level.get(Uint8Array.of(1))).toEqual(Buffer.of(2)));
  });

  test.each([
    { operation: 'read', name: 'ACKNOWLEDGED', says: /corrupt: the file ACKNOWLEDGED cannot be read \(EIO\)/ },
    { operation: 'write', name: 'ACKNOWLEDGED', says: /cannot open the storage at .*: EIO/ },
    { operation: 'write', name: '0000000000000001.seg', says: /cannot open the storage at .*: EIO/ },
  ] as const)('on a disk that fails says which one: $operation of $name', async ({ operation, name, says }) => {
    let fails = false;
    const ground = badDisk((asked) =>
      fails && asked.operation === operation && asked.path.endsWith(name) ? 'EIO' : undefined,
    );
    await using bed = await SegmentBed.make(64 << 20, { ground });
    const storage = await bed.open();
    await storage.log.seal(sealOf(1));
    await appendRecords(storage, 1, [5]);
    await storage[Symbol.asyncDispose]();
    fails = true;
    const opening = bed.open();
    await expect(opening).rejects.toThrow(says);
    await expect(opening).rejects.toThrow(bed.path);
    fails = false;
    await bed.open();
  });

  test.each([
    { names: ['meta/LOCK', 'meta/LOG', 'meta/MANIFEST-000001', 'meta/000001.dbtmp'], why: 'making the database' },
    { names: ['meta/LOCK', '0000000000000001.tmp'], why: 'making a segment' },
  ])('in which something was interrupted begins anew: $why', async ({ names }) => {
    await using bed = await SegmentBed.make();
    await mkdir(join(bed.path, 'meta'));
    for (const name of names) await writeFile(join(bed.path, name), '');
    expect(await reasonOf(bed, bed.path)).toBe('opened');
    expect((await readdir(bed.path)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('in which the database was made and nothing else begins anew', async () => {
    await using bed = await SegmentBed.make();
    await raw(join(bed.path, 'meta'), async () => {});
    expect(await reasonOf(bed, bed.path)).toBe('opened');
  });

  test.each([
    { gone: 'meta/CURRENT', why: 'LevelDB would begin a new database over the old one' },
    { gone: 'meta', why: 'segments would be of nobody' },
  ])('that lost $gone is corrupt, and stays as it is: $why', async ({ gone }) => {
    await using bed = await SegmentBed.make();
    const storage = await bed.open();
    await storage[Symbol.asyncDispose]();
    await rm(join(bed.path, gone), { recursive: true });
    const names = await readdir(bed.path);
    expect(await reasonOf(bed, bed.path)).toBe('corrupt');
    expect(await readdir(bed.path)).toEqual(names);
  });
});

describe('the format', () => {
  test.each([
    { value: encodeNumbers(FORMAT_KEY, [4]), reason: 'newer-format', why: 'of a later program' },
    { value: encodeNumbers(FORMAT_KEY, [3]), reason: 'opened', why: 'of this one' },
    { value: encodeNumbers(FORMAT_KEY, [2]), reason: 'opened', why: 'of one without wall-clock marks' },
    { value: encodeNumbers(FORMAT_KEY, [1]), reason: 'opened', why: 'of an earlier one' },
    { value: Uint8Array.of(1, 2, 3), reason: 'corrupt', why: 'damaged' },
    { value: undefined, reason: 'corrupt', why: 'lost, beside a mark that only we leave' },
  ])('$reason: $why', async ({ value, reason }) => {
    await using bed = await SegmentBed.make();
    const storage = await bed.open();
    await storage[Symbol.asyncDispose]();
    await raw(join(bed.path, 'meta'), async (level) => {
      if (value === undefined) await level.del(FORMAT_KEY);
      else await level.put(FORMAT_KEY, value);
    });
    expect(await reasonOf(bed, bed.path)).toBe(reason);
  });

  test('1 does not say who holds the seal: only a newer epoch takes the log over', async () => {
    await using bed = await SegmentBed.make();
    let storage = await bed.open();
    await storage.log.seal(sealOf(4));
    await appendRecords(storage, 1, [3], sealOf(4));
    await storage[Symbol.asyncDispose]();
    await raw(join(bed.path, 'meta'), async (level) => {
      await level.put(FORMAT_KEY, encodeNumbers(FORMAT_KEY, [1]));
      await level.put(SEAL_KEY, encodeNumbers(SEAL_KEY, [4]));
    });
    storage = await bed.open();
    await expect(storage.log.seal(sealOf(4))).rejects.toThrow(/held by an unknown holder/);
    expect(await storage.log.seal(sealOf(5))).toBe(4);
    await appendRecords(storage, 4, [1], sealOf(5));
    storage = await bed.reopen(storage);
    expect(await storage.log.seal(sealOf(5))).toBe(5);
    await storage[Symbol.asyncDispose]();
    await raw(join(bed.path, 'meta'), async (level) => {
      const format = await level.get(FORMAT_KEY);
      expect(Buffer.compare(format!, encodeNumbers(FORMAT_KEY, [3]))).toBe(0);
    });
  });
});

describe('a log that begins at 501', () => {
  const begin = logPosition(501);

  test('goes on from there, also after it was opened again', async () => {
    await using bed = await SegmentBed.make(64 << 20, { first: begin });
    let storage = await bed.open();
    expect(await storage.log.seal(sealOf(1))).toBe(501);
    storage = await bed.reopen(storage);
    expect(await storage.log.seal(sealOf(1))).toBe(501);
    await expect(appendRecords(storage, 1, [1])).rejects.toThrow('does not begin at the end of the log');
    await appendRecords(storage, 501, [3, 2]);
    for (const life of ['first', 'second']) {
      const seen: number[] = [];
      for await (const batch of storage.log.read(begin, never)) seen.push(batch.first, batch.records.length);
      expect(seen, life).toEqual([501, 3, 504, 2]);
      const [bytes] = await storage.values.getMany([logPosition(505)], never);
      expect(Buffer.compare(bytes!, record(505)), life).toBe(0);
      storage = await bed.reopen(storage);
    }
  });

  test('keeps its beginning whatever it is opened with, and takes no checkpoint of before', async () => {
    await using bed = await SegmentBed.make(64 << 20, { first: begin });
    const storage = await bed.open();
    await storage.log.seal(sealOf(1));
    await appendRecords(storage, 501, [4]);
    await expect(storage.values.saveCheckpoint(logPosition(500), stream([]))).rejects.toThrow('a checkpoint older');
    await storage.values.saveCheckpoint(begin, stream([record(1)]));
    await storage[Symbol.asyncDispose]();
    const again = await openSegmentStorage({
      path: bed.path,
      clock: realClock,
      random: realRandom,
      logger: bed.logger,
    });
    expect(await again.log.seal(sealOf(1))).toBe(505);
    expect((await again.values.loadCheckpoint())?.from).toBe(501);
    await again[Symbol.asyncDispose]();
  });

  test('has nothing before it', async () => {
    await using bed = await SegmentBed.make(64 << 20, { first: begin });
    const storage = await bed.open();
    await storage.log.seal(sealOf(1));
    await appendRecords(storage, 501, [4]);
    await expect(storage.values.getMany([logPosition(500)], never)).rejects.toThrow(StorageCorruptError);
    await expect(storage.log.read(logPosition(500), never)[Symbol.asyncIterator]().next()).rejects.toThrow(
      StorageCorruptError,
    );
  });
});

describe('what is reserved', () => {
  test('is given back when the storage is closed', async () => {
    await using bed = await SegmentBed.make();
    const storage = await bed.open();
    await storage.log.seal(sealOf(1));
    await appendRecords(storage, 1, [5, 5]);
    await storage[Symbol.asyncDispose]();
    const [name] = (await readdir(bed.path)).filter((file) => file.endsWith('.seg'));
    expect((await stat(join(bed.path, name!))).size).toBe(storage.values.size().totalBytes);
  });

  test('is not part of the size', async () => {
    await using bed = await SegmentBed.make();
    const storage = await bed.open();
    await storage.log.seal(sealOf(1));
    await appendRecords(storage, 1, [1]);
    expect(storage.values.size().totalBytes).toBeLessThan(300);
  });
});
