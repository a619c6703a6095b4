import { assert, type ByteViews, EngramError, type PagedBytes } from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import type { KeyIndex, VersionSlot } from '@engram/index';
import { type ListMemory, PLACES, type Places } from './list-memory.ts';
import type { Pin } from './pins.ts';
import type { VersionBytes } from './version-bytes.ts';

/** The bytes that are fetched at a time, or one version: about one write to a connection. */
const PAGE_BYTES = 256 * 1024;
/** The size of a place: a position and a length. */
const PLACE_BYTES = 12;

/** What a list of so many versions holds while nobody reads it, and one page of it. */
export const listHoldsBytes = (versions: number): number =>
  PLACE_BYTES * PLACES * Math.ceil(versions / PLACES) + PAGE_BYTES;

/** Whose slices of the loop a list has. */
export interface ListSlices {
  readonly loop: Loop;
  readonly task: Task;
}

/** The versions in [first, end). */
interface Page {
  readonly first: number;
  readonly end: number;
  readonly kvs: ByteViews;
}

/**
 * The versions of a long list by their places. An unread list holds 12 bytes for each version, and one page. Places stand in pieces
 * of PLACES, so that a list that grows copies none, and holds no more than a piece too many. The bytes
 * are looked up in the cache and in storage when they are about to be sent. The list owns a pin of its revision. The
 * pin may be revoked if a client reads too slowly: `bring` then rejects with Compacted.
 */
export class PagedList implements PagedBytes {
  readonly #bytesOf: VersionBytes;
  readonly #memory: ListMemory;
  readonly #pin: Pin;
  readonly #slices: ListSlices;
  readonly #signal: AbortSignal;
  #places: Places[] = [];
  #length = 0;
  #bytes = 0;
  /** Consecutive, without a gap. */
  #pages: Page[] = [];
  #loading: Promise<void> | undefined;
  /** Versions before this index have been fetched. */
  #brought = 0;
  #broughtBytes = 0;
  #disposed = false;

  /** `signal` aborts when the reader of the list is gone. */
  constructor(bytesOf: VersionBytes, memory: ListMemory, pin: Pin, slices: ListSlices, signal: AbortSignal) {
    this.#bytesOf = bytesOf;
    this.#memory = memory;
    this.#pin = pin;
    this.#slices = slices;
    this.#signal = signal;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get heldBytes(): number {
    return PLACE_BYTES * PLACES * this.#places.length + Math.min(PAGE_BYTES, this.#bytes);
  }

  /** Appends versions. Returns their length in bytes. Only before any bytes were fetched. */
  add(index: KeyIndex, slots: readonly VersionSlot[]): number {
    let bytes = 0;
    for (let from = 0; from < slots.length; ) {
      const at = this.#length % PLACES;
      if (at === 0) this.#places.push(this.#memory.takePlaces());
      const { positions, lengths } = this.#places.at(-1)!;
      const part = slots.length - from <= PLACES - at && from === 0 ? slots : slots.slice(from, from + PLACES - at);
      bytes += index.placesOf(part, positions, lengths, at);
      from += part.length;
      this.#length += part.length;
    }
    this.#bytes += bytes;
    return bytes;
  }

  lengthOf(index: number): number {
    return this.#places[Math.floor(index / PLACES)]!.lengths[index % PLACES]!;
  }

  get broughtBytes(): number {
    return this.#broughtBytes;
  }

  bring(from: number, bytes: number): Promise<void> | undefined {
    for (let page = this.#pages[0]; page !== undefined && page.end <= from; page = this.#pages[0]) {
      this.#pages.shift();
      this.#memory.giveViews(page.kvs);
    }
    if (this.#loading !== undefined) return this.#loading;
    return this.#broughtBytes >= bytes || this.#brought === this.#length ? undefined : this.#bringPage(bytes);
  }

  view(index: number): Uint8Array {
    // There is usually one page, or the version is in the first.
    for (let at = 0; at < this.#pages.length; at += 1) {
      const page = this.#pages[at]!;
      if (index < page.end) return page.kvs.view(index - page.first);
    }
    throw new RangeError(`version ${index} of a list was not brought`);
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#pin[Symbol.dispose]();
    for (const { kvs } of this.#pages) this.#memory.giveViews(kvs);
    this.#pages = [];
    // A page that is still being brought reads them.
    if (this.#loading === undefined) for (const places of this.#places) this.#memory.givePlaces(places);
    this.#places = [];
  }

  #bringPage(wanted: number): Promise<void> | undefined {
    if (this.#pin.revoked) return Promise.reject(new EngramError('Compacted'));
    const first = this.#brought;
    const enough = Math.max(PAGE_BYTES, wanted - this.#broughtBytes);
    let [end, bytes] = [first, 0];
    for (; end < this.#length && bytes < enough; end += 1) bytes += this.lengthOf(end);
    const kvs = this.#memory.takeViews(end - first);
    const { loop, task } = this.#slices;
    const bringing = this.#bytesOf.collect(this.#positions(first, end), kvs, loop, this.#signal);
    const loading = loop.run(task, bringing, this.#signal) ?? undefined;
    if (loading === undefined) this.#take({ first, end, kvs }, bytes);
    else {
      this.#loading = loading
        .then(
          () => this.#take({ first, end, kvs }, bytes),
          // Versions that are no longer held may be missing: that is no damage.
          (cause: unknown) => Promise.reject(this.#pin.revoked ? new EngramError('Compacted', { cause }) : cause),
        )
        .finally(() => {
          this.#loading = undefined;
        });
    }
    return this.#loading;
  }

  #take(page: Page, bytes: number): void {
    if (this.#disposed) return;
    assert(page.kvs.bytes === bytes, 'versions are not as long as the index says');
    this.#pages.push(page);
    this.#brought = page.end;
    this.#broughtBytes += bytes;
  }

  /** The positions of the versions in [first, end). A view if they stand together: a copy of each page took 2 % of its CPU. */
  #positions(first: number, end: number): Float64Array {
    const at = first % PLACES;
    const { positions } = this.#places[Math.floor(first / PLACES)]!;
    if (at + end - first <= PLACES) return positions.subarray(at, at + end - first);
    const copy = new Float64Array(end - first);
    for (let from = first; from < end; ) {
      const [begin, count] = [from % PLACES, Math.min(end - from, PLACES - (from % PLACES))];
      copy.set(this.#places[Math.floor(from / PLACES)]!.positions.subarray(begin, begin + count), from - first);
      from += count;
    }
    return copy;
  }
}
