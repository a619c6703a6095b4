import type { Int64 } from '@engram/core';
import { HIGH, halves, LOW, signed64, sizeHalves, toInt64, unsigned64, writeHalves } from './word64.ts';

/*
 * Writes fields in ascending order into a buffer of known size, for messages that are assembled from encoded bytes.
 * Each `write` returns the position after the written bytes.
 */

const TWO_32 = 4_294_967_296;
const encoder = new TextEncoder();

/** The length of `value` as a varint. `value` must be an integer in [0, 2^53]. */
export function sizeVarint(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  let size = 4;
  for (let rest = value / 0x20_0000; rest >= 0x80; rest /= 0x80) size += 1;
  return size;
}

/** Writes `value`, which must be an integer in [0, 2^53]. */
export function writeVarint(value: number, into: Uint8Array, at: number): number {
  if (value < 0x80) {
    into[at] = value;
    return at + 1;
  }
  let rest = value;
  let next = at;
  while (rest >= TWO_32) {
    into[next] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
    next += 1;
  }
  rest >>>= 0;
  while (rest >= 0x80) {
    into[next] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
    next += 1;
  }
  into[next] = rest;
  return next + 1;
}

/** For any integer. A value beyond 64 bits is clamped to the largest or smallest. Negative values take ten bytes. */
export function sizeInt64(value: number): number {
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) return sizeVarint(value);
  return value < 0 ? 10 : sizeBig(toInt64(value));
}

export function writeInt64(value: number, into: Uint8Array, at: number): number {
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) return writeVarint(value, into, at);
  return writeBig(toInt64(value), into, at);
}

/** Signed or unsigned: only the low 64 bits count. */
export function sizeBig(value: bigint): number {
  unsigned64[0] = value;
  return sizeHalves();
}

export function writeBig(value: bigint, into: Uint8Array, at: number): number {
  unsigned64[0] = value;
  return writeHalves(into, at);
}

export function sizeExact(value: Int64): number {
  return typeof value === 'number' ? sizeInt64(value) : sizeBig(value);
}

export function writeExact(value: Int64, into: Uint8Array, at: number): number {
  return typeof value === 'number' ? writeInt64(value, into, at) : writeBig(value, into, at);
}

/** A string with its length before it. Lone surrogates count as U+FFFD, and are written so. */
export function sizeString(value: string): number {
  const length = Buffer.byteLength(value);
  return sizeVarint(length) + length;
}

export function writeString(value: string, into: Uint8Array, at: number): number {
  const length = Buffer.byteLength(value);
  const start = writeVarint(length, into, at);
  encoder.encodeInto(value, into.subarray(start));
  return start + length;
}

/**
 * The value of a message that is one int64 field with this `tag` (below 0x80) in at most nine bytes, and nothing else. Undefined
 * for any other message, which a Reader reads. For messages whose decoding is a good part of their cost: twice as fast.
 */
export function onlyBigInt64(message: Uint8Array, tag: number): bigint | undefined {
  const last = message.length - 1;
  if (last < 1 || last > 9 || message[0] !== tag || message[last]! >= 0x80) return undefined;
  let low = 0;
  let high = 0;
  for (let at = 1, shift = 0; at <= last; at += 1, shift += 7) {
    const byte = message[at]!;
    if (byte < 0x80 && at < last) return undefined;
    if (shift < 28) low |= (byte & 0x7f) << shift;
    else if (shift > 28) high |= (byte & 0x7f) << (shift - 32);
    else {
      low |= (byte & 0x0f) << 28;
      high = (byte & 0x7f) >> 4;
    }
  }
  halves[LOW] = low;
  halves[HIGH] = high;
  return signed64[0]!;
}
