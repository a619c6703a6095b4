import type { Log, SharedImage, Storage, Values } from '@engram/storage';
import type { Lifetime } from '@engram/storage';
import type { ImageCopy } from './copy/image-copy.ts';
import type { LocalCopy } from './copy/local-copy.ts';
import type { NodeBytes } from './copy/node-bytes.ts';
import type { SegmentRegions } from './log/segment-regions.ts';

export interface TikvStorageParts {
  readonly log: Log;
  readonly values: Values;
  readonly image: SharedImage;
  readonly lifetime: Lifetime;
  /** Ends the work in the background. */
  readonly closer: AbortController;
  readonly bytes: NodeBytes;
  readonly copy: LocalCopy | undefined;
  readonly imageCopy: ImageCopy | undefined;
  readonly regions: SegmentRegions;
  readonly cachedBytes: () => number;
}

/** The ports of a node: the log in TiKV, the values where this node has them, the image. The caller owns the client. */
export class TikvStorage implements Storage {
  readonly log: Log;
  readonly values: Values;
  readonly image: SharedImage;
  readonly #parts: TikvStorageParts;
  #closing: Promise<void> | undefined;

  constructor(parts: TikvStorageParts) {
    this.log = parts.log;
    this.values = parts.values;
    this.image = parts.image;
    this.#parts = parts;
  }

  /** Bytes in memory of batches and pieces of the image that were used last. */
  get cachedBytes(): number {
    return this.#parts.cachedBytes();
  }

  /** Bytes of batches that wait for the disk of the copy; 0 without one. */
  get queuedBytes(): number {
    return this.#parts.copy?.queuedBytes ?? 0;
  }

  /** Waits for running calls and the work in the background, then closes everything. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { lifetime, closer, bytes, copy, imageCopy, regions } = this.#parts;
    await lifetime.end('is closed');
    closer.abort(lifetime.closed);
    await bytes.idle();
    await regions.idle();
    await imageCopy?.[Symbol.asyncDispose]();
    await copy?.close();
  }
}
