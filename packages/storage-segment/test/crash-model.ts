import { logPosition, NEW_LOG_SEAL, type Seal } from '@engram/core';
import { type LogBatch, type Storage, StorageCorruptError, StorageFencedError } from '@engram/storage';
import { never } from '@engram/storage/testing';
import { expect } from 'vitest';
import { RECORD_HEADER_BYTES } from '../src/format/layout.ts';

interface SavedCheckpoint {
  readonly from: number;
  readonly chunks: readonly Uint8Array[];
}

/**
 * The state that a storage must still have: everything acknowledged, and all or nothing of the operations that were
 * running. Slow and simple, in arrays.
 */
export class CrashModel {
  /** Acknowledged batches, in order: the records of positions 1, 2, ... */
  batches: LogBatch[] = [];
  records: Uint8Array[] = [];
  readonly dropped = new Set<number>();
  /** Records that were dropped before a checkpoint was saved. No crash brings them back. */
  readonly durablyDropped = new Set<number>();
  checkpoint: SavedCheckpoint | undefined;
  sealed: Seal = NEW_LOG_SEAL;
  /** The batch that was being appended when the process ended. */
  pendingBatch: LogBatch | undefined;
  pendingCheckpoint: SavedCheckpoint | undefined;
  pendingSeal: Seal | undefined;

  get end(): number {
    return this.records.length + 1;
  }

  /** Where replay of the newest acknowledged checkpoint begins. */
  get from(): number {
    return this.checkpoint?.from ?? 1;
  }

  committed(batch: LogBatch): void {
    this.batches.push(batch);
    this.records.push(...batch.records);
    this.pendingBatch = undefined;
  }

  /** Checks an opened storage, and records the outcome of the operations that were running. */
  async verify(storage: Storage): Promise<void> {
    const end = await this.#verifySeal(storage);
    if (this.pendingBatch !== undefined && end === this.end + this.pendingBatch.records.length) {
      expect(await storage.log.append(this.pendingBatch, this.sealed)).toEqual({ kind: 'committed' });
      expect(await storage.log.seal(this.sealed)).toBe(end);
      this.committed(this.pendingBatch);
    }
    this.pendingBatch = undefined;
    expect(end).toBe(this.end);
    await this.#verifyCheckpoint(storage);
    await this.#verifyReplay(storage, this.from);
    // Records before the checkpoint may be in rewritten segments.
    await this.#verifyReplay(storage, Math.min(this.from, Math.max(0, ...this.dropped) + 1));
    await this.#verifyRecords(storage);
    const { totalBytes, inUseBytes } = storage.values.size();
    expect(inUseBytes).toBeGreaterThanOrEqual(this.#liveBytes(this.dropped));
    expect(inUseBytes).toBeLessThanOrEqual(this.#liveBytes(this.durablyDropped));
    expect(totalBytes).toBeGreaterThanOrEqual(inUseBytes);
  }

  /** Call it when nothing is running and everything was dropped again since the last opening. */
  verifySize(storage: Storage): void {
    expect(storage.values.size().inUseBytes).toBe(this.#liveBytes(this.dropped));
  }

  #liveBytes(dropped: ReadonlySet<number>): number {
    let bytes = 0;
    for (const chunk of this.checkpoint?.chunks ?? []) bytes += chunk.length;
    for (const [index, record] of this.records.entries()) {
      if (!dropped.has(index + 1)) bytes += RECORD_HEADER_BYTES + record.length;
    }
    return bytes;
  }

  async #verifySeal(storage: Storage): Promise<number> {
    let end: number;
    try {
      end = await storage.log.seal(this.sealed);
    } catch (error) {
      if (!(error instanceof StorageFencedError) || this.pendingSeal === undefined) throw error;
      this.sealed = this.pendingSeal;
      end = await storage.log.seal(this.sealed);
    }
    this.pendingSeal = undefined;
    return end;
  }

  async #verifyCheckpoint(storage: Storage): Promise<void> {
    const loaded = await storage.values.loadCheckpoint();
    const chunks: Uint8Array[] = [];
    if (loaded !== undefined) for await (const chunk of loaded.chunks(never)) chunks.push(chunk);
    const seen = loaded && { from: loaded.from as number, chunks };
    if (this.pendingCheckpoint !== undefined && isSame(seen, this.pendingCheckpoint)) {
      this.checkpoint = this.pendingCheckpoint;
    }
    this.pendingCheckpoint = undefined;
    expect(isSame(seen, this.checkpoint)).toBe(true);
  }

  async #verifyReplay(storage: Storage, from: number): Promise<void> {
    let position = from;
    const expected = this.batches.filter(({ first, records }) => first + records.length > from);
    for await (const batch of storage.log.read(logPosition(from), never)) {
      const whole = expected.shift();
      const passed = Math.max(0, from - whole!.first);
      expect(batch.first).toBe(whole!.first + passed);
      expect(batch.records.length).toBe(whole!.records.length - passed);
      for (const bytes of batch.records) {
        if (!isEqual(bytes, this.records[position - 1]!))
          throw new Error(`record ${position} of the replay is another`);
        position += 1;
      }
    }
    expect(expected.length).toBe(0);
  }

  async #verifyRecords(storage: Storage): Promise<void> {
    const live: number[] = [];
    for (let position = 1; position < this.end; position += 1) if (!this.dropped.has(position)) live.push(position);
    await this.verifyGet(storage, live);
    for (const position of this.dropped) {
      try {
        await this.verifyGet(storage, [position]);
      } catch (error) {
        if (!(error instanceof StorageCorruptError)) throw error;
      }
    }
  }

  async verifyGet(storage: Storage, positions: readonly number[]): Promise<void> {
    const seen = await storage.values.getMany(positions.map(logPosition), never);
    expect(seen.length).toBe(positions.length);
    for (const [index, position] of positions.entries()) {
      if (!isEqual(seen[index]!, this.records[position - 1]!)) throw new Error(`record ${position} is another`);
    }
  }
}

function isSame(left: SavedCheckpoint | undefined, right: SavedCheckpoint | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (left.from !== right.from || left.chunks.length !== right.chunks.length) return false;
  return left.chunks.every((chunk, index) => isEqual(chunk, right.chunks[index]!));
}

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
