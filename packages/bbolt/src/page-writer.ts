import { assert } from '@engram/core';
import type { BucketContent } from './bucket-content.ts';
import {
  BRANCH_PAGE,
  BUCKET_HEADER_BYTES,
  BUCKET_LEAF,
  ELEMENT_BYTES,
  FORMAT_VERSION,
  fnv1a,
  LEAF_PAGE,
  MAGIC,
  META_CHECKED_BYTES,
  META_PAGE,
  PAGE_HEADER_BYTES,
} from './format.ts';

export const PAGE_BYTES = 4096;

export const pagesFor = (bytes: number): number => Math.max(1, Math.ceil(bytes / PAGE_BYTES));

/** Pages with consecutive ids, written in place. Bytes that are not written are zero. */
export class PageRun {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  readonly #first: number;

  constructor(first: number, pages: number) {
    this.bytes = new Uint8Array(pages * PAGE_BYTES);
    this.#view = new DataView(this.bytes.buffer);
    this.#first = first;
  }

  /**
   * Writes one of the two meta pages, which begin a file and have the same content. Readers use the one with the higher
   * transaction.
   */
  meta(id: 0 | 1, root: number, pageCount: number): void {
    const at = this.#begin(id, META_PAGE, 0, PAGE_BYTES) + PAGE_HEADER_BYTES;
    const view = this.#view;
    view.setUint32(at, MAGIC, true);
    view.setUint32(at + 4, FORMAT_VERSION, true);
    view.setUint32(at + 8, PAGE_BYTES, true);
    this.#uint64(at + 16, root);
    // No list of free pages is written: a program that opens the file for writing finds them, as in etcd's own files.
    view.setBigUint64(at + 32, 2n ** 64n - 1n, true);
    this.#uint64(at + 40, pageCount);
    this.#uint64(at + 48, id);
    const checked = this.bytes.subarray(at, at + META_CHECKED_BYTES);
    view.setBigUint64(at + META_CHECKED_BYTES, fnv1a(checked), true);
  }

  /** Writes the entries in [from, to). `values` has the values of exactly these entries. */
  leaf(
    id: number,
    content: BucketContent,
    from: number,
    to: number,
    values: readonly Uint8Array[],
    ofBuckets = false,
  ): void {
    assert(values.length === to - from, 'a leaf without all of its values');
    const view = this.#view;
    const page = this.#begin(id, LEAF_PAGE, to - from, leafBytes(content, from, to));
    let element = page + PAGE_HEADER_BYTES;
    let data = element + (to - from) * ELEMENT_BYTES;
    for (let at = from; at < to; at += 1) {
      const value = values[at - from]!;
      assert(value.length === content.valueBytes(at), 'a value has another length than was planned for');
      const keyBytes = content.keyBytes(at);
      view.setUint32(element, ofBuckets ? BUCKET_LEAF : 0, true);
      view.setUint32(element + 4, data - element, true);
      view.setUint32(element + 8, keyBytes, true);
      view.setUint32(element + 12, value.length, true);
      content.putKey(at, this.bytes, data);
      this.bytes.set(value, data + keyBytes);
      data += keyBytes + value.length;
      element += ELEMENT_BYTES;
    }
  }

  /** `children` are the pages of the children, `keys` the indexes in `content` of their first keys. */
  branch(id: number, content: BucketContent, keys: readonly number[], children: readonly number[]): void {
    let bytes = PAGE_HEADER_BYTES;
    for (const key of keys) bytes += ELEMENT_BYTES + content.keyBytes(key);
    assert(bytes <= PAGE_BYTES, 'a branch larger than a page');
    const page = this.#begin(id, BRANCH_PAGE, keys.length, bytes);
    let element = page + PAGE_HEADER_BYTES;
    let data = element + keys.length * ELEMENT_BYTES;
    for (let at = 0; at < keys.length; at += 1) {
      const keyBytes = content.keyBytes(keys[at]!);
      this.#view.setUint32(element, data - element, true);
      this.#view.setUint32(element + 4, keyBytes, true);
      this.#uint64(element + 8, children[at]!);
      content.putKey(keys[at]!, this.bytes, data);
      data += keyBytes;
      element += ELEMENT_BYTES;
    }
  }

  /** Writes the page's header. Returns the offset of the page. */
  #begin(id: number, flags: number, count: number, bytes: number): number {
    const page = (id - this.#first) * PAGE_BYTES;
    const pages = pagesFor(bytes);
    assert(page >= 0 && page + pages * PAGE_BYTES <= this.bytes.length, 'a page outside its run');
    this.#uint64(page, id);
    this.#view.setUint16(page + 8, flags, true);
    this.#view.setUint16(page + 10, count, true);
    this.#view.setUint32(page + 12, pages - 1, true);
    return page;
  }

  #uint64(at: number, value: number): void {
    this.#view.setUint32(at, value >>> 0, true);
    this.#view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
  }
}

export function leafBytes(content: BucketContent, from: number, to: number): number {
  let bytes = PAGE_HEADER_BYTES;
  for (let at = from; at < to; at += 1) bytes += ELEMENT_BYTES + content.keyBytes(at) + content.valueBytes(at);
  return bytes;
}

/** The value of a bucket in the root leaf: the bucket's root page. */
export function bucketValue(root: number): Uint8Array {
  const value = Buffer.alloc(BUCKET_HEADER_BYTES);
  value.writeBigUInt64LE(BigInt(root), 0);
  return value;
}
