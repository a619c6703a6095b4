import { assert, systemErrorCode } from '@engram/core';
import { byteSteps, type Job, type PureJob, settled, type Turn } from '@engram/loop';
import type { StorageFile } from '../disk/file-system.ts';
import {
  checkRecord,
  decodeSegmentHeader,
  encodeSegmentHeader,
  type FrameHeader,
  frameHeaderBytes,
  RECORD_HEADER_BYTES,
  readFrameHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  writeFrameHeader,
} from '../format/layout.ts';
import { RecordTable } from '../format/record-table.ts';
import type { Segment } from './segment.ts';

const PORTION_BYTES = 1 << 20;
/** Records that are asked whether they are dead in the time of a step of the loop. */
const LOOKS_A_STEP = 64;
/** Up to this many dead bytes between live ones are read with them. */
const GAP_BYTES_MAX = 64 << 10;
const SYNC_BYTES = 4 << 20;

/** Frames that are read at once: the index of their first record, and the one after their last. */
interface Portion {
  readonly from: number;
  readonly to: number;
}

export type PortionOutcome =
  | { readonly kind: 'more' }
  | { readonly kind: 'done' }
  /** This record is damaged, or one of those read with it, and then `cause` says why: the segment cannot be rewritten. */
  | { readonly kind: 'damaged'; readonly position: number; readonly cause?: unknown };

/** Copies the live records of neighbouring segments into one, about a MiB at a time. */
export class SegmentRewriter {
  readonly header: SegmentHeader;
  readonly table: RecordTable;
  /** The segments, and for each the indexes of the copied records, in the order of the new table. */
  readonly copied: { readonly segment: Segment; readonly indexes: number[] }[] = [];
  readonly #file: StorageFile;
  #chain: number;
  /** The index in the segment that is being read. */
  #at = 0;
  #buffer = new Uint8Array(PORTION_BYTES + (PORTION_BYTES >> 2));
  #used = 0;
  /** The offset in the file. */
  #written = 0;
  #synced = 0;

  /** `file` must be empty. */
  constructor(file: StorageFile, id: number, salt: number, marked: boolean) {
    this.#file = file;
    const bytes = encodeSegmentHeader(id, salt, 'cleaned', marked);
    this.header = decodeSegmentHeader(bytes)!;
    this.table = new RecordTable(SEGMENT_HEADER_BYTES, true, frameHeaderBytes(this.header));
    this.#chain = this.header.crc;
    this.#buffer.set(bytes);
    this.#used = bytes.length;
  }

  get chain(): number {
    return this.#chain;
  }

  begin(segment: Segment): void {
    this.copied.push({ segment, indexes: [] });
    this.#at = 0;
  }

