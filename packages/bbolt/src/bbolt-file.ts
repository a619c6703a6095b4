import { assert } from '@engram/core';
import { type BucketContent, smallBucket } from './bucket-content.ts';
import { META_PAGES } from './format.ts';
import { bucketValue, leafBytes, PAGE_BYTES, PageRun, pagesFor } from './page-writer.ts';
import { type SharedTime, TreeWriter } from './tree-writer.ts';

/** A file of known length. Ending the iteration of `chunks` early releases what they hold. */
export interface BboltFile {
  /** The sum of all chunks; a multiple of the size of a page, 4096. */
  readonly bytes: number;
  /** May be iterated once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A bbolt database of these buckets. Each bucket is a tree of its own, named in one root leaf. */
export async function bboltFile(
  buckets: readonly BucketContent[],
  time: SharedTime,
  signal: AbortSignal,
): Promise<BboltFile> {
  const trees: TreeWriter[] = [];
  let next = META_PAGES;
  for (const bucket of buckets) {
    const tree = await TreeWriter.plan(bucket, next, time);
    trees.push(tree);
    next = tree.end;
  }
  const root = next;
  const rootEntries = buckets.map(({ name }, at) => [name, bucketValue(trees[at]!.root)] as const);
  const names = smallBucket(new Uint8Array(0), rootEntries);
  const rootPages = pagesFor(leafBytes(names, 0, names.count));
  const pageCount = root + rootPages;

  async function* chunks(): AsyncGenerator<Uint8Array> {
    const metas = new PageRun(0, META_PAGES);
    metas.meta(0, root, pageCount);
    metas.meta(1, root, pageCount);
    yield metas.bytes;
    let written = META_PAGES;
    for (const tree of trees) {
      for await (const pages of tree.pages(time, signal)) {
        written += pages.length / PAGE_BYTES;
        yield pages;
      }
      assert(written === tree.end, 'a bucket has not the pages that were planned');
    }
    const last = new PageRun(root, rootPages);
    last.leaf(root, names, 0, names.count, await names.values(0, names.count, signal), true);
    yield last.bytes;
  }
  return { bytes: pageCount * PAGE_BYTES, chunks: chunks() };
}
