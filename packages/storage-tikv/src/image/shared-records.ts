import type { LogPosition } from '@engram/core';
import { type Checkpoint, StorageTrimmedError } from '@engram/storage';
import { isTikvError } from '@engram/tikv-client';
import { PieceMissing, TikvPieces } from './image-pieces.ts';
import { ImageReader } from './image-reader.ts';
import { type Image, imageBytes, type ImageRoot } from '../format/image-root.ts';
import type { ImageRootStore } from './image-root-store.ts';
import { corrupt, type LogSource } from '../log/log-source.ts';
import type { RecordLookup } from '../log/record-lookup.ts';

/** How many roots a call tries. The pieces that a root names may be deleted, because the root changes with each round. */
const LOOKS_MAX = 3;

export interface SharedRecordsOptions {
  readonly source: LogSource;
  readonly roots: ImageRootStore;
  readonly lookup: RecordLookup;
  /** The most bytes of the image's pieces in memory. */
  readonly bytesMax: number;
  /** See `ImageReaderOptions`. */
  readonly fetchesMax: number | undefined;
}

/** Reads what all nodes share: the records of the newest image and of the log, and the image's chunks. */
export class SharedRecords {
  readonly #options: SharedRecordsOptions;
  #reader: ImageReader | undefined;

  constructor(options: SharedRecordsOptions) {
    this.#options = options;
  }

  /** The image of the last known root. */
  get image(): Image | undefined {
    return this.#options.roots.known.image;
  }

  /** The records, in their order. Rejects with StorageTrimmedError, StorageCorruptError, or an error of the client. */
  async getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const found = new Map<LogPosition, Uint8Array>();
    let missing: readonly LogPosition[] = [...new Set(positions)].sort((left, right) => left - right);
    let root = this.#options.roots.known;
    for (let look = 0; look < LOOKS_MAX && missing.length > 0; look += 1) {
      if (look > 0) root = await this.#options.roots.read(signal);
      try {
        await this.#findIn(root, missing, found, signal);
      } catch (error) {
        // What is trimmed just now: the next root says so.
        if (look + 1 === LOOKS_MAX || !isTikvError(error, 'read-aborted')) throw error;
      }
      missing = missing.filter((position) => !found.has(position));
    }
    const first = missing[0];
    if (first === undefined) return positions.map((position) => found.get(position)!);
    if (first < root.trimmed) {
      throw new StorageTrimmedError(
        `record ${first} of ${this.#options.source.name} is neither in image ${root.image?.round} nor in the log, which begins at ${root.trimmed}`,
      );
    }
    throw corrupt(this.#options.source, `record ${first} is missing`);
  }

  /** Undefined if there is no image. `chunks` rejects with StorageTrimmedError if the image is replaced meanwhile. */
  async checkpoint(signal: AbortSignal): Promise<Checkpoint | undefined> {
    const { image } = await this.#options.roots.read(signal);
    if (image === undefined) return undefined;
    const chunks = (reading: AbortSignal): AsyncIterable<Uint8Array> => this.#chunks(this.#readerOf(image), reading);
    const { count, bytes } = image.totals.chunk;
    return { from: image.from, image: { chunks: count, bytes }, chunks };
  }

  /** The log before this position may be deleted, by the newest root. */
  async trimmedBefore(signal: AbortSignal): Promise<LogPosition> {
    return (await this.#options.roots.read(signal)).trimmed;
  }

  /** Bytes in memory of pieces of the image. */
  get cachedBytes(): number {
    return this.#reader?.cachedBytes ?? 0;
  }

  get imageBytes(): number {
    return this.image === undefined ? 0 : imageBytes(this.image);
  }

  async #findIn(
    { image, trimmed }: ImageRoot,
    positions: readonly LogPosition[],
    found: Map<LogPosition, Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    if (image !== undefined) {
      const before = positions.filter((position) => position < image.from);
      try {
        await this.#readerOf(image).find(before, found, signal);
      } catch (error) {
        if (!(error instanceof PieceMissing)) throw error;
        await this.#replaced(image, error, signal);
        return;
      }
    }
    const behind = positions.filter((position) => position >= trimmed && !found.has(position));
    await this.#options.lookup.find(behind, found, signal);
  }

  async *#chunks(reader: ImageReader, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* reader.chunks(signal);
    } catch (error) {
      if (!(error instanceof PieceMissing)) throw error;
      await this.#replaced(reader.image, error, signal);
      throw new StorageTrimmedError(`image ${reader.image.round} was replaced while it was read`, { cause: error });
    }
  }

  /** Throws StorageCorruptError if the image is still the newest one. */
  async #replaced(image: Image, error: PieceMissing, signal: AbortSignal): Promise<void> {
    const newest = await this.#options.roots.read(signal);
    if (newest.image?.round === image.round) throw corrupt(this.#options.source, error.message);
  }

  #readerOf(image: Image): ImageReader {
    if (this.#reader?.image.round !== image.round) {
      const { source, bytesMax, fetchesMax } = this.#options;
      const pieces = new TikvPieces(source, image);
      this.#reader = new ImageReader({ source, image, pieces, bytesMax, fetchesMax });
    }
    return this.#reader;
  }
}
