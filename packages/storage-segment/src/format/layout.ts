import { crc32 } from 'node:zlib';
import { assert } from '@engram/core';

// A segment file is a header, then frames in sequence. After the last frame there are zeros or nothing.
//
// - header: magic, format, id (u64), salt, kind, 0, crc
// - frame: magic, payload bytes, records, following, first position (u64), previous, crc, and in format 2 the wall-clock mark
//   (u64), which the crc covers as well; then its records
// - record: length, crc; then its bytes
//
// Numbers are u32, little endian, unless stated otherwise. The salt is random, and every CRC of a frame's header is
// seeded with it. So neither bytes of another file nor bytes that a client wrote into a value are a frame here.
// `previous` is the CRC of the previous frame's header, or of the segment's header for the first frame: frames cannot be
// lost or swapped unnoticed. The CRC of a record covers its position and length as well.
//
// An append is one frame. A frame of a cleaned segment holds consecutive records that are left of one batch.
// `following` is the number of records of that batch that came after the frame (0 after an append). It tells a reader
// where a batch ends.

// The frames of a segment of format 1 have no marks. Such segments are still written where no marks are kept.
const UNMARKED_VERSION = 1;
const FORMAT_VERSION = 2;
export const SEGMENT_HEADER_BYTES = 32;
/** Without a mark. */
export const FRAME_HEADER_BYTES = 32;
export const MARKED_FRAME_HEADER_BYTES = 40;
export const RECORD_HEADER_BYTES = 8;
/** Offsets are smaller, so a table of them has a bit to spare. */
export const SEGMENT_BYTES_MAX = 2 ** 31 - 1;

const SEGMENT_MAGIC = 0x53474e45; // "ENGS"
const FRAME_MAGIC = 0x46474e45; // "ENGF"
export const FRAME_MAGIC_BYTES: Uint8Array = Uint8Array.from(Buffer.from('ENGF'));
const U32 = 2 ** 32;

/** Appended: a part of the log as it was written. Cleaned: the live records of such parts. */
export type SegmentKind = 'appended' | 'cleaned';
const KINDS: readonly SegmentKind[] = ['appended', 'cleaned'];

export interface SegmentHeader {
  readonly id: number;
  readonly salt: number;
  readonly kind: SegmentKind;
  /** Its frames have wall-clock marks. */
  readonly marked: boolean;
  /** Its own CRC, which is the `previous` of the first frame. */
  readonly crc: number;
}

/** The length of the headers of a segment's frames. */
export const frameHeaderBytes = ({ marked }: Pick<SegmentHeader, 'marked'>): number =>
  marked ? MARKED_FRAME_HEADER_BYTES : FRAME_HEADER_BYTES;

export function encodeSegmentHeader(id: number, salt: number, kind: SegmentKind, marked = false): Uint8Array {
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, SEGMENT_MAGIC, true);
  view.setUint32(4, marked ? FORMAT_VERSION : UNMARKED_VERSION, true);
  setU64(view, 8, id);
  view.setUint32(16, salt, true);
  view.setUint32(20, KINDS.indexOf(kind), true);
  view.setUint32(28, crc32(bytes.subarray(0, 28)), true);
  return bytes;
}

/** Undefined if the bytes are damaged or not a segment header. */
export function decodeSegmentHeader(bytes: Uint8Array): SegmentHeader | undefined {
  if (bytes.length < SEGMENT_HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, SEGMENT_HEADER_BYTES);
  const crc = view.getUint32(28, true);
  if (view.getUint32(0, true) !== SEGMENT_MAGIC || crc32(bytes.subarray(0, 28)) !== crc) return undefined;
  const kind = KINDS[view.getUint32(20, true)];
  const format = view.getUint32(4, true);
  if ((format !== UNMARKED_VERSION && format !== FORMAT_VERSION) || kind === undefined) return undefined;
  return { id: getU64(view, 8), salt: view.getUint32(16, true), kind, marked: format === FORMAT_VERSION, crc };
}

