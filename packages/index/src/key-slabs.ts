import { assert, EMPTY_BYTES } from '@engram/core';

/** The place of a key: page and granule. Stable until the key is freed; never negative. */
export type KeyRef = number;
export const NO_KEY = -1;

const PAGE_BYTES = 1 << 17;
const GRANULE_BITS = 3;
const PLACE_BITS = 14; // of a granule in its page
const PLACE_MASK = (1 << PLACE_BITS) - 1;
const PAGE_GRANULES = 1 << PLACE_BITS;
const PAGES_MAX = 1 << (31 - PLACE_BITS);
const SPARE_PAGES_MAX = 16;
/**
 * One of this many pages is reserved for compactions that join nodes, and for a start, which packs nodes differently: it makes a
 * separator for each 56 keys, and each may need a page that the separators of the writes did not need.
 */
const RESERVE_PART = 48;

// A record is the key's length in two bytes, then the key. A free record has the next free place of its page instead.
const LENGTH_BYTES = 2;
const LARGE_LENGTH = 0xffff; // the record has a page of its own, whose size gives the length
const LARGE_GRANULES = 2048;
const NO_PLACE = 0xffff;
const NO_PAGE = -1;

/**
 * Sizes of records in granules: every size up to 512 bytes, then in steps of an eighth, so that little space is wasted.
 */
const classGranules: readonly number[] = (() => {
  const sizes: number[] = [];
  for (let size = 1; size < LARGE_GRANULES; size += size < 64 ? 1 : size >>> 3) sizes.push(size);
  sizes.push(LARGE_GRANULES);
  return sizes;
})();

const classOfGranules: Uint8Array = (() => {
  const table = new Uint8Array(LARGE_GRANULES + 1);
  let sizeClass = 0;
  for (let granules = 1; granules <= LARGE_GRANULES; granules += 1) {
    if (granules > classGranules[sizeClass]!) sizeClass += 1;
    table[granules] = sizeClass;
  }
  return table;
})();

/** Four bytes of a key from `at` on, as a signed number with the order of the bytes. Zeros follow the key's end. */
export function printOf(bytes: Uint8Array, at: number, end: number): number {
  if (at + 4 <= end) {
    return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) ^ -0x80000000;
  }
  let print = 0;
  for (let byte = 0; byte < 4; byte += 1) print = (print << 8) | (at + byte < end ? bytes[at + byte]! : 0);
  return print ^ -0x80000000;
}

/**
 * The bytes of keys, outside the JavaScript heap. A page holds records of one size. The place of a freed key is reused
 * for the next key of that size. A page without keys may be reused for any size; a page with one key left stays. Keys
 * never move, because versions and the tree refer to them. Keys above 16 KiB have a page each, so pages may run out
 * before memory does. A caller that must not fail checks `pagesLeft` or `hasPage` first.
 */
export class KeySlabs {
  readonly #pagesMax: number;
  readonly #pages: Uint8Array[] = [];
  /**
   * For each page: its size class, number of keys, first free place, first place never used, and neighbours with room.
   */
  readonly #sizeClass: number[] = [];
  readonly #held: number[] = [];
  readonly #freePlace: number[] = [];
  readonly #unused: number[] = [];
  readonly #nextWithRoom: number[] = [];
  readonly #beforeWithRoom: number[] = [];
  /** For each size class: the first page with room. */
  readonly #withRoom: Int32Array = new Int32Array(classGranules.length).fill(NO_PAGE);
  readonly #emptyPages: number[] = [];
  readonly #spare: Uint8Array[] = [];
  #memoryBytes = 0;

  constructor(pagesMax: number = PAGES_MAX) {
    assert(pagesMax > 0 && pagesMax <= PAGES_MAX, 'more pages than a place of a key can name');
    this.#pagesMax = pagesMax;
  }

  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  /** Pages that writes may still take, besides the room in existing pages. Below 0 if the reserve is in use. */
  get pagesLeft(): number {
    return this.#countPagesFree() - Math.ceil(this.#pagesMax / RESERVE_PART);
  }

  /** Whether one more page can be taken, the reserve included. */
  get hasPage(): boolean {
    return this.#countPagesFree() > 0;
  }

