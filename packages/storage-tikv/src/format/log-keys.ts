import { assert, type LogPosition, logPosition } from '@engram/core';

// Where a cluster's log lies in TiKV. All keys begin with "engram/" and the cluster's prefix in an order-preserving form
// that no other prefix's form begins with: a zero byte becomes 00 FF, and 00 01 ends the prefix. Behind the prefix:
//
//   'l' segment (u64) first (u64) part (u16)   a part of the batch that begins at this position
//   'l' segment (u64) FF                       the segment's seal: behind its batches, whatever their position. Never deleted
//   'm' 'root'                                 the cluster that owns the prefix, or the mark of a restore that has not ended
//   'm' 'image'                                the newest image, the round that may replace it, and where the log begins
//   'n' member (u64) process (u64)             what a process of a member needs of the log
//   'n' member (u64)                           the same, by a program that knows one process of a member
//   'p' round (u64) kind number (u64) part (u16)   a part of a piece that this round wrote
//   'r' member (u64)                           the Raft state of a member
//
// Numbers are big endian, so the order of keys is the order of the log. Positions are below 2^53: their first byte is 0.

const ROOT = Buffer.from('engram/');
const LOG = 'l'.charCodeAt(0);
const META = 'm'.charCodeAt(0);
const NEED = 'n'.charCodeAt(0);
const IMAGE = 'p'.charCodeAt(0);
const RAFT = 'r'.charCodeAt(0);
const SEAL = 0xff;
const PREFIX_BYTES_MAX = 256;
const PART_MAX = 0xffff;
const SEGMENT_MAX = Number.MAX_SAFE_INTEGER;

/** What a key of the log names. */
export type LogKey =
  | { readonly kind: 'slot'; readonly segment: number; readonly first: LogPosition; readonly part: number }
  | { readonly kind: 'seal'; readonly segment: number };

/** Chunks of the index; pages of records; places: the page of each position; the directory: the round of each page. */
export type ImageKind = 'chunk' | 'page' | 'places' | 'directory';

const imageKinds: Readonly<Record<ImageKind, number>> = { chunk: 1, page: 2, places: 3, directory: 4 };

/** In the order of their keys. */
export const imageKindNames = ['chunk', 'page', 'places', 'directory'] as const;

/** What a key of an image names. */
export interface ImageKey {
  readonly round: number;
  readonly kind: ImageKind;
  readonly number: number;
  readonly part: number;
}

/** A process of a member, which says what it needs of the log. */
export interface NeedKey {
  readonly member: bigint;
  /** The number of the process's opened storage; 0 where the process has no number. */
  readonly process: bigint;
}

/** The keys of one cluster. */
export class LogKeys {
  /** As the operator gave it. */
  readonly prefix: string;
  readonly #base: Buffer;

  constructor(prefix: string) {
    const bytes = Buffer.from(prefix);
    assert(bytes.length > 0 && bytes.length <= PREFIX_BYTES_MAX, 'a prefix of no length, or longer than 256 bytes');
    this.prefix = prefix;
    this.#base = Buffer.concat([ROOT, escapePrefix(bytes)]);
  }

