import { EMPTY_BYTES } from '@engram/core';
import { BboltError, damaged } from './bbolt-error.ts';
import { type ByteSource, readExactly } from './byte-source.ts';
import { BRANCH_PAGE, META_PAGES } from './format.ts';
import type { Meta } from './meta.ts';
import { type BranchEntry, type LeafEntry, type Page, pageHead, parsePage } from './page.ts';

/** Branches on the way to a leaf. 2^32 leaves have fewer, as each branch has two children or more. */
const DEPTH_MAX = 32;

/** Bounds of one page with its overflow. At most a leaf, DEPTH_MAX branches, and a run beside each of them are held. */
export interface PageLimits {
  readonly leafBytesMax: number;
  readonly branchBytesMax: number;
}

/**
 * Bytes that are read at once, where the children of a branch lie one behind the other. A page may have more. Larger pieces of memory are
 * taken from the system one by one, and cost more than the reads that they save.
 */
export const RUN_BYTES_MAX = 64 * 1024;

/** The first pages of neighbouring children with consecutive ids. */
interface Run {
  /** The children before the one with this index. */
  readonly until: number;
  /** The id of the page behind the run. */
  readonly end: number;
  readonly bytes: Uint8Array;
}

/** A branch whose children are being read, in their order. */
interface Level {
  readonly children: readonly BranchEntry[];
  /** All keys below the branch are below it. Undefined: any may be there. */
  readonly end: Uint8Array | undefined;
  /** The next child. */
  at: number;
  /** What was read last. The next child may be in it. */
  run: Run | undefined;
}

/**
 * Reads the leaves of one tree in the order of their keys. Checks what bbolt's own check does (tx_check.go): ids, kinds,
 * orders within the bounds of the branches, and that no page is reached twice. So no loop is followed, and a tree is
 * never more to read than its file. A bit for each page of the file is held, and a run for each branch on the way.
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

  /** The entries of a leaf at a time. */
  async *leaves(root: number): AsyncGenerator<readonly LeafEntry[]> {
    const top = { children: [{ key: EMPTY_BYTES, child: root }], end: undefined, at: 0, run: undefined };
    const levels: Level[] = [top];
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const { key, child } = level.children[level.at] ?? {};
      if (key === undefined || child === undefined) {
        levels.pop();
        continue;
      }
      const depth = levels.length - 1;
      if (depth > DEPTH_MAX) throw damaged(`page ${child} is below ${depth} branches`);
      const end = level.children[level.at + 1]?.key ?? level.end;
      const page = await this.#read(level);
      level.at += 1;
      checkBounds(page, child, depth, key, end);
      if (page.kind === 'branch') levels.push({ children: page.entries, end, at: 0, run: undefined });
      else if (page.entries.length > 0) yield page.entries;
    }
  }

  /** The next child of the branch. */
  async #read(level: Level): Promise<Page> {
    this.#signal.throwIfAborted();
    const id = level.children[level.at]!.child;
    const { pageBytes, pageCount } = this.#meta;
    if (id < META_PAGES || id >= pageCount) throw damaged(`page ${id} of ${pageCount} is in the tree`);
    const run = level.run !== undefined && level.at < level.run.until ? level.run : await this.#readRun(level);
    const from = run.bytes.length - (run.end - id) * pageBytes;
    const page = run.bytes.subarray(from, from + pageBytes);
    const head = pageHead(page);
    if (head.id !== id) throw damaged(`page ${id} says that it is page ${head.id}`);
    if (head.overflow >= pageCount - id) throw damaged(`page ${id} continues beyond the end`);
    this.#reach(id + 1, head.overflow);
    const bytes = (head.overflow + 1) * pageBytes;
    const bytesMax = head.flags === BRANCH_PAGE ? this.#limits.branchBytesMax : this.#limits.leafBytesMax;
    if (bytes > bytesMax) throw new BboltError('too-large', `page ${id} has ${bytes} bytes, above ${bytesMax}`);
    const name = `page ${id}`;
    if (head.overflow === 0) return parsePage(page, name);
    const rest = await readExactly(this.#source, (id + 1) * pageBytes, bytes - pageBytes, this.#signal);
    return parsePage(Buffer.concat([page, rest]), name);
  }

  /** Reads the next child, and the children after it as far as their ids are consecutive: no page that the tree does not name. */
  async #readRun(level: Level): Promise<Run> {
    const { pageBytes, pageCount } = this.#meta;
    const { children, at } = level;
    const first = children[at]!.child;
    const pagesMax = Math.min(Math.max(1, Math.floor(RUN_BYTES_MAX / pageBytes)), pageCount - first);
    let pages = 1;
    while (pages < pagesMax && children[at + pages]?.child === first + pages) pages += 1;
    this.#reach(first, pages);
    // The run before may be forgotten while this one is read.
    level.run = undefined;
    const bytes = await readExactly(this.#source, first * pageBytes, pages * pageBytes, this.#signal);
    level.run = { until: at + pages, end: first + pages, bytes };
    return level.run;
  }

  /** Pages are reached when they are read, so none is read twice. */
  #reach(first: number, pages: number): void {
    for (let page = first; page < first + pages; page += 1) {
      const bit = 1 << (page & 7);
      if ((this.#reached[page >> 3]! & bit) !== 0) throw damaged(`page ${page} is reached twice`);
      this.#reached[page >> 3]! |= bit;
    }
  }
}

/** Only the root may be empty, where it is a leaf. */
function checkBounds({ kind, entries }: Page, id: number, depth: number, first: Uint8Array, end?: Uint8Array): void {
  if (entries.length === 0) {
    if (depth > 0 || kind === 'branch') throw damaged(`page ${id} is empty`);
    return;
  }
  const isBelow = Buffer.compare(entries[0]!.key, first) < 0;
  const isAbove = end !== undefined && Buffer.compare(entries.at(-1)!.key, end) >= 0;
  if (isBelow || isAbove) throw damaged(`page ${id} has keys outside of the bounds of its branch`);
}
