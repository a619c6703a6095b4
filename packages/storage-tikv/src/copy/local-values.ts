import { assert, type LogPosition, logPosition } from '@engram/core';
import { type Checkpoint, type StorageSize, StorageUnavailableError } from '@engram/storage';
import type { LocalCopy } from './local-copy.ts';
import type { NodeBytes } from './node-bytes.ts';
import type { SharedRecords } from '../image/shared-records.ts';

const never = new AbortController().signal;

/** The part of `Values` that concerns only this node: drops, checkpoints and the size. The contract is that of `Values`. */
export interface LocalValues {
  drop(positions: readonly LogPosition[], bytes: number | undefined): Promise<void>;
  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  loadCheckpoint(): Promise<Checkpoint | undefined>;
  size(): StorageSize;
  reclaim(): Promise<void>;
}

/**
 * For a node with a copy on disk. Records are dropped from the copy, checkpoints are stored with it, and the size is that of
 * the node. The log in TiKV keeps every record until the cluster trims it.
 */
export class DiskValues implements LocalValues {
  readonly #copy: LocalCopy;
  readonly #bytes: NodeBytes;
  readonly #shared: SharedRecords;
  /** `from` of the image that the state was loaded from; 1 if the state came from the copy. */
  #imageFrom = logPosition(1);
  /** Dropped positions that only that image covers. The copy drops them after its own next checkpoint. */
  #later: LogPosition[] = [];

  constructor(copy: LocalCopy, bytes: NodeBytes, shared: SharedRecords) {
    this.#copy = copy;
    this.#bytes = bytes;
    this.#shared = shared;
  }

  async drop(positions: readonly LogPosition[], bytes: number | undefined): Promise<void> {
    const copy = this.#copy;
    // An abandoned copy is deleted as a whole.
    if (copy.failed) return;
    const covered = copy.checkpointFrom ?? copy.begin;
    const now: LogPosition[] = [];
    for (const position of positions) {
      if (position < copy.begin) continue;
      assert(position < covered || position < this.#imageFrom, 'a record that a replay needs may not be dropped');
      (position < covered ? now : this.#later).push(position);
    }
    if (now.length > 0) await copy.drop(now, now.length === positions.length ? bytes : undefined);
  }

  /**
   * The copy must reach `from`, because the next start continues to read it there. Rejects with StorageUnavailableError if it
   * cannot catch up now. A copy that is given up stores nothing more, and nothing is dropped from it: its older checkpoint
   * stays valid, and this one would be of no use.
   */
  async saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const copy = this.#copy;
    assert(from <= this.#bytes.newest.next, 'a checkpoint of what the log has not reached');
    // A fetch that is under way may have begun before the log reached `from`.
    for (let fetches = 0; fetches < 2 && copy.next < from; fetches += 1) await this.#bytes.catchUp();
    if (copy.next >= from && !copy.has(logPosition(from - 1))) await copy.written();
    if (copy.failed) return;
    if (copy.next < from) throw new StorageUnavailableError(`the copy of the log ends at ${copy.next}, before ${from}`);
    await copy.saveCheckpoint(from, chunks);
    const covered = this.#later.filter((position) => position < from);
    this.#later = this.#later.filter((position) => position >= from);
    if (covered.length > 0) await copy.drop(covered, undefined);
  }

  /** Loads the copy's own checkpoint, or else the image's. */
  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    const own = this.#copy.failed ? undefined : await this.#copy.loadCheckpoint();
    if (own !== undefined) return own;
    const checkpoint = await this.#shared.checkpoint(never);
    this.#imageFrom = checkpoint?.from ?? this.#imageFrom;
    return checkpoint;
  }

  /** A copy that begins behind an image lacks its records. The total is at least the image and the log behind it. */
  size(): StorageSize {
    const size = this.#copy.size();
    const { image, imageBytes } = this.#shared;
    if (this.#copy.begin === 1 || image === undefined) return size;
    const behind = Math.max(0, this.#bytes.newest.logBytes - image.logBytes);
    const totalBytes = Math.max(size.totalBytes, imageBytes + behind);
    return { totalBytes, inUseBytes: Math.min(totalBytes, Math.max(size.inUseBytes, imageBytes)) };
  }

  reclaim(): Promise<void> {
    return this.#copy.reclaim();
  }
}

/** A checkpoint that lives as long as its process. */
export class CheckpointMemory {
  from: LogPosition = logPosition(1);
  chunks: readonly Uint8Array[] | undefined;
  bytes = 0;
}

/**
 * For a node without a disk. It stores no records, so a drop frees nothing. A checkpoint is useful only to a storage that the
 * same process opens again. The size is the bytes of the log's records minus the dropped ones, plus the checkpoint.
 */
export class MemoryValues implements LocalValues {
  readonly #memory: CheckpointMemory;
  readonly #bytes: NodeBytes;
  readonly #shared: SharedRecords;
  /** As in `DiskValues`. */
  #imageFrom = logPosition(1);
  #droppedBytes = 0;
  #saving = false;

  constructor(memory: CheckpointMemory, bytes: NodeBytes, shared: SharedRecords) {
    this.#memory = memory;
    this.#bytes = bytes;
    this.#shared = shared;
  }

  async drop(positions: readonly LogPosition[], bytes: number | undefined): Promise<void> {
    const covered = Math.max(this.#memory.from, this.#imageFrom);
    for (const position of positions) {
      assert(position < covered, 'a record that a replay needs may not be dropped');
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

  /** Loads the process's own checkpoint, or else the image's. */
  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    const { from, chunks } = this.#memory;
    const trimmed = chunks === undefined ? from : await this.#shared.trimmedBefore(never);
    if (chunks === undefined || from < trimmed) return await this.#loadImage();
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

  async #loadImage(): Promise<Checkpoint | undefined> {
    const checkpoint = await this.#shared.checkpoint(never);
    const { image } = this.#shared;
    if (checkpoint === undefined || image === undefined) return undefined;
    this.#imageFrom = checkpoint.from;
    // The image does not have the records that were dropped before it was written.
    this.#droppedBytes = image.logBytes - this.#shared.imageBytes;
    return checkpoint;
  }

  size(): StorageSize {
    const bytes = Math.max(0, this.#bytes.newest.logBytes - this.#droppedBytes) + this.#memory.bytes;
    return { totalBytes: bytes, inUseBytes: bytes };
  }

  async reclaim(): Promise<void> {}
}
