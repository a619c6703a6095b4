import { assert, type LogPosition, logPosition } from '@engram/core';
import { type Checkpoint, StorageFailedError, type StorageSize } from '@engram/storage';
import type { LocalCopy } from './local-copy.ts';
import type { NodeBytes } from './node-bytes.ts';

/** What of `Values` is this node's own affair: what it drops, its checkpoints, its size. As `Values` has it. */
export interface LocalValues {
  drop(positions: readonly LogPosition[], bytes: number | undefined): Promise<void>;
  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  loadCheckpoint(): Promise<Checkpoint | undefined>;
  size(): StorageSize;
  reclaim(): Promise<void>;
}

/**
 * With a copy on disk: records are dropped from the copy, checkpoints lie beside it, and its size is the node's. The log in
 * TiKV keeps everything until it is trimmed, which is the cluster's decision and not this node's.
 */
export class DiskValues implements LocalValues {
  readonly #copy: LocalCopy;
  readonly #bytes: NodeBytes;

  constructor(copy: LocalCopy, bytes: NodeBytes) {
    this.#copy = copy;
    this.#bytes = bytes;
  }

  async drop(positions: readonly LogPosition[], bytes: number | undefined): Promise<void> {
    // A copy that is given up is thrown away as a whole.
    if (!this.#copy.failed) await this.#copy.values.drop(positions, bytes);
  }

  /** What the checkpoint covers must be in the copy: the next start reads on from there. */
  async saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const copy = this.#copy;
    if (copy.next < from) await this.#bytes.catchUp();
    if (!copy.has(logPosition(from - 1))) await copy.written();
    if (copy.failed) throw new StorageFailedError('the copy of the log is given up, and takes no checkpoint');
    await copy.saveCheckpoint(from, chunks);
  }

  loadCheckpoint(): Promise<Checkpoint | undefined> {
    return this.#copy.values.loadCheckpoint();
  }

  size(): StorageSize {
    return this.#copy.values.size();
  }

  async reclaim(): Promise<void> {
    await this.#copy.values.reclaim?.();
  }
}

/** A checkpoint that lives as long as its process. */
export class CheckpointMemory {
  from: LogPosition = logPosition(1);
  chunks: readonly Uint8Array[] | undefined;
  bytes = 0;
}

/**
 * Without a disk: nothing is stored, so nothing is given back, and a checkpoint is of use only to a storage that the same
 * process opens again. The size is what the log has taken in, less what was dropped.
 */
export class MemoryValues implements LocalValues {
  readonly #memory: CheckpointMemory;
  readonly #bytes: NodeBytes;
  #droppedBytes = 0;
  #saving = false;

  constructor(memory: CheckpointMemory, bytes: NodeBytes) {
    this.#memory = memory;
    this.#bytes = bytes;
  }

  async drop(positions: readonly LogPosition[], bytes: number | undefined): Promise<void> {
    for (const position of positions) {
      assert(position < this.#memory.from, 'a record that a replay needs may not be dropped');
    }
    const { next, logBytes } = this.#bytes.newest;
    this.#droppedBytes += bytes ?? (positions.length * logBytes) / Math.max(1, next - 1);
  }

  async saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const memory = this.#memory;
    assert(!this.#saving, 'two checkpoints at a time');
    assert(from <= this.#bytes.newest.next, 'a checkpoint of what the log has not reached');
    assert(from >= memory.from, 'a checkpoint older than the one before');
    this.#saving = true;
    try {
      const saved: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of chunks) {
        saved.push(chunk);
        bytes += chunk.length;
      }
      memory.from = from;
      memory.chunks = saved;
      memory.bytes = bytes;
    } finally {
      this.#saving = false;
    }
  }

  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    const { from, chunks } = this.#memory;
    if (chunks === undefined) return undefined;
    return {
      from,
      async *chunks(signal) {
        for (const chunk of chunks) {
          signal.throwIfAborted();
          yield chunk;
        }
      },
    };
  }

  size(): StorageSize {
    const bytes = Math.max(0, this.#bytes.newest.logBytes - this.#droppedBytes) + this.#memory.bytes;
    return { totalBytes: bytes, inUseBytes: bytes };
  }

  async reclaim(): Promise<void> {}
}
