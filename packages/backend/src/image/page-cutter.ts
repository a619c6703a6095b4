import type { LogPosition } from '@engram/core';
import type { ImageBase } from '@engram/storage';

/** A clean page smaller than 1/SMALL_SHARE of a page is written again if it can join the open page before it. */
const SMALL_SHARE = 4;

/** The versions of one page. */
export interface Cut {
  /** Whether the base has a page of exactly these versions. */
  readonly kept: boolean;
  readonly positions: readonly LogPosition[];
  readonly bytes: number;
}

/**
 * Cuts versions, which come in the order of their keys, into pages of about one size. Pages of the base whose
 * versions are unchanged are kept, and new pages are cut between them. So a change makes one page new, and the pages
 * beside it begin where they did.
 */
export class PageCutter {
  readonly #base: ImageBase;
  readonly #pageBytes: number;
  /** Versions from `#head` on are not cut yet. */
  #positions: LogPosition[] = [];
  #bytes: number[] = [];
  #head = 0;
  #open: { readonly kept: false; readonly positions: LogPosition[]; bytes: number } | undefined;
  #added = 0;
  #given = 0;

  constructor(base: ImageBase, pageBytes: number) {
    this.#base = base;
    this.#pageBytes = pageBytes;
  }

  /** How many versions were added. */
  get added(): number {
    return this.#added;
  }

  /** How many versions, from the first on, are in pages that `cut` has yielded. */
  get given(): number {
    return this.#given;
  }

  add(position: LogPosition, bytes: number): void {
    this.#positions.push(position);
    this.#bytes.push(bytes);
    this.#added += 1;
  }

  /**
   * Yields the pages that are complete; at the end, all that are left. The last versions may wait, because the
   * versions after them decide whether a page of the base is kept.
   */
  *cut(end: boolean): Generator<Cut> {
    const count = this.#positions.length;
    while (this.#head < count) {
      const records = this.#base.recordsFrom(this.#positions[this.#head]!);
      if (records > count - this.#head && !end) break;
      const clean = records > 0 ? this.#cleanPage(records) : undefined;
      if (clean !== undefined) {
        yield* this.#close();
        this.#head += records;
        yield this.#give(clean);
      } else {
        this.#open ??= { kept: false, positions: [], bytes: 0 };
        const open = this.#open;
        open.positions.push(this.#positions[this.#head]!);
        open.bytes += this.#bytes[this.#head]!;
        this.#head += 1;
        if (open.bytes >= this.#pageBytes) yield* this.#close();
      }
    }
    this.#positions = this.#positions.slice(this.#head);
    this.#bytes = this.#bytes.slice(this.#head);
    this.#head = 0;
    if (end) yield* this.#close();
  }

  #cleanPage(records: number): Cut | undefined {
    const positions = this.#positions.slice(this.#head, this.#head + records);
    if (!this.#base.has(positions)) return undefined;
    let bytes = 0;
    for (let at = 0; at < records; at += 1) bytes += this.#bytes[this.#head + at]!;
    const joins = this.#open !== undefined && bytes * SMALL_SHARE < this.#pageBytes;
    return joins ? undefined : { kept: true, positions, bytes };
  }

  *#close(): Generator<Cut> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    yield this.#give(open);
  }

  #give(cut: Cut): Cut {
    this.#given += cut.positions.length;
    return cut;
  }
}
