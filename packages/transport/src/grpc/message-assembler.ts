import { readUint32 } from '@engram/wire';

/** Compressed flag and length, in front of every message. */
export const MESSAGE_PREFIX_BYTES = 5;

const firstBufferBytes = 64 * 1024;

/**
 * Gathers one message that came in more than one DATA frame. The buffer grows with what has come, so that a client
 * that only announces a long message gets no memory for it.
 */
export class MessageAssembler {
  readonly #prefix = Buffer.alloc(MESSAGE_PREFIX_BYTES);
  #prefixBytes = 0;
  #buffer: Buffer | undefined;
  #bytes = 0;

  /** Takes bytes of the prefix; undefined until it is whole. Returns where the rest begins. */
  takePrefix(bytes: Buffer, start: number, end: number): number {
    const taken = Math.min(MESSAGE_PREFIX_BYTES - this.#prefixBytes, end - start);
    bytes.copy(this.#prefix, this.#prefixBytes, start, start + taken);
    this.#prefixBytes += taken;
    return start + taken;
  }

  get prefixKnown(): boolean {
    return this.#prefixBytes === MESSAGE_PREFIX_BYTES;
  }

  get compressedFlag(): number {
    return this.#prefix[0]!;
  }

  get length(): number {
    return readUint32(this.#prefix, 1);
  }

  /** Bytes of the message that are still to come. */
  get missing(): number {
    return this.length - this.#bytes;
  }

  /** Bytes held. */
  get held(): number {
    return this.#bytes;
  }

  /** Takes bytes of the message, no more than `missing`. Returns where the rest begins. */
  take(bytes: Buffer, start: number, end: number): number {
    const taken = Math.min(this.missing, end - start);
    const buffer = this.#room(taken);
    bytes.copy(buffer, this.#bytes, start, start + taken);
    this.#bytes += taken;
    return start + taken;
  }

  /** The message, when nothing is missing. */
  get message(): Buffer {
    return (this.#buffer ?? Buffer.alloc(0)).subarray(0, this.#bytes);
  }

  #room(bytes: number): Buffer {
    const needed = this.#bytes + bytes;
    const old = this.#buffer;
    if (old !== undefined && old.length >= needed) return old;
    const size = Math.min(this.length, Math.max(firstBufferBytes, 2 * needed));
    const buffer = Buffer.allocUnsafeSlow(size);
    old?.copy(buffer, 0, 0, this.#bytes);
    this.#buffer = buffer;
    return buffer;
  }
}
