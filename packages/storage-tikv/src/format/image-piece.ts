import { crcOf } from './value-crc.ts';
import { assert, joinU64, splitU64 } from '@engram/core';
import { NewerFormat } from './batch-format.ts';
import type { ImageKey, ImageKind } from './log-keys.ts';

// A piece of an image is stored as one value. A piece that is larger than a value may be is split into parts, one value each.
// Each value begins with this header:
//
//   magic (u32), format (u16), kind (u16), crc (u32) of all else
//   part (u16), parts (u16), round (u64), number (u64)
//
// Numbers are little endian. The parts without their headers, one behind the other, are the payload.

const MAGIC = 0x50474e45; // "ENGP"
const FORMAT = 1;
const HEADER_BYTES = 32;
const kindNumbers: Readonly<Record<ImageKind, number>> = { chunk: 1, page: 2, places: 3, directory: 4 };

/** The key of a piece, without the number of a part. */
export type PieceName = Omit<ImageKey, 'part'>;

/** One decoded value: a view of its share of the payload. */
export interface PiecePart {
  readonly parts: number;
  readonly payload: Uint8Array;
}

export function encodePiece(name: PieceName, payload: Uint8Array, partBytesMax: number): readonly Uint8Array[] {
  const shareMax = partBytesMax - HEADER_BYTES;
  const parts = Math.max(1, Math.ceil(payload.length / shareMax));
  assert(parts <= 0xffff, 'a piece of an image of too many parts');
  return Array.from({ length: parts }, (_, part) => {
    const share = payload.subarray(part * shareMax, (part + 1) * shareMax);
    const value = new Uint8Array(HEADER_BYTES + share.length);
    value.set(share, HEADER_BYTES);
    writeHeader(value, name, part, parts);
    return value;
  });
}

/** Undefined if the value is damaged or belongs to another key. Throws NewerFormat. */
export function decodePiecePart({ round, kind, number, part }: ImageKey, value: Uint8Array): PiecePart | undefined {
  if (value.length < HEADER_BYTES) return undefined;
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(8, true) !== crcOf(value)) return undefined;
  const format = view.getUint16(4, true);
  if (format > FORMAT) throw new NewerFormat(`an image has format ${format}, and ${FORMAT} is the newest known`);
  const u64 = (at: number): bigint => joinU64(view.getUint32(at + 4, true), view.getUint32(at, true));
  const named = view.getUint16(6, true) === kindNumbers[kind] && view.getUint16(12, true) === part;
  const parts = view.getUint16(14, true);
  if (!named || part >= parts || u64(16) !== BigInt(round) || u64(24) !== BigInt(number)) return undefined;
  return { parts, payload: value.subarray(HEADER_BYTES) };
}

function writeHeader(value: Uint8Array, { round, kind, number }: PieceName, part: number, parts: number): void {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const setU64 = (at: number, what: number): void => {
    const [upper, lower] = splitU64(BigInt(what));
    view.setUint32(at, lower, true);
    view.setUint32(at + 4, upper, true);
  };
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, FORMAT, true);
  view.setUint16(6, kindNumbers[kind], true);
  view.setUint16(12, part, true);
  view.setUint16(14, parts, true);
  setU64(16, round);
  setU64(24, number);
  view.setUint32(8, crcOf(value), true);
}
