import type { Logger } from '@engram/core';
import { isLevelDamage, Lifetime, StorageCorruptError, StorageFailedError } from '@engram/storage';
import type { ClassicLevel } from 'classic-level';

export type Level = ClassicLevel<Uint8Array, Uint8Array>;

/** What is written together. Keys and values are copied at the call. */
export interface Writes {
  put(key: Uint8Array, value: Uint8Array): unknown;
  del(key: Uint8Array): unknown;
}

/**
 * The open database, shared by all that use it. A write that failed leaves LevelDB's log in a state that only opening it
 * again tells: what was written may be there then, and what is written behind it may be cut off with it. So after the
 * first failure nothing is written any more, and nobody is told where the log ends.
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

  /** StorageFailedError after a failed write. */
  check(): void {
    if (!this.#failed) return;
    throw new StorageFailedError(`writing to ${this.path} has failed: it must be opened again`, {
      cause: this.#failure,
    });
  }

  /** All or nothing. Rejects with StorageFailedError; the failure of LevelDB is its cause. */
  async write(fill: (writes: Writes) => void, sync: boolean): Promise<void> {
    this.check();
    try {
      // Chained, because an array of operations costs the event loop half as much again.
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

  /** Errors of reading, as the ports know them. */
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
