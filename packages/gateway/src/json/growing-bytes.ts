import { assert, GrpcCode } from '@engram/core';
import { sizeBig, sizeVarint, writeBig, writeVarint } from '@engram/protobuf';
import { StatusError } from '@engram/wire';

const FIRST_BYTES = 256;

/** A protobuf message that is written from its beginning. The length of a message within it is known when it ends. */
export class GrowingBytes {
  readonly #bytesMax: number;
  #bytes: Buffer;
  #length = 0;

  /** What becomes longer than `bytesMax` is refused with RESOURCE_EXHAUSTED. */
  constructor(bytesMax: number, expected: number) {
    this.#bytesMax = bytesMax;
    this.#bytes = Buffer.allocUnsafe(Math.min(bytesMax, Math.max(FIRST_BYTES, expected)));
  }

  get length(): number {
    return this.#length;
  }

  /** A view: valid until more is written. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** That many bytes follow, by any of the methods below. */
  expect(bytes: number): void {
    this.#room(bytes);
  }

  put(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  varint(value: number): void {
    this.#room(sizeVarint(value));
    this.#length = writeVarint(value, this.#bytes, this.#length);
  }

  /** Signed or unsigned: the low 64 bits count. */
  big(value: bigint): void {
    this.#room(sizeBig(value));
    this.#length = writeBig(value, this.#bytes, this.#length);
  }

  /** A message within this one begins. Its length takes one byte, until `close`. Returns what `close` needs. */
  open(): number {
    this.varint(0);
    return this.#length;
  }

  /** The message that `open` began ends here. */
  close(start: number): void {
    const length = this.#length - start;
    assert(length >= 0, 'a message ends before it begins');
    const more = sizeVarint(length) - 1;
    if (more > 0) {
      this.#room(more);
      this.#bytes.copyWithin(start + more, start, this.#length);
      this.#length += more;
    }
    writeVarint(length, this.#bytes, start - 1);
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    if (needed > this.#bytesMax) {
      const message = `grpc: received message larger than max (${needed} vs. ${this.#bytesMax})`;
      throw new StatusError(GrpcCode.RESOURCE_EXHAUSTED, message);
    }
    const grown = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(needed, 2 * this.#bytes.length)));
    grown.set(this.bytes);
    this.#bytes = grown;
  }
}