  /** Every key of the cluster is at or behind `start` and before `end`. */
  get range(): { readonly start: Uint8Array; readonly end: Uint8Array } {
    return { start: this.#base, end: this.#key([0xff]) };
  }

  get root(): Uint8Array {
    return this.#key([META, ...Buffer.from('root')]);
  }

  raft(member: bigint): Uint8Array {
    const id = Buffer.alloc(8);
    id.writeBigUInt64BE(member);
    return this.#key([RAFT, ...id]);
  }

  /** The Raft states of all members. */
  get rafts(): { readonly start: Uint8Array; readonly end: Uint8Array } {
    return { start: this.#key([RAFT]), end: this.#key([RAFT + 1]) };
  }

  /** The member in a key that `raft` made. */
  memberOf(key: Uint8Array): bigint {
    return Buffer.from(key.buffer, key.byteOffset, key.length).readBigUInt64BE(key.length - 8);
  }

  get image(): Uint8Array {
    return this.#key([META, ...Buffer.from('image')]);
  }

  /** What this opened storage of the member needs. Storages of one member have numbers of their own. */
  need({ member, process }: NeedKey): Uint8Array {
    const id = Buffer.alloc(16);
    id.writeBigUInt64BE(member);
    id.writeBigUInt64BE(process, 8);
    return this.#key([NEED, ...(process === 0n ? id.subarray(0, 8) : id)]);
  }

  /** Undefined if it is not a key that says what a process needs. */
  parseNeed(key: Uint8Array): NeedKey | undefined {
    const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
    const at = this.#base.length;
    if (bytes.length < at + 9 || !bytes.subarray(0, at).equals(this.#base) || bytes[at] !== NEED) return undefined;
    const member = bytes.readBigUInt64BE(at + 1);
    if (bytes.length === at + 9) return { member, process: 0n };
    return bytes.length === at + 17 ? { member, process: bytes.readBigUInt64BE(at + 9) } : undefined;
  }

  /** The needs of all processes of a member. */
  needsOf(member: bigint): { readonly start: Uint8Array; readonly end: Uint8Array } {
    const start = this.need({ member, process: 0n });
    return { start, end: Buffer.concat([start, Buffer.alloc(9, 0xff)]) };
  }

  /** The needs of all members. */
  get needs(): { readonly start: Uint8Array; readonly end: Uint8Array } {
    return { start: this.#key([NEED]), end: this.#key([NEED + 1]) };
  }

  piece({ round, kind, number, part }: ImageKey): Uint8Array {
    assert(part <= PART_MAX, 'a piece of an image of too many parts');
    const key = Buffer.concat([this.roundStart(round), Buffer.alloc(11)]);
    const at = key.length - 11;
    key[at] = imageKinds[kind];
    key.writeBigUInt64BE(BigInt(number), at + 1);
    key.writeUInt16BE(part, at + 9);
    return key;
  }

  /** Where the pieces of this round begin, and the pieces of earlier rounds end. */
  roundStart(round: number): Uint8Array {
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(round));
    return this.#key([IMAGE, ...number]);
  }

  /** Undefined if it is not a key of an image. */
  parsePiece(key: Uint8Array): ImageKey | undefined {
    const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
    const at = this.#base.length;
    if (bytes.length !== at + 20 || !bytes.subarray(0, at).equals(this.#base) || bytes[at] !== IMAGE) return undefined;
    const kind = imageKindNames.find((name) => imageKinds[name] === bytes[at + 9]);
    const [round, number] = [bytes.readBigUInt64BE(at + 1), bytes.readBigUInt64BE(at + 10)].map(Number);
    if (kind === undefined || !Number.isSafeInteger(round) || !Number.isSafeInteger(number)) return undefined;
    return { round: round!, kind, number: number!, part: bytes.readUInt16BE(at + 18) };
  }

  get logStart(): Uint8Array {
    return this.#key([LOG]);
  }

  get logEnd(): Uint8Array {
    return this.#key([LOG + 1]);
  }

  slot(segment: number, first: number, part = 0): Uint8Array {
    assert(part <= PART_MAX, 'a batch of too many parts');
    const key = this.#inSegment(segment, 10);
    key.writeBigUInt64BE(BigInt(first), key.length - 10);
    key.writeUInt16BE(part, key.length - 2);
    return key;
  }

  /** Behind every part of every batch that begins at the position or before. */
  behindSlot(segment: number, first: number): Uint8Array {
    return Buffer.concat([this.slot(segment, first, PART_MAX), Uint8Array.of(0)]);
  }

  seal(segment: number): Uint8Array {
    const key = this.#inSegment(segment, 1);
    key[key.length - 1] = SEAL;
    return key;
  }

  /** Where the segment's keys begin: before its first batch. */
  segmentStart(segment: number): Uint8Array {
    return this.#inSegment(segment, 0);
  }

  /** Undefined if it is not a key of this log. */
  parse(key: Uint8Array): LogKey | undefined {
    const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
    const at = this.#base.length;
    if (bytes.length < at + 10 || !bytes.subarray(0, at).equals(this.#base) || bytes[at] !== LOG) return undefined;
    const segment = Number(bytes.readBigUInt64BE(at + 1));
    if (segment < 1 || segment > SEGMENT_MAX) return undefined;
    if (bytes.length === at + 10) return bytes[at + 9] === SEAL ? { kind: 'seal', segment } : undefined;
    if (bytes.length !== at + 19) return undefined;
    const first = Number(bytes.readBigUInt64BE(at + 9));
    if (first < 1 || !Number.isSafeInteger(first)) return undefined;
    return { kind: 'slot', segment, first: logPosition(first), part: bytes.readUInt16BE(at + 17) };
  }

  #inSegment(segment: number, more: number): Buffer {
    assert(segment >= 1 && segment <= SEGMENT_MAX, 'a segment out of range');
    const at = this.#base.length;
    const key = Buffer.alloc(at + 9 + more);
    this.#base.copy(key);
    key[at] = LOG;
    key.writeBigUInt64BE(BigInt(segment), at + 1);
    return key;
  }

  #key(rest: readonly number[]): Uint8Array {
    return Buffer.concat([this.#base, Uint8Array.from(rest)]);
  }
}

function escapePrefix(prefix: Uint8Array): Uint8Array {
  const escaped: number[] = [];
  for (const byte of prefix) {
    escaped.push(byte);
    if (byte === 0) escaped.push(0xff);
  }
  escaped.push(0, 1);
  return Uint8Array.from(escaped);
}
