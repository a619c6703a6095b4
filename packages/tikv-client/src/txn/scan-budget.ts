import { assert } from '@engram/core';

/** The target size of a page while at most PAGES_MAX pages are held. */
const PAGE_BYTES_MAX = 1 << 20;
/** Smaller pages cost more in requests than they save in memory. */
const PAGE_BYTES_MIN = 128 << 10;
/** Reading ahead stops when all scans of a client together hold this many pages: requested, and not taken yet. */
const PAGES_MAX = 32;

/**
 * Bounds the memory of the scans of one client. A scan may always request the page that it waits for. It reads ahead only while
 * there is room. If more pages than PAGES_MAX are held, each scan requests smaller pages.
 * Without this budget 256 concurrent scans of 50 MB held 1.5 GB and took twice the CPU.
 */
export class ScanBudget {
  #pages = 0;

  get hasRoom(): boolean {
    return this.#pages < PAGES_MAX;
  }

  /** Target size of the next page: bytes of keys and values. */
  get pageBytes(): number {
    if (this.#pages <= PAGES_MAX) return PAGE_BYTES_MAX;
    return Math.max(PAGE_BYTES_MIN, Math.floor((PAGE_BYTES_MAX * PAGES_MAX) / this.#pages));
  }

  /** Counts a page that is requested. */
  hold(): void {
    this.#pages += 1;
  }

  /** Counts a held page that was taken or dropped. */
  release(): void {
    assert(this.#pages > 0, 'a page is released once');
    this.#pages -= 1;
  }
}
