import { assert, type Slice, type SlicedWork } from '@engram/core';
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

/** Batches with more records are assembled in slices. This many records take a fraction of a millisecond. */
const RECORDS_AT_ONCE = 2048;
/** The cost of each record and of each KiB, in microseconds: a header, a copy and a CRC. */
const RECORD_US = 0.2;
const KIB_US = 0.3;
/** The cost of reading the length of one record, in microseconds. */
const LOOK_US = 0.02;

export const isLong = ({ records }: LogBatch): boolean => records.length > RECORDS_AT_ONCE;

/** The bytes of the batch's frame without its header. */
export function payloadBytes(batch: LogBatch): number {
  return sizeOf(batch, bytesOf(batch, 0, batch.records.length));
}

export function* payloadBytesSliced(batch: LogBatch, slice: Slice): SlicedWork<number> {
  let bytes = 0;
  for (let from = 0; from < batch.records.length; from += RECORDS_AT_ONCE) {
    bytes += bytesOf(batch, from, from + RECORDS_AT_ONCE);
    if (slice.spend(LOOK_US * RECORDS_AT_ONCE)) yield;
  }
  return sizeOf(batch, bytes);
}

function bytesOf({ records }: LogBatch, from: number, to: number): number {
  let bytes = 0;
  for (let at = from; at < Math.min(to, records.length); at += 1) bytes += records[at]!.length;
  return bytes;
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

  /** `size` is the result of `payloadBytes`, and the length of the header. */
  assemble(batch: LogBatch, size: number, place: FramePlace): AssembledFrame {
    const bytes = this.#reserve(size);
    const view = this.#viewOf(bytes);
    const at = writeRecords(bytes, view, batch, 0, batch.records.length, headerBytesOf(place));
    assert(at === size, 'a frame of another size');
    return finished(bytes, view, batch, size, place);
  }

  /**
   * As `assemble`. Puts the offset of each record's header into `offsets`, in a file where the frame begins at `start`.
   */
  *assembleSliced(
    batch: LogBatch,
    size: number,
    place: FramePlace,
    start: number,
    offsets: Uint32Array,
    slice: Slice,
  ): SlicedWork<AssembledFrame> {
    const bytes = this.#reserve(size);
    const view = this.#viewOf(bytes);
    let at = headerBytesOf(place);
    for (const [index, record] of batch.records.entries()) {
      offsets[index] = start + at;
      at = writeRecords(bytes, view, batch, index, index + 1, at);
      if (slice.spend(RECORD_US + (KIB_US * record.length) / 1024)) yield;
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

/** Returns where the last record ends. */
function writeRecords(
  bytes: Uint8Array,
  view: DataView,
  batch: LogBatch,
  from: number,
  to: number,
  start: number,
): number {
  let at = start;
  for (let index = from; index < to; index += 1) {
    const record = batch.records[index]!;
    writeRecordHeader(view, at, batch.first + index, record);
    bytes.set(record, at + RECORD_HEADER_BYTES);
    at += RECORD_HEADER_BYTES + record.length;
  }
  return at;
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
