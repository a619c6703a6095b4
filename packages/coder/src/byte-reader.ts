import { CoderError } from './coder-error.ts';

const INT64_BYTES_MAX = 10;

/** Reads bytes that may be damaged, from the front. Every step is checked and throws CoderError. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  #at: number;

  /** `what` names the bytes in errors. */
  constructor(bytes: Uint8Array, what: string, at = 0) {
    this.#bytes = bytes;
    this.#what = what;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    if (this.#at >= this.#bytes.length) throw this.failure('cut off');
    const byte = this.#bytes[this.#at]!;
    this.#at += 1;
    return byte;
  }

  /** A number from 0 to 2^53 - 1, in at most ten bytes. */
  varint(): number {
    const bytes = this.#bytes;
    const start = this.#at;
    if (start >= bytes.length) throw this.failure('cut off');
    const first = bytes[start]!;
    if (first < 0x80) {
      this.#at = start + 1;
      return first;
    }
    let value = first & 0x7f;
    let scale = 0x80;
    const end = Math.min(bytes.length, start + INT64_BYTES_MAX);
    for (let at = start + 1; at < end; at += 1) {
      const byte = bytes[at]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw this.failure('a number above 2^53 - 1');
        this.#at = at + 1;
        return value;
      }
      scale *= 0x80;
    }
    throw this.failure(end === bytes.length ? 'cut off' : 'a varint of more than ten bytes');
  }

  /** A varint with all 64 bits, signed. */
  varint64(): bigint {
    let low = 0;
    let high = 0;
    for (let index = 0; index < INT64_BYTES_MAX; index += 1) {
      const byte = this.byte();
      const bits = byte & 0x7f;
      if (index < 4) low |= bits << (7 * index);
      else if (index === 4) {
        low |= bits << 28;
        high = bits >>> 4;
      } else if (index < 9) high |= bits << (7 * index - 32);
      // The tenth byte has one bit of the number. protobuf ignores the others.
      else high |= (bits & 1) << 31;
      if (byte < 0x80) {
        if (high === 0) return BigInt(low >>> 0);
        return BigInt.asIntN(64, (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
      }
    }
    throw this.failure('a varint of more than ten bytes');
  }

  fixed64(): bigint {
    if (this.#at + 8 > this.#bytes.length) throw this.failure('cut off');
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, 8);
    this.#at += 8;
    return view.getBigInt64(0, true);
  }

  /** A view, not a copy. */
  slice(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw this.failure('cut off');
    const view = new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, length);
    this.#at = end;
    return view;
  }

  skip(length: number): void {
    if (this.#at + length > this.#bytes.length) throw this.failure('cut off');
    this.#at += length;
  }

  /** Copies the next `length` bytes to `target` from `offset` on. */
  copy(target: Uint8Array, offset: number, length: number): void {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw this.failure('cut off');
    const bytes = this.#bytes;
    for (let from = this.#at, to = offset; from < end; from += 1, to += 1) target[to] = bytes[from]!;
    this.#at = end;
  }

  /** The caller calls it after the last field. Bytes that are left over are damage, too. */
  end(): void {
    if (!this.done) throw this.failure('more bytes than it has');
  }

  failure(fault: string): CoderError {
    return new CoderError(this.#what, fault, this.#at);
  }
}
