import { assert } from '@engram/core';
import { sizeVarint } from '@engram/protobuf';

/** Bytes of `value` as a varint. Every number passes here before it is written, so this is where it is checked. */
export function varintSize(value: number): number {
  assert(value >= 0 && Number.isSafeInteger(value), 'a varint is a safe integer, not negative');
  return sizeVarint(value);
}
