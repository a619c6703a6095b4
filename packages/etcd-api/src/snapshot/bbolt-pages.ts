import { assert } from '@engram/core';

/*
 * The pages of a bbolt file (go.etcd.io/bbolt internal/common: page.go, meta.go, bucket.go), little-endian. A page that is
 * larger than PAGE_BYTES goes on in the pages behind it, its "overflow".
 */
export const PAGE_BYTES = 4096;
export const PAGE_HEADER_BYTES = 16;
/** What an entry takes beside its key and value, in a leaf and in a branch alike. */
export const ELEMENT_BYTES = 16;

const BRANCH_PAGE = 0x01;
const LEAF_PAGE = 0x02;
const META_PAGE = 0x04;
const BUCKET_LEAF = 0x01;
const MAGIC = 0xed0cdaed;
const FORMAT_VERSION = 2;
/** No list of free pages is kept: whoever opens the file for writing finds them, as in etcd's own files. */
const NO_FREELIST = 0xffff_ffff_ffff_ffffn;

const FNV_OFFSET = 0xcbf2_9ce4_8422_2325n;
const FNV_PRIME = 0x100_0000_01b3n;

export const pagesFor = (bytes: number): number => Math.max(1, Math.ceil(bytes / PAGE_BYTES));

function newPage(id: number, flags: number, count: number, bytes: number): Buffer {
  const pages = pagesFor(bytes);
  const page = Buffer.alloc(pages * PAGE_BYTES);
  page.writeBigUInt64LE(BigInt(id), 0);
  page.writeUInt16LE(flags, 8);
  page.writeUInt16LE(count, 10);
  page.writeUInt32LE(pages - 1, 12);
  return page;
}

/** Both meta pages hold the same; readers take the one with the higher transaction. */
export function metaPage(id: 0 | 1, root: number, pageCount: number): Buffer {
  const page = newPage(id, META_PAGE, 0, PAGE_BYTES);
  const meta = page.subarray(PAGE_HEADER_BYTES);
  meta.writeUInt32LE(MAGIC, 0);
  meta.writeUInt32LE(FORMAT_VERSION, 4);
  meta.writeUInt32LE(PAGE_BYTES, 8);
  meta.writeBigUInt64LE(BigInt(root), 16);
  meta.writeBigUInt64LE(NO_FREELIST, 32);
  meta.writeBigUInt64LE(BigInt(pageCount), 40);
  meta.writeBigUInt64LE(BigInt(id), 48);
  meta.writeBigUInt64LE(fnv1a(meta.subarray(0, 56)), 56);
  return page;
}

function fnv1a(bytes: Uint8Array): bigint {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  return hash;
}

/** What the leaf of a bucket of buckets holds for each: its root page. */
export function bucketValue(root: number): Buffer {
  const value = Buffer.alloc(16);
  value.writeBigUInt64LE(BigInt(root), 0);
  return value;
}

export interface LeafEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export function leafPage(id: number, entries: readonly LeafEntry[], ofBuckets = false): Buffer {
  let bytes = PAGE_HEADER_BYTES;
  for (const { key, value } of entries) bytes += ELEMENT_BYTES + key.length + value.length;
  const page = newPage(id, LEAF_PAGE, entries.length, bytes);
  let element = PAGE_HEADER_BYTES;
  let at = element + entries.length * ELEMENT_BYTES;
  for (const { key, value } of entries) {
    page.writeUInt32LE(ofBuckets ? BUCKET_LEAF : 0, element);
    page.writeUInt32LE(at - element, element + 4);
    page.writeUInt32LE(key.length, element + 8);
    page.writeUInt32LE(value.length, element + 12);
    page.set(key, at);
    page.set(value, at + key.length);
    at += key.length + value.length;
    element += ELEMENT_BYTES;
  }
  return page;
}

export interface BranchEntry {
  /** The first key below the child. */
  readonly key: Uint8Array;
  readonly child: number;
}

export function branchPage(id: number, entries: readonly BranchEntry[]): Buffer {
  let bytes = PAGE_HEADER_BYTES;
  for (const { key } of entries) bytes += ELEMENT_BYTES + key.length;
  assert(bytes <= PAGE_BYTES, 'a branch larger than a page');
  const page = newPage(id, BRANCH_PAGE, entries.length, bytes);
  let element = PAGE_HEADER_BYTES;
  let at = element + entries.length * ELEMENT_BYTES;
  for (const { key, child } of entries) {
    page.writeUInt32LE(at - element, element);
    page.writeUInt32LE(key.length, element + 4);
    page.writeBigUInt64LE(BigInt(child), element + 8);
    page.set(key, at);
    at += key.length;
    element += ELEMENT_BYTES;
  }
  return page;
}
