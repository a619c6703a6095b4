import { systemErrorCode } from '@engram/core';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';

/**
 * Errors of the operating system that are circumstances, which may pass, and not damage. LevelDB does not tell their numbers, only what
 * the C library calls them (`strerror`), behind the name of the file. Where musl has words of its own, they are the second ones.
 */
const CIRCUMSTANCES: ReadonlySet<string> = new Set([
  'Permission denied', // EACCES
  'Operation not permitted', // EPERM
  'Read-only file system', // EROFS
  'No space left on device', // ENOSPC
  'Disk quota exceeded', // EDQUOT
  'Quota exceeded',
  'Too many open files', // EMFILE
  'No file descriptors available',
  'Too many open files in system', // ENFILE
  'Cannot allocate memory', // ENOMEM
  'Out of memory',
]);

/** No name of an error has a colon in it, and the name of a file may have any word. */
const systemErrorOf = ({ message }: Error): string => message.slice(message.lastIndexOf(': ') + 2);

/**
 * Whether the error means damage: blocks that do not parse, missing or truncated files, a disk that cannot read.
 * Circumstances that may pass, such as a missing permission, are not damage.
 */
export function isLevelDamage(error: unknown): boolean {
  const code = systemErrorCode(error);
  if (code === 'LEVEL_CORRUPTION') return true;
  return code === 'LEVEL_IO_ERROR' && error instanceof Error && !CIRCUMSTANCES.has(systemErrorOf(error));
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
