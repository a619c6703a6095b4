import { type Clock, systemErrorCode } from '@engram/core';
import { AcknowledgedMark, type AcknowledgedState, decodeMarks, MARK_FILE_BYTES } from '@engram/storage';
import type { Condition } from '../disk/condition.ts';
import { ACKNOWLEDGED_FILE } from '../disk/file-names.ts';
import type { FileSystem, OpenMode, StorageFile } from '../disk/file-system.ts';

/** Opens the mark, a file beside the segments. Creates it if it is missing, and makes its name durable. */
export async function openMark(
  fileSystem: FileSystem,
  state: AcknowledgedState,
  clock: Clock,
  { path, logger }: Condition,
): Promise<AcknowledgedMark> {
  const name = markPath(path);
  const file = (await openIfThere(fileSystem, name, 'update')) ?? (await fileSystem.open(name, 'create'));
  const mark = await AcknowledgedMark.open({ name: ACKNOWLEDGED_FILE, file, clock, logger }, state);
  try {
    await fileSystem.syncDirectory(path);
  } catch (error) {
    await mark.close();
    throw error;
  }
  return mark;
}

/** Undefined if there is no mark, `damaged` if no mark of the file is whole. */
export async function readMark(
  fileSystem: FileSystem,
  path: string,
): Promise<AcknowledgedState | 'damaged' | undefined> {
  const file = await openIfThere(fileSystem, markPath(path), 'read');
  if (file === undefined) return undefined;
  try {
    const bytes = new Uint8Array(MARK_FILE_BYTES);
    const read = await file.read(bytes, 0);
    return decodeMarks(ACKNOWLEDGED_FILE, bytes.subarray(0, read));
  } finally {
    await file.close();
  }
}

function markPath(path: string): string {
  return `${path}/${ACKNOWLEDGED_FILE}`;
}

async function openIfThere(fileSystem: FileSystem, path: string, mode: OpenMode): Promise<StorageFile | undefined> {
  try {
    return await fileSystem.open(path, mode);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
