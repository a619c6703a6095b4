import { assert } from '@engram/core';
import { sizeVarint } from '@engram/protobuf';

/** Bytes of `value` as a varint. Whatever is measured here is checked before it is written. */
export function varintSize(value: number): number {
  assert(value >= 0 && Number.isSafeInteger(value), 'a varint is a safe integer, not negative');
  return sizeVarint(value);
}
