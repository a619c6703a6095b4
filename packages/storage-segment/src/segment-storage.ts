import type { AcknowledgedMark, Log, Storage, Values } from '@engram/storage';
import type { Cleaner } from './cleaner/cleaner.ts';
import type { Condition } from './disk/condition.ts';
import type { BulkReader } from './disk/file-system.ts';
import type { LogTail } from './log/log-tail.ts';
import type { Manifest } from './manifest/manifest.ts';
import type { SegmentList } from './segments/segment-list.ts';

export interface SegmentStorageParts {
  readonly condition: Condition;
  readonly manifest: Manifest;
  readonly acknowledged: AcknowledgedMark;
  readonly segments: SegmentList;
  readonly tail: LogTail;
  readonly bulk: BulkReader;
  readonly cleaner: Cleaner;
}

/** Both ports over one directory. */
export class SegmentStorage implements Storage {
  readonly log: Log;
  readonly values: Values;
  /** For tests that run the cleaner explicitly. */
  readonly cleaner: Cleaner;
  readonly #parts: SegmentStorageParts;
  #closing: Promise<void> | undefined;

  constructor(log: Log, values: Values, parts: SegmentStorageParts) {
    this.log = log;
    this.values = values;
    this.cleaner = parts.cleaner;
    this.#parts = parts;
  }

  /** For tests: resolves when every segment before the last is sealed, or could not be. */
  async sealed(): Promise<void> {
    await this.#parts.tail.sealed();
  }

  /** Waits for running operations, then closes everything. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { condition, manifest, acknowledged, segments, tail, bulk, cleaner } = this.#parts;
    await condition.lifetime.end('is closed');
    await cleaner.stop();
    await tail.close();
    await bulk.close();
    await acknowledged.close();
    await this.#saveDrops();
    for (const segment of tail.empty) await segment.close();
    await segments.close();
    await manifest.close();
  }

  /** Best effort: if the drops are lost, the store drops these records again. */
  async #saveDrops(): Promise<void> {
    const { condition, manifest, segments } = this.#parts;
    if (condition.failed) return;
    try {
      await manifest.change(() => segments.takeDrops());
    } catch (error) {
      condition.logger.warn({ path: condition.path, err: error }, 'cannot note what was dropped');
    }
  }
}
