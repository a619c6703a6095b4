import { assert, type LogPosition } from '@engram/core';
import type { Checkpoint, StorageSize, Values } from '@engram/storage';
import type { CheckpointStore } from './checkpoint-store.ts';
import type { Cleaner } from './cleaner/cleaner.ts';
import type { Condition } from './disk/condition.ts';
import type { LogTail } from './log/log-tail.ts';
import type { RecordReader } from './record-reader.ts';
import type { SegmentList } from './segments/segment-list.ts';
import type { SegmentLog } from './log/segment-log.ts';

export interface SegmentValuesParts {
  readonly condition: Condition;
  readonly segments: SegmentList;
  readonly tail: LogTail;
  readonly log: SegmentLog;
  readonly reader: RecordReader;
  readonly checkpoints: CheckpointStore;
  readonly cleaner: Cleaner;
}

export class SegmentValues implements Values {
  readonly #parts: SegmentValuesParts;

  constructor(parts: SegmentValuesParts) {
    this.#parts = parts;
  }

  getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    return this.#parts.condition.lifetime.run(async () => {
      signal.throwIfAborted();
      return await this.#parts.reader.read(positions, signal);
    });
  }

  /** Nothing is kept in this process's memory. */
  peek(position: LogPosition, inline = false): Uint8Array | undefined {
    const { condition, reader } = this.#parts;
    return inline && !condition.lifetime.ended ? reader.readNow(position) : undefined;
  }

  /** Recorded in memory; the next checkpoint makes it durable. `bytes` is not needed: the sizes are known. */
  drop(positions: readonly LogPosition[]): Promise<void> {
    const { condition, checkpoints, segments, cleaner } = this.#parts;
    return condition.lifetime.run(async () => {
      for (const position of positions) {
        assert(position < checkpoints.from, 'a record that a replay needs may not be dropped');
      }
      condition.check();
      let dropped = false;
      for (const position of positions) {
        const segment = segments.find(position);
        const index = segment?.table.indexOf(position) ?? -1;
        if (segment === undefined || index < 0) continue;
        const { table, dead } = segment;
        if (dead.add(index, table.endAt(index) - table.offsetAt(index), table.count)) dropped = true;
      }
      if (dropped) cleaner.wake();
    });
  }

  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { condition, checkpoints, tail, cleaner } = this.#parts;
    return condition.lifetime.run(async () => {
      await checkpoints.save(from, tail.next, chunks);
      cleaner.wake();
    });
  }

  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    this.#parts.condition.lifetime.check();
    return this.#parts.checkpoints.load();
  }

  /** Includes the segment that is appended to. */
  reclaim(): Promise<void> {
    const { condition, log, cleaner } = this.#parts;
    return condition.lifetime.run(async () => {
      condition.check();
      await log.roll();
      await cleaner.run('any');
    });
  }

  size(): StorageSize {
    const { segments, checkpoints } = this.#parts;
    let totalBytes = checkpoints.bytes;
    let inUseBytes = checkpoints.bytes;
    for (const segment of segments.all) {
      totalBytes += segment.bytes;
      inUseBytes += segment.liveBytes;
    }
    return { totalBytes, inUseBytes };
  }
}
