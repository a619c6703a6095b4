import { assert, type LogPosition, logPosition } from '@engram/core';
import type { Checkpoint, StorageSize, Values } from '@engram/storage';
import type { CheckpointStore } from './checkpoint-store.ts';
import type { Database } from './database.ts';
import type { DirectorySize } from './directory-size.ts';

import type { LevelLog } from './level-log.ts';
import { recordKey } from './record-entry.ts';
import type { RecordReader } from './record-reader.ts';
import type { Usage } from './usage.ts';

/** Records dropped in one write. Appends wait for it. */
const DROPS_MAX = 1000;
const FIRST_KEY = recordKey(logPosition(0));
const LAST_KEY = recordKey(logPosition(Number.MAX_SAFE_INTEGER));

export interface LevelValuesParts {
  readonly database: Database;
  readonly log: LevelLog;
  readonly reader: RecordReader;
  readonly checkpoints: CheckpointStore;
  readonly usage: Usage;
  readonly directorySize: DirectorySize;
}

export class LevelValues implements Values {
  readonly #parts: LevelValuesParts;
  #reclaiming: Promise<void> | undefined;

  constructor(parts: LevelValuesParts) {
    this.#parts = parts;
  }

  getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    return this.#parts.database.lifetime.run(async () => {
      signal.throwIfAborted();
      return await this.#parts.reader.read(positions, signal);
    });
  }

  /**
   * Always undefined. LevelDB cannot say whether a record is in memory without reading it, and a read from the disk
   * would block the process.
   */
  peek(_position: LogPosition): Uint8Array | undefined {
    return undefined;
  }

  drop(positions: readonly LogPosition[], bytes?: number): Promise<void> {
    const { database, checkpoints, usage } = this.#parts;
    return database.lifetime.run(async () => {
      for (const position of positions) {
        assert(position < checkpoints.from, 'a record that a replay needs may not be dropped');
      }
      database.check();
      usage.dropped(positions.length, bytes);
      for (let from = 0; from < positions.length; from += DROPS_MAX) {
        const group = positions.slice(from, from + DROPS_MAX);
        await database.write((writes) => {
          for (const position of group) writes.del(recordKey(position));
        }, false);
      }
    });
  }

  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { database, checkpoints, log } = this.#parts;
    return database.lifetime.run(() => checkpoints.save(from, log.next, chunks));
  }

  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    this.#parts.database.lifetime.check();
    return this.#parts.checkpoints.load();
  }

  /** Also reclaims LevelDB's own log, which holds the records of the last few megabytes until their table is written. */
  reclaim(): Promise<void> {
    const { database, directorySize } = this.#parts;
    this.#reclaiming ??= database.lifetime
      .run(() => database.reading(() => database.level.compactRange(FIRST_KEY, LAST_KEY, { keyEncoding: 'view' })))
      .finally(() => {
        this.#reclaiming = undefined;
        directorySize.forget();
      });
    return this.#reclaiming;
  }

  size(): StorageSize {
    const totalBytes = this.#parts.directorySize.bytes;
    const inUseBytes = this.#parts.usage.bytes + this.#parts.checkpoints.bytes;
    // Compressed files are smaller than their content.
    return { totalBytes, inUseBytes: Math.min(inUseBytes, totalBytes) };
  }
}
