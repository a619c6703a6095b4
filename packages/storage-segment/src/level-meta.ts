import { systemErrorCode } from '@engram/core';
import { StorageCorruptError, StorageOpenError } from '@engram/storage';
import { ClassicLevel } from 'classic-level';
import type { Meta, MetaWrite } from './meta.ts';

type Level = ClassicLevel<Uint8Array, Uint8Array>;

const WRITE_BUFFER_BYTES = 1 << 20;
const CACHE_BYTES = 1 << 20;
/** LevelDB has no codes for what the system says, only its words. */
const CIRCUMSTANCES =
  /permission denied|operation not permitted|read-only|no space|quota|too many open|cannot allocate/i;

/** Blocks that do not parse, files that are not there or shorter than they were. What may pass is no damage. */
function isDamage(error: unknown): boolean {
  const code = systemErrorCode(error);
  if (code === 'LEVEL_CORRUPTION') return true;
  return code === 'LEVEL_IO_ERROR' && error instanceof Error && !CIRCUMSTANCES.test(error.message);
}

/** A small LevelDB database. Its lock is the storage's. Without `syncs` a write is durable when the system likes. */
export async function openLevelMeta(path: string, create: boolean, syncs = true): Promise<Meta> {
  const level: Level = new ClassicLevel(path, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    createIfMissing: create,
    cacheSize: CACHE_BYTES,
    writeBufferSize: WRITE_BUFFER_BYTES,
  });
  try {
    await level.open();
  } catch (error) {
    await level.close();
    throw openFailure(path, error);
  }
  return new LevelMeta(level, path, syncs);
}

class LevelMeta implements Meta {
  readonly #level: Level;
  readonly #path: string;
  readonly #syncs: boolean;

  constructor(level: Level, path: string, syncs: boolean) {
    this.#level = level;
    this.#path = path;
    this.#syncs = syncs;
  }

  async entries(): Promise<readonly (readonly [Uint8Array, Uint8Array])[]> {
    try {
      return await this.#level.iterator().all();
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      const text = cause instanceof Error ? cause.message : String(cause);
      throw new StorageCorruptError(`the database of the manifest cannot read its files: ${text}`, this.#path, {
        cause,
      });
    }
  }

  async write(writes: readonly MetaWrite[]): Promise<void> {
    // Each synced: LevelDB does not sync the log that it leaves for a new one, so a later synced write would not make
    // an earlier one durable.
    await this.#level.batch(
      writes.map(({ key, value }) => (value === undefined ? { type: 'del', key } : { type: 'put', key, value })),
      { sync: this.#syncs },
    );
  }

  close(): Promise<void> {
    return this.#level.close();
  }
}

function openFailure(path: string, error: unknown): Error {
  // abstract-level says only that it did not open; why is below.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (systemErrorCode(cause) === 'LEVEL_LOCKED') {
    return new StorageOpenError('locked', `${path} is in use by another process: ${text}`, { cause });
  }
  if (!isDamage(cause)) {
    return new StorageOpenError('not-accessible', `cannot open the database at ${path}: ${text}`, { cause });
  }
  // The directory was listed a moment ago, so what LevelDB misses or cannot parse is damage.
  return new StorageCorruptError(`cannot open the database of the manifest: ${text}`, path, { cause });
}
