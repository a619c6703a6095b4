import { mkdir, readdir } from 'node:fs/promises';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';
import { ACKNOWLEDGED_FILE } from './acknowledged-mark.ts';

const CURRENT = 'CURRENT';
/** What LevelDB writes before a new database is one. */
const BEFORE_CURRENT = /^(?:LOCK|LOG|LOG\.old|MANIFEST-\d+|\d+\.dbtmp)$/;
/** What holds data. */
const DATA = /^\d+\.(?:log|ldb|sst)$/;

/**
 * Makes the directory where there is none, with its parents, and tells whether a database is in it. LevelDB would make
 * a new one wherever the file CURRENT is missing, and remove what is left of the old one.
 */
export async function inspectDirectory(path: string): Promise<'database' | 'empty'> {
  const names = await listOrMake(path);
  if (names.includes(CURRENT)) return 'database';
  const data = names.find((name) => DATA.test(name) || name === ACKNOWLEDGED_FILE);
  const foreign = names.find((name) => name !== data && !BEFORE_CURRENT.test(name) && !DATA.test(name));
  if (foreign !== undefined && foreign !== ACKNOWLEDGED_FILE) {
    throw new StorageOpenError(
      'not-ours',
      `${path} holds something else (${foreign}): a storage needs its own directory`,
    );
  }
  if (data !== undefined) throw new StorageCorruptError(`the file ${CURRENT} is missing beside ${data}`, path);
  return 'empty';
}

async function listOrMake(path: string): Promise<string[]> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return await readdir(path);
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new StorageOpenError('not-accessible', `cannot use ${path} as a directory: ${text}`, { cause });
  }
}
