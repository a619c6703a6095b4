import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { logPosition } from '@engram/core';
import { encodeNumberList } from '@engram/storage';
import { reasonOf } from '@engram/storage/contract';
import { appendRecords, record, sealOf, stream } from '@engram/storage/testing';
import { ClassicLevel } from 'classic-level';
import { describe, expect, test } from 'vitest';
import { LevelBed } from './level-bed.ts';

type Level = ClassicLevel<Uint8Array, Uint8Array>;

/** Opens the database of a closed storage without the storage, and changes it. */
async function raw(path: string, work: (level: Level) => Promise<void>): Promise<void> {
  const level: Level = new ClassicLevel(path, { keyEncoding: 'view', valueEncoding: 'view' });
  await level.open();
  await work(level);
  await level.close();
}

const CURRENT = 'MANIFEST-000001\n';

async function lay(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text);
  }
}

describe('a directory', () => {
  test('is made with its parents, for its owner alone', async () => {
    await using bed = await LevelBed.make();
    const path = join(bed.path, 'deep', 'down', 'here');
    await bed.open(path);
    for (const made of [path, join(bed.path, 'deep')]) expect((await stat(made)).mode & 0o777).toBe(0o700);
  });

  test.each([
    { name: 'member', why: "etcd's data" },
    { name: 'important.txt', why: 'a file of somebody' },
  ])('with $name is not ours, and stays as it is: $why', async ({ name }) => {
    await using bed = await LevelBed.make();
    const path = join(bed.path, 'data');
    await mkdir(join(path, name), { recursive: true });
    expect(await reasonOf(bed, path)).toBe('not-ours');
    expect(await readdir(path)).toEqual([name]);
  });

  test('with a database of something else is not ours, and keeps its keys', async () => {
    await using bed = await LevelBed.make();
    const work = async (level: Level): Promise<void> => await level.put(Uint8Array.of(1), Uint8Array.of(2));
    await raw(bed.path, work);
    expect(await reasonOf(bed, bed.path)).toBe('not-ours');
    await raw(bed.path, async (level) => expect(await level.get(Uint8Array.of(1))).toEqual(Buffer.of(2)));
  });

  test('in which making a database was interrupted begins anew', async () => {
    await using bed = await LevelBed.make();
    await mkdir(join(bed.path, 'records'));
    for (const name of ['LOCK', 'LOG', 'MANIFEST-000001', '000001.dbtmp']) {
      await writeFile(join(bed.path, 'records', name), '');
    }
    expect(await reasonOf(bed, bed.path)).toBe('opened');
  });

  test.each([
    {
      files: { 'records/CURRENT': CURRENT, 'records/MANIFEST-000001': '' },
      why: 'in its place, by an earlier program',
    },
    { files: { 'records.new/CURRENT': CURRENT, 'records.new/MANIFEST-000001': '' }, why: 'under its first name' },
    { files: { 'records.new/CURRENT': CURRENT, 'records/LOCK': '' }, why: 'in both places' },
  ])('in which a loss of power has left a part of the database begins anew: $why', async ({ files }) => {
    await using bed = await LevelBed.make();
    await lay(bed.path, files);
    const storage = await bed.open();
    expect(await storage.log.seal(sealOf(1))).toBe(1);
    expect(await readdir(bed.path)).not.toContain('records.new');
    expect(bed.logger.warnings.some((text) => text.includes('nothing was acknowledged'))).toBe(true);
  });

  test.each(['acknowledged', 'checkpoint-1', 'state', 'records/000005.ldb'])(
    'with %s and a database that cannot be opened is corrupt, and stays as it is',
    async (name) => {
      await using bed = await LevelBed.make();
      await lay(bed.path, { 'records/CURRENT': CURRENT, 'records/MANIFEST-000001': '', [name]: '' });
      expect(await reasonOf(bed, bed.path)).toBe('corrupt');
      expect(await readdir(join(bed.path, 'records'))).toContain('MANIFEST-000001');
      expect(bed.logger.warnings).toEqual([]);
    },
  );

  test('is opened by one of two first starts at the same time, or both say why they do not', async () => {
    for (let run = 0; run < 10; run += 1) {
      await using bed = await LevelBed.make();
      const opened = await Promise.allSettled([bed.open(), bed.open()]);
      expect(opened.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(2);
      for (const one of opened) if (one.status === 'fulfilled') await one.value[Symbol.asyncDispose]();
      expect(await reasonOf(bed, bed.path)).toBe('opened');
    }
  });

  test('in which the database was made and nothing else begins anew', async () => {
    await using bed = await LevelBed.make();
    await raw(join(bed.path, 'records'), async () => {});
    await writeFile(join(bed.path, 'state.new'), 'half');
    expect(await reasonOf(bed, bed.path)).toBe('opened');
  });

  test.each([
    { name: 'records/CURRENT', why: 'LevelDB would begin a new database over the old one' },
    { name: 'records', why: 'all of the log is gone' },
    { name: 'state', why: 'the seal and the checkpoint are unknown' },
  ])('that lost $name is corrupt, and stays as it is: $why', async ({ name }) => {
    await using bed = await LevelBed.make();
    const storage = await bed.open();
    await storage.log.seal(sealOf(1));
    await appendRecords(storage, 1, [3]);
    await storage[Symbol.asyncDispose]();
    await rm(join(bed.path, name), { recursive: true });
    expect(await reasonOf(bed, bed.path)).toBe('corrupt');
    expect(await reasonOf(bed, bed.path)).toBe('corrupt');
  });

  test('loses what an interrupted checkpoint left', async () => {
    await using bed = await LevelBed.make();
    let storage = await bed.open();
    await storage.values.saveCheckpoint(logPosition(1), stream([record(1)]));
    await storage[Symbol.asyncDispose]();
    await writeFile(join(bed.path, 'checkpoint-2'), 'half');
    storage = await bed.open();
    expect((await readdir(bed.path)).filter((name) => name.startsWith('checkpoint'))).toEqual(['checkpoint-1']);
    expect((await storage.values.loadCheckpoint())?.from).toBe(1);
  });
});

describe('the format', () => {
  test.each([
    { value: encodeNumberList('state', [3, 1, 2, 3]), reason: 'newer-format', why: 'of a later program' },
    { value: encodeNumberList('state', [2, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0]), reason: 'opened', why: 'of this one' },
    { value: encodeNumberList('state', [1, 0, 0, 1, 0, 0, 1, 0, 0]), reason: 'opened', why: 'of an earlier one' },
    { value: encodeNumberList('state', [2, 0, 0, 1, 0, 0, 1, 0, 0]), reason: 'corrupt', why: 'without the holder' },
    { value: encodeNumberList('other', [1, 0, 0, 1, 0, 0, 1, 0, 0]), reason: 'corrupt', why: 'of something else' },
    { value: encodeNumberList('state', [1, 0, 0]), reason: 'corrupt', why: 'too short' },
    { value: Uint8Array.of(1, 2, 3), reason: 'corrupt', why: 'damaged' },
    { value: new Uint8Array(0), reason: 'corrupt', why: 'empty' },
  ])('$reason: $why', async ({ value, reason }) => {
    await using bed = await LevelBed.make();
    const storage = await bed.open();
    await storage[Symbol.asyncDispose]();
    await writeFile(join(bed.path, 'state'), value);
    expect(await reasonOf(bed, bed.path)).toBe(reason);
  });

  test('1 does not say who holds the seal: only a newer epoch takes the log over', async () => {
    await using bed = await LevelBed.make();
    let storage = await bed.open();
    await storage[Symbol.asyncDispose]();
    await writeFile(join(bed.path, 'state'), encodeNumberList('state', [1, 4, 0, 1, 0, 0, 1, 0, 0]));
    storage = await bed.open();
    await expect(storage.log.seal(sealOf(4))).rejects.toThrow(/held by an unknown holder/);
    expect(await storage.log.seal(sealOf(5))).toBe(1);
    await storage[Symbol.asyncDispose]();
    expect(await (await bed.open()).log.seal(sealOf(5))).toBe(1);
  });
});
