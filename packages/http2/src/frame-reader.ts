import { assert } from '@engram/core';
import { ErrorCode, FRAME_HEADER_BYTES } from './constants.ts';
import { Http2Error } from './http2-error.ts';

const nothing = Buffer.alloc(0);

/**
 * Cuts the bytes of a connection into frames. Push a chunk, then call `next` until it returns false. After each true
 * the fields describe one frame, and its payload is `bytes[start, end)`. `bytes` is the chunk, or a new buffer for a
 * frame that is split over chunks. So at most one frame is held, and of a chunk that is used up nothing. The reader writes
 * to neither again, so the caller may keep a view.
 */
export class FrameReader {
  type = 0;
  flags = 0;
  /** Without the reserved bit. */
  streamId = 0;
  bytes: Buffer = nothing;
  start = 0;
  end = 0;

  readonly #maxFrameBytes: number;
  #chunk: Buffer = nothing;
  #at = 0;
  /** For a split frame: the received part of its header, then of its payload. */
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  #payload: Buffer | undefined;
  #payloadBytes = 0;

  /** A payload above `maxFrameBytes` is a FRAME_SIZE_ERROR of the connection. */
  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Buffer): void {
    assert(this.#at === this.#chunk.length, 'the chunk before has not been used up');
    this.#chunk = chunk;
    this.#at = 0;
  }

  next(): boolean {
    if (this.#headerBytes > 0) return this.#nextOfSplit();
    const chunk = this.#chunk;
    const at = this.#at;
    const left = chunk.length - at;
    if (left < FRAME_HEADER_BYTES) {
      return left > 0 ? this.#nextOfSplit() : this.#usedUp();
    }
    const length = this.#readHeader(chunk, at);
    if (left < FRAME_HEADER_BYTES + length) return this.#nextOfSplit();
    this.bytes = chunk;
    this.start = at + FRAME_HEADER_BYTES;
    this.end = this.start + length;
    this.#at = this.end;
    return true;
  }

  /** Sets the fields and returns the payload's length. */
  #readHeader(bytes: Buffer, at: number): number {
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    if (length > this.#maxFrameBytes) {
      throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, `frame of ${length} bytes, at most ${this.#maxFrameBytes}`);
    }
    this.type = bytes[at + 3]!;
    this.flags = bytes[at + 4]!;
    this.streamId = ((bytes[at + 5]! & 0x7f) << 24) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 8) | bytes[at + 8]!;
    return length;
  }

  #nextOfSplit(): boolean {
    if (this.#headerBytes < FRAME_HEADER_BYTES) {
      this.#headerBytes += this.#take(this.#header, this.#headerBytes);
      if (this.#headerBytes < FRAME_HEADER_BYTES) return this.#usedUp();
    }
    const length = this.#readHeader(this.#header, 0);
    this.#payload ??= Buffer.allocUnsafeSlow(length);
    this.#payloadBytes += this.#take(this.#payload, this.#payloadBytes);
    if (this.#payloadBytes < length) return this.#usedUp();
    this.bytes = this.#payload;
    this.start = 0;
    this.end = length;
    this.#headerBytes = 0;
    this.#payload = undefined;
    this.#payloadBytes = 0;
    return true;
  }

  /** An idle connection would keep its last chunk, 64 KiB. Returns that there is no other frame. */
  #usedUp(): false {
    this.#chunk = nothing;
    this.#at = 0;
    this.bytes = nothing;
    return false;
  }

  /** Copies as many bytes of the chunk to `target[filled...]` as exist and fit. Returns their number. */
  #take(target: Buffer, filled: number): number {
    const bytes = Math.min(target.length - filled, this.#chunk.length - this.#at);
    this.#chunk.copy(target, filled, this.#at, this.#at + bytes);
    this.#at += bytes;
    return bytes;
  }
}
