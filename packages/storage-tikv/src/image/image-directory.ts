import { createHash } from 'node:crypto';
import { assert, joinU64, type LogPosition, logPosition, splitU64 } from '@engram/core';
import type { ImageBase } from '@engram/storage';

// The directory of an image lists its pages in the order of their keys: page n of places is entry n. An entry has 48 bytes:
//
//   round (u64) that wrote the page, number (u32) among the pages of that round, records (u32)
//   first (u64) position, bytes (u64) of the page, hash (16 bytes) of all its positions
//
// Numbers are little endian. A piece of the directory has at most DIRECTORY_ENTRIES entries.

export const DIRECTORY_ENTRIES = 1024;
const ENTRY_BYTES = 48;
const HASH_BYTES = 16;

/** A page of an image. An earlier round may have written it. */
export interface PageEntry {
  readonly round: number;
  readonly number: number;
  readonly records: number;
  /** The position of its first record. */
  readonly first: LogPosition;
  /** The length of its payload. */
  readonly bytes: number;
  /** See `positionsHash`. */
  readonly hash: string;
}

/** Identifies a page. A record never changes, so the positions, in their order, determine the page. */
export function positionsHash(positions: readonly LogPosition[]): string {
  const numbers = Float64Array.from(positions);
  return createHash('sha256')
    .update(numbers)
    .digest('hex')
    .slice(0, 2 * HASH_BYTES);
}

/** Yields the pieces of the directory, in their order. */
export function* encodeDirectory(entries: readonly PageEntry[]): Generator<Uint8Array> {
  for (let from = 0; from < entries.length; from += DIRECTORY_ENTRIES) {
    const some = entries.slice(from, from + DIRECTORY_ENTRIES);
    const piece = Buffer.alloc(ENTRY_BYTES * some.length);
    for (const [index, entry] of some.entries()) writeEntry(piece.subarray(ENTRY_BYTES * index), entry);
    yield piece;
  }
}

/** Undefined if a piece is damaged. */
export function decodeDirectory(pieces: readonly Uint8Array[]): readonly PageEntry[] | undefined {
  const entries: PageEntry[] = [];
  for (const piece of pieces) {
    if (piece.length % ENTRY_BYTES !== 0) return undefined;
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < bytes.length; at += ENTRY_BYTES) {
      const entry = readEntry(bytes.subarray(at, at + ENTRY_BYTES));
      if (entry === undefined) return undefined;
      entries.push(entry);
    }
  }
  return entries;
}

/** The existing pages of an image, which the next image may keep. */
export class PublishedPages implements ImageBase {
  readonly #byFirst: ReadonlyMap<LogPosition, PageEntry>;

  constructor(entries: readonly PageEntry[]) {
    this.#byFirst = new Map(entries.map((entry) => [entry.first, entry]));
  }

  recordsFrom(first: LogPosition): number {
    return this.#byFirst.get(first)?.records ?? 0;
  }

  has(positions: readonly LogPosition[]): boolean {
    return this.find(positions) !== undefined;
  }

  /** The page of exactly these positions, in this order. */
  find(positions: readonly LogPosition[]): PageEntry | undefined {
    const [first] = positions;
    const entry = first === undefined ? undefined : this.#byFirst.get(first);
    return entry?.records === positions.length && entry.hash === positionsHash(positions) ? entry : undefined;
  }
}

function writeEntry(to: Buffer, { round, number, records, first, bytes, hash }: PageEntry): void {
  assert(hash.length === 2 * HASH_BYTES, 'the hash of a page of another length');
  writeU64(to, 0, round);
  to.writeUInt32LE(number, 8);
  to.writeUInt32LE(records, 12);
  writeU64(to, 16, first);
  writeU64(to, 24, bytes);
  to.write(hash, 32, 'hex');
}

function readEntry(from: Buffer): PageEntry | undefined {
  const [round, first, bytes] = [readU64(from, 0), readU64(from, 16), readU64(from, 24)];
  if (!Number.isSafeInteger(round) || !Number.isSafeInteger(bytes)) return undefined;
  if (!Number.isSafeInteger(first) || first < 1) return undefined;
  const [number, records] = [from.readUInt32LE(8), from.readUInt32LE(12)];
  return { round, number, records, first: logPosition(first), bytes, hash: from.toString('hex', 32, 32 + HASH_BYTES) };
}

function writeU64(to: Buffer, at: number, value: number): void {
  const [upper, lower] = splitU64(BigInt(value));
  to.writeUInt32LE(lower, at);
  to.writeUInt32LE(upper, at + 4);
}

const readU64 = (from: Buffer, at: number): number => Number(joinU64(from.readUInt32LE(at + 4), from.readUInt32LE(at)));
