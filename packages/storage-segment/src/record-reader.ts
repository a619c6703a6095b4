import type { LogPosition } from '@engram/core';
import type { StorageCorruptError } from '@engram/storage';
import type { Condition } from './condition.ts';
import { fileName } from './file-names.ts';
import { checkRecord, RECORD_HEADER_BYTES } from './layout.ts';
import type { Segment } from './segment.ts';
import type { SegmentList } from './segment-list.ts';

/** Looked up, read and copied before others get their turn. */
const GROUP_MAX = 512;
/** Of the process's threads for such work (four, unless it was told otherwise); the others are left to appends. */
const ACTIVE_MAX = 2;
/** Reading this much that nobody asked for costs as much as one more read. */
const GAP_BYTES_MAX = 64 << 10;
const READ_BYTES_MAX = 1 << 20;
/** Records share memory in pieces of this size: whoever keeps one keeps no more than its piece. */
const PIECE_BYTES = 16 << 10;

interface Request {
  readonly positions: readonly LogPosition[];
  readonly records: Uint8Array[];
  readonly signal: AbortSignal;
  /** How many positions have been taken into a group. */
  taken: number;
  done: number;
  ended: boolean;
  readonly resolve: (records: readonly Uint8Array[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** One record that is wanted, and where it is. */
interface Want {
  readonly request: Request;
  /** Of the request's positions. */
  readonly at: number;
  readonly segment: Segment;
  readonly offset: number;
  readonly end: number;
}

/**
 * Reads records by position, in groups: what is asked for while reads are under way goes together into the next, sorted
 * by place, and neighbours are read at once. Large requests take turns with each other and with small ones. A request
 * is abandoned at its next group when its signal aborts.
 */
export class RecordReader {
  readonly #condition: Condition;
  readonly #segments: SegmentList;
  /** Those of which not all has been taken, from `#head` on. Whoever is not done after its turn goes to the end. */
  #waiting: Request[] = [];
  #head = 0;
  #active = 0;

  constructor(condition: Condition, segments: SegmentList) {
    this.#condition = condition;
    this.#segments = segments;
  }

  read(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    if (positions.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const records = new Array<Uint8Array>(positions.length);
      this.#waiting.push({ positions, records, signal, taken: 0, done: 0, ended: false, resolve, reject });
      this.#start();
    });
  }

  #start(): void {
    while (this.#active < ACTIVE_MAX && this.#head < this.#waiting.length) {
      const group = this.#takeGroup();
      if (group.length === 0) continue;
      this.#active += 1;
      void this.#readGroup(group).finally(() => {
        this.#active -= 1;
        this.#start();
      });
    }
  }

  #takeGroup(): Want[] {
    const group: Want[] = [];
    let room = GROUP_MAX;
    while (room > 0 && this.#head < this.#waiting.length) {
      const request = this.#waiting[this.#head]!;
      this.#head += 1;
      if (request.signal.aborted) end(request, request.signal.reason);
      if (request.ended) continue;
      const to = Math.min(request.positions.length, request.taken + room);
      for (let at = request.taken; at < to && !request.ended; at += 1) this.#want(request, at, group);
      room -= to - request.taken;
      request.taken = to;
      if (to < request.positions.length && !request.ended) this.#waiting.push(request);
    }
    // The part that has been taken goes when it is the larger one, so each entry is moved once at most, on average.
    if (this.#head * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return group;
  }

  #want(request: Request, at: number, group: Want[]): void {
    const position = request.positions[at]!;
    const segment = this.#segments.find(position);
    const index = segment?.table.indexOf(position) ?? -1;
    if (segment === undefined || index < 0) {
      end(request, this.#condition.corrupt(`record ${position} is missing`));
      return;
    }
    segment.pin();
    group.push({ request, at, segment, offset: segment.table.offsetAt(index), end: segment.table.endAt(index) });
  }

  async #readGroup(group: Want[]): Promise<void> {
    if (group.length > 1) group.sort(byPlace);
    let from = 0;
    while (from < group.length) {
      const to = neighbours(group, from);
      await this.#readRun(group, from, to);
      from = to;
    }
    for (const { segment } of group) segment.unpin();
  }

  async #readRun(group: readonly Want[], from: number, to: number): Promise<void> {
    const { segment, offset } = group[from]!;
    let bytesEnd = 0;
    for (let at = from; at < to; at += 1) bytesEnd = Math.max(bytesEnd, group[at]!.end);
    // A single record is its own piece: nothing is copied.
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(bytesEnd - offset).buffer);
    try {
      await this.#condition.reading(fileName('seg', segment.id), () => segment.file.read(bytes, offset));
    } catch (error) {
      for (let at = from; at < to; at += 1) end(group[at]!.request, error);
      return;
    }
    this.#deliver(group, from, to, bytes);
  }

  #deliver(group: readonly Want[], from: number, to: number, bytes: Uint8Array): void {
    const start = group[from]!.offset;
    const share = bytes.length <= PIECE_BYTES;
    let piece = bytes;
    let used = bytes.length;
    for (let at = from; at < to; at += 1) {
      const want = group[at]!;
      const { request } = want;
      if (request.ended) continue;
      const place = want.offset - start;
      const length = checkRecord(bytes, place, want.end - start, request.positions[want.at]!);
      if (length === undefined || want.offset + RECORD_HEADER_BYTES + length !== want.end) {
        end(request, this.#damage(want));
        continue;
      }
      let record = bytes.subarray(place + RECORD_HEADER_BYTES, want.end - start);
      if (!share) {
        if (used + length > piece.length) {
          piece = new Uint8Array(Buffer.allocUnsafeSlow(Math.max(length, PIECE_BYTES)).buffer);
          used = 0;
        }
        piece.set(record, used);
        record = piece.subarray(used, used + length);
        used += length;
      }
      request.records[want.at] = record;
      request.done += 1;
      if (request.done < request.positions.length) continue;
      request.ended = true;
      request.resolve(request.records);
    }
  }

  #damage({ request, at, segment, offset }: Want): StorageCorruptError {
    const name = fileName('seg', segment.id);
    return this.#condition.corrupt(`record ${request.positions[at]} is damaged: segment ${name} at ${offset}`);
  }
}

function byPlace(left: Want, right: Want): number {
  if (left.segment !== right.segment) return left.segment.id - right.segment.id;
  return left.offset - right.offset;
}

/** The index behind the last want that is read together with the one at `from`. */
function neighbours(group: readonly Want[], from: number): number {
  const { segment, offset, end } = group[from]!;
  let last = end;
  let to = from + 1;
  for (; to < group.length; to += 1) {
    const want = group[to]!;
    if (want.segment !== segment || want.offset > last + GAP_BYTES_MAX) break;
    if (want.end - offset > READ_BYTES_MAX) break;
    last = Math.max(last, want.end);
  }
  return to;
}

function end(request: Request, reason: unknown): void {
  if (request.ended) return;
  request.ended = true;
  request.reject(reason);
}
