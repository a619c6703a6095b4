import { gunzipSync, inflateSync } from 'node:zlib';
import { GrpcCode } from '@engram/core';
import { readUint32 } from '@engram/http2';
import { TransportError } from './transport.ts';

/** Compressed flag and length, before every message. */
export const MESSAGE_PREFIX_BYTES = 5;
/** The largest message. TiKV sets no bound; an answer of a store has at most some values of 6 MiB. */
export const MESSAGE_BYTES_MAX = 2 ** 30;
/** Room for a message that arrives in parts is made up to this size at once. It then grows with what arrives. */
const ROOM_BYTES_AT_ONCE = 4 << 20;

/** Cuts the bytes of a gRPC stream into messages. */
export class MessageReader {
  readonly #message: (bytes: Buffer) => void;
  readonly #prefix = Buffer.allocUnsafeSlow(MESSAGE_PREFIX_BYTES);
  #prefixBytes = 0;
  #body: Buffer | undefined;
  #bodyBytes = 0;
  #encoding = 'identity';

  /** @param message may keep the bytes, and must not throw */
  constructor(message: (bytes: Buffer) => void) {
    this.#message = message;
  }

  /** The answer's `grpc-encoding`. */
  setEncoding(encoding: string): void {
    this.#encoding = encoding;
  }

  /** Whether a message has begun and not ended. */
  get isInside(): boolean {
    return this.#prefixBytes > 0;
  }

  /** Reads while `continues`. Messages may be views of `bytes`. Throws TransportError. */
  read(bytes: Buffer, start: number, end: number, continues: () => boolean): void {
    let at = start;
    while (at < end && continues()) {
      if (this.#prefixBytes === 0 && end - at >= MESSAGE_PREFIX_BYTES) {
        const body = at + MESSAGE_PREFIX_BYTES;
        const bodyEnd = body + checkedLength(readUint32(bytes, at + 1));
        if (bodyEnd <= end) {
          this.#deliver(bytes[at]!, bytes.subarray(body, bodyEnd));
          at = bodyEnd;
          continue;
        }
      }
      at = this.#gather(bytes, at, end);
    }
  }

  /** Takes bytes of a message that arrives in parts. Returns the position after them. */
  #gather(bytes: Buffer, start: number, end: number): number {
    let at = start;
    if (this.#prefixBytes < MESSAGE_PREFIX_BYTES) {
      const taken = Math.min(MESSAGE_PREFIX_BYTES - this.#prefixBytes, end - at);
      bytes.copy(this.#prefix, this.#prefixBytes, at, at + taken);
      this.#prefixBytes += taken;
      at += taken;
      if (this.#prefixBytes < MESSAGE_PREFIX_BYTES) return at;
    }
    const length = checkedLength(readUint32(this.#prefix, 1));
    const taken = Math.min(length - this.#bodyBytes, end - at);
    const body = this.#room(length, this.#bodyBytes + taken);
    bytes.copy(body, this.#bodyBytes, at, at + taken);
    this.#bodyBytes += taken;
    if (this.#bodyBytes === length) {
      this.#prefixBytes = 0;
      this.#body = undefined;
      this.#bodyBytes = 0;
      this.#deliver(this.#prefix[0]!, body.subarray(0, length));
    }
    return at + taken;
  }

  #room(length: number, needed: number): Buffer {
    const old = this.#body;
    if (old !== undefined && old.length >= needed) return old;
    const room = Buffer.allocUnsafeSlow(Math.min(length, Math.max(ROOM_BYTES_AT_ONCE, 2 * needed)));
    old?.copy(room, 0, 0, this.#bodyBytes);
    this.#body = room;
    return room;
  }

  #deliver(flag: number, bytes: Buffer): void {
    this.#message(flag === 0 ? bytes : decompress(flag, this.#encoding, bytes));
  }
}

function checkedLength(length: number): number {
  if (length <= MESSAGE_BYTES_MAX) return length;
  throw new TransportError(GrpcCode.INTERNAL, `the server sent a message of ${length} bytes`);
}

function decompress(flag: number, encoding: string, bytes: Buffer): Buffer {
  const options = { maxOutputLength: MESSAGE_BYTES_MAX };
  try {
    if (flag === 1 && encoding === 'gzip') return gunzipSync(bytes, options);
    if (flag === 1 && encoding === 'deflate') return inflateSync(bytes, options);
  } catch (cause) {
    throw new TransportError(GrpcCode.INTERNAL, `the server sent a message that is no ${encoding}`, { cause });
  }
  throw new TransportError(GrpcCode.INTERNAL, `the server sent a message with flag ${flag} and encoding ${encoding}`);
}
