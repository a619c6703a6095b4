import type { LogPosition } from '@engram/core';

/** A piece of an image, in the order in which it is written. */
export type ImagePart =
  /** As a checkpoint's: the first one is its header, the others list keys in ascending order. */
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array }
  /** Records of versions that chunks name, in the order of their keys. `records[n]` is the log's at `positions[n]`. */
  | { readonly kind: 'page'; readonly positions: readonly LogPosition[]; readonly records: readonly Uint8Array[] }
  /** A page of the image before with exactly these records: it is not written again. `ImageBase.has` has said so. */
  | { readonly kind: 'kept'; readonly positions: readonly LogPosition[] };

/**
 * Pages of the published image, which the next one may keep. A record never changes, so a page is told by its positions: it is
 * clean where the new image has just these, one behind the other. A write, a delete, a compaction, a key that moved between leases:
 * each adds a position, or takes one away.
 */
export interface ImageBase {
  /** How many records the page has that begins with this one; 0: none does. */
  recordsFrom(first: LogPosition): number;
  /** Whether there is a page of exactly these, in this order. */
  has(positions: readonly LogPosition[]): boolean;
}

/** Nothing may be kept. */
export const noImageBase: ImageBase = { recordsFrom: () => 0, has: () => false };

/** What the cluster has beside its log, as storage says now. */
export interface ImageStatus {
  /** Where the newest image begins its replay; undefined where there is none. */
  readonly from: LogPosition | undefined;
  /** Of all its pieces. */
  readonly imageBytes: number;
  /** Of the log's records behind it. */
  readonly logBytesBehind: number;
  /** The log before it may be gone. */
  readonly trimmed: LogPosition;
}

/** How many bytes of an image a node has on its own disk, of those that its copy of the log lacks. */
export interface LocalShare {
  readonly bytes: number;
  /** 0 as long as nothing was fetched. */
  readonly of: number;
  /** The node has all bytes of the store. */
  readonly whole: boolean;
}

/** What a trim did. */
export interface Trimmed {
  /** The log before it may be gone. */
  readonly before: LogPosition;
  /** Where the log must begin for the node that lags most, of those that live; undefined: none said. */
  readonly needed: LogPosition | undefined;
}

/**
 * Where several nodes share one log: images of the state with the bytes of all versions, which the nodes share too. The log
 * before an image is deleted. A node that has nothing of its own, or is behind what is left of the log, starts from the image:
 * `Values.loadCheckpoint` gives its chunks, `Values.getMany` the records of its pages.
 */
export interface SharedImage {
  /** Undefined: this node keeps no bytes of its own. */
  readonly local?: LocalShare | undefined;
  /** Rejects with StorageUnavailableError. */
  status(signal: AbortSignal): Promise<ImageStatus>;
  /**
   * Writes an image, reads it back, and publishes it in place of the one before. `from`: every record before it is durable
   * and its effect is in the parts, unless a record behind it has undone it; a replay from there leads to the state. `deposed`:
   * another holds the log, or writes an image, and nothing was published. One at a time. `parts` is told which pages it may
   * keep. When it fails, or the signal aborts, its error is the answer. `pace` resolves when so many more bytes may be read back.
   * Rejects with StorageCorruptError where what is read back is not what was written, and with StorageUnavailableError.
   */
  save(
    from: LogPosition,
    parts: (base: ImageBase) => AsyncIterable<ImagePart>,
    signal: AbortSignal,
    pace?: (bytes: number) => Promise<void>,
  ): Promise<'published' | 'deposed'>;
  /**
   * Deletes of the log what neither the newest image nor a node that lives needs. Only the holder of the log calls it; one
   * that is deposed without knowing does no harm. Undefined: there is nothing to delete.
   */
  trim(signal: AbortSignal): Promise<Trimmed | undefined>;
  /**
   * Lets storage forget versions of its own that nobody can read any more. Only the holder of the log calls it, as often as it
   * likes; one that is deposed does no harm. Rejects with StorageUnavailableError.
   */
  collectGarbage?(signal: AbortSignal): Promise<void>;
  /**
   * Where the log must begin for the node that lags most, of those that live; undefined: none said. Who has yet to apply a
   * compaction reads versions that an image without them has not: none is to be published before all have applied what it
   * rests on. Rejects with StorageUnavailableError.
   */
  lowestNeed(signal: AbortSignal): Promise<LogPosition | undefined>;
  /**
   * Says that this node has applied the log before `from`, will not read it again, and that it lives. To be repeated, also without progress:
   * a node that is silent for long no longer holds a trim up. With it a node that keeps bytes of its own begins to fetch those of the
   * image that it lacks, beside all other work.
   */
  need(from: LogPosition, signal: AbortSignal): Promise<void>;
}
