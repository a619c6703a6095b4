import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '@engram/core';
import { AcknowledgedMark, type AcknowledgedState, decodeMarks } from '@engram/storage';
import { ACKNOWLEDGED_FILE, FILE_MODE, openIfThere, readIfThere, syncDirectory } from './files.ts';

/** Opens the mark, a file beside LevelDB. Creates it if it is missing, and makes its name durable. */
export async function openMark(
  path: string,
  state: AcknowledgedState,
  clock: Clock,
  logger: Logger,
): Promise<AcknowledgedMark> {
  const name = join(path, ACKNOWLEDGED_FILE);
  const handle = (await openIfThere(name, 'r+')) ?? (await open(name, 'w+', FILE_MODE));
  const file = {
    read: async (target: Uint8Array, offset: number) => (await handle.read(target, 0, target.length, offset)).bytesRead,
    write: (bytes: Uint8Array, offset: number) => handle.write(bytes, 0, undefined, offset),
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
  const mark = await AcknowledgedMark.open({ name: ACKNOWLEDGED_FILE, file, clock, logger }, state);
  try {
    await syncDirectory(path);
  } catch (error) {
    await mark.close();
    throw error;
  }
  return mark;
}

/** Undefined if there is no mark, `damaged` if no mark of the file is whole. */
export async function readMark(path: string): Promise<AcknowledgedState | 'damaged' | undefined> {
  const bytes = await readIfThere(join(path, ACKNOWLEDGED_FILE));
  return bytes === undefined ? undefined : decodeMarks(ACKNOWLEDGED_FILE, bytes);
}