  /** Copies the next portion of the current segment. */
  *copyPortion(turn: Turn): Job<PortionOutcome> {
    const { segment } = this.copied.at(-1)!;
    const portion = yield* nextPortion(segment, this.#at, turn);
    if (portion === undefined) return { kind: 'done' };
    this.#at = portion.to;
    const start = segment.table.offsetAt(portion.from) - segment.table.frameHeaderBytes;
    const bytes = new Uint8Array(segment.table.endAt(portion.to - 1) - start);
    try {
      yield* settled(segment.file.read(bytes, start));
    } catch (cause) {
      // A disk that cannot return what was written will not at the next try either.
      if (systemErrorCode(cause) !== 'EIO') throw cause;
      return { kind: 'damaged', position: segment.table.positionAt(portion.from), cause };
    }
    for (let from = portion.from; from < portion.to; ) {
      const to = segment.table.frameEnd(from);
      const damaged = yield* this.#copyFrame(bytes, start, from, to, turn);
      if (damaged !== undefined) return { kind: 'damaged', position: damaged };
      from = to;
    }
    return { kind: 'more' };
  }

  /** Makes the file durable, but not yet under its name. */
  async finish(): Promise<void> {
    await this.#flush();
    await this.#file.sync();
    assert(this.#written === this.table.end, 'the table ends elsewhere than the file');
    this.table.seal();
  }

  /** `bytes` begin at offset `start` of the file. Returns the position of a damaged record, if any. */
  *#copyFrame(bytes: Uint8Array, start: number, from: number, to: number, turn: Turn): Job<number | undefined> {
    const { segment, indexes } = this.copied.at(-1)!;
    const { table, dead, header } = segment;
    const at = table.offsetAt(from) - table.frameHeaderBytes - start;
    const frame = readFrameHeader(bytes, at, header.salt, header.marked);
    if (frame === undefined || frame.records !== to - from) return table.positionAt(from);
    for (let index = from; index < to; ) {
      if (dead.has(index)) {
        index += 1;
        continue;
      }
      let stop = index;
      while (stop < to && !dead.has(stop)) {
        const end = table.endAt(stop) - start;
        const length = checkRecord(bytes, table.offsetAt(stop) - start, end, table.positionAt(stop));
        if (length === undefined || table.offsetAt(stop) - start + RECORD_HEADER_BYTES + length !== end) {
          return table.positionAt(stop);
        }
        indexes.push(stop);
        stop += 1;
        if (turn.shouldYield(byteSteps(length))) yield;
      }
      const payload = bytes.subarray(table.offsetAt(index) - start, table.endAt(stop - 1) - start);
      yield* this.#put(segment, index, stop, payload, { ...frame, following: frame.following + (to - stop) });
      index = stop;
    }
    return undefined;
  }

  *#put(
    segment: Segment,
    from: number,
    to: number,
    payload: Uint8Array,
    { following, wallMs = 0 }: Pick<FrameHeader, 'following' | 'wallMs'>,
  ): Job<void> {
    const headerBytes = this.table.frameHeaderBytes;
    const size = headerBytes + payload.length;
    if (this.#used + size > this.#buffer.length) yield* settled(this.#flush());
    if (size > this.#buffer.length) this.#buffer = new Uint8Array(size);
    const view = new DataView(this.#buffer.buffer);
    const first = segment.table.positionAt(from);
    const place = { first, previous: this.#chain, wallMs: this.header.marked ? wallMs : undefined };
    const frame = { payloadBytes: payload.length, records: to - from, following, ...place };
    this.#chain = writeFrameHeader(view, this.#used, this.header.salt, frame);
    this.#buffer.set(payload, this.#used + headerBytes);
    this.#used += size;
    this.table.beginFrame();
    for (let index = from; index < to; index += 1) {
      const length = segment.table.endAt(index) - segment.table.offsetAt(index) - RECORD_HEADER_BYTES;
      this.table.add(segment.table.positionAt(index), length, index === from);
    }
  }

  async #flush(): Promise<void> {
    await this.#file.write(this.#buffer.subarray(0, this.#used), this.#written);
    this.#written += this.#used;
    this.#used = 0;
    // Synced in pieces: syncing everything at the end would delay the appends of that moment.
    if (this.#written - this.#synced < SYNC_BYTES) return;
    await this.#file.sync();
    this.#synced = this.#written;
  }
}

/** The next frames, from a record on, with live records that lie together. Undefined if there are none. */
function* nextPortion({ table, dead }: Segment, at: number, turn: Turn): PureJob<Portion | undefined> {
  let from: number | undefined;
  let to = at;
  for (let index = at; index < table.count; ) {
    const end = table.frameEnd(index);
    if (hasLive(index, end, dead)) {
      from ??= index;
      const gap = to > from ? table.offsetAt(index) - table.endAt(to - 1) : 0;
      const bytes = table.endAt(end - 1) - table.offsetAt(from);
      if (index > from && (gap > GAP_BYTES_MAX || bytes > PORTION_BYTES)) break;
      to = end;
    }
    if (turn.shouldYield((end - index) / LOOKS_A_STEP)) yield;
    index = end;
  }
  return from === undefined ? undefined : { from, to };
}

function hasLive(from: number, to: number, dead: Segment['dead']): boolean {
  for (let index = from; index < to; index += 1) if (!dead.has(index)) return true;
  return false;
}
