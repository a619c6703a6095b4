import { systemErrorCode } from '@engram/core';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';

/**
 * LevelDB reports errors of the operating system as text only. These texts are circumstances that may pass, not damage.
 */
const CIRCUMSTANCES =
  /permission denied|operation not permitted|read-only|no space|quota|too many open|cannot allocate/i;

/**
 * Whether the error means damage: blocks that do not parse, missing or truncated files, a disk that cannot read.
 * Circumstances that may pass, such as a missing permission, are not damage.
 */
export function isLevelDamage(error: unknown): boolean {
  const code = systemErrorCode(error);
  if (code === 'LEVEL_CORRUPTION') return true;
  return code === 'LEVEL_IO_ERROR' && error instanceof Error && !CIRCUMSTANCES.test(error.message);
}

/**
 * Why a LevelDB database of a storage at `path` did not open: StorageOpenError or StorageCorruptError. The directory was
 * listed a moment before, so what LevelDB misses or cannot parse is damage.
 */
export function levelOpenFailure(path: string, database: string, error: unknown): Error {
  // abstract-level's own error says only that the database did not open. Its cause says why.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (systemErrorCode(cause) === 'LEVEL_LOCKED') {
    return new StorageOpenError('locked', `${path} is in use by another process: ${text}`, { cause });
  }
  if (!isLevelDamage(cause)) {
    return new StorageOpenError('not-accessible', `cannot open ${database} at ${path}: ${text}`, { cause });
  }
  return new StorageCorruptError(`cannot open ${database}: ${text}`, path, { cause });
}
