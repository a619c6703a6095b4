import { isTikvError, type Snapshot } from '@engram/tikv-client';
import { decodeDirectory, type PageEntry } from './image-directory.ts';
import { decodePiecePart, type PieceName } from '../format/image-piece.ts';
import { type Image, PieceHash, sameTotals } from '../format/image-root.ts';
import type { ImageKind } from '../format/log-keys.ts';
import { corrupt, type LogSource } from '../log/log-source.ts';

/** A piece of the image is missing, or a store aborts its read: the image was replaced and its pieces are deleted, or it is damaged. */
export class PieceMissing extends Error {
  override readonly name = 'PieceMissing';
}

/** Reads the pieces of one image. */
export interface ImagePieces {
  /** The payloads, in the order of `numbers`. Rejects with PieceMissing, StorageCorruptError, or the error of the read. */
  fetch(kind: ImageKind, numbers: readonly number[], signal: AbortSignal): Promise<readonly Uint8Array[]>;
}

/** Pieces in TiKV. Pieces in several regions are read concurrently. The image's directory names the round of each page. */
export class TikvPieces implements ImagePieces {
  readonly #source: LogSource;
  readonly #image: Image;
  #directory: readonly PageEntry[] | undefined;

  constructor(source: LogSource, image: Image) {
    this.#source = source;
    this.#image = image;
  }

  async fetch(kind: ImageKind, numbers: readonly number[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const names = await this.#named(kind, numbers, signal);
    const { client, timeoutMs } = this.#source;
    const snapshot = await client.snapshot({ signal, timeoutMs });
    const firsts = await this.#parts(snapshot, names, [0], signal);
    return await Promise.all(
      firsts.map(async ({ payload, parts }, at) => {
        if (parts === 1) return payload;
        const others = Array.from({ length: parts - 1 }, (_, index) => index + 1);
        const rest = await this.#parts(snapshot, [names[at]!], others, signal);
        return Buffer.concat([payload, ...rest.map((part) => part.payload)]);
      }),
    );
  }

  /** All pages in the order of their numbers; undefined for an image without a directory. TiKV is read only once. */
  async directory(signal: AbortSignal): Promise<readonly PageEntry[] | undefined> {
    const { round, totals } = this.#image;
    const { count } = totals.directory;
    if (this.#directory !== undefined || (count === 0 && totals.page.count > 0)) return this.#directory;
    const hash = new PieceHash();
    const numbers = Array.from({ length: count }, (_, number) => number);
    const pieces = await this.fetch('directory', numbers, signal);
    for (const piece of pieces) hash.add(piece);
    const entries = decodeDirectory(pieces);
    if (entries?.length !== totals.page.count || !sameTotals(hash.totals, totals.directory)) {
      throw corrupt(this.#source, `the directory of image ${round} is not the one that was published`);
    }
    this.#directory = entries;
    return entries;
  }

  async #named(kind: ImageKind, numbers: readonly number[], signal: AbortSignal): Promise<readonly PieceName[]> {
    const { round } = this.#image;
    const entries = kind === 'page' ? await this.directory(signal) : undefined;
    if (entries === undefined) return numbers.map((number) => ({ round, kind, number }));
    return numbers.map((number) => {
      const entry = entries[number];
      if (entry === undefined) throw corrupt(this.#source, `image ${round} has no page ${number}`);
      return { round: entry.round, kind, number: entry.number };
    });
  }

  async #parts(
    snapshot: Snapshot,
    pieces: readonly PieceName[],
    parts: readonly number[],
    signal: AbortSignal,
  ): Promise<{ readonly payload: Uint8Array; readonly parts: number }[]> {
    const { keys, timeoutMs } = this.#source;
    const names = pieces.flatMap((piece) => parts.map((part) => ({ ...piece, part })));
    const values = await snapshot
      .batchGet(
        names.map((name) => keys.piece(name)),
        { signal, timeoutMs },
      )
      .catch((cause: unknown) => {
        if (!isTikvError(cause, 'read-aborted')) throw cause;
        const { kind, number, round } = names[0]!;
        throw new PieceMissing(`${kind} ${number} of image ${round}, or one behind it, cannot be read`, { cause });
      });
    return names.map((name, at) => {
      const { kind, number, round } = name;
      const value = values[at];
      if (value === undefined) throw new PieceMissing(`${kind} ${number} of image ${round} is missing`);
      const part = decodePiecePart(name, value);
      if (part === undefined) throw corrupt(this.#source, `${kind} ${number} of image ${round} is damaged`);
      return part;
    });
  }
}
