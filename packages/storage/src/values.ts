import type { LogPosition } from '@engram/core';
import type { Log, LogBatch } from './log.ts';
import type { SharedImage } from './shared-image.ts';

/** What a storage holds, in bytes: on disk, and thereof what live versions need. */
export interface StorageSize {
  readonly totalBytes: number;
  readonly inUseBytes: number;
}

/** The newest checkpoint: an image of everything that the log before `from` led to. */
export interface Checkpoint {
  /** Replay goes on here. */
  readonly from: LogPosition;
  /** Only where it is the image that nodes share: what its chunks are together. */
  readonly image?: { readonly chunks: number; readonly bytes: number };
  /**
   * In the order in which they were saved, verified. Rejects with StorageCorruptError where they are damaged, and as
   * well when it begins after a newer checkpoint has replaced this one.
   */
  chunks(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/**
 * The bytes of versions, found by log position, and the checkpoints of what is built from them. Contract, checked by
 * `valuesContract` on every adapter.
 */
export interface Values {
  /**
   * The records at these positions, in their order, each verified. Rejects with StorageCorruptError when one that was
   * never dropped is missing or damaged. The bytes are shared: nobody changes them.
   */
  getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]>;
  /** The record, when it can be had without waiting for a disk; undefined says nothing, as after disposal. */
  peek(position: LogPosition): Uint8Array | undefined;
  /**
   * These records will never be read again; the storage frees their space when it likes. Only records before the
   * newest checkpoint's `from` may be dropped: what lies behind it is replayed, gap-free, at the next start.
   * Dropping twice, or what is not there, is nothing: a crash between compaction and drop repeats it. Not durable by
   * itself: a crash may bring back what was dropped since the last append or checkpoint. `bytes` is about how long these records are
   * together, for `size`; without it an average is taken.
   */
  drop(positions: readonly LogPosition[], bytes?: number): Promise<void>;
  /**
   * Replaces the checkpoint atomically and durably; the one before stays whole until then, also for those who read it
   * at that moment. At most one at a time; `from` neither beyond the log's end nor before the last checkpoint's: both
   * are assertions. When `chunks` fails, its error is the answer, and nothing has changed.
   */
  saveCheckpoint(from: LogPosition, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  loadCheckpoint(): Promise<Checkpoint | undefined>;
  /**
   * Only where several nodes share one log: a batch that is in the log, whole, as some node has appended it, and whose
   * bytes this one has at hand. From now on `getMany` finds its records without asking for them elsewhere, and `read` gives it
   * as it gives this node's own. May be repeated, and in any order; what the node's copy lacks is fetched by the storage
   * itself. Resolves when there is room for the next. A batch that is not in the log is damage to the copy.
   */
  adopt?(batch: LogBatch): Promise<void>;
  /** An estimate, at most a second old. */
  size(): StorageSize;
  /**
   * Gives the space of what was dropped back to the file system now, where `drop` alone leaves that to a later time;
   * `size` tells of it when the promise resolves. It may take as long as writing all that is there, and holds up neither
   * reads nor appends.
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
