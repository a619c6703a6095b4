import { assert } from '@engram/core';
import { sizeVarint } from '@engram/protobuf';

/** The bytes of `value` as a varint. Checks the value, because callers ask for the size before they write. */
export function varintSize(value: number): number {
  assert(value >= 0 && Number.isSafeInteger(value), 'a varint is a safe integer, not negative');
  return sizeVarint(value);
}
