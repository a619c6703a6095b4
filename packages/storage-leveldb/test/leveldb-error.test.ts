import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';
import { isLevelDamage, levelOpenFailure } from '@engram/storage-leveldb';
import { expect, test } from 'vitest';
import { LevelBed } from './level-bed.ts';

const levelError = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const ioError = (system: string, file = '/var/lib/store/000005.ldb'): Error =>
  levelError('LEVEL_IO_ERROR', `IO error: ${file}: ${system}`);

test.each([
  'Permission denied',
  'Operation not permitted',
  'Read-only file system',
  'No space left on device',
  'Disk quota exceeded',
  'Quota exceeded',
  'Too many open files',
  'No file descriptors available',
  'Too many open files in system',
  'Cannot allocate memory',
  'Out of memory',
])('"%s" may pass: it is no damage', (system) => {
  expect(isLevelDamage(ioError(system))).toBe(false);
  const error = levelOpenFailure(
    '/var/lib/store',
    'the database',
    new Error('did not open', { cause: ioError(system) }),
  );
  expect(error).toBeInstanceOf(StorageOpenError);
  expect(error).toMatchObject({ reason: 'not-accessible' });
});

test.each(['Input/output error', 'No such file or directory', 'Is a directory'])('"%s" is damage', (system) => {
  expect(isLevelDamage(ioError(system))).toBe(true);
  expect(levelOpenFailure('/var/lib/store', 'the database', ioError(system))).toBeInstanceOf(StorageCorruptError);
});

test('the name of a file decides nothing', () => {
  for (const folder of ['quota', 'read-only', 'too many open files', 'x: Permission denied', 'no space: left'])
    expect(isLevelDamage(ioError('Input/output error', `/srv/${folder}/000005.ldb`)), folder).toBe(true);
});

test('what LevelDB itself finds is damage in any words, and any other error is none', () => {
  expect(isLevelDamage(levelError('LEVEL_CORRUPTION', 'Corruption: x: Permission denied'))).toBe(true);
  expect(isLevelDamage(levelError('LEVEL_LOCKED', 'IO error: /x: Input/output error'))).toBe(false);
  expect(isLevelDamage('Input/output error')).toBe(false);
});

test('a file that is missing is damage, whatever its directory is called', async () => {
  await using bed = await LevelBed.make();
  const path = join(bed.path, 'quota too many open files: Permission denied');
  await mkdir(path, { mode: 0o700 });
  await (await bed.open(path))[Symbol.asyncDispose]();
  const manifest = (await readdir(path, { recursive: true })).find((name) => name.includes('MANIFEST'))!;
  await rm(join(path, manifest));
  await expect(bed.open(path)).rejects.toBeInstanceOf(StorageCorruptError);
});
