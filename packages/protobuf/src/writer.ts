import { assert, type Int64 } from '@engram/core';
import { sizeHalves, toInt64, toUint64, unsigned64, writeHalves } from './word64.ts';

const TWO_32 = 4_294_967_296;
/** Length of the longest varint. */
const VARINT_BYTES_MAX = 10;
/** `finish` drops a longer buffer, so that one large message does not keep its memory forever. */
const KEPT_BYTES_MAX = 1024 * 1024;
// Up to these lengths a loop costs less than a call into the engine.
const LOOP_BYTES_MAX = 16;
const LOOP_CHARACTERS_MAX = 64;
const encoder = new TextEncoder();

/**
 * Writes a protobuf message from its end to its beginning. The length of an inner message is then known when its prefix
 * is written, so nothing is measured first and nothing is moved. Callers therefore write fields in descending order,
 * and a field's tag after its value.
 */
export class Writer {
  readonly #capacity: number;
  #bytes: Uint8Array;
  #at: number;

  constructor(capacity = 256) {
    this.#capacity = capacity;
    this.#bytes = new Uint8Array(capacity);
    this.#at = capacity;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  #reserve(count: number): void {
    if (this.#at < count) this.#grow(count);
  }

  #grow(count: number): void {
    const used = this.length;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, used + count + 64));
    grown.set(this.#bytes.subarray(this.#at), grown.length - used);
    this.#bytes = grown;
    this.#at = grown.length - used;
  }

  /** For tags and lengths: `value` must be an integer in [0, 2^53]. */
  varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    if (value < 0x80) {
      this.#at -= 1;
      this.#bytes[this.#at] = value;
      return;
    }
    const bytes = this.#bytes;
    if (value < 0x4000) {
      this.#at -= 2;
      bytes[this.#at] = (value & 0x7f) | 0x80;
      bytes[this.#at + 1] = value >>> 7;
      return;
    }
    let size = 3;
    for (let rest = value / 0x20_0000; rest >= 1; rest /= 0x80) size += 1;
    this.#at -= size;
    let at = this.#at;
    let rest = value;
    for (; rest >= TWO_32; rest = Math.floor(rest / 0x80)) {
      bytes[at] = (rest % 0x80) | 0x80;
      at += 1;
    }
    for (rest >>>= 0; rest >= 0x80; rest >>>= 7) {
      bytes[at] = (rest & 0x7f) | 0x80;
      at += 1;
    }
    bytes[at] = rest;
  }

  /** For any integer. A value beyond 64 bits is clamped to the largest or smallest. Negative values take ten bytes. */
  int64(value: number): void {
    if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) this.varint(value);
    else this.bigint(toInt64(value));
  }

  /** Like `int64`, for unsigned fields: a negative value is a mistake of the caller. */
  uint64(value: number): void {
    assert(value >= 0, 'an unsigned field is below 0');
    if (value <= Number.MAX_SAFE_INTEGER) this.varint(value);
    else this.bigint(toUint64(value));
  }

  /** Signed or unsigned: only the low 64 bits count. */
  bigint(value: bigint): void {
    this.#reserve(VARINT_BYTES_MAX);
    unsigned64[0] = value;
    this.#at -= sizeHalves();
    writeHalves(this.#bytes, this.#at);
  }

  exactInt64(value: Int64): void {
    if (typeof value === 'number') this.int64(value);
    else this.bigint(value);
  }

  /** Bytes without a length before them. */
  raw(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    this.#at -= length;
    if (length > LOOP_BYTES_MAX) {
      this.#bytes.set(bytes, this.#at);
      return;
    }
    const target = this.#bytes;
    const at = this.#at;
    for (let index = 0; index < length; index += 1) target[at + index] = bytes[index]!;
  }

  /** Bytes with their length before them. */
  bytes(bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
  }

  /** A string with its length before it. Lone surrogates are written as U+FFFD. */
  string(text: string): void {
    if (this.#ascii(text)) {
      this.varint(text.length);
      return;
    }
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#at -= length;
    encoder.encodeInto(text, this.#bytes.subarray(this.#at, this.#at + length));
    this.varint(length);
  }

  /** Writes a short ASCII text and returns true. Writes nothing for any other text. */
  #ascii(text: string): boolean {
    const { length } = text;
    if (length > LOOP_CHARACTERS_MAX) return false;
    this.#reserve(length);
    const bytes = this.#bytes;
    const start = this.#at - length;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) return false;
      bytes[start + index] = code;
    }
    this.#at = start;
    return true;
  }

  /** Returns a copy of the written bytes, which the caller owns. The writer is empty afterwards. */
  finish(): Uint8Array {
    const bytes = this.#bytes;
    const at = this.#at;
    this.reset();
    const length = bytes.length - at;
    if (length > LOOP_BYTES_MAX) return bytes.slice(at);
    const result = new Uint8Array(length);
    for (let index = 0; index < length; index += 1) result[index] = bytes[at + index]!;
    return result;
  }

  /** Drops the written bytes. */
  reset(): void {
    if (this.#bytes.length > KEPT_BYTES_MAX) this.#bytes = new Uint8Array(this.#capacity);
    this.#at = this.#bytes.length;
  }
}
