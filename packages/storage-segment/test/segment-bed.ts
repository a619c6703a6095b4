import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock, realRandom, TestLogger } from '@engram/sim';
import type { DirectoryBed } from '@engram/storage/contract';
import { sealOf } from '@engram/storage/testing';
import { type Ground, nodeGround, unsyncedGround } from '../src/ground.ts';
import { openOn, type SegmentStorageOptions } from '../src/open.ts';
import type { SegmentStorage } from '../src/segment-storage.ts';

/** Counts rewrites of segments as well. */
export class SegmentLogger extends TestLogger {
  rewrites = 0;

  override debug(_fields: object, message: string): void {
    if (message.startsWith('rewrote segments')) this.rewrites += 1;
  }
}

export interface BedOptions extends Partial<SegmentStorageOptions> {
  /** That of the storage's durability, if it is undefined. */
  readonly ground?: Ground;
}

/** A directory that is removed with the test, and the storages opened in it. */
export class SegmentBed implements DirectoryBed {
  readonly path: string;
  readonly logger = new SegmentLogger();
  readonly #options: BedOptions;
  readonly #opened: SegmentStorage[] = [];

  private constructor(path: string, options: BedOptions) {
    this.path = path;
    this.#options = options;
  }

  static async make(segmentBytes = 64 << 20, options: BedOptions = {}): Promise<SegmentBed> {
    return new SegmentBed(await mkdtemp(join(tmpdir(), 'engram-segment-')), { segmentBytes, ...options });
  }

  async open(path: string = this.path): Promise<SegmentStorage> {
    const { logger } = this;
    const parts = { clock: realClock, random: realRandom, logger };
    const { ground = this.#options.durability === 'none' ? unsyncedGround : nodeGround, ...options } = this.#options;
    const storage = await openOn(ground, { path, ...parts, ...options });
    this.#opened.push(storage);
    return storage;
  }

  /** Opens the storage and seals its log for the first epoch, so that it takes appends. */
  async openSealed(): Promise<SegmentStorage> {
    const storage = await this.open();
    await storage.log.seal(sealOf(1));
    return storage;
  }

  /** Closes the storage and opens it again. */
  async reopen(storage: SegmentStorage): Promise<SegmentStorage> {
    await storage[Symbol.asyncDispose]();
    return await this.open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const storage of this.#opened) await storage[Symbol.asyncDispose]();
    await rm(this.path, { recursive: true, force: true });
  }
}
