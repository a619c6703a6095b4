import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '@engram/core';
import { AcknowledgedMark, type AcknowledgedState, decodeMark } from '@engram/storage';
import { ACKNOWLEDGED_FILE, FILE_MODE, openIfThere, readIfThere } from './files.ts';

/** Opens the mark, a file beside LevelDB. Creates it if it is missing. */
export async function openMark(
  path: string,
  state: AcknowledgedState,
  clock: Clock,
  logger: Logger,
): Promise<AcknowledgedMark> {
  const name = join(path, ACKNOWLEDGED_FILE);
  const handle = (await openIfThere(name, 'r+')) ?? (await open(name, 'w+', FILE_MODE));
  const file = {
    write: (bytes: Uint8Array, offset: number) => handle.write(bytes, 0, undefined, offset),
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
  return await AcknowledgedMark.open({ name: ACKNOWLEDGED_FILE, file, clock, logger }, state);
}

/** Undefined if the file is missing, `damaged` if it cannot be decoded. */
export async function readMark(path: string): Promise<AcknowledgedState | 'damaged' | undefined> {
  const bytes = await readIfThere(join(path, ACKNOWLEDGED_FILE));
  return bytes === undefined ? undefined : decodeMark(ACKNOWLEDGED_FILE, bytes);
}
