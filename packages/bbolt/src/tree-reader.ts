import { BboltError, damaged } from './bbolt-error.ts';
import { type ByteSource, readExactly } from './byte-source.ts';
import { BRANCH_PAGE, META_PAGES } from './format.ts';
import type { Meta } from './meta.ts';
import { type LeafEntry, type Page, pageHead, parsePage } from './page.ts';

/** Branches on the way to a leaf. 2^32 leaves have fewer, as each branch has two children or more. */
const DEPTH_MAX = 32;

/** Bounds of one page with its overflow. At most a leaf and DEPTH_MAX branches are held. */
export interface PageLimits {
  readonly leafBytesMax: number;
  readonly branchBytesMax: number;
}

/** The keys that may be below a page: from `first` on, and below `end`. */
interface Bounds {
  readonly first: Uint8Array | undefined;
  readonly end: Uint8Array | undefined;
}

/**
 * Reads the leaves of one tree in the order of their keys. Checks what bbolt's own check does (tx_check.go): ids, kinds,
 * orders within the bounds of the branches, and that no page is reached twice. So no loop is followed, and a tree is
 * never more to read than its file. A bit for each page of the file is held.
 */
export class TreeReader {
  readonly #source: ByteSource;
  readonly #meta: Meta;
  readonly #limits: PageLimits;
  readonly #signal: AbortSignal;
  readonly #reached: Uint8Array;

  constructor(source: ByteSource, meta: Meta, limits: PageLimits, signal: AbortSignal) {
    this.#source = source;
    this.#meta = meta;
    this.#limits = limits;
    this.#signal = signal;
    this.#reached = new Uint8Array(Math.ceil(meta.pageCount / 8));
  }

  leaves(root: number): AsyncGenerator<readonly LeafEntry[]> {
    return this.#leaves(root, { first: undefined, end: undefined }, 0);
  }

  async *#leaves(id: number, bounds: Bounds, depth: number): AsyncGenerator<readonly LeafEntry[]> {
    if (depth > DEPTH_MAX) throw damaged(`page ${id} is below ${depth} branches`);
    const page = await this.#read(id);
    const { entries } = page;
    if (entries.length === 0) {
      if (depth > 0 || page.kind === 'branch') throw damaged(`page ${id} is empty`);
      return;
    }
    const isBelow = bounds.first !== undefined && Buffer.compare(entries[0]!.key, bounds.first) < 0;
    const isAbove = bounds.end !== undefined && Buffer.compare(entries.at(-1)!.key, bounds.end) >= 0;
    if (isBelow || isAbove) throw damaged(`page ${id} has keys outside of the bounds of its branch`);
    if (page.kind === 'leaf') {
      yield page.entries;
      return;
    }
    for (const [at, { key, child }] of page.entries.entries()) {
      yield* this.#leaves(child, { first: key, end: page.entries[at + 1]?.key ?? bounds.end }, depth + 1);
    }
  }

  async #read(id: number): Promise<Page> {
    const { pageBytes, pageCount } = this.#meta;
    if (id < META_PAGES || id >= pageCount) throw damaged(`page ${id} of ${pageCount} is in the tree`);
    const offset = id * pageBytes;
    const first = await readExactly(this.#source, offset, pageBytes, this.#signal);
    const head = pageHead(first);
    if (head.id !== id) throw damaged(`page ${id} says that it is page ${head.id}`);
    if (head.overflow >= pageCount - id) throw damaged(`page ${id} continues beyond the end`);
    this.#reach(id, head.overflow);
    const bytes = (head.overflow + 1) * pageBytes;
    const bytesMax = head.flags === BRANCH_PAGE ? this.#limits.branchBytesMax : this.#limits.leafBytesMax;
    if (bytes > bytesMax) throw new BboltError('too-large', `page ${id} has ${bytes} bytes, above ${bytesMax}`);
    const name = `page ${id}`;
    if (head.overflow === 0) return parsePage(first, name);
    const rest = await readExactly(this.#source, offset + pageBytes, bytes - pageBytes, this.#signal);
    return parsePage(Buffer.concat([first, rest]), name);
  }

  #reach(id: number, overflow: number): void {
    for (let page = id; page <= id + overflow; page += 1) {
      const bit = 1 << (page & 7);
      if ((this.#reached[page >> 3]! & bit) !== 0) throw damaged(`page ${page} is reached twice`);
      this.#reached[page >> 3]! |= bit;
    }
  }
}
