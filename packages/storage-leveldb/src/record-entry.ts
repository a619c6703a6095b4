import { crc32 } from 'node:zlib';
import { type LogPosition, logPosition } from '@engram/core';

// A record is one entry of the database. Its key is its position, 8 bytes, big endian, so that LevelDB's order is the
// log's. Its value is a header of 8 bytes, little endian, and the record:
//
// - following (u32): how many records of the same batch come after it, so that a reader knows whether a batch is whole
// - CRC-32 (u32): of the record, seeded with the position and `following`
//
// LevelDB itself does not check the blocks that it reads. The database holds nothing but records. A key that is not at
// the end of the log would make LevelDB's tables overlap, and every merge of tables writes the records once more
// (measured: 10 us of CPU for a record instead of 6).

const U32 = 2 ** 32;
export const RECORD_KEY_BYTES = 8;
export const RECORD_HEADER_BYTES = 8;

export function recordKey(position: number): Uint8Array {
  const key = new Uint8Array(RECORD_KEY_BYTES);
  writeRecordKey(key, 0, position);
  return key;
}

export function writeRecordKey(target: Uint8Array, at: number, position: number): void {
  writeU32(target, at, Math.floor(position / U32));
  writeU32(target, at + 4, position);
}

/** Undefined if it is not the key of a record. */
export function recordKeyPosition(key: Uint8Array): LogPosition | undefined {
  if (key.length !== RECORD_KEY_BYTES) return undefined;
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  const position = view.getUint32(0) * U32 + view.getUint32(4);
  return position > 0 && Number.isSafeInteger(position) ? logPosition(position) : undefined;
}

/** Writes the header of a record's value. The caller writes the record behind it. */
export function writeRecordHeader(
  target: Uint8Array,
  at: number,
  position: number,
  following: number,
  record: Uint8Array,
): void {
  const crc = crc32(record, recordSeed(position, following));
  for (let index = 0; index < 4; index += 1) {
    target[at + index] = following >>> (8 * index);
    target[at + 4 + index] = crc >>> (8 * index);
  }
}

export interface RecordEntry {
  readonly following: number;
  /** A view of the entry. */
  readonly record: Uint8Array;
}

/** Undefined if the CRC shows that the value was not written at this position or is damaged. */
export function readRecordEntry(entry: Uint8Array, position: number): RecordEntry | undefined {
  if (entry.length < RECORD_HEADER_BYTES) return undefined;
  const following = readU32(entry, 0);
  // Not `subarray`: on a Buffer it returns a Buffer, whose slice() does not copy.
  const start = entry.byteOffset + RECORD_HEADER_BYTES;
  const record = new Uint8Array(entry.buffer, start, entry.byteLength - RECORD_HEADER_BYTES);
  if (crc32(record, recordSeed(position, following)) !== readU32(entry, 4)) return undefined;
  return { following, record };
}

/** Equal bytes with different seeds have different CRCs. The seed depends on both numbers. */
function recordSeed(position: number, following: number): number {
  const high = Math.floor(position / U32);
  return ((position % U32) + Math.imul(high, 0x85ebca6b) + Math.imul(following, 0x9e3779b1)) >>> 0;
}

// A DataView for each record costs more than reading the bytes.
function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** Big endian. `>>>` keeps the bits below 2^32. The assignment to a byte keeps the lowest eight of them. */
function writeU32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
}
