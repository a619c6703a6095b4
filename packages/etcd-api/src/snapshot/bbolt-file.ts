import { assert } from '@engram/core';
import type { BucketContent } from './bbolt-bucket.ts';
import { bucketValue, leafPage, metaPage, PAGE_BYTES } from './bbolt-pages.ts';
import { BboltTree } from './bbolt-tree.ts';
import type { SnapshotImage } from './snapshot-image.ts';

const META_PAGES = 2;

/** A bbolt database of these buckets, each a tree of its own, named in one root leaf. */
export function bboltFile(buckets: readonly BucketContent[], signal: AbortSignal): SnapshotImage {
  const sorted = buckets.toSorted((left, right) => Buffer.compare(left.name, right.name));
  const trees: BboltTree[] = [];
  let next = META_PAGES;
  for (const bucket of sorted) {
    const tree = new BboltTree(bucket, next);
    trees.push(tree);
    next = tree.end;
  }
  const root = next;
  const rootPage = leafPage(
    root,
    sorted.map(({ name }, at) => ({ key: name, value: bucketValue(trees[at]!.root) })),
    true,
  );
  const pageCount = root + rootPage.length / PAGE_BYTES;

  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield metaPage(0, root, pageCount);
    yield metaPage(1, root, pageCount);
    let written = META_PAGES;
    for (const tree of trees) {
      for await (const page of tree.pages(signal)) {
        written += page.length / PAGE_BYTES;
        yield page;
      }
      assert(written === tree.end, 'a bucket has not the pages that were planned');
    }
    yield rootPage;
  }
  return { bytes: pageCount * PAGE_BYTES, chunks: chunks() };
}
