import type { Logger } from '@engram/core';
import { Lifetime, StorageCorruptError, StorageFailedError } from '@engram/storage';
import type { ClassicLevel } from 'classic-level';
import { isLevelDamage } from './leveldb-error.ts';

export type Level = ClassicLevel<Uint8Array, Uint8Array>;

/** One atomic write. `put` and `del` copy keys and values. */
export interface Writes {
  put(key: Uint8Array, value: Uint8Array): unknown;
  del(key: Uint8Array): unknown;
}

/**
 * The open database, shared by the log, the values and the checkpoints. After a failed write, only the next opening shows
 * what LevelDB's log holds. The failed write may be in it, and recovery may cut off later writes together with it. So after
 * the first failure the database accepts no write, and the log does not report its end.
 */
export class Database {
  readonly level: Level;
  readonly path: string;
  readonly lifetime: Lifetime;
  readonly logger: Logger;
  #failure: unknown;
  #failed = false;

  constructor(level: Level, path: string, logger: Logger) {
    this.level = level;
    this.path = path;
    this.logger = logger;
    this.lifetime = new Lifetime(`the storage at ${path}`);
  }

  /** Throws StorageFailedError after a failed write. */
  check(): void {
    if (!this.#failed) return;
    throw new StorageFailedError(`writing to ${this.path} has failed: it must be opened again`, {
      cause: this.#failure,
    });
  }

  /** All or nothing. Rejects with StorageFailedError, whose cause is LevelDB's failure. */
  async write(fill: (writes: Writes) => void, sync: boolean): Promise<void> {
    this.check();
    try {
      // A chained batch: an array of operations costs the event loop half as much again.
      const batch = this.level.batch();
      fill(batch);
      await batch.write({ sync });
    } catch (cause) {
      if (!this.#failed) this.logger.error({ path: this.path, err: cause }, 'a write to the database has failed');
      this.#failed = true;
      this.#failure = cause;
      this.check();
    }
  }

  /** Translates read errors into those of the ports. */
  async reading<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      if (!isLevelDamage(cause)) throw cause;
      const text = cause instanceof Error ? cause.message : String(cause);
      throw this.corrupt(`the database cannot read its files: ${text}`, cause);
    }
  }

  corrupt(what: string, cause?: unknown): StorageCorruptError {
    return new StorageCorruptError(what, this.path, cause === undefined ? {} : { cause });
  }
}
