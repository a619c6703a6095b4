/*
 * A bbolt file (go.etcd.io/bbolt internal/common: page.go, meta.go, bucket.go) is a sequence of pages of one size, in
 * little-endian. A page that is larger continues in the pages after it, its "overflow". The first two pages are the
 * metas: the newer valid one names the root of a tree of buckets, each of which is a tree of its own.
 *
 *   page     id u64, flags u16, count u16, overflow u32, then `count` elements, then their bytes
 *   leaf     element: flags u32, position u32, key bytes u32, value bytes u32
 *   branch   element: position u32, key bytes u32, child's id u64
 *   bucket   value: root's id u64, sequence u64; with root 0 the only page of the bucket follows, "inline"
 *   meta     magic u32, version u32, page bytes u32, flags u32, bucket, free list's id u64, page count u64,
 *            transaction u64, FNV-1a of all before u64
 *
 * A position counts from the beginning of its element.
 */
export const PAGE_HEADER_BYTES = 16;
/** Bytes of an entry besides its key and value, in a leaf or a branch. */
export const ELEMENT_BYTES = 16;
export const BUCKET_HEADER_BYTES = 16;
export const META_PAGES = 2;

export const BRANCH_PAGE = 0x01;
export const LEAF_PAGE = 0x02;
export const META_PAGE = 0x04;
export const BUCKET_LEAF = 0x01;

export const MAGIC = 0xed0cdaed;
export const FORMAT_VERSION = 2;
/** The bytes of a meta that its checksum, which follows them, covers. */
export const META_CHECKED_BYTES = 56;
export const META_BYTES = META_CHECKED_BYTES + 8;

/** bbolt's own bound of a key. */
export const KEY_BYTES_MAX = 32_768;

const FNV_OFFSET = 0xcbf2_9ce4_8422_2325n;
const FNV_PRIME = 0x100_0000_01b3n;

/** FNV-1a of 64 bits. */
export function fnv1a(bytes: Uint8Array): bigint {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  return hash;
}
