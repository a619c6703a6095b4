import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logPosition } from '@engram/core';
import { describe, expect, test } from 'vitest';
import { type Storage, StorageCorruptError, StorageOpenError } from '../index.ts';
import type { StorageBed } from './storage-bed.ts';
import { appendRecords, record, sealOf, stream } from './storage-steps.ts';

/** A bed that is a directory. */
export interface DirectoryBed extends StorageBed {
  readonly path: string;
  /** As any bed does; a storage may also lie elsewhere in the directory. */
  open(path?: string): Promise<Storage>;
}

/** The outcome of opening the storage at the path, as one word. */
export async function reasonOf(bed: DirectoryBed, path: string): Promise<string> {
  try {
    await bed.open(path);
    return 'opened';
  } catch (error) {
    if (error instanceof StorageOpenError) {
      expect(error.message).toContain(path);
      return error.reason;
    }
    if (error instanceof StorageCorruptError) return 'corrupt';
    throw error;
  }
}

/**
 * The contract of opening a directory of files. The file `mark` says what was acknowledged. `makeBed` is called once
 * for each test.
 */
export function directoryContract(name: string, makeBed: () => Promise<DirectoryBed>, mark: string): void {
  describe(`${name}: a directory`, () => {
    test('may be the uppermost one of a file system', async () => {
      await using bed = await makeBed();
      const path = join(bed.path, 'data');
      await mkdir(join(path, 'lost+found'), { recursive: true });
      expect(await reasonOf(bed, path)).toBe('opened');
      expect(await readdir(path)).toContain('lost+found');
    });

    test('that is a file is not accessible', async () => {
      await using bed = await makeBed();
      const path = join(bed.path, 'file');
      await writeFile(path, '');
      expect(await reasonOf(bed, path)).toBe('not-accessible');
    });

    test('in use is locked until it is disposed', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      expect(await reasonOf(bed, bed.path)).toBe('locked');
      await storage[Symbol.asyncDispose]();
      expect(await reasonOf(bed, bed.path)).toBe('opened');
    });
  });

  describe(`${name}: what was acknowledged`, () => {
    test.each([
      { change: 'append', why: 'records are gone' },
      { change: 'seal', why: 'a deposed writer could come back' },
      { change: 'checkpoint', why: 'it was said to be durable' },
    ])('a directory that is older than its mark is corrupt: $change ($why)', async ({ change }) => {
      await using bed = await makeBed();
      const old = join(bed.path, 'old');
      const path = join(bed.path, 'new');
      const before = await bed.open(old);
      await before.log.seal(sealOf(1));
      await appendRecords(before, 1, [5]);
      await before[Symbol.asyncDispose]();
      await cp(old, path, { recursive: true });
      const storage = await bed.open(path);
      if (change === 'append') await appendRecords(storage, 6, [1]);
      else if (change === 'seal') await storage.log.seal(sealOf(2));
      else await storage.values.saveCheckpoint(logPosition(6), stream([record(1)]));
      await storage[Symbol.asyncDispose]();
      expect(await reasonOf(bed, path)).toBe('opened');
      await cp(join(path, mark), join(old, mark));
      expect(await reasonOf(bed, old)).toBe('corrupt');
    });

    test('without its mark a directory opens, and has one again', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      await storage[Symbol.asyncDispose]();
      await rm(join(bed.path, mark));
      await bed.open();
      expect(await readdir(bed.path)).toContain(mark);
    });
  });
}
