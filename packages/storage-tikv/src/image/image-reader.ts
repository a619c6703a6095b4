import { Limiter, type LogPosition } from '@engram/core';
import { decodePage, findPlace, placesCount, placesOf } from './image-page.ts';
import type { ImagePieces } from './image-pieces.ts';
import { type Image, PieceHash, sameTotals } from '../format/image-root.ts';
import type { ImageKind } from '../format/log-keys.ts';
import { corrupt, type LogSource } from '../log/log-source.ts';
import { RecentPieces } from './recent-pieces.ts';

/** Chunks that are fetched at once, because regions are read concurrently. */
const CHUNKS_AHEAD = 16;
/** Pieces of pages or places that are fetched at once. */
const PIECES_AT_ONCE = 8;
/** Fetches that run at a time, for all calls together. Eight fetches of pages are 4 MiB. */
const FETCHES_MAX = 8;

export interface ImageReaderOptions {
  readonly source: LogSource;
  readonly image: Image;
  readonly pieces: ImagePieces;
  /** The most bytes of pieces that are kept in memory for later calls. */
  readonly bytesMax: number;
  /** How many fetches of pages and places run at a time, for all calls together; 8. */
  readonly fetchesMax?: number | undefined;
}

type Page = ReadonlyMap<LogPosition, Uint8Array>;

/**
 * Reads one published image from its pieces. Damage is a StorageCorruptError that names the piece.
 *
 * The memory of all calls together, besides their results, is bounded: at most `fetchesMax` fetches run at a time. Their pieces
 * go to a cache of the pieces used last, and results are copies. A fetch that has waited for its turn looks in the cache again,
 * so of many calls for the same pages only a few fetch them.
 */
export class ImageReader {
  readonly image: Image;
  readonly #source: LogSource;
  readonly #pieces: ImagePieces;
  readonly #pages: RecentPieces<Page>;
  readonly #places: RecentPieces<Uint8Array>;
  readonly #limiter: Limiter;

  constructor({ source, image, pieces, bytesMax, fetchesMax }: ImageReaderOptions) {
    this.image = image;
    this.#source = source;
    this.#pieces = pieces;
    this.#limiter = new Limiter(fetchesMax ?? FETCHES_MAX);
    this.#pages = new RecentPieces(bytesMax / 2);
    this.#places = new RecentPieces(bytesMax / 2);
  }

  /** Bytes of the pieces in memory. */
  get cachedBytes(): number {
    return this.#pages.bytes + this.#places.bytes;
  }

  /** All chunks in their order. */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { count } = this.image.totals.chunk;
    const hash = new PieceHash();
    const ask = (from: number): Promise<readonly Uint8Array[]> => {
      const until = Math.min(count, from + CHUNKS_AHEAD);
      const numbers = Array.from({ length: until - from }, (_, at) => from + at);
      const asked = this.#pieces.fetch('chunk', numbers, signal);
      asked.catch(() => undefined); // it may fail before its chunks are asked for, which report it
      return asked;
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
      // A consumer that stops early must not leave a fetch running.
      await next?.catch(() => undefined);
    }
    if (!sameTotals(hash.totals, this.image.totals.chunk)) {
      throw corrupt(this.#source, `the chunks of image ${this.image.round} are not those that were published`);
    }
  }

  /** Adds the records that the image has to `found`. They are copies, so that one record does not keep a page in memory. */
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

  /** Calls `visit` for each piece and the positions wanted from it, in the order in which the pieces arrive. */
  async #each<Piece>(
    kind: ImageKind,
    wanted: ReadonlyMap<number, readonly LogPosition[]>,
    recent: RecentPieces<Piece>,
    decode: (payload: Uint8Array) => Piece | undefined,
    signal: AbortSignal,
    visit: (piece: Piece, positions: readonly LogPosition[], number: number) => void,
  ): Promise<void> {
    /** Visits the pieces in the cache. Returns the numbers of the others. */
    const rest = (numbers: Iterable<number>): number[] => {
      const missing: number[] = [];
      for (const number of numbers) {
        const piece = recent.get(number);
        if (piece === undefined) missing.push(number);
        else visit(piece, wanted.get(number)!, number);
      }
      return missing;
    };
    const fetch = async (some: readonly number[]): Promise<void> => {
      const numbers = rest(some);
      if (numbers.length === 0) return;
      const payloads = await this.#pieces.fetch(kind, numbers, signal);
      for (const [at, number] of numbers.entries()) {
        const payload = payloads[at]!;
        const piece = decode(payload);
        if (piece === undefined) throw this.#damaged(kind, number);
        recent.add(number, piece, payload.length);
        visit(piece, wanted.get(number)!, number);
      }
    };
    const missing = rest(wanted.keys()).sort((left, right) => left - right);
    const fetches: Promise<void>[] = [];
    let failed = false;
    for (let from = 0; from < missing.length; from += PIECES_AT_ONCE) {
      const some = missing.slice(from, from + PIECES_AT_ONCE);
      const fetched = this.#limiter.run(async () => {
        if (!failed) await fetch(some);
      }, signal);
      fetches.push(fetched);
      fetched.catch(() => {
        failed = true;
      });
    }
    // All fetches end before this call does, so that none is left running.
    for (const fetched of await Promise.allSettled(fetches)) if (fetched.status === 'rejected') throw fetched.reason;
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
