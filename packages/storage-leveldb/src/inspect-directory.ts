import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';
import {
  ACKNOWLEDGED_FILE,
  CHECKPOINT_FILE,
  CURRENT,
  listIfThere,
  makeDirectory,
  NEW_RECORDS_DIRECTORY,
  NEW_STATE_FILE,
  RECORDS_DIRECTORY,
  STATE_FILE,
} from './files.ts';

/** The files that LevelDB writes before a new database is complete. */
const BEFORE_CURRENT = /^(?:LOCK|LOG|LOG\.old|MANIFEST-\d+|\d+\.dbtmp)$/;
/** LevelDB has them once a database was used. */
const TABLE = /^\d+\.(?:ldb|sst)$/;
/** A file system may have it in its root directory. */
const LOST_AND_FOUND = 'lost+found';

export interface Found {
  /**
   * False if LevelDB may create a database. It creates one wherever its file CURRENT is missing, and removes what is left
   * of an old one.
   */
  readonly database: boolean;
  /** Nothing here shows that a storage was ever used. */
  readonly unused: boolean;
  /** The database was never used either: if it cannot be opened, a new one may replace it. */
  readonly replaceable: boolean;
  /** All checkpoints, also superseded ones. */
  readonly checkpointFiles: readonly string[];
}

/** Creates the directory and its parents if they are missing, and lists its files. */
export async function inspectDirectory(path: string): Promise<Found> {
  try {
    return await inspect(path);
  } catch (cause) {
    if (cause instanceof StorageOpenError || cause instanceof StorageCorruptError) throw cause;
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new StorageOpenError('not-accessible', `cannot use ${path} as a directory: ${text}`, { cause });
  }
}

async function inspect(path: string): Promise<Found> {
  await makeDirectory(path);
  const names = (await readdir(path)).filter((name) => name !== LOST_AND_FOUND);
  const ours = names.includes(STATE_FILE) || names.includes(ACKNOWLEDGED_FILE);
  const foreign = names.find((name) => !isOurs(name));
  if (!ours && foreign !== undefined) throw notOurs(path, foreign);
  const checkpointFiles = names.filter((name) => CHECKPOINT_FILE.test(name));
  const unused = !ours && checkpointFiles.length === 0;
  const { database, tables } = await inspectRecords(path, !unused);
  return { database, unused, replaceable: unused && !tables, checkpointFiles };
}

/** `used`: other files show that a storage was used here, so its records may be missing. */
async function inspectRecords(path: string, used: boolean): Promise<{ database: boolean; tables: boolean }> {
  const names = await listIfThere(join(path, RECORDS_DIRECTORY));
  if (names.includes(CURRENT)) return { database: true, tables: names.some((name) => TABLE.test(name)) };
  const other = names.find((name) => !BEFORE_CURRENT.test(name));
  if (other !== undefined && !/^\d+\.(?:log|ldb|sst)$/.test(other))
    throw notOurs(path, `${RECORDS_DIRECTORY}/${other}`);
  if (used || other !== undefined) {
    throw new StorageCorruptError(`the file ${RECORDS_DIRECTORY}/${CURRENT} is missing`, path);
  }
  return { database: false, tables: false };
}

function isOurs(name: string): boolean {
  const known = [STATE_FILE, NEW_STATE_FILE, ACKNOWLEDGED_FILE, RECORDS_DIRECTORY, NEW_RECORDS_DIRECTORY];
  return known.includes(name) || CHECKPOINT_FILE.test(name);
}

function notOurs(path: string, foreign: string): StorageOpenError {
  const text = `${path} holds something else (${foreign}): a storage needs a directory of its own`;
  return new StorageOpenError('not-ours', text);
}
