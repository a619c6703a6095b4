import { assert, type ByteViews, EngramError, type PagedBytes } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { ListMemory, Places } from './list-memory.ts';
import type { Pin } from './pins.ts';
import type { VersionBytes } from './version-bytes.ts';

/** The bytes that are fetched at a time, or one version: about one write to a connection. */
const PAGE_BYTES = 256 * 1024;
/** The size of a place: a position and a length. */
const PLACE_BYTES = 12;

/** The versions in [first, end). */
interface Page {
  readonly first: number;
  readonly end: number;
  readonly kvs: ByteViews;
}

/**
 * The versions of a long list by their places. An unread list holds 12 bytes for each version, and one page. The bytes
 * are looked up in the cache and in storage when they are about to be sent. The list owns a pin of its revision. The
 * pin may be revoked if a client reads too slowly: `bring` then rejects with Compacted.
 */
export class PagedList implements PagedBytes {
  readonly #bytesOf: VersionBytes;
  readonly #memory: ListMemory;
  readonly #pin: Pin;
  readonly #signal: AbortSignal;
  #places: Places = NO_PLACES;
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
  constructor(bytesOf: VersionBytes, memory: ListMemory, pin: Pin, signal: AbortSignal) {
    this.#bytesOf = bytesOf;
    this.#memory = memory;
    this.#pin = pin;
    this.#signal = signal;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get heldBytes(): number {
    return PLACE_BYTES * this.#length + Math.min(PAGE_BYTES, this.#bytes);
  }

  /** Appends versions. Returns their length in bytes. */
  add(index: KeyIndex, slots: readonly VersionSlot[]): number {
    const first = this.#length;
    this.#grow(first + slots.length);
    const { positions, lengths } = this.#places;
    const bytes = index.placesOf(slots, positions, lengths, first);
    this.#length += slots.length;
    this.#bytes += bytes;
    return bytes;
  }

  /** Removes the versions from `length` on. Only before any bytes were fetched. */
  truncate(length: number): void {
    assert(this.#brought === 0, 'a list is cut while it is read');
    for (let index = length; index < this.#length; index += 1) this.#bytes -= this.lengthOf(index);
    this.#length = Math.min(this.#length, length);
  }

  lengthOf(index: number): number {
    return this.#places.lengths[index]!;
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
    if (this.#places !== NO_PLACES) this.#memory.givePlaces(this.#places);
    this.#places = NO_PLACES;
  }

  #bringPage(wanted: number): Promise<void> | undefined {
    if (this.#pin.revoked) return Promise.reject(new EngramError('Compacted'));
    const first = this.#brought;
    const enough = Math.max(PAGE_BYTES, wanted - this.#broughtBytes);
    const { positions, lengths } = this.#places;
    let [end, bytes] = [first, 0];
    for (; end < this.#length && bytes < enough; end += 1) bytes += lengths[end]!;
    const kvs = this.#memory.takeViews(end - first);
    const loading = this.#bytesOf.collect(positions.subarray(first, end), kvs, this.#signal);
    if (loading === undefined) this.#take({ first, end, kvs }, bytes);
    else {
      this.#loading = loading
        .then(() => this.#take({ first, end, kvs }, bytes))
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

  #grow(length: number): void {
    const before = this.#places;
    if (length <= before.lengths.length) return;
    const places = this.#memory.takePlaces(length);
    if (before !== NO_PLACES) {
      places.positions.set(before.positions.subarray(0, this.#length));
      places.lengths.set(before.lengths.subarray(0, this.#length));
      this.#memory.givePlaces(before);
    }
    this.#places = places;
  }
}

const NO_PLACES: Places = { positions: new Float64Array(0), lengths: new Uint32Array(0) };
