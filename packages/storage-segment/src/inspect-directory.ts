import { join } from 'node:path';
import { systemErrorCode } from '@engram/core';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';
import { ACKNOWLEDGED_FILE, META_DIRECTORY, parseFileName } from './file-names.ts';
import type { FileSystem } from './file-system.ts';

/** The manifest's database is complete once this file exists. */
const CURRENT = 'CURRENT';
/** A file system may have this directory in its root. */
const LOST_AND_FOUND = 'lost+found';

/**
 * Creates the directory and its parents if they are missing, and returns whether a storage is in it. Segments without
 * the manifest's database are damage: a new database would take them for leftovers.
 */
export async function inspectDirectory(fileSystem: FileSystem, path: string): Promise<'storage' | 'empty'> {
  const names = (await listOrMake(fileSystem, path)).filter((name) => name !== LOST_AND_FOUND);
  const foreign = names.find((name) => !isOurs(name));
  if (foreign !== undefined) {
    throw new StorageOpenError(
      'not-ours',
      `${path} holds something else (${foreign}): a storage needs its own directory`,
    );
  }
  if ((await listMeta(fileSystem, path)).includes(CURRENT)) return 'storage';
  const data = names.find((name) => name !== META_DIRECTORY && parseFileName(name)?.kind !== 'tmp');
  if (data === undefined) return 'empty';
  throw new StorageCorruptError(`the file ${META_DIRECTORY}/${CURRENT} is missing beside ${data}`, path);
}

function isOurs(name: string): boolean {
  return name === META_DIRECTORY || name === ACKNOWLEDGED_FILE || parseFileName(name) !== undefined;
}

async function listMeta(fileSystem: FileSystem, path: string): Promise<readonly string[]> {
  try {
    return await fileSystem.list(join(path, META_DIRECTORY));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw notAccessible(path, error);
  }
}

async function listOrMake(fileSystem: FileSystem, path: string): Promise<readonly string[]> {
  try {
    await fileSystem.makeDirectory(path);
    return await fileSystem.list(path);
  } catch (error) {
    throw notAccessible(path, error);
  }
}

function notAccessible(path: string, cause: unknown): StorageOpenError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new StorageOpenError('not-accessible', `cannot use ${path} as a directory: ${text}`, { cause });
}
