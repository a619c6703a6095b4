import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock, TestLogger } from '@engram/sim';
import type { Storage } from '@engram/storage';
import type { DirectoryBed } from '@engram/storage/contract';
import { openLevelDbStorage } from '@engram/storage-leveldb';

/** A directory that is removed with the test, and the storages opened in it. */
export class LevelBed implements DirectoryBed {
  readonly path: string;
  readonly logger = new TestLogger();
  readonly #opened: Storage[] = [];

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<LevelBed> {
    return new LevelBed(await mkdtemp(join(tmpdir(), 'engram-leveldb-')));
  }

  async open(path: string = this.path): Promise<Storage> {
    const storage = await openLevelDbStorage({ path, cacheBytes: 8 << 20, clock: realClock, logger: this.logger });
    this.#opened.push(storage);
    return storage;
  }

  /** Closes the storage and opens it again. */
  async reopen(storage: Storage): Promise<Storage> {
    await storage[Symbol.asyncDispose]();
    return await this.open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const storage of this.#opened) await storage[Symbol.asyncDispose]();
    await rm(this.path, { recursive: true, force: true });
  }
}
