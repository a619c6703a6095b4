import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { systemErrorCode } from '@engram/core';

// The names in a storage's directory.
export const RECORDS_DIRECTORY = 'records';
/** The records' database while it is being made. */
export const NEW_RECORDS_DIRECTORY = 'records.new';
/** The file that LevelDB writes last when it makes a database. */
export const CURRENT = 'CURRENT';
export const STATE_FILE = 'state';
export const NEW_STATE_FILE = 'state.new';
export const ACKNOWLEDGED_FILE = 'acknowledged';
export const checkpointFile = (id: number): string => `checkpoint-${id}`;
export const CHECKPOINT_FILE = /^checkpoint-\d+$/;

// Only the owner has access, because the store holds secrets.
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/** Why a directory above the storage's cannot be synced: it is not this process's, or of a file system without it. */
const NOT_SYNCABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EINVAL', 'ENOTSUP']);

/** Creates the directory and its parents if they are missing, and makes the names of all of them durable. */
export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  for (let path = resolve(directory); path !== dirname(path); path = dirname(path)) {
    try {
      await syncDirectory(dirname(path));
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === undefined || !NOT_SYNCABLE.has(code)) throw error;
    }
  }
}

/** Makes the directory's names durable. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}

/** Undefined if there is no such file. */
export async function openIfThere(path: string, flags: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  await using file = await openIfThere(path, 'r');
  return await file?.readFile();
}

/** Empty if there is no such directory. */
export async function listIfThere(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