  #countPagesFree(): number {
    return this.#pagesMax - this.#pages.length + this.#emptyPages.length;
  }

  /** Copies the key to a new record. */
  add(key: Uint8Array): KeyRef {
    return this.#addBytes(key, 0, key.length);
  }

  /** Copies the first `length` bytes of a held key to a new record. */
  addPrefix(of: KeyRef, length: number): KeyRef {
    assert(length <= this.length(of), 'a prefix longer than its key');
    return this.#addBytes(this.#pages[of >>> PLACE_BITS]!, this.#start(of), length);
  }

  free(ref: KeyRef): void {
    const page = ref >>> PLACE_BITS;
    const bytes = this.#pages[page]!;
    const start = (ref & PLACE_MASK) << GRANULE_BITS;
    if ((bytes[start]! | (bytes[start + 1]! << 8)) === LARGE_LENGTH) {
      this.#memoryBytes -= bytes.length;
      this.#pages[page] = EMPTY_BYTES;
      this.#emptyPages.push(page);
      return;
    }
    const hadRoom = this.#hasRoom(page);
    const next = this.#freePlace[page]!;
    bytes[start] = next & 0xff;
    bytes[start + 1] = next >>> 8;
    this.#freePlace[page] = ref & PLACE_MASK;
    const held = this.#held[page]! - 1;
    this.#held[page] = held;
    if (held === 0) {
      if (hadRoom) this.#unlink(page);
      this.#closePage(page);
    } else if (!hadRoom) this.#link(page);
  }

  length(ref: KeyRef): number {
    const page = this.#pages[ref >>> PLACE_BITS]!;
    const start = (ref & PLACE_MASK) << GRANULE_BITS;
    const length = page[start]! | (page[start + 1]! << 8);
    return length === LARGE_LENGTH ? page.length - LENGTH_BYTES : length;
  }

  /** A copy, owned by the caller. */
  copy(ref: KeyRef): Uint8Array {
    const start = this.#start(ref);
    return this.#pages[ref >>> PLACE_BITS]!.slice(start, start + this.length(ref));
  }

  /** A view of the key's bytes, valid until the key is freed. */
  view(ref: KeyRef): Uint8Array {
    const start = this.#start(ref);
    return this.#pages[ref >>> PLACE_BITS]!.subarray(start, start + this.length(ref));
  }

  /** The page that holds the key's bytes, from `startOf` on. Unlike `view`, this makes no object. */
  pageOf(ref: KeyRef): Uint8Array {
    return this.#pages[ref >>> PLACE_BITS]!;
  }

  /** Where the key begins in its page. */
  startOf(ref: KeyRef): number {
    return this.#start(ref);
  }

  /** Compares the held key with `key`. Both must share their first `from` bytes. */
  compare(ref: KeyRef, key: Uint8Array, from: number): number {
    const page = this.#pages[ref >>> PLACE_BITS]!;
    const start = this.#start(ref);
    const length = this.length(ref);
    const common = Math.min(length, key.length);
    for (let at = from; at < common; at += 1) {
      const difference = page[start + at]! - key[at]!;
      if (difference !== 0) return difference;
    }
    return length - key.length;
  }

  /** Compares the first `length` bytes of the held key with as many of `key`. A shorter `key` is lower. */
  comparePrefix(ref: KeyRef, key: Uint8Array, length: number): number {
    const page = this.#pages[ref >>> PLACE_BITS]!;
    const start = this.#start(ref);
    const common = Math.min(length, key.length);
    for (let at = 0; at < common; at += 1) {
      const difference = page[start + at]! - key[at]!;
      if (difference !== 0) return difference;
    }
    return common < length ? 1 : 0;
  }

  /** How many leading bytes the held key and `key` share, at most `max`. */
  shared(ref: KeyRef, key: Uint8Array, max: number): number {
    const page = this.#pages[ref >>> PLACE_BITS]!;
    const start = this.#start(ref);
    const end = Math.min(max, key.length, this.length(ref));
    let at = 0;
    while (at < end && page[start + at] === key[at]) at += 1;
    return at;
  }

  /** How many leading bytes two held keys share. */
  sharedBy(left: KeyRef, right: KeyRef): number {
    const leftPage = this.#pages[left >>> PLACE_BITS]!;
    const leftStart = this.#start(left);
    const rightPage = this.#pages[right >>> PLACE_BITS]!;
    const rightStart = this.#start(right);
    const end = Math.min(this.length(left), this.length(right));
    let at = 0;
    while (at < end && leftPage[leftStart + at] === rightPage[rightStart + at]) at += 1;
    return at;
  }

  print(ref: KeyRef, at: number): number {
    const start = this.#start(ref);
    return printOf(this.#pages[ref >>> PLACE_BITS]!, start + at, start + this.length(ref));
  }

  #start(ref: KeyRef): number {
    return ((ref & PLACE_MASK) << GRANULE_BITS) + LENGTH_BYTES;
  }

  #addBytes(bytes: Uint8Array, from: number, length: number): KeyRef {
    const granules = (length + LENGTH_BYTES + 7) >>> GRANULE_BITS;
    const ref = granules > LARGE_GRANULES ? this.#allocateLarge(length) : this.#allocate(granules, length);
    const page = this.#pages[ref >>> PLACE_BITS]!;
    const start = this.#start(ref);
    if (length > 256) page.set(bytes.subarray(from, from + length), start);
    else for (let at = 0; at < length; at += 1) page[start + at] = bytes[from + at]!;
    return ref;
  }

  #allocate(granules: number, length: number): KeyRef {
    const sizeClass = classOfGranules[granules]!;
    let page = this.#withRoom[sizeClass]!;
    if (page === NO_PAGE) page = this.#openPage(sizeClass);
    const bytes = this.#pages[page]!;
    let place = this.#freePlace[page]!;
    if (place !== NO_PLACE) {
      const start = place << GRANULE_BITS;
      this.#freePlace[page] = bytes[start]! | (bytes[start + 1]! << 8);
    } else {
      place = this.#unused[page]!;
      this.#unused[page] = place + classGranules[sizeClass]!;
    }
    this.#held[page] = this.#held[page]! + 1;
    if (!this.#hasRoom(page)) this.#unlink(page);
    bytes[place << GRANULE_BITS] = length & 0xff;
    bytes[(place << GRANULE_BITS) + 1] = length >>> 8;
    return (page << PLACE_BITS) | place;
  }

  #allocateLarge(length: number): KeyRef {
    const bytes = new Uint8Array(LENGTH_BYTES + length);
    bytes[0] = LARGE_LENGTH & 0xff;
    bytes[1] = LARGE_LENGTH >>> 8;
    this.#memoryBytes += bytes.length;
    return this.#addPage(bytes) << PLACE_BITS;
  }

  #hasRoom(page: number): boolean {
    const granules = classGranules[this.#sizeClass[page]!]!;
    return this.#freePlace[page] !== NO_PLACE || this.#unused[page]! + granules <= PAGE_GRANULES;
  }

  #openPage(sizeClass: number): number {
    let bytes = this.#spare.pop();
    if (bytes === undefined) {
      bytes = new Uint8Array(PAGE_BYTES);
      this.#memoryBytes += PAGE_BYTES;
    }
    const page = this.#addPage(bytes);
    this.#sizeClass[page] = sizeClass;
    this.#held[page] = 0;
    this.#freePlace[page] = NO_PLACE;
    this.#unused[page] = 0;
    this.#link(page);
    return page;
  }

  #addPage(bytes: Uint8Array): number {
    const page = this.#emptyPages.pop();
    if (page !== undefined) {
      this.#pages[page] = bytes;
      return page;
    }
    assert(this.#pages.length < this.#pagesMax, 'more keys than the slabs can hold');
    this.#pages.push(bytes);
    for (const column of [this.#sizeClass, this.#held, this.#freePlace, this.#unused]) column.push(0);
    this.#nextWithRoom.push(NO_PAGE);
    this.#beforeWithRoom.push(NO_PAGE);
    return this.#pages.length - 1;
  }

  #closePage(page: number): void {
    if (this.#spare.length < SPARE_PAGES_MAX) this.#spare.push(this.#pages[page]!);
    else this.#memoryBytes -= PAGE_BYTES;
    this.#pages[page] = EMPTY_BYTES;
    this.#emptyPages.push(page);
  }

  #link(page: number): void {
    const sizeClass = this.#sizeClass[page]!;
    const next = this.#withRoom[sizeClass]!;
    this.#nextWithRoom[page] = next;
    this.#beforeWithRoom[page] = NO_PAGE;
    if (next !== NO_PAGE) this.#beforeWithRoom[next] = page;
    this.#withRoom[sizeClass] = page;
  }

  #unlink(page: number): void {
    const next = this.#nextWithRoom[page]!;
    const before = this.#beforeWithRoom[page]!;
    if (next !== NO_PAGE) this.#beforeWithRoom[next] = before;
    if (before !== NO_PAGE) this.#nextWithRoom[before] = next;
    else this.#withRoom[this.#sizeClass[page]!] = next;
  }
}
