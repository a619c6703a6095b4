import { assert, type LogPosition, logPosition } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';

// A page: the number of records (u32), then the position (u64) and length (u32) of each record, then the records.
//
// A piece of places tells in which page a position's record is: entries of a position (u48) and a page (u32), ascending.
// Positions are spread over the pieces of places in blocks of BLOCK_POSITIONS, so that each piece has about PLACES_ENTRIES
// entries. Numbers are little endian.

const PAGE_ENTRY_BYTES = 12;
const PLACE_BYTES = 10;
const PLACES_ENTRIES = 4096;
const BLOCK_POSITIONS = 64;
const POSITION_MAX = 2 ** 48 - 1;
const U32 = 2 ** 32;

export function encodePage(positions: readonly LogPosition[], records: readonly Uint8Array[]): Uint8Array {
  assert(positions.length === records.length, 'a page with another number of records than positions');
  let at = 4 + PAGE_ENTRY_BYTES * records.length;
  let bytes = at;
  for (const { length } of records) bytes += length;
  const page = new Uint8Array(bytes);
  const view = new DataView(page.buffer);
  view.setUint32(0, records.length, true);
  for (const [index, record] of records.entries()) {
    const entry = 4 + PAGE_ENTRY_BYTES * index;
    view.setBigUint64(entry, BigInt(positions[index]!), true);
    view.setUint32(entry + 8, record.length, true);
    page.set(record, at);
    at += record.length;
  }
  return page;
}

/** Records by position, as views of the page. Undefined if the page is damaged. */
export function decodePage(page: Uint8Array): ReadonlyMap<LogPosition, Uint8Array> | undefined {
  if (page.length < 4) return undefined;
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  const count = view.getUint32(0, true);
  let at = 4 + PAGE_ENTRY_BYTES * count;
  if (at > page.length) return undefined;
  const records = new Map<LogPosition, Uint8Array>();
  for (let index = 0; index < count; index += 1) {
    const entry = 4 + PAGE_ENTRY_BYTES * index;
    const position = Number(view.getBigUint64(entry, true));
    const end = at + view.getUint32(entry + 8, true);
    if (end > page.length || position < 1 || position > POSITION_MAX) return undefined;
    records.set(logPosition(position), page.subarray(at, end));
    at = end;
  }
  return at === page.length ? records : undefined;
}

/** The number of pieces of places of an image with this many records. */
export function placesCount(records: number): number {
  return Math.ceil(records / PLACES_ENTRIES);
}

/** The piece of places that holds the position. The positions of a block are in one piece. */
export function placesOf(position: LogPosition, count: number): number {
  const block = Math.floor(position / BLOCK_POSITIONS);
  const mixed = Math.imul(block % U32, 0x9e3779b1) ^ Math.imul(Math.floor(block / U32), 0x85ebca6b);
  return ((mixed ^ (mixed >>> 15)) >>> 0) % count;
}

/** Notes the page of each record while an image is written. */
export class PlacesBuilder {
  /** In the order of `add`, in arrays of PART_ENTRIES, so that nothing is copied when more positions come. */
  readonly #positions: Float64Array[] = [];
  readonly #pages: Uint32Array[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(position: LogPosition, page: number): void {
    assert(position <= POSITION_MAX && page < U32, 'a place out of range');
    const at = this.#count % PART_ENTRIES;
    if (at === 0) {
      this.#positions.push(new Float64Array(PART_ENTRIES));
      this.#pages.push(new Uint32Array(PART_ENTRIES));
    }
    this.#positions.at(-1)![at] = position;
    this.#pages.at(-1)![at] = page;
    this.#count += 1;
  }

  /** Yields the pieces of places in their order, and `undefined` where other work must have its turn. */
  *pieces(turn: Turn): Generator<Uint8Array | undefined> {
    const count = placesCount(this.#count);
    const sizes = new Uint32Array(count + 1);
    yield* this.#each((position) => (sizes[placesOf(position, count) + 1]! += 1), turn);
    for (let piece = 0; piece < count; piece += 1) sizes[piece + 1]! += sizes[piece]!;
    const ends = sizes.slice();
    const order = new Uint32Array(this.#count);
    const place = (position: LogPosition, index: number): void => {
      const piece = placesOf(position, count);
      order[ends[piece]!] = index;
      ends[piece]! += 1;
    };
    yield* this.#each(place, turn);
    for (let piece = 0; piece < count; piece += 1) yield this.#encode(order.subarray(sizes[piece]!, sizes[piece + 1]!));
  }

  *#each(visit: (position: LogPosition, index: number) => void, turn: Turn): PureJob<void> {
    for (let index = 0; index < this.#count; index += 1) {
      visit(this.#position(index), index);
      if (turn.shouldYield()) yield;
    }
  }

  #encode(indexes: Uint32Array): Uint8Array {
    const ascending = indexes.toSorted((left, right) => this.#position(left) - this.#position(right));
    const piece = Buffer.allocUnsafe(PLACE_BYTES * ascending.length);
    for (const [at, index] of ascending.entries()) {
      piece.writeUIntLE(this.#position(index), PLACE_BYTES * at, 6);
      piece.writeUInt32LE(this.#pages[Math.floor(index / PART_ENTRIES)]![index % PART_ENTRIES]!, PLACE_BYTES * at + 6);
    }
    return piece;
  }

  #position(index: number): LogPosition {
    return logPosition(this.#positions[Math.floor(index / PART_ENTRIES)]![index % PART_ENTRIES]!);
  }
}

const PART_ENTRIES = 16_384;

/** The page of a position's record; undefined if the image does not have the record. */
export function findPlace(places: Uint8Array, position: LogPosition): number | undefined {
  const bytes = Buffer.from(places.buffer, places.byteOffset, places.byteLength);
  let [low, high] = [0, Math.floor(bytes.length / PLACE_BYTES)];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bytes.readUIntLE(PLACE_BYTES * middle, 6) < position) low = middle + 1;
    else high = middle;
  }
  const at = PLACE_BYTES * low;
  if (at + PLACE_BYTES > bytes.length || bytes.readUIntLE(at, 6) !== position) return undefined;
  return bytes.readUInt32LE(at + 6);
}
