import { type FileHandle, open } from 'node:fs/promises';
import { systemErrorCode } from '@engram/core';

// The names in a storage's directory.
export const RECORDS_DIRECTORY = 'records';
export const STATE_FILE = 'state';
export const NEW_STATE_FILE = 'state.new';
export const ACKNOWLEDGED_FILE = 'acknowledged';
export const checkpointFile = (id: number): string => `checkpoint-${id}`;
export const CHECKPOINT_FILE = /^checkpoint-\d+$/;

// Only the owner has access, because the store holds secrets.
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

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
