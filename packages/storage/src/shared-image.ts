import type { LogPosition } from '@engram/core';

/** A piece of an image. Pieces come in the order in which they are written. */
export type ImagePart =
  /** As in a checkpoint: the first chunk is the header, the others list keys in ascending order. */
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array }
  /**
   * Records of versions that chunks name, in the order of their keys. `records[n]` is the log's record at
   * `positions[n]`.
   */
  | { readonly kind: 'page'; readonly positions: readonly LogPosition[]; readonly records: readonly Uint8Array[] }
  /**
   * A page of the previous image with exactly these records, as `ImageBase.has` has confirmed. It is not written again.
   */
  | { readonly kind: 'kept'; readonly positions: readonly LogPosition[] };

/**
 * The pages of the published image, which the next image may keep. A record never changes, so its positions identify a
 * page. A page is clean if the new image has exactly these positions in sequence. A write, a delete, a compaction, and
 * a key that moves between leases each add or remove a position.
 */
export interface ImageBase {
  /** The number of records in the page that begins with this record. 0 if no page does. */
  recordsFrom(first: LogPosition): number;
  /** Whether there is a page of exactly these records, in this order. */
  has(positions: readonly LogPosition[]): boolean;
}

/** A base without pages: nothing may be kept. */
export const noImageBase: ImageBase = { recordsFrom: () => 0, has: () => false };

/** The newest image and the log after it, as the storage reports them now. */
export interface ImageStatus {
  /** Where replay after the newest image begins. Undefined if there is no image. */
  readonly from: LogPosition | undefined;
  /** The total length of all pieces of the newest image. */
  readonly imageBytes: number;
  /** The total length of the log's records after the newest image. */
  readonly logBytesBehind: number;
  /** The log before this position may have been deleted. */
  readonly trimmed: LogPosition;
}

/** How much of the image a node has on its own disk, of the part that its copy of the log lacks. */
export interface LocalShare {
  readonly bytes: number;
  /** The length of that part. 0 while nothing was fetched. */
  readonly of: number;
  /** The node has all bytes of the store. */
  readonly whole: boolean;
}

/** A node that needs the log from before where it could begin, or that reads what a newer image lacks. */
export interface LogHolder {
  /** The member that the node belongs to. */
  readonly member: bigint;
  readonly from: LogPosition;
  /** For how long it has held the log or an image back. */
  readonly heldMs: number;
  /** That was too long: trims and images no longer wait for it. */
  readonly leftBehind: boolean;
}

/** What a trim did. */
export interface Trimmed {
  /** The log before this position may have been deleted. */
  readonly before: LogPosition;
  /** Where the log must begin for the live node that lags most. Undefined if none has reported, or all were left behind. */
  readonly needed: LogPosition | undefined;
}

/**
 * Where several nodes share one log: images of the state with the bytes of all versions, which the nodes share too. The
 * log before an image is deleted. A node without data of its own, or behind the start of the remaining log, starts from
 * the image. `Values.loadCheckpoint` returns its chunks, `Values.getMany` the records of its pages.
 */
export interface SharedImage {
  /** Undefined if this node keeps no bytes of its own. */
  readonly local?: LocalShare | undefined;
  /** Rejects with StorageUnavailableError. */
  status(signal: AbortSignal): Promise<ImageStatus>;
  /**
   * Writes an image, reads it back, and publishes it in place of the previous one. One save at a time.
   *
   * Every record before `from` is durable, and its effect is in the parts, unless a later record has undone it.
   * A replay from `from` leads to the state. `parts` gets the base, whose pages it may keep. `pace` resolves when so
   * many more bytes may be read back.
   *
   * Returns `deposed` if another node holds the log or writes an image; nothing was published then. Rejects with the
   * error of `parts` if it fails, and with that of the signal if it aborts. Rejects with StorageCorruptError if the
   * bytes read back differ from the bytes written, and with StorageUnavailableError.
   */
  save(
    from: LogPosition,
    parts: (base: ImageBase) => AsyncIterable<ImagePart>,
    signal: AbortSignal,
    pace?: (bytes: number) => Promise<void>,
  ): Promise<'published' | 'deposed'>;
  /**
   * Deletes the log that neither the newest image nor any live node needs. Only the holder of the log calls it. A call
   * by a node that does not know that it is deposed does no harm. Undefined if there is nothing to delete.
   */
  trim(signal: AbortSignal): Promise<Trimmed | undefined>;
  /**
   * Lets the storage discard its own old versions that no reader can reach any more. Only the holder of the log calls
   * it, as often as it likes. A call by a deposed node does no harm. Rejects with StorageUnavailableError.
   */
  collectGarbage?(signal: AbortSignal): Promise<void>;
  /**
   * Where the log must begin for the live node that lags most. Undefined if no live node has reported. A node that has
   * not yet applied a compaction still reads the compacted versions, which a newer image lacks. An image must not be
   * published before all live nodes have applied the log that it is based on, which ends at `wanted`. A node that needs
   * less than `wanted` for too long is left behind, as one that is silent: it does not count until it needs no more.
   * Rejects with StorageUnavailableError.
   */
  lowestNeed(wanted: LogPosition, signal: AbortSignal): Promise<LogPosition | undefined>;
  /** The live nodes that a trim or an image waits for, or no longer waits for, as of the last such call of this node. */
  readonly holders?: readonly LogHolder[] | undefined;
  /**
   * Reports that this node is alive, has applied the log before `from`, and will not read it again. Repeat the call
   * even without progress: a node that is silent for long no longer delays a trim. A node that keeps bytes of its own
   * then begins to fetch the bytes of the image that it lacks, concurrently with all other work.
   */
  need(from: LogPosition, signal: AbortSignal): Promise<void>;
}
