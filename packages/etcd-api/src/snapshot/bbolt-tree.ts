import { assert } from '@engram/core';
import type { BucketContent } from './bbolt-bucket.ts';
import { branchPage, ELEMENT_BYTES, leafPage, PAGE_BYTES, PAGE_HEADER_BYTES, pagesFor } from './bbolt-pages.ts';

/** Values read at once while leaves are written: bounds the memory of a snapshot, however large the store is. */
const READ_ENTRIES_MAX = 1_000;
const READ_BYTES_MAX = 1024 * 1024;

/** Pages of one level of a tree, in key order. */
interface Level {
  /** For each page the index of the first entry (in the level below) that it holds; one more at the end. */
  readonly firsts: readonly number[];
  /** For each page its id. */
  readonly ids: readonly number[];
}

/**
 * Where the pages of a bucket's tree go: leaves first, then the branches level by level, the root last. Known from the
 * lengths alone, before any value is read, because the file begins with what points at the roots.
 */
export class BboltTree {
  readonly #content: BucketContent;
  readonly #levels: readonly Level[];
  /** The first page behind it. */
  readonly end: number;

  constructor(content: BucketContent, firstPage: number) {
    this.#content = content;
    const leaves = planLeaves(content, firstPage);
    const levels = [leaves.level];
    let next = leaves.end;
    for (let below = leaves.level; below.ids.length > 1; below = levels.at(-1)!) {
      const level = planBranches(content, levels, next);
      levels.push(level);
      next += level.ids.length;
    }
    this.#levels = levels;
    this.end = next;
  }

  get root(): number {
    return this.#levels.at(-1)!.ids[0]!;
  }

  /** Its pages in the order of their ids. */
  async *pages(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    yield* this.#leafPages(signal);
    for (let height = 1; height < this.#levels.length; height += 1) {
      const { firsts, ids } = this.#levels[height]!;
      const below = this.#levels[height - 1]!.ids;
      for (const [at, id] of ids.entries()) {
        const children = range(firsts[at]!, firsts[at + 1]!);
        yield branchPage(
          id,
          children.map((child) => ({
            key: firstKey(this.#content, this.#levels, height - 1, child),
            child: below[child]!,
          })),
        );
      }
    }
  }

  async *#leafPages(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { firsts, ids } = this.#levels[0]!;
    for (let leaf = 0; leaf < ids.length; ) {
      const until = this.#readUntil(leaf);
      const from = firsts[leaf]!;
      const values = await this.#content.values(from, firsts[until]!, signal);
      for (; leaf < until; leaf += 1) {
        const entries = range(firsts[leaf]!, firsts[leaf + 1]!).map((at) => {
          const value = values[at - from]!;
          assert(value.length === this.#content.valueBytes(at), 'a value has another length than was planned for');
          return { key: this.#content.key(at), value };
        });
        yield leafPage(ids[leaf]!, entries);
      }
    }
  }

  /** The leaf behind those that are read with `leaf`: at least that one. */
  #readUntil(leaf: number): number {
    const { firsts, ids } = this.#levels[0]!;
    const entriesMax = firsts[leaf]! + READ_ENTRIES_MAX;
    const pagesMax = ids[leaf]! + READ_BYTES_MAX / PAGE_BYTES;
    let until = leaf + 1;
    while (until < ids.length && firsts[until + 1]! <= entriesMax && ids[until]! < pagesMax) until += 1;
    return until;
  }
}

/** Leaves take entries as long as they fit into a page; an entry that is larger has a leaf of its own. */
function planLeaves(content: BucketContent, firstPage: number): { readonly level: Level; readonly end: number } {
  const firsts = [0];
  const ids = [firstPage];
  let bytes = PAGE_HEADER_BYTES;
  let next = firstPage;
  for (let at = 0; at < content.count; at += 1) {
    const entry = ELEMENT_BYTES + content.keyBytes(at) + content.valueBytes(at);
    if (at > firsts.at(-1)! && bytes + entry > PAGE_BYTES) {
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

function planBranches(content: BucketContent, levels: readonly Level[], firstPage: number): Level {
  const height = levels.length;
  const children = levels[height - 1]!.ids.length;
  const firsts = [0];
  const ids = [firstPage];
  let bytes = PAGE_HEADER_BYTES;
  for (let child = 0; child < children; child += 1) {
    const entry = ELEMENT_BYTES + firstKey(content, levels, height - 1, child).length;
    if (bytes + entry > PAGE_BYTES) {
      firsts.push(child);
      ids.push(firstPage + ids.length);
      bytes = PAGE_HEADER_BYTES;
    }
    bytes += entry;
  }
  firsts.push(children);
  return { firsts, ids };
}

/** The first key below a page. */
function firstKey(content: BucketContent, levels: readonly Level[], height: number, page: number): Uint8Array {
  let at = page;
  for (let level = height; level >= 0; level -= 1) at = levels[level]!.firsts[at]!;
  return content.key(at);
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);
