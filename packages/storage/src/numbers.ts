import { crc32 } from 'node:zlib';

/*
 * Small records of an engine: whole numbers from 0 to 2^53 - 1, under a CRC that also covers the name of the record.
 * All little endian: crc (u32), then the numbers (u64). `encodeNumbers` puts their count (u8) before them, and other
 * bytes may follow them (`rest`).
 */

const CRC_BYTES = 4;
const NUMBER_BYTES = 8;
const COUNTED_BYTES = CRC_BYTES + 1;

export type NumbersName = string | Uint8Array;

export interface Numbers {
  readonly numbers: readonly number[];
  /** A view of the decoded bytes. */
  readonly rest: Uint8Array;
}

export function encodeNumbers(name: NumbersName, numbers: readonly number[], rest?: Uint8Array): Uint8Array {
  const head = COUNTED_BYTES + NUMBER_BYTES * numbers.length;
  const bytes = new Uint8Array(head + (rest?.length ?? 0));
  bytes[CRC_BYTES] = numbers.length;
  if (rest !== undefined) bytes.set(rest, head);
  return fill(name, bytes, COUNTED_BYTES, numbers);
}

/** Undefined if the bytes were not written under this name, or do not hold `count` numbers. */
export function decodeNumbers(name: NumbersName, bytes: Uint8Array, count: number): Numbers | undefined {
  const head = COUNTED_BYTES + NUMBER_BYTES * count;
  if (bytes.length < head || bytes[CRC_BYTES] !== count) return undefined;
  const numbers = read(name, bytes, COUNTED_BYTES, count);
  if (numbers === undefined) return undefined;
  return { numbers, rest: new Uint8Array(bytes.buffer, bytes.byteOffset + head, bytes.byteLength - head) };
}

/** Numbers only, without a count: the length of the bytes tells it. */
export function encodeNumberList(name: NumbersName, numbers: readonly number[]): Uint8Array {
  return fill(name, new Uint8Array(CRC_BYTES + NUMBER_BYTES * numbers.length), CRC_BYTES, numbers);
}

/** Undefined if the bytes were not written under this name. */
export function decodeNumberList(name: NumbersName, bytes: Uint8Array): readonly number[] | undefined {
  const count = (bytes.length - CRC_BYTES) / NUMBER_BYTES;
  return Number.isInteger(count) && count >= 0 ? read(name, bytes, CRC_BYTES, count) : undefined;
}

function fill(name: NumbersName, bytes: Uint8Array, from: number, numbers: readonly number[]): Uint8Array {
  const view = new DataView(bytes.buffer);
  for (const [index, number] of numbers.entries()) view.setBigUint64(from + NUMBER_BYTES * index, BigInt(number), true);
  view.setUint32(0, crcOf(name, bytes), true);
  return bytes;
}

function read(name: NumbersName, bytes: Uint8Array, from: number, count: number): readonly number[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (crcOf(name, bytes) !== view.getUint32(0, true)) return undefined;
  const numbers = Array.from({ length: count }, (_, index) =>
    Number(view.getBigUint64(from + NUMBER_BYTES * index, true)),
  );
  return numbers.every((number) => Number.isSafeInteger(number)) ? numbers : undefined;
}

const crcOf = (name: NumbersName, bytes: Uint8Array): number => crc32(bytes.subarray(CRC_BYTES), crc32(name));
