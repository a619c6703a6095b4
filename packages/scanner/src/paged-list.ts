import { assert, ByteViews, EngramError, type LogPosition, type PagedBytes } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { Pin } from './pins.ts';
import type { VersionBytes } from './version-bytes.ts';

/** Versions are brought so many bytes at a time, or one: about what leaves a connection in one write. */
export const PAGE_BYTES = 256 * 1024;
/** A place: a position and a length. */
const PLACE_BYTES = 12;

interface Page {
  readonly first: number;
  readonly kvs: ByteViews;
}

/**
 * The versions of a long list by their places: what an unread list holds is 12 bytes for each and a page. The bytes are
 * looked for when they are about to leave, in the cache and in storage. It owns a pin of its revision, which may be
 * revoked from a client that reads too slowly: `bring` then rejects with Compacted.
 */
export class PagedList implements PagedBytes {
  readonly #bytesOf: VersionBytes;
  readonly #pin: Pin;
  readonly #signal: AbortSignal;
  #positions = new Float64Array(0);
  #lengths = new Uint32Array(0);
  #length = 0;
  #bytes = 0;
  /** They follow each other without a gap. */
  #pages: Page[] = [];
  #loading: Promise<void> | undefined;
  /** Those before it are in the pages. */
  #brought = 0;
  #broughtBytes = 0;

  /** `signal`: nobody waits any more. */
  constructor(bytesOf: VersionBytes, pin: Pin, signal: AbortSignal) {
    this.#bytesOf = bytesOf;
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

  /** Adds versions behind those that are there; returns their bytes. */
  add(index: KeyIndex, slots: readonly VersionSlot[]): number {
    const first = this.#length;
    this.#grow(first + slots.length);
    const bytes = index.placesOf(slots, this.#positions, this.#lengths, first);
    this.#length += slots.length;
    this.#bytes += bytes;
    return bytes;
  }

  /** Removes those from `length` on. Only before anything was brought. */
  truncate(length: number): void {
    assert(this.#brought === 0, 'a list is cut while it is read');
    for (let index = length; index < this.#length; index += 1) this.#bytes -= this.#lengths[index]!;
    this.#length = Math.min(this.#length, length);
  }

  lengthOf(index: number): number {
    return this.#lengths[index]!;
  }

  get broughtBytes(): number {
    return this.#broughtBytes;
  }

  bring(from: number, bytes: number): Promise<void> | undefined {
    for (let page = this.#pages[0]; page !== undefined && page.first + page.kvs.length <= from; page = this.#pages[0]) {
      this.#pages.shift();
    }
    if (this.#loading !== undefined) return this.#loading;
    return this.#broughtBytes >= bytes || this.#brought === this.#length ? undefined : this.#bringPage(bytes);
  }

  view(index: number): Uint8Array {
    // Mostly there is one.
    for (let at = 0; at < this.#pages.length; at += 1) {
      const { first, kvs } = this.#pages[at]!;
      if (index < first + kvs.length) return kvs.view(index - first);
    }
    throw new RangeError(`version ${index} of a list was not brought`);
  }

  [Symbol.dispose](): void {
    this.#pin[Symbol.dispose]();
    this.#pages = [];
  }

  #bringPage(wanted: number): Promise<void> | undefined {
    if (this.#pin.revoked) return Promise.reject(new EngramError('Compacted'));
    const first = this.#brought;
    const enough = Math.max(PAGE_BYTES, wanted - this.#broughtBytes);
    let [end, bytes] = [first, 0];
    for (; end < this.#length && bytes < enough; end += 1) bytes += this.#lengths[end]!;
    const positions = new Array<LogPosition>(end - first);
    for (let at = first; at < end; at += 1) positions[at - first] = this.#positions[at] as LogPosition;
    const kvs = new ByteViews(positions.length);
    const loading = this.#bytesOf.collect(positions, kvs, this.#signal);
    if (loading === undefined) this.#take({ first, kvs }, bytes);
    else {
      this.#loading = loading
        .then(() => this.#take({ first, kvs }, bytes))
        .finally(() => {
          this.#loading = undefined;
        });
    }
    return this.#loading;
  }

  #take(page: Page, bytes: number): void {
    const { first, kvs } = page;
    assert(kvs.bytes === bytes, 'versions are not as long as the index says');
    this.#pages.push(page);
    this.#brought = first + kvs.length;
    this.#broughtBytes += bytes;
  }

  #grow(length: number): void {
    if (length <= this.#lengths.length) return;
    // A list that is one slice of the index fits; the next ones are mostly many.
    const places = Math.max(length, 4 * this.#lengths.length);
    const [positions, lengths] = [new Float64Array(places), new Uint32Array(places)];
    positions.set(this.#positions);
    lengths.set(this.#lengths);
    this.#positions = positions;
    this.#lengths = lengths;
  }
}
