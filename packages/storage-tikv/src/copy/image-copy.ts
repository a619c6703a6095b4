import { rm } from 'node:fs/promises';
import { type Clock, type Logger, type LogPosition, sleep } from '@engram/core';
import { type LocalShare, StorageCorruptError } from '@engram/storage';
import { isTikvError } from '@engram/tikv-client';
import { PieceMissing, TikvPieces } from '../image/image-pieces.ts';
import { ImageReader } from '../image/image-reader.ts';
import type { Image } from '../format/image-root.ts';
import type { ImageRootStore } from '../image/image-root-store.ts';
import { LocalPieces, LocalPiecesWriter, localKinds, type LocalPiecesOptions } from './local-pieces.ts';
import type { LogSource } from '../log/log-source.ts';

/** Pieces that are fetched and written at once. For pages, this is a MiB. */
const PIECES_AT_ONCE = 16;

export interface ImageCopyOptions extends LocalPiecesOptions {
  readonly source: LogSource;
  readonly roots: ImageRootStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The rate of the fetch, limited so that other work goes on. */
  readonly bytesPerSecond: number;
  /** The most bytes of pieces in memory. */
  readonly bytesMax: number;
  readonly fetchesMax?: number | undefined;
  readonly closing: AbortSignal;
}

/**
 * A copy of an image's records on this node's disk, for a node whose copy of the log begins at an image. With both copies, the
 * node has all bytes and reads none from TiKV. Records never change, so the copy stays useful when newer images are published.
 * It is fetched in the background at a limited rate. Its loss costs only time: a damaged copy is deleted, and is fetched again
 * from the image that is the newest then.
 */
export class ImageCopy implements AsyncDisposable {
  readonly #options: ImageCopyOptions;
  #local: { readonly pieces: LocalPieces; readonly reader: ImageReader } | undefined;
  #fetching: Promise<void> | undefined;
  #bytes = 0;
  #of = 0;

  private constructor(options: ImageCopyOptions) {
    this.#options = options;
  }

  /** Opens the pieces of an earlier run, if they are there. */
  static async open(options: ImageCopyOptions): Promise<ImageCopy> {
    const copy = new ImageCopy(options);
    const pieces = await LocalPieces.open(options);
    if (pieces !== undefined) copy.#use(pieces);
    return copy;
  }

  /** This node has all bytes of the image. */
  get complete(): boolean {
    return this.#local !== undefined;
  }

  /** Bytes in memory of its pieces. */
  get cachedBytes(): number {
    return this.#local?.reader.cachedBytes ?? 0;
  }

  get share(): LocalShare {
    return { bytes: this.#bytes, of: this.#of, whole: this.complete };
  }

  /** Adds the records that the copy has to `found`. Adds none if the copy is not complete. */
  async find(
    positions: readonly LogPosition[],
    found: Map<LogPosition, Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const local = this.#local;
    if (local === undefined) return;
    const before = positions.filter((position) => position < local.pieces.image.from);
    try {
      await local.reader.find(before, found, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      await this.#discard(local.pieces, error);
    }
  }

  /** Fetches the image, unless it is here or being fetched. Resolves when it is here, or the fetch has failed. */
  fetch(): Promise<void> {
    if (this.#local !== undefined || this.#options.closing.aborted) return Promise.resolve();
    this.#fetching ??= this.#fetchNewest().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  /** Waits for a running fetch, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fetching;
    await this.#local?.pieces[Symbol.asyncDispose]();
  }

  async #fetchNewest(): Promise<void> {
    const { roots, clock, logger, closing } = this.#options;
    const startMs = clock.nowMs();
    try {
      const { image } = await roots.read(closing);
      if (image === undefined) return;
      const { places, page } = image.totals;
      this.#bytes = 0;
      this.#of = places.bytes + page.bytes;
      logger.info({ round: image.round, bytes: this.#of }, 'fetches the bytes of the image');
      await this.#write(image);
      const pieces = await LocalPieces.open(this.#options);
      if (pieces === undefined) throw new StorageCorruptError('what was written is not there', this.#options.path);
      this.#use(pieces);
      logger.info(
        { round: image.round, bytes: this.#of, 'took-ms': Math.round(clock.nowMs() - startMs) },
        'has all bytes of the store',
      );
    } catch (error) {
      this.#bytes = 0;
      if (closing.aborted) return;
      // The next attempt finds the image that replaced this one.
      if (error instanceof PieceMissing)
        logger.info({ error: String(error) }, 'the image was replaced while it was fetched');
      else if (isTikvError(error)) logger.warn({ err: error }, 'cannot fetch the bytes of the image yet');
      else logger.error({ err: error }, 'cannot fetch the bytes of the image');
    }
  }

  async #write(image: Image): Promise<void> {
    const { source, closing } = this.#options;
    const remote = new TikvPieces(source, image);
    await using writer = await LocalPiecesWriter.create(this.#options, image);
    for (const kind of localKinds) {
      const { count } = image.totals[kind];
      for (let from = 0; from < count; from += PIECES_AT_ONCE) {
        const numbers = Array.from({ length: Math.min(PIECES_AT_ONCE, count - from) }, (_, at) => from + at);
        const payloads = await remote.fetch(kind, numbers, closing);
        await writer.add(kind, payloads);
        let bytes = 0;
        for (const { length } of payloads) bytes += length;
        this.#bytes += bytes;
        await this.#pace(bytes);
      }
    }
    await writer.finish();
  }

  #use(pieces: LocalPieces): void {
    const { source, bytesMax, fetchesMax } = this.#options;
    const { image } = pieces;
    this.#local = { pieces, reader: new ImageReader({ source, image, pieces, bytesMax, fetchesMax }) };
    this.#of = image.totals.places.bytes + image.totals.page.bytes;
    this.#bytes = this.#of;
  }

  /** Deletes the damaged copy. Reads go to TiKV until the image is fetched again. */
  async #discard(pieces: LocalPieces, error: unknown): Promise<void> {
    if (this.#local?.pieces !== pieces) return;
    this.#local = undefined;
    this.#bytes = 0;
    const { logger, path } = this.#options;
    logger.warn({ err: error }, 'the copy of the image is damaged: TiKV is asked instead, and it is fetched again');
    await pieces[Symbol.asyncDispose]();
    await rm(path, { recursive: true, force: true });
  }

  #pace(bytes: number): Promise<void> {
    const { clock, closing, bytesPerSecond } = this.#options;
    return sleep(clock, (bytes / bytesPerSecond) * 1000, closing);
  }
}
