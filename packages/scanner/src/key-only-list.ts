import { keyValueSize, writeKeyValue } from '@engram/coder';
import { ByteViews, EMPTY_BYTES } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';

const SLAB_BYTES = 64 * 1024;
/** The size of the first slab for each expected version. Enough for short keys. */
const FIRST_KEYS_BYTES = 128;

/** Versions without their values, encoded from the index, many in one allocation. */
export class KeyOnlyList {
  readonly kvs = new ByteViews();
  readonly #index: KeyIndex;
  #slab: Uint8Array<ArrayBuffer>;
  #at = 0;
  #listed = 0;

  /** `count` versions will be added. */
  constructor(index: KeyIndex, count: number) {
    this.#index = index;
    this.kvs.extend(count);
    this.#slab = new Uint8Array(Math.min(SLAB_BYTES, count * FIRST_KEYS_BYTES));
  }

  /** Returns the length of the encoded version. */
  add(slot: VersionSlot): number {
    const index = this.#index;
    const kv = {
      key: index.key(slot),
      createRevision: index.createRevision(slot),
      modRevision: index.modRevision(slot),
      version: index.version(slot),
      value: EMPTY_BYTES,
      lease: index.lease(slot),
    };
    const size = keyValueSize(kv);
    if (size > this.#slab.length - this.#at) {
      this.#slab = new Uint8Array(Math.max(SLAB_BYTES, size));
      this.#at = 0;
    }
    writeKeyValue(this.#slab, this.#at, kv);
    this.kvs.set(this.#listed, this.#slab.buffer, this.#at, size);
    this.#listed += 1;
    this.#at += size;
    return size;
  }
}
