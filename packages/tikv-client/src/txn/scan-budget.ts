import { assert } from '@engram/core';

/** What a page aims at while few scans run. */
const PAGE_BYTES_MAX = 1 << 20;
/** Below it a page costs more in questions than it saves in memory. */
const PAGE_BYTES_MIN = 128 << 10;
/** Pages that all scans of a client together have asked for and nobody has taken yet, before reading ahead stops. */
const PAGES_MAX = 32;

/**
 * What the scans of one client hold together. Each may always ask for the page it waits for; pages in advance of their
 * readers are asked for while there is room, and where more scans than that wait, each asks for a smaller page.
 * 256 scans of 50 MB at once held 1.5 GB without it, and took twice the CPU.
 */
export class ScanBudget {
  #pages = 0;

  get hasRoom(): boolean {
    return this.#pages < PAGES_MAX;
  }

  /** Of keys and values, for the page that is asked for now. */
  get pageBytes(): number {
    if (this.#pages <= PAGES_MAX) return PAGE_BYTES_MAX;
    return Math.max(PAGE_BYTES_MIN, Math.floor((PAGE_BYTES_MAX * PAGES_MAX) / this.#pages));
  }

  /** A page is asked for. */
  hold(): void {
    this.#pages += 1;
  }

  /** It was taken, or thrown away. */
  release(): void {
    assert(this.#pages > 0, 'a page is released once');
    this.#pages -= 1;
  }
}
