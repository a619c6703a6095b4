import { assert } from '@engram/core';
import type { BucketContent } from './bucket-content.ts';
import { ELEMENT_BYTES, PAGE_HEADER_BYTES } from './format.ts';
import { PAGE_BYTES, PageRun, pagesFor } from './page-writer.ts';

/**
 * Bounds of one run, which is read, written and handed on as a whole: about a millisecond of work. A file takes only
 * that much memory.
 */
const RUN_ENTRIES_MAX = 256;
const RUN_BYTES_MAX = 128 * 1024;
/** Entries that are planned between two questions whether other work must have its turn: some tenths of a millisecond. */
const PLAN_ENTRIES = 256;

/** The time that the writer of a file shares with other work. */
export interface SharedTime {
  /** Whether other work must have its turn. */
  isOver(): boolean;
  /** Gives other work its turn. Rejects when the client has gone. */
  readonly pause: () => Promise<void>;
}

/** Pages of one level of a tree, in key order. */
interface Level {
  /** For each page, the index of its first entry (in the level below). The last element is the end of the last page. */
  readonly firsts: readonly number[];
  /** The id of each page. */
  readonly ids: readonly number[];
}

interface LeafRun {
  readonly values: Promise<readonly Uint8Array[]>;
  /** The first leaf after this run. */
  readonly until: number;
}

/**
 * Where the pages of a bucket's tree are: leaves first, then the branches level by level, the root last. The plan needs
 * the lengths only, no values, because the file begins with the pages that point at the roots.
 */
export class TreeWriter {
  readonly #content: BucketContent;
  readonly #levels: readonly Level[];
  /** The id of the first page after the tree. */
  readonly end: number;

  private constructor(content: BucketContent, levels: readonly Level[], end: number) {
    this.#content = content;
    this.#levels = levels;
    this.end = end;
  }

  static async plan(content: BucketContent, firstPage: number, time: SharedTime): Promise<TreeWriter> {
    const leaves = await planLeaves(content, firstPage, time);
    const levels = [leaves.level];
    let next = leaves.end;
    for (let below = leaves.level; below.ids.length > 1; below = levels.at(-1)!) {
      const level = await planBranches(content, levels, next, time);
      levels.push(level);
      next += level.ids.length;
    }
    return new TreeWriter(content, levels, next);
  }

  get root(): number {
    return this.#levels.at(-1)!.ids[0]!;
  }

  /** The pages of the tree in the order of their ids, one run at a time. */
  async *pages({ pause }: SharedTime, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    yield* this.#leaves(pause, signal);
    for (let height = 1; height < this.#levels.length; height += 1) yield* this.#branches(height, pause);
  }

  async *#leaves(pause: SharedTime['pause'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { firsts, ids } = this.#levels[0]!;
    let ahead = this.#read(0, signal);
    for (let leaf = 0; leaf < ids.length; ) {
      const { values, until } = ahead;
      const read = await values;
      // Read the next run while this one is written and sent.
      if (until < ids.length) ahead = this.#read(until, signal);
      const run = new PageRun(ids[leaf]!, this.#leafPage(until) - ids[leaf]!);
      for (const from = firsts[leaf]!; leaf < until; leaf += 1) {
        const first = firsts[leaf]!;
        const last = firsts[leaf + 1]!;
        run.leaf(ids[leaf]!, this.#content, first, last, read.slice(first - from, last - from));
      }
      yield run.bytes;
      await pause();
    }
  }

  #read(leaf: number, signal: AbortSignal): LeafRun {
    const { firsts } = this.#levels[0]!;
    const until = this.#runEnd(leaf);
    const values = this.#content.values(firsts[leaf]!, firsts[until]!, signal);
    values.catch(() => {}); // it may fail after the client has gone
    return { values, until };
  }

  /** The first leaf after the run that begins at `leaf`. A run has at least one leaf. */
  #runEnd(leaf: number): number {
    const { firsts, ids } = this.#levels[0]!;
    const entriesMax = firsts[leaf]! + RUN_ENTRIES_MAX;
    const pagesMax = ids[leaf]! + RUN_BYTES_MAX / PAGE_BYTES;
    let until = leaf + 1;
    while (until < ids.length && firsts[until + 1]! <= entriesMax && this.#leafPage(until + 1) <= pagesMax) until += 1;
    return until;
  }

  /** The page of a leaf. For the index after the last leaf, the first page after all leaves. */
  #leafPage(leaf: number): number {
    return this.#levels[0]!.ids[leaf] ?? this.#levels[1]?.ids[0] ?? this.end;
  }

  async *#branches(height: number, pause: SharedTime['pause']): AsyncGenerator<Uint8Array> {
    const { firsts, ids } = this.#levels[height]!;
    const below = this.#levels[height - 1]!.ids;
    const pagesMax = RUN_BYTES_MAX / PAGE_BYTES;
    for (let from = 0; from < ids.length; from += pagesMax) {
      const until = Math.min(ids.length, from + pagesMax);
      const run = new PageRun(ids[from]!, until - from);
      for (let at = from; at < until; at += 1) {
        const children = below.slice(firsts[at]!, firsts[at + 1]!);
        const keys = children.map((_, child) => firstEntry(this.#levels, height - 1, firsts[at]! + child));
        run.branch(ids[at]!, this.#content, keys, children);
      }
      yield run.bytes;
      await pause();
    }
  }
}

/** A leaf takes entries as long as they fit into a page. A larger entry has a leaf of its own. */
async function planLeaves(
  content: BucketContent,
  firstPage: number,
  time: SharedTime,
): Promise<{ readonly level: Level; readonly end: number }> {
  const firsts = [0];
  const ids = [firstPage];
  let bytes = PAGE_HEADER_BYTES;
  let next = firstPage;
  for (let at = 0; at < content.count; at += 1) {
    if (at % PLAN_ENTRIES === PLAN_ENTRIES - 1 && time.isOver()) await time.pause();
    const entry = ELEMENT_BYTES + content.keyBytes(at) + content.valueBytes(at);
    if (bytes > PAGE_HEADER_BYTES && bytes + entry > PAGE_BYTES) {
      next += pagesFor(bytes);
      firsts.push(at);
      ids.push(next);
      bytes = PAGE_HEADER_BYTES;
    }
    bytes += entry;
  }
  firsts.push(content.count);
  return { level: { firsts, ids }, end: next + pagesFor(bytes) };
}

async function planBranches(
  content: BucketContent,
  levels: readonly Level[],
  firstPage: number,
  time: SharedTime,
): Promise<Level> {
  const height = levels.length;
  const children = levels[height - 1]!.ids.length;
  const firsts = [0];
  const ids = [firstPage];
  let bytes = PAGE_HEADER_BYTES;
  for (let child = 0; child < children; child += 1) {
    if (child % PLAN_ENTRIES === PLAN_ENTRIES - 1 && time.isOver()) await time.pause();
    const entry = ELEMENT_BYTES + content.keyBytes(firstEntry(levels, height - 1, child));
    if (bytes + entry > PAGE_BYTES) {
      assert(child > firsts.at(-1)!, 'a key larger than a branch');
      firsts.push(child);
      ids.push(firstPage + ids.length);
      bytes = PAGE_HEADER_BYTES;
    }
    bytes += entry;
  }
  firsts.push(children);
  return { firsts, ids };
}

/** The index of the first entry below a page. */
function firstEntry(levels: readonly Level[], height: number, page: number): number {
  let at = page;
  for (let level = height; level >= 0; level -= 1) at = levels[level]!.firsts[at]!;
  return at;
}
