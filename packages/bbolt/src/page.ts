import { damaged } from './bbolt-error.ts';
import { uint64, viewOf } from './byte-source.ts';
import { BRANCH_PAGE, BUCKET_LEAF, ELEMENT_BYTES, KEY_BYTES_MAX, LEAF_PAGE, PAGE_HEADER_BYTES } from './format.ts';

/** Views of the page's bytes. */
export interface LeafEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly isBucket: boolean;
}

/** All keys below `child` are at or above `key`, and below the next one. */
export interface BranchEntry {
  readonly key: Uint8Array;
  readonly child: number;
}

export type Page =
  | { readonly kind: 'leaf'; readonly entries: readonly LeafEntry[] }
  | { readonly kind: 'branch'; readonly entries: readonly BranchEntry[] };

export interface PageHead {
  readonly id: number;
  readonly flags: number;
  readonly count: number;
  /** Pages after the first that belong to it. */
  readonly overflow: number;
}

export function pageHead(bytes: Uint8Array): PageHead {
  const view = viewOf(bytes);
  return {
    id: uint64(view, 0),
    flags: view.getUint16(8, true),
    count: view.getUint16(10, true),
    overflow: view.getUint32(12, true),
  };
}

/** The entries of a page with its overflow. Keys ascend strictly; keys and values lie behind the elements, in the page. */
export function parsePage(bytes: Uint8Array, name: string): Page {
  const { flags, count } = pageHead(bytes);
  const view = viewOf(bytes);
  const dataFrom = PAGE_HEADER_BYTES + count * ELEMENT_BYTES;
  if (dataFrom > bytes.length) throw damaged(`${name} has no room for its ${count} entries`);
  const slice = (from: number, length: number): Uint8Array => {
    if (from < dataFrom || from + length > bytes.length) throw damaged(`an entry of ${name} lies outside of it`);
    return bytes.subarray(from, from + length);
  };
  const keyAt = (from: number, length: number, before: Uint8Array | undefined): Uint8Array => {
    if (length === 0 || length > KEY_BYTES_MAX) throw damaged(`${name} has a key of ${length} bytes`);
    const key = slice(from, length);
    if (before !== undefined && Buffer.compare(before, key) >= 0) throw damaged(`the keys of ${name} do not ascend`);
    return key;
  };
  if (flags === LEAF_PAGE) {
    const entries: LeafEntry[] = [];
    for (let at = PAGE_HEADER_BYTES; at < dataFrom; at += ELEMENT_BYTES) {
      const from = at + view.getUint32(at + 4, true);
      const keyBytes = view.getUint32(at + 8, true);
      const key = keyAt(from, keyBytes, entries.at(-1)?.key);
      const value = slice(from + keyBytes, view.getUint32(at + 12, true));
      entries.push({ key, value, isBucket: (view.getUint32(at, true) & BUCKET_LEAF) !== 0 });
    }
    return { kind: 'leaf', entries };
  }
  if (flags !== BRANCH_PAGE) throw damaged(`${name} is neither leaf nor branch`);
  const entries: BranchEntry[] = [];
  for (let at = PAGE_HEADER_BYTES; at < dataFrom; at += ELEMENT_BYTES) {
    const key = keyAt(at + view.getUint32(at, true), view.getUint32(at + 4, true), entries.at(-1)?.key);
    entries.push({ key, child: uint64(view, at + 8) });
  }
  return { kind: 'branch', entries };
}