export interface FrameHeader {
  readonly payloadBytes: number;
  readonly records: number;
  /** How many records of the same batch come after this frame. */
  readonly following: number;
  readonly first: number;
  readonly previous: number;
  /** The wall-clock mark of the batch; 0 if it has none. Undefined in a segment whose frames have no marks. */
  readonly wallMs?: number | undefined;
  readonly crc: number;
}

/** The length of this header. */
export const headerBytesOf = ({ wallMs }: Pick<FrameHeader, 'wallMs'>): number =>
  frameHeaderBytes({ marked: wallMs !== undefined });

/** Returns the header's CRC, which is the `previous` of the next frame. */
export function writeFrameHeader(view: DataView, at: number, salt: number, frame: Omit<FrameHeader, 'crc'>): number {
  view.setUint32(at, FRAME_MAGIC, true);
  view.setUint32(at + 4, frame.payloadBytes, true);
  view.setUint32(at + 8, frame.records, true);
  view.setUint32(at + 12, frame.following, true);
  setU64(view, at + 16, frame.first);
  view.setUint32(at + 24, frame.previous, true);
  let crc = crc32(new Uint8Array(view.buffer, view.byteOffset + at, 28), salt);
  if (frame.wallMs !== undefined) {
    setU64(view, at + 32, frame.wallMs);
    crc = crc32(new Uint8Array(view.buffer, view.byteOffset + at + 32, 8), crc);
  }
  view.setUint32(at + 28, crc, true);
  return crc;
}

/** Undefined if there is no header of a frame of this segment. */
export function readFrameHeader(bytes: Uint8Array, at: number, salt: number, marked = false): FrameHeader | undefined {
  const length = frameHeaderBytes({ marked });
  if (at + length > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, length);
  if (view.getUint32(0, true) !== FRAME_MAGIC) return undefined;
  const crc = view.getUint32(28, true);
  const fixed = crc32(bytes.subarray(at, at + 28), salt);
  if ((marked ? crc32(bytes.subarray(at + 32, at + length), fixed) : fixed) !== crc) return undefined;
  const wallMs = marked ? getU64(view, 32) : undefined;
  const header = {
    payloadBytes: view.getUint32(4, true),
    records: view.getUint32(8, true),
    following: view.getUint32(12, true),
    first: getU64(view, 16),
    previous: view.getUint32(24, true),
    wallMs,
    crc,
  };
  const possible = header.records > 0 && header.payloadBytes >= header.records * RECORD_HEADER_BYTES;
  return possible && Number.isSafeInteger(header.first) && Number.isSafeInteger(wallMs ?? 0) ? header : undefined;
}

/** Writes the header of a record; its bytes follow. */
export function writeRecordHeader(view: DataView, at: number, position: number, record: Uint8Array): void {
  view.setUint32(at, record.length, true);
  view.setUint32(at + 4, crc32(record, recordSeed(position, record.length)), true);
}

/**
 * The length of the record whose header is at `at`, if it has this position and does not end after `end`; undefined if
 * it is damaged.
 */
export function checkRecord(bytes: Uint8Array, at: number, end: number, position: number): number | undefined {
  if (at + RECORD_HEADER_BYTES > end) return undefined;
  const length = readU32(bytes, at);
  const start = at + RECORD_HEADER_BYTES;
  if (start + length > end) return undefined;
  const crc = crc32(bytes.subarray(start, start + length), recordSeed(position, length));
  return crc === readU32(bytes, at + 4) ? length : undefined;
}

/** Equal bytes with different seeds have different CRCs, and the seed differs if either number does. */
function recordSeed(position: number, length: number): number {
  const high = Math.floor(position / U32);
  return ((position % U32) + Math.imul(high, 0x85ebca6b) + Math.imul(length, 0x9e3779b1)) >>> 0;
}

function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

export function setU64(view: DataView, at: number, value: number): void {
  assert(Number.isSafeInteger(value) && value >= 0, 'a number that is not whole or negative');
  view.setUint32(at, value % U32, true);
  view.setUint32(at + 4, Math.floor(value / U32), true);
}

/** The number may be unsafe; the caller checks. */
export function getU64(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * U32 + view.getUint32(at, true);
}
