import { assert } from '@engram/core';
import type { LogBatch } from '@engram/storage';
import {
  FRAME_HEADER_BYTES,
  RECORD_HEADER_BYTES,
  SEGMENT_BYTES_MAX,
  SEGMENT_HEADER_BYTES,
  writeFrameHeader,
  writeRecordHeader,
} from './layout.ts';

/** Kept from append to append. A larger frame gets memory of its own. */
const KEPT_BYTES_MAX = 8 << 20;

export function frameBytes(batch: LogBatch): number {
  let bytes = FRAME_HEADER_BYTES + RECORD_HEADER_BYTES * batch.records.length;
  for (const record of batch.records) bytes += record.length;
  assert(bytes <= SEGMENT_BYTES_MAX - SEGMENT_HEADER_BYTES, 'a batch that no segment can hold');
  return bytes;
}

/** Assembles frames, one at a time, in memory that is reused: one copy and one write for each append. */
export class FrameBuffer {
  #bytes = new Uint8Array(Buffer.allocUnsafeSlow(256 << 10).buffer);
  #view = new DataView(this.#bytes.buffer);

  /** `size` is that of `frameBytes`. The bytes are valid until the next call. */
  assemble(batch: LogBatch, size: number, salt: number, previous: number): { bytes: Uint8Array; crc: number } {
    const bytes = this.#reserve(size);
    const view = bytes === this.#bytes ? this.#view : new DataView(bytes.buffer);
    let at = FRAME_HEADER_BYTES;
    let position: number = batch.first;
    for (const record of batch.records) {
      writeRecordHeader(view, at, position, record);
      bytes.set(record, at + RECORD_HEADER_BYTES);
      at += RECORD_HEADER_BYTES + record.length;
      position += 1;
    }
    assert(at === size, 'a frame of another size');
    const crc = writeFrameHeader(view, 0, salt, {
      payloadBytes: size - FRAME_HEADER_BYTES,
      records: batch.records.length,
      following: 0,
      first: batch.first,
      previous,
    });
    return { bytes: bytes.subarray(0, size), crc };
  }

  #reserve(size: number): Uint8Array<ArrayBuffer> {
    if (size <= this.#bytes.length) return this.#bytes;
    const wanted = Math.max(size, Math.min(KEPT_BYTES_MAX, this.#bytes.length * 2));
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(wanted).buffer);
    if (wanted > KEPT_BYTES_MAX) return bytes;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
    return bytes;
  }
}
