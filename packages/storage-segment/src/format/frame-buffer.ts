import { assert } from '@engram/core';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';
import type { LogBatch } from '@engram/storage';
import {
  headerBytesOf,
  MARKED_FRAME_HEADER_BYTES,
  RECORD_HEADER_BYTES,
  SEGMENT_BYTES_MAX,
  SEGMENT_HEADER_BYTES,
  writeFrameHeader,
  writeRecordHeader,
} from './layout.ts';

/** A buffer up to this size is kept from append to append. A larger frame gets memory of its own. */
const KEPT_BYTES_MAX = 8 << 20;

/** Records whose length is read between two questions, and how many of them take as long as a step of the loop. */
const LOOKS_AT_ONCE = 2048;
const LOOKS_A_STEP = 16;

/** The bytes of the batch's frame without its header. */
export function* payloadBytes(batch: LogBatch, turn: Turn): PureJob<number> {
  const { records } = batch;
  let bytes = 0;
  for (let from = 0; from < records.length; from += LOOKS_AT_ONCE) {
    const to = Math.min(from + LOOKS_AT_ONCE, records.length);
    for (let at = from; at < to; at += 1) bytes += records[at]!.length;
    if (turn.shouldYield((to - from) / LOOKS_A_STEP)) yield;
  }
  return sizeOf(batch, bytes);
}

function sizeOf({ records }: LogBatch, recordBytes: number): number {
  const bytes = RECORD_HEADER_BYTES * records.length + recordBytes;
  const most = SEGMENT_BYTES_MAX - SEGMENT_HEADER_BYTES - MARKED_FRAME_HEADER_BYTES;
  assert(bytes <= most, 'a batch that no segment can hold');
  return bytes;
}

/** Where a frame is written, and what its header says besides the batch. */
export interface FramePlace {
  readonly salt: number;
  readonly previous: number;
  /** Undefined in a segment without marks. */
  readonly wallMs: number | undefined;
}

export interface AssembledFrame {
  /** Valid until the next frame is assembled. */
  readonly bytes: Uint8Array;
  readonly crc: number;
}

/** Assembles frames, one at a time, in memory that is reused: one copy and one write for each append. */
export class FrameBuffer {
  #bytes = new Uint8Array(Buffer.allocUnsafeSlow(256 << 10).buffer);
  #view = new DataView(this.#bytes.buffer);

  /**
   * `size` is the result of `payloadBytes`, and the length of the header. Puts the offset of each record's header into `offsets`,
   * in a file where the frame begins at `start`.
   */
  *assemble(
    batch: LogBatch,
    size: number,
    place: FramePlace,
    start: number,
    offsets: Uint32Array,
    turn: Turn,
  ): PureJob<AssembledFrame> {
    const { first, records } = batch;
    const bytes = this.#reserve(size);
    const view = this.#viewOf(bytes);
    let at = headerBytesOf(place);
    for (let index = 0; index < records.length; index += 1) {
      const record = records[index]!;
      offsets[index] = start + at;
      writeRecordHeader(view, at, first + index, record);
      bytes.set(record, at + RECORD_HEADER_BYTES);
      at += RECORD_HEADER_BYTES + record.length;
      if (turn.shouldYield(byteSteps(record.length))) yield;
    }
    assert(at === size, 'a frame of another size');
    return finished(bytes, view, batch, size, place);
  }

  #viewOf(bytes: Uint8Array<ArrayBuffer>): DataView<ArrayBuffer> {
    return bytes === this.#bytes ? this.#view : new DataView(bytes.buffer);
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

function finished(
  bytes: Uint8Array,
  view: DataView,
  batch: LogBatch,
  size: number,
  { salt, previous, wallMs }: FramePlace,
): AssembledFrame {
  const crc = writeFrameHeader(view, 0, salt, {
    payloadBytes: size - headerBytesOf({ wallMs }),
    records: batch.records.length,
    following: 0,
    first: batch.first,
    previous,
    wallMs,
  });
  return { bytes: bytes.subarray(0, size), crc };
}
