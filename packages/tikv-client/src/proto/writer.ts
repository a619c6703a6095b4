const words = new Uint32Array(2);
const wide = new BigUint64Array(words.buffer);
const encoder = new TextEncoder();

/**
 * Writes a protobuf message from its end to its beginning: the length of an inner message is known when its prefix is
 * due, so nothing is measured first and nothing is moved. Callers therefore write fields in falling order.
 */
export class Writer {
  #bytes: Uint8Array;
  #at: number;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#at = capacity;
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  #reserve(count: number): void {
    if (this.#at >= count) return;
    const used = this.length;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, used + count + 64));
    grown.set(this.#bytes.subarray(this.#at), grown.length - used);
    this.#bytes = grown;
    this.#at = grown.length - used;
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    this.#reserve(10);
    if (value < 0x80) {
      this.#bytes[--this.#at] = value;
      return;
    }
    let size = 1;
    for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) size += 1;
    this.#at -= size;
    const bytes = this.#bytes;
    let at = this.#at;
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 0x80;
    bytes[at] = rest;
  }

  /** 64 bits; negative numbers as their two's complement, as int64 travels. */
  varint64(value: bigint): void {
    this.#reserve(10);
    wide[0] = value;
    let low = words[0]!;
    let high = words[1]!;
    const bits = high === 0 ? 32 - Math.clz32(low) : 64 - Math.clz32(high);
    this.#at -= Math.max(1, Math.ceil(bits / 7));
    const bytes = this.#bytes;
    let at = this.#at;
    while (high !== 0 || low >= 0x80) {
      bytes[at++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    bytes[at] = low;
  }

  /** int32 and enums: a negative number takes ten bytes, as the format wants it. */
  int32(value: number): void {
    if (value >= 0) this.varint(value);
    else this.varint64(BigInt(value));
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
  }

  /** Length prefix and bytes; the tag is the caller's. */
  bytes(bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
  }

  text(text: string): void {
    this.bytes(encoder.encode(text));
  }

  /** What was written. The bytes are a copy and the caller's; the writer is empty afterwards. */
  finish(): Uint8Array {
    const result = this.#bytes.slice(this.#at);
    this.#at = this.#bytes.length;
    return result;
  }
}
