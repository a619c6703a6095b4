import { join } from 'node:path';
import { systemErrorCode } from '@engram/core';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';
import {
  ACKNOWLEDGED_FILE,
  META_CURRENT,
  META_DIRECTORY,
  NEW_META_DIRECTORY,
  parseFileName,
} from './disk/file-names.ts';
import type { FileSystem } from './disk/file-system.ts';

/** LevelDB has them once a database was used. */
const TABLE = /^\d+\.(?:ldb|sst)$/;
/** A file system may have this directory in its root. */
const LOST_AND_FOUND = 'lost+found';

const OTHER_NAMES: ReadonlySet<string> = new Set([META_DIRECTORY, NEW_META_DIRECTORY, ACKNOWLEDGED_FILE]);

export type Found =
  /** Nothing was ever acknowledged here, and there is no database of the manifest. */
  | 'empty'
  /**
   * There is a database, and nothing else. Nothing was acknowledged: the first segment is durable before the first
   * append, and since then there has always been one.
   */
  | 'unused'
  | 'storage';

/**
 * Creates the directory and its parents if they are missing, and returns what is in it. Segments without the manifest's
 * database are damage: a new database would take them for leftovers.
 */
export async function inspectDirectory(fileSystem: FileSystem, path: string): Promise<Found> {
  const names = (await listOrMake(fileSystem, path)).filter((name) => name !== LOST_AND_FOUND);
  const foreign = names.find((name) => !isOurs(name));
  if (foreign !== undefined) {
    throw new StorageOpenError(
      'not-ours',
      `${path} holds something else (${foreign}): a storage needs its own directory`,
    );
  }
  const data = names.find((name) => name === ACKNOWLEDGED_FILE || isData(name));
  const meta = await listMeta(fileSystem, path);
  if (meta.includes(META_CURRENT))
    return data !== undefined || meta.some((name) => TABLE.test(name)) ? 'storage' : 'unused';
  if (data === undefined) return 'empty';
  throw new StorageCorruptError(`the file ${META_DIRECTORY}/${META_CURRENT} is missing beside ${data}`, path);
}

function isData(name: string): boolean {
  const file = parseFileName(name);
  return file !== undefined && file.kind !== 'tmp';
}

function isOurs(name: string): boolean {
  return OTHER_NAMES.has(name) || parseFileName(name) !== undefined;
}

async function listMeta(fileSystem: FileSystem, path: string): Promise<readonly string[]> {
  try {
    return await listIfThere(fileSystem, join(path, META_DIRECTORY));
  } catch (error) {
    throw notAccessible(path, error);
  }
}

/** Empty if there is no such directory. */
export async function listIfThere(fileSystem: FileSystem, path: string): Promise<readonly string[]> {
  try {
    return await fileSystem.list(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
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
