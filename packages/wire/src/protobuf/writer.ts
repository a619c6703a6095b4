import type { Int64 } from '@engram/core';
import { HIGH, halves, LOW, unsigned64 } from './word64.ts';

const TWO_32 = 4_294_967_296;
const TWO_63 = 2 ** 63;
const MASK_64 = 0xffff_ffff_ffff_ffffn;
const encoder = new TextEncoder();

/** Bytes of `value` as a varint; `value` is an integer in [0, 2^53]. */
export function sizeVarint(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  let size = 4;
  for (let rest = value / 0x20_0000; rest >= 0x80; rest /= 0x80) size += 1;
  return size;
}

/** Writes an integer in [0, 2^53], and returns where the next byte goes. */
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

/** Any integer; beyond 64 bits the largest or smallest one is sent. Negative ones take ten bytes. */
export function sizeInt64(value: number): number {
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) return sizeVarint(value);
  return value < 0 ? 10 : sizeBig(clampSigned(value));
}

export function writeInt64(value: number, into: Uint8Array, at: number): number {
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) return writeVarint(value, into, at);
  return writeBig(clampSigned(value), into, at);
}

/** As `sizeInt64`, for unsigned fields. */
export function sizeUint64(value: number): number {
  return value <= Number.MAX_SAFE_INTEGER ? sizeVarint(value) : sizeBig(BigInt.asUintN(64, clampUnsigned(value)));
}

export function writeUint64(value: number, into: Uint8Array, at: number): number {
  if (value <= Number.MAX_SAFE_INTEGER) return writeVarint(value, into, at);
  return writeBig(clampUnsigned(value), into, at);
}

function clampSigned(value: number): bigint {
  if (value >= TWO_63) return 0x7fff_ffff_ffff_ffffn;
  return value <= -TWO_63 ? -0x8000_0000_0000_0000n : BigInt(value);
}

function clampUnsigned(value: number): bigint {
  return value >= 2 * TWO_63 ? MASK_64 : BigInt(value);
}

/** Signed or unsigned: only the 64 bits count. */
export function sizeBig(value: bigint): number {
  unsigned64[0] = value;
  const high = halves[HIGH]!;
  const bits = high === 0 ? 32 - Math.clz32(halves[LOW]! | 1) : 64 - Math.clz32(high);
  return Math.ceil(bits / 7);
}

export function writeBig(value: bigint, into: Uint8Array, at: number): number {
  unsigned64[0] = value;
  let low = halves[LOW]!;
  let high = halves[HIGH]!;
  let next = at;
  while (high > 0) {
    into[next] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
    next += 1;
  }
  return writeVarint(low, into, next);
}

export function sizeExact(value: Int64): number {
  return typeof value === 'number' ? sizeInt64(value) : sizeBig(value);
}

export function writeExact(value: Int64, into: Uint8Array, at: number): number {
  return typeof value === 'number' ? writeInt64(value, into, at) : writeBig(value, into, at);
}

/** Enums and int32: a negative one is extended to 64 bits, so it takes ten bytes. */
export const sizeInt32 = sizeInt64;
export const writeInt32 = writeInt64;

/** A delimited value's bytes, its length before it. */
export function sizeDelimited(length: number): number {
  return sizeVarint(length) + length;
}

export function writeBytes(value: Uint8Array, into: Uint8Array, at: number): number {
  const start = writeVarint(value.length, into, at);
  // A call into the engine costs as much as copying some ten bytes.
  if (value.length < 10) for (let index = 0; index < value.length; index += 1) into[start + index] = value[index]!;
  else into.set(value, start);
  return start + value.length;
}

/** Lone surrogates count, and are written, as U+FFFD. */
export function sizeString(value: string): number {
  return sizeDelimited(Buffer.byteLength(value));
}

export function writeString(value: string, into: Uint8Array, at: number): number {
  const length = Buffer.byteLength(value);
  const start = writeVarint(length, into, at);
  encoder.encodeInto(value, into.subarray(start));
  return start + length;
}
