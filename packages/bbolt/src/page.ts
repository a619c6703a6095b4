import { compareBytes, EMPTY_BYTES } from '@engram/core';
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
  const data = new PageData(bytes, count, name);
  if (flags === LEAF_PAGE) return { kind: 'leaf', entries: leafEntries(data, count) };
  if (flags === BRANCH_PAGE) return { kind: 'branch', entries: branchEntries(data, count) };
  throw damaged(`${name} is neither leaf nor branch`);
}

function leafEntries(data: PageData, count: number): readonly LeafEntry[] {
  const { view } = data;
  const entries: LeafEntry[] = [];
  let before = EMPTY_BYTES;
  for (let at = PAGE_HEADER_BYTES; entries.length < count; at += ELEMENT_BYTES) {
    const from = at + view.getUint32(at + 4, true);
    const keyBytes = view.getUint32(at + 8, true);
    const key = data.key(from, keyBytes, before);
    const value = data.slice(from + keyBytes, view.getUint32(at + 12, true));
    entries.push({ key, value, isBucket: (view.getUint32(at, true) & BUCKET_LEAF) !== 0 });
    before = key;
  }
  return entries;
}

function branchEntries(data: PageData, count: number): readonly BranchEntry[] {
  const { view } = data;
  const entries: BranchEntry[] = [];
  let before = EMPTY_BYTES;
  for (let at = PAGE_HEADER_BYTES; entries.length < count; at += ELEMENT_BYTES) {
    const key = data.key(at + view.getUint32(at, true), view.getUint32(at + 4, true), before);
    entries.push({ key, child: uint64(view, at + 8) });
    before = key;
  }
  return entries;
}

/** The bytes of a page, behind its elements. */
class PageData {
  readonly view: DataView;
  readonly #bytes: Uint8Array;
  readonly #name: string;
  readonly #from: number;

  constructor(bytes: Uint8Array, count: number, name: string) {
    this.view = viewOf(bytes);
    this.#bytes = bytes;
    this.#name = name;
    this.#from = PAGE_HEADER_BYTES + count * ELEMENT_BYTES;
    if (this.#from > bytes.length) throw damaged(`${name} has no room for its ${count} entries`);
  }

  /** A key that is above the one before it, which is empty for the first. */
  key(from: number, length: number, before: Uint8Array): Uint8Array {
    if (length === 0 || length > KEY_BYTES_MAX) throw damaged(`${this.#name} has a key of ${length} bytes`);
    const key = this.slice(from, length);
    if (compareBytes(before, key) >= 0) throw damaged(`the keys of ${this.#name} do not ascend`);
    return key;
  }

  slice(from: number, length: number): Uint8Array {
    const bytes = this.#bytes;
    if (from < this.#from || from + length > bytes.length) {
      throw damaged(`an entry of ${this.#name} lies outside of it`);
    }
    return new Uint8Array(bytes.buffer, bytes.byteOffset + from, length);
  }
}
