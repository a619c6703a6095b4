import { StorageCorruptError } from '@engram/storage';
import { isLevelDamage, levelOpenFailure } from '@engram/storage-leveldb';
import { ClassicLevel } from 'classic-level';
import type { Meta, MetaWrite } from './meta.ts';
import { nodeFileSystem } from '../disk/node-file-system.ts';

type Level = ClassicLevel<Uint8Array, Uint8Array>;

const WRITE_BUFFER_BYTES = 1 << 20;
const CACHE_BYTES = 1 << 20;

/** A small LevelDB database. Its lock is the storage's. Without `syncs` the system decides when a write is durable. */
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
    throw levelOpenFailure(path, 'the database of the manifest', error);
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
      if (!isLevelDamage(cause)) throw cause;
      const text = cause instanceof Error ? cause.message : String(cause);
      throw new StorageCorruptError(`the database of the manifest cannot read its files: ${text}`, this.#path, {
        cause,
      });
    }
  }

  async write(writes: readonly MetaWrite[]): Promise<void> {
    // Each write is synced: LevelDB does not sync a log that it replaces, so a later synced write would not make an
    // earlier one durable.
    await this.#level.batch(
      writes.map(({ key, value }) => (value === undefined ? { type: 'del', key } : { type: 'put', key, value })),
      { sync: this.#syncs },
    );
    // Nor does it sync the name of a new log before it has emptied the old one.
    if (this.#syncs) await nodeFileSystem.syncDirectory(this.#path);
  }

  close(): Promise<void> {
    return this.#level.close();
  }
}
