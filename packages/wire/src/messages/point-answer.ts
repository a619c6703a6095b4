import { assert, EMPTY_BYTES } from '@engram/core';
import { sizeVarint, writeVarint } from '@engram/protobuf';
import type { LongMessage } from '../rpc.ts';

/** `count` of one key: the field's tag and the number. */
const COUNT_BYTES = 2;

/**
 * The RangeResponse with one version, as most reads have. It is written directly into the transport's buffer, because a
 * buffer of its own would cost more than the rest of the answer.
 */
export class PointAnswer implements LongMessage {
  readonly bytes: number;
  #header: Uint8Array;
  #kv: Uint8Array;
  /** The encoded message, if it waits or does not fit into one `read`. `#at` is the number of bytes read so far. */
  #whole: Uint8Array | undefined;
  #at = 0;

  constructor(header: Uint8Array, kv: Uint8Array) {
    this.#header = header;
    this.#kv = kv;
    this.bytes = sizeField(header) + sizeField(kv) + COUNT_BYTES;
  }

  get heldBytes(): number {
    return this.bytes;
  }

  prepare(): undefined {}

  drop(): void {}

  /** The version is a view of a slab of the cache, 64 KiB, of which nothing else may be needed. */
  stays(): void {
    this.#copied();
    this.#header = EMPTY_BYTES;
    this.#kv = EMPTY_BYTES;
  }

  read(target: Uint8Array, start: number, end: number): number {
    if (this.#at === 0 && this.#whole === undefined && end - start >= this.bytes) {
      this.#at = this.bytes;
      return this.#write(target, start);
    }
    const part = this.#copied().subarray(this.#at, this.#at + end - start);
    target.set(part, start);
    this.#at += part.length;
    return start + part.length;
  }

  #copied(): Uint8Array {
    if (this.#whole !== undefined) return this.#whole;
    const whole = new Uint8Array(this.bytes);
    this.#write(whole, 0);
    this.#whole = whole;
    return whole;
  }

  #write(target: Uint8Array, start: number): number {
    let at = writeField(10, this.#header, target, start);
    at = writeField(18, this.#kv, target, at);
    target[at] = 32;
    target[at + 1] = 1;
    assert(at + COUNT_BYTES === start + this.bytes, 'an answer has not the size that was computed for it');
    return at + COUNT_BYTES;
  }
}

const sizeField = ({ length }: Uint8Array): number => 1 + sizeVarint(length) + length;

function writeField(tag: number, bytes: Uint8Array, target: Uint8Array, start: number): number {
  target[start] = tag;
  const at = writeVarint(bytes.length, target, start + 1);
  target.set(bytes, at);
  return at + bytes.length;
}
