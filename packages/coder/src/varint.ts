import { assert } from '@engram/core';

// Base 128, the least significant group first, as protobuf has it (protobuf.dev/programming-guides/encoding). Numbers
// are at most 2^53 - 1: bit operations reach only the lowest 31 bits of them, the rest is division.

const ONE_BYTE_MAX = 0x7f;
const SHIFTABLE_MAX = 0x7fffffff;
/** An int64 below zero is sent as its 64-bit two's complement. */
const NEGATIVE_BYTES = 10;

/** How many bytes `writeVarint` takes. */
export function varintSize(value: number): number {
  assert(value >= 0 && Number.isSafeInteger(value), 'a varint is a safe integer, not negative');
  let size = 1;
  for (let rest = value; rest > ONE_BYTE_MAX; rest = rest > SHIFTABLE_MAX ? Math.floor(rest / 128) : rest >>> 7)
    size += 1;
  return size;
}

/** Returns the offset behind what was written. The room was measured with `varintSize`, which checked the value too. */
export function writeVarint(target: Uint8Array, offset: number, value: number): number {
  let at = offset;
  let rest = value;
  while (rest > SHIFTABLE_MAX) {
    target[at] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
    at += 1;
  }
  while (rest > ONE_BYTE_MAX) {
    target[at] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
    at += 1;
  }
  target[at] = rest;
  return at + 1;
}

export function varint64Size(value: bigint): number {
  if (value < 0n) return NEGATIVE_BYTES;
  let size = 1;
  for (let rest = value; rest > 0x7fn; rest >>= 7n) size += 1;
  return size;
}

export function writeVarint64(target: Uint8Array, offset: number, value: bigint): number {
  let low = Number(BigInt.asUintN(32, value));
  let high = Number(BigInt.asUintN(32, value >> 32n));
  let at = offset;
  while (high !== 0 || low > ONE_BYTE_MAX) {
    target[at] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
    at += 1;
  }
  target[at] = low;
  return at + 1;
}
