import { systemErrorCode } from '@engram/core';
import { StorageCorruptError, StorageOpenError } from './storage-error.ts';

/** LevelDB has no codes for what the system says, only its words. */
const CIRCUMSTANCES =
  /permission denied|operation not permitted|read-only|no space|quota|too many open|cannot allocate/i;

/**
 * Blocks that do not parse, files that are not there or shorter than they were, a disk that cannot read. Circumstances,
 * which may pass, are none.
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
  // abstract-level says only that it did not open; why is below.
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
