import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@engram/core';
import { StorageCorruptError } from '@engram/storage';
import { ClassicLevel } from 'classic-level';
import type { Level } from './database.ts';
import { CURRENT, listIfThere, NEW_RECORDS_DIRECTORY, RECORDS_DIRECTORY, syncDirectory } from './files.ts';
import type { Found } from './inspect-directory.ts';
import { levelOpenFailure } from './leveldb-error.ts';

const WRITE_BUFFER_BYTES = 16 << 20;
const FILE_BYTES = 8 << 20;

export interface RecordsOptions {
  readonly path: string;
  readonly cacheBytes: number;
  readonly logger: Logger;
}

/**
 * Opens the database of the records, and makes it before if it is missing, or if making it in its place was interrupted
 * by a loss of power.
 */
export async function openRecords(options: RecordsOptions, found: Found): Promise<Level> {
  if (found.database) {
    try {
      return await openLevel(options, RECORDS_DIRECTORY, false);
    } catch (error) {
      if (!found.replaceable || !(error instanceof StorageCorruptError)) throw error;
    }
  }
  await createRecords(options);
  return await openLevel(options, RECORDS_DIRECTORY, false);
}

/**
 * LevelDB does not make a new database durable: after a loss of power a file of it may have its name and not its bytes.
 * So it is made under another name, synced, and renamed. The lock of the new database decides between two processes:
 * only its holder removes anything, and nothing that could be opened. A rename over a database fails.
 */
async function createRecords(options: RecordsOptions): Promise<void> {
  const made = join(options.path, NEW_RECORDS_DIRECTORY);
  const level = await openNew(options, made);
  try {
    await removeUnfinished(options);
  } finally {
    await level.close();
  }
  for (const name of await readdir(made)) {
    await using file = await open(join(made, name), 'r+');
    await file.datasync();
  }
  await syncDirectory(made);
  await rename(made, join(options.path, RECORDS_DIRECTORY));
  await syncDirectory(options.path);
}

/** An earlier start may have left the new database in any state, but always without a record. */
async function openNew(options: RecordsOptions, path: string): Promise<Level> {
  try {
    return await openLevel(options, NEW_RECORDS_DIRECTORY, true);
  } catch (error) {
    if (!(error instanceof StorageCorruptError)) throw error;
    await removeDatabase(options, path, error);
    return await openLevel(options, NEW_RECORDS_DIRECTORY, true);
  }
}

async function removeUnfinished(options: RecordsOptions): Promise<void> {
  const path = join(options.path, RECORDS_DIRECTORY);
  const names = await listIfThere(path);
  if (names.length === 0) return;
  let found: Level;
  try {
    if (!names.includes(CURRENT)) throw new StorageCorruptError(`it has no ${CURRENT}`, path);
    found = await openLevel(options, RECORDS_DIRECTORY, false);
  } catch (error) {
    if (!(error instanceof StorageCorruptError)) throw error;
    await removeDatabase(options, path, error);
    return;
  }
  await found.close();
}

async function removeDatabase({ logger }: RecordsOptions, path: string, err: Error): Promise<void> {
  logger.warn({ path, err }, 'removed the database of a first start that was interrupted: nothing was acknowledged');
  await rm(path, { recursive: true, force: true });
}

async function openLevel({ path, cacheBytes }: RecordsOptions, name: string, create: boolean): Promise<Level> {
  const level: Level = new ClassicLevel(join(path, name), {
    keyEncoding: 'view',
    valueEncoding: 'view',
    createIfMissing: create,
    // On Kubernetes objects, compression saves two thirds of the bytes. It also saves CPU, because writing them costs more.
    compression: true,
    cacheSize: cacheBytes,
    writeBufferSize: WRITE_BUFFER_BYTES,
    maxFileSize: FILE_BYTES,
  });
  try {
    await level.open();
    return level;
  } catch (error) {
    await level.close();
    throw levelOpenFailure(path, 'the database', error);
  }
}
