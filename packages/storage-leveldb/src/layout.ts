import { crc32 } from 'node:zlib';
import { type LogPosition, logPosition } from '@engram/core';

// One database, five kinds of keys. Every value carries a CRC-32 that also covers what its key says, so that an intact
// value under a damaged key is damage as well; LevelDB by itself does not check the blocks that it reads.
//
//   'engram'                            the format of all this
//   'c' id (u64)  index (u32)           a chunk of a checkpoint
//   'm'                                 the manifest: which checkpoint is whole
//   'r' position (u64)                  a record of the log
//   's'                                 the seal: the newest epoch
//   'u'                                 usage: how much is in use, for size()
//
// Numbers in keys are big endian, so that LevelDB's order is theirs; in values they are little endian.

export const FORMAT_KEY: Uint8Array = Uint8Array.from(Buffer.from('engram'));
export const FORMAT_VERSION = 1;
export const MANIFEST_KEY: Uint8Array = Uint8Array.of(0x6d);
export const SEAL_KEY: Uint8Array = Uint8Array.of(0x73);
export const USAGE_KEY: Uint8Array = Uint8Array.of(0x75);
const CHUNK = 0x63;
const RECORD = 0x72;

const U32 = 2 ** 32;
export const RECORD_KEY_BYTES = 9;
const CHUNK_KEY_BYTES = 13;
export const RECORD_HEADER_BYTES = 8;
const CRC_BYTES = 4;

export function recordKey(position: number): Uint8Array {
  const key = new Uint8Array(RECORD_KEY_BYTES);
  writeRecordKey(key, 0, position);
  return key;
}

export function writeRecordKey(target: Uint8Array, at: number, position: number): void {
  target[at] = RECORD;
  writeU32(target, at + 1, Math.floor(position / U32));
  writeU32(target, at + 5, position);
}

/** Undefined for what is no key of a record. */
export function recordKeyPosition(key: Uint8Array): LogPosition | undefined {
  if (key.length !== RECORD_KEY_BYTES || key[0] !== RECORD) return undefined;
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  const position = view.getUint32(1) * U32 + view.getUint32(5);
  return Number.isSafeInteger(position) ? logPosition(position) : undefined;
}

/** All keys of records: gte, lt. */
export const allRecords: { readonly gte: Uint8Array; readonly lt: Uint8Array } = {
  gte: Uint8Array.of(RECORD),
  lt: Uint8Array.of(RECORD + 1),
};

/**
 * Writes the header of a record's entry; the record follows it. `following` is how many records of the same batch come
 * after it: so a batch is known to be whole, and reading may begin anywhere.
 */
export function writeRecordHeader(
  target: Uint8Array,
  at: number,
  position: number,
  following: number,
  record: Uint8Array,
): void {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  view.setUint32(at, following, true);
  view.setUint32(at + 4, crc32(record, recordSeed(position, following)), true);
}

export interface RecordEntry {
  readonly following: number;
  /** A view of the entry. */
  readonly record: Uint8Array;
}

/** Undefined where the entry is not what was written at this position. */
export function readRecordEntry(entry: Uint8Array, position: number): RecordEntry | undefined {
  if (entry.length < RECORD_HEADER_BYTES) return undefined;
  const view = new DataView(entry.buffer, entry.byteOffset, RECORD_HEADER_BYTES);
  const following = view.getUint32(0, true);
  // Not subarray: of a Buffer it is a Buffer, whose slice() is no copy.
  const start = entry.byteOffset + RECORD_HEADER_BYTES;
  const record = new Uint8Array(entry.buffer, start, entry.byteLength - RECORD_HEADER_BYTES);
  if (crc32(record, recordSeed(position, following)) !== view.getUint32(4, true)) return undefined;
  return { following, record };
}

/** For the same bytes a CRC differs whenever its start value does, and this differs when one of the numbers does. */
function recordSeed(position: number, following: number): number {
  const high = Math.floor(position / U32);
  return ((position % U32) + Math.imul(high, 0x85ebca6b) + Math.imul(following, 0x9e3779b1)) >>> 0;
}

export function chunkKey(id: number, index: number): Uint8Array {
  const key = new Uint8Array(CHUNK_KEY_BYTES);
  key[0] = CHUNK;
  writeU32(key, 1, Math.floor(id / U32));
  writeU32(key, 5, id);
  writeU32(key, 9, index);
  return key;
}

export function encodeChunk(chunk: Uint8Array, id: number, index: number): Uint8Array {
  const entry = new Uint8Array(chunk.length + CRC_BYTES);
  entry.set(chunk, CRC_BYTES);
  new DataView(entry.buffer).setUint32(0, crc32(chunk, recordSeed(id, index)), true);
  return entry;
}

export function decodeChunk(entry: Uint8Array, id: number, index: number): Uint8Array | undefined {
  if (entry.length < CRC_BYTES) return undefined;
  const chunk = new Uint8Array(entry.buffer, entry.byteOffset + CRC_BYTES, entry.byteLength - CRC_BYTES);
  const crc = new DataView(entry.buffer, entry.byteOffset, CRC_BYTES).getUint32(0, true);
  return crc32(chunk, recordSeed(id, index)) === crc ? chunk : undefined;
}

/** The value of the other keys, and of the file beside the database: some numbers, whole and not negative. */
export function encodeNumbers(key: Uint8Array, numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(CRC_BYTES + 8 * numbers.length);
  const view = new DataView(bytes.buffer);
  for (const [index, number] of numbers.entries()) view.setBigUint64(CRC_BYTES + 8 * index, BigInt(number), true);
  view.setUint32(0, crc32(bytes.subarray(CRC_BYTES), crc32(key)), true);
  return bytes;
}

export function decodeNumbers(key: Uint8Array, bytes: Uint8Array): readonly number[] | undefined {
  if (bytes.length % 8 !== CRC_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (crc32(bytes.subarray(CRC_BYTES), crc32(key)) !== view.getUint32(0, true)) return undefined;
  const numbers: number[] = [];
  for (let at = CRC_BYTES; at < bytes.length; at += 8) numbers.push(Number(view.getBigUint64(at, true)));
  return numbers;
}

function writeU32(target: Uint8Array, at: number, value: number): void {
  // Assignment to a byte keeps its lowest eight bits, and >>> first those below 2^32.
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
}
