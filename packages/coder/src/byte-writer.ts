import { writeVarint } from '@engram/protobuf';
import { varintSize } from './varint.ts';

/** A buffer that grows at its end. One writer serves many messages. */
export class ByteWriter {
  #bytes: Uint8Array;
  #at = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#at;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  varint(value: number): void {
    this.#reserve(varintSize(value));
    this.#at = writeVarint(value, this.#bytes, this.#at);
  }

  fixed64(value: bigint): void {
    this.#reserve(8);
    new DataView(this.#bytes.buffer).setBigInt64(this.#at, BigInt.asIntN(64, value), true);
    this.#at += 8;
  }

  /** The bytes of `source` from `start` to `end`. */
  bytes(source: Uint8Array, start = 0, end = source.length): void {
    this.#reserve(end - start);
    const target = this.#bytes;
    for (let from = start, to = this.#at; from < end; from += 1, to += 1) target[to] = source[from]!;
    this.#at += end - start;
  }

  /** Returns a copy of the written bytes, which the caller owns, and empties the writer. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#at);
    this.#at = 0;
    return taken;
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + more));
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}
