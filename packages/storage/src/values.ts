import type { LogPosition } from '@engram/core';
import type { Log, LogBatch } from './log.ts';
import type { SharedImage } from './shared-image.ts';
import type { StorageDivergedError } from './storage-error.ts';

/** The size of a storage in bytes: all bytes on disk, and the bytes among them that live versions need. */
export interface StorageSize {
  readonly totalBytes: number;
  readonly inUseBytes: number;
}

/** The newest checkpoint: an image of the state that the log before `from` has led to. */
export interface Checkpoint {
  /** Replay begins here. */
  readonly from: LogPosition;
  /** Only for an image that nodes share: the number of its chunks and their total length. */
  readonly image?: { readonly chunks: number; readonly bytes: number };
  /**
   * The chunks in the order in which they were saved, verified. Rejects with StorageCorruptError if they are damaged,
   * or if reading begins after a newer checkpoint has replaced this one.
   */
  chunks(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/**
 * The bytes of versions by log position, and checkpoints of the state that is built from them. `valuesContract` checks
 * this contract on every adapter.
 */
export interface Values {
  /**
   * The records at these positions, in their order, each verified. Rejects with StorageCorruptError if a record that
   * was never dropped is missing or damaged. The bytes are shared: the caller must not change them.
   */
  getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]>;
  /**
   * The record, if it is in this process's memory. Undefined does not mean that it is missing. Undefined after disposal.
   * `inline` allows the call to block the process for a read that is likely to take microseconds, as from the system's
   * memory. Not for many records: `getMany` reads neighbours together.
   */
  peek(position: LogPosition, inline?: boolean): Uint8Array | undefined;
  /**
   * Declares that these records will never be read again; the storage may free their space at any time. Only records
   * before the newest checkpoint's `from` may be dropped, because the next start replays all records from there without a
   * gap. Dropping a record twice, or one that is not there, has no effect: a crash between compaction and drop repeats
   * the drop. Not durable by itself: a crash may bring back the records that were dropped since the last append or
   * checkpoint. `bytes` is the approximate total length of these records, for `size`; without it an average is used.
   */
  drop(positions: readonly LogPosition[], bytes?: number): Promise<void>;
  /**
   * Replaces the checkpoint atomically and durably. Until then the previous checkpoint stays whole, also for its
   * readers. At most one save at a time, and `from` neither beyond the log's end nor before the last checkpoint's: both
   * are assertions. If `chunks` fails, the call rejects with its error, and nothing has changed.
   */
  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  loadCheckpoint(): Promise<Checkpoint | undefined>;
  /**
   * Only where several nodes share one log. Adopts a whole batch that is in the log as some node has appended it, and
   * whose bytes this node has at hand. From now on `getMany` finds its records without fetching them, and `read` yields
   * it like a batch of this node. May be repeated, and in any order: the storage itself fetches batches that the node's
   * copy lacks. Resolves when there is room for the next batch. A batch that is not in the log damages the copy. Rejects with
   * StorageDivergedError, and adopts nothing, if the batch has a chain that does not continue what this node has taken.
   */
  adopt?(batch: LogBatch): Promise<void>;
  /**
   * Only where several nodes share one log. This node's data is not that of the others, says the caller: its own copy is given
   * up, so that its next start does not use it. Returns the error to end with.
   */
  giveUp?(why: string): Promise<StorageDivergedError>;
  /** An estimate, at most a second old. */
  size(): StorageSize;
  /**
   * Gives the space of dropped records back to the file system now; `drop` alone defers that. `size` reflects it once
   * the promise resolves. It may take as long as writing all stored bytes, and delays neither reads nor appends.
   */
  reclaim?(): Promise<void>;
}

/** A node's storage: both ports over one set of files, held exclusively until disposed. */
export interface Storage extends AsyncDisposable {
  readonly log: Log;
  readonly values: Values;
  /** Only where several nodes share one log. */
  readonly image?: SharedImage;
}
