import type { LogPosition } from '@engram/core';
import type { Snapshot } from '@engram/tikv-client';
import { decodePage, findPlace, placesCount, placesOf } from './image-page.ts';
import { decodePiecePart } from './image-piece.ts';
import { type Image, PieceHash, sameTotals } from './image-root.ts';
import type { ImageKind } from './log-keys.ts';
import { corrupt, type LogSource } from './log-source.ts';
import { RecentPieces } from './recent-pieces.ts';

/** Pieces of chunks that are asked for at once: regions are read side by side. */
const CHUNKS_AHEAD = 16;
/** Pieces of pages or places that one question holds in memory. */
const PIECES_MAX = 16;

/** A piece of the image is not there: the image was replaced, and deleted, or it is damaged. */
export class PieceMissing extends Error {
  override readonly name = 'PieceMissing';
}

type Page = ReadonlyMap<LogPosition, Uint8Array>;

/** One published image, read from TiKV. Damage is StorageCorruptError, and says of which piece. */
export class ImageReader {
  readonly image: Image;
  readonly #source: LogSource;
  readonly #pages: RecentPieces<Page>;
  readonly #places: RecentPieces<Uint8Array>;

  /** `bytesMax`: of what is kept in memory for the next questions. */
  constructor(source: LogSource, image: Image, bytesMax: number) {
    this.image = image;
    this.#source = source;
    this.#pages = new RecentPieces(bytesMax / 2);
    this.#places = new RecentPieces(bytesMax / 2);
  }

  /** All chunks in their order. */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { count } = this.image.totals.chunk;
    const hash = new PieceHash();
    const ask = (from: number): Promise<readonly Uint8Array[]> => {
      const until = Math.min(count, from + CHUNKS_AHEAD);
      return this.#fetch(
        'chunk',
        Array.from({ length: until - from }, (_, at) => from + at),
        signal,
      );
    };
    let next: Promise<readonly Uint8Array[]> | undefined = ask(0);
    try {
      for (let from = 0; from < count; from += CHUNKS_AHEAD) {
        const chunks: readonly Uint8Array[] = await next!;
        next = from + CHUNKS_AHEAD < count ? ask(from + CHUNKS_AHEAD) : undefined;
        for (const chunk of chunks) {
          hash.add(chunk);
          yield chunk;
        }
      }
    } finally {
      // Who stops early leaves nothing under way.
      await next?.catch(() => undefined);
    }
    if (!sameTotals(hash.totals, this.image.totals.chunk)) {
      throw corrupt(this.#source, `the chunks of image ${this.image.round} are not those that were published`);
    }
  }

  /** Puts into `found` what the image has of these positions: copies, so that nobody holds a page for one record. */
  async find(
    positions: readonly LogPosition[],
    found: Map<LogPosition, Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const count = placesCount(this.image.records);
    if (count === 0 || positions.length === 0) return;
    const wanted = new Map<number, LogPosition[]>();
    const byPlaces = groupBy(positions, (position) => placesOf(position, count));
    await this.#each('places', byPlaces, this.#places, asItIs, signal, (places, there) => {
      for (const position of there) {
        const page = findPlace(places, position);
        if (page === undefined) continue;
        const others = wanted.get(page);
        if (others === undefined) wanted.set(page, [position]);
        else others.push(position);
      }
    });
    await this.#each('page', wanted, this.#pages, decodePage, signal, (page, there, number) => {
      for (const position of there) {
        const record = page.get(position);
        if (record === undefined) throw corrupt(this.#source, `page ${number} of image ${this.image.round} is damaged`);
        found.set(position, record.slice());
      }
    });
  }

  /** Each piece with the positions that it was asked for, some pieces at a time. */
  async #each<Piece>(
    kind: ImageKind,
    wanted: ReadonlyMap<number, readonly LogPosition[]>,
    recent: RecentPieces<Piece>,
    decode: (payload: Uint8Array) => Piece | undefined,
    signal: AbortSignal,
    visit: (piece: Piece, positions: readonly LogPosition[], number: number) => void,
  ): Promise<void> {
    const missing: number[] = [];
    for (const [number, positions] of wanted) {
      const piece = recent.get(number);
      if (piece === undefined) missing.push(number);
      else visit(piece, positions, number);
    }
    missing.sort((left, right) => left - right);
    for (let from = 0; from < missing.length; from += PIECES_MAX) {
      const numbers = missing.slice(from, from + PIECES_MAX);
      const payloads = await this.#fetch(kind, numbers, signal);
      for (const [at, number] of numbers.entries()) {
        const payload = payloads[at]!;
        const piece = decode(payload);
        if (piece === undefined) throw this.#damaged(kind, number);
        recent.add(number, piece, payload.length);
        visit(piece, wanted.get(number)!, number);
      }
    }
  }

  /** The payloads of these pieces. PieceMissing, StorageCorruptError. */
  async #fetch(kind: ImageKind, numbers: readonly number[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const { client, timeoutMs } = this.#source;
    const snapshot = await client.snapshot({ signal, timeoutMs });
    const firsts = await this.#parts(snapshot, kind, numbers, [0], signal);
    return await Promise.all(
      firsts.map(async ({ payload, parts }, at) => {
        if (parts === 1) return payload;
        const others = Array.from({ length: parts - 1 }, (_, index) => index + 1);
        const rest = await this.#parts(snapshot, kind, [numbers[at]!], others, signal);
        return Buffer.concat([payload, ...rest.map((part) => part.payload)]);
      }),
    );
  }

  async #parts(
    snapshot: Snapshot,
    kind: ImageKind,
    numbers: readonly number[],
    parts: readonly number[],
    signal: AbortSignal,
  ): Promise<{ readonly payload: Uint8Array; readonly parts: number }[]> {
    const { keys, timeoutMs } = this.#source;
    const { round } = this.image;
    const names = numbers.flatMap((number) => parts.map((part) => ({ round, kind, number, part })));
    const values = await snapshot.batchGet(
      names.map((name) => keys.piece(name)),
      { signal, timeoutMs },
    );
    return names.map((name, at) => {
      const value = values[at];
      if (value === undefined) throw new PieceMissing(`${kind} ${name.number} of image ${round} is missing`);
      const part = decodePiecePart(name, value);
      if (part === undefined) throw this.#damaged(kind, name.number);
      return part;
    });
  }

  #damaged(kind: ImageKind, number: number): Error {
    return corrupt(this.#source, `${kind} ${number} of image ${this.image.round} is damaged`);
  }
}

const asItIs = (payload: Uint8Array): Uint8Array => payload;

function groupBy(positions: readonly LogPosition[], of: (position: LogPosition) => number): Map<number, LogPosition[]> {
  const groups = new Map<number, LogPosition[]>();
  for (const position of positions) {
    const group = groups.get(of(position));
    if (group === undefined) groups.set(of(position), [position]);
    else group.push(position);
  }
  return groups;
}
