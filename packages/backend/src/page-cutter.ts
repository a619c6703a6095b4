import type { LogPosition } from '@engram/core';
import type { ImageBase } from '@engram/storage';

/** A clean page that is smaller than this share of a page is written again where it can join the one before it. */
const SMALL_SHARE = 4;

/** Versions of one page. */
export interface Cut {
  /** The base has a page of just these. */
  readonly kept: boolean;
  readonly positions: readonly LogPosition[];
  readonly bytes: number;
}

/**
 * Cuts versions, which come in the order of their keys, into pages of about one size: into those of the base where their versions
 * are unchanged, and new ones between them. So a change makes one page new, and those beside it begin where they did.
 */
export class PageCutter {
  readonly #base: ImageBase;
  readonly #pageBytes: number;
  /** Not cut yet: those before `#head` are. */
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

  /** How many versions have come. */
  get added(): number {
    return this.#added;
  }

  /** How many of them, the first ones, are in pages that were given. */
  get given(): number {
    return this.#given;
  }

  add(position: LogPosition, bytes: number): void {
    this.#positions.push(position);
    this.#bytes.push(bytes);
    this.#added += 1;
  }

  /** The pages that are complete; at the end all that are left. What comes later may decide about the last versions. */
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
