import type { Clock, LogPosition } from '@engram/core';
import { byteSteps, type Loop, type PureJob, type Task } from '@engram/loop';
import { type RecordRequest, RecordRequests, StorageCorruptError } from '@engram/storage';
import type { Condition } from './disk/condition.ts';
import { fileName } from './disk/file-names.ts';
import type { BulkReader, FileSystem } from './disk/file-system.ts';
import { checkRecord, RECORD_HEADER_BYTES } from './format/layout.ts';
import type { Segment } from './segments/segment.ts';
import type { SegmentList } from './segments/segment-list.ts';

/** A group has at most this many records, which take a millisecond or two. Then other work gets its turn. */
const GROUP_MAX = 512;
/** A group ends with the record that reaches this size. */
const GROUP_BYTES_MAX = 4 << 20;
/** From this many separate reads on, the bulk reader makes them together. */
const BULK_MIN = 4;
/** Groups that the bulk reader has at a time. */
const BULKS_MAX = 2;
/** Up to this many reads are made inline, from the system's memory. Each takes 2 us, and 15 us in another thread. */
const INLINE_MAX = 16;
/** Up to this many bytes are read inline. */
const INLINE_BYTES_MAX = 64 << 10;
/** Inline reads that are slower than this on average come from the disk. */
const INLINE_MS = 0.05;
/** One slow read may have waited for the processor, so it counts as no more than this. */
const INLINE_MS_MAX = 0.4;
/** The weight of one read in the average. */
const INLINE_WEIGHT = 1 / 16;
/**
 * Reads slower than this on average wait for the disk. For DISK_FOR_MS, more reads are then made at a time, because
 * that is faster.
 */
const DISK_MS = 0.1;
const DISK_FOR_MS = 1000;
/** Single reads at a time. Requests that arrive meanwhile are collected for the bulk reader. */
const ACTIVE_MAX = 2;
/** Single reads at a time while they wait for the disk. Appends behind them wait for as many as there are threads. */
const ACTIVE_DISK_MAX = 16;
/** Reading this many unwanted bytes costs as much as another read. */
const GAP_BYTES_MAX = 16 << 10;
/** The longest read of neighbours. */
const READ_BYTES_MAX = 256 << 10;
/** Records share memory in pieces of this size. A caller that keeps a record keeps no more than its piece alive. */
const PIECE_BYTES = 16 << 10;
/** Buffers of READ_BYTES_MAX that are kept. */
const BUFFERS_MAX = 4;

/**
 * Checking and copying what was read. The answers of all reads that have ended come in one turn of the event loop, and those of the bulk
 * reader also those that end meanwhile: 60 records of 1 MB took 350 ms of it. More urgent than clients, because all of them wait here.
 */
const DELIVER: Task = { work: 'durable', caller: 'records', stage: 'deliver' };

/** A wanted record and its place. */
interface Want {
  readonly request: RecordRequest;
  /** The index in the request's positions. */
  readonly at: number;
  readonly segment: Segment;
  readonly offset: number;
  readonly end: number;
}

/** Neighbours that are read at once. */
interface Run {
  readonly wants: readonly Want[];
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

/**
 * Reads records by position, in groups. Requests that arrive while reads are running are joined in the next group. Its
 * records are sorted by place, and neighbours are read at once. RecordRequests assigns the turns.
 */
export class RecordReader {
  readonly #condition: Condition;
  readonly #segments: SegmentList;
  readonly #fileSystem: Pick<FileSystem, 'diskReads'>;
  readonly #bulk: BulkReader;
  readonly #clock: Clock;
  readonly #loop: Loop;
  readonly #pieces = new Pieces();
  readonly #buffers: Uint8Array[] = [];
  readonly #requests = new RecordRequests();
  /** The runs that are read one by one, from `#nextRun` on. */
  #runs: readonly Run[] = [];
  #nextRun = 0;
  #active = 0;
  #bulks = 0;
  #diskUntilMs = Number.NEGATIVE_INFINITY;
  #inlineMs = 0;
  /** The count of disk reads when reads were last slow. */
  #diskReads: number;

  constructor(
    condition: Condition,
    segments: SegmentList,
    fileSystem: Pick<FileSystem, 'diskReads'>,
    bulk: BulkReader,
    clock: Clock,
    loop: Loop,
  ) {
    this.#condition = condition;
    this.#segments = segments;
    this.#fileSystem = fileSystem;
    this.#diskReads = fileSystem.diskReads();
    this.#bulk = bulk;
    this.#clock = clock;
    this.#loop = loop;
  }

  read(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    return this.#requests.add(positions, signal, () => this.#start());
  }

  #start(): void {
    const waitsForDisk = this.#clock.nowMs() < this.#diskUntilMs;
    while (this.#active < (waitsForDisk ? ACTIVE_DISK_MAX : ACTIVE_MAX)) {
      if (this.#nextRun < this.#runs.length) {
        const run = this.#runs[this.#nextRun]!;
        this.#nextRun += 1;
        this.#active += 1;
        void this.#readRun(run).finally(() => {
          this.#active -= 1;
          this.#start();
        });
        continue;
      }
      if (this.#requests.empty || this.#bulks === BULKS_MAX) return;
      const runs = runsOf(this.#takeGroup());
      if (!waitsForDisk && isSmall(runs)) {
        void this.#readInline(runs);
      } else if (runs.length >= BULK_MIN && !waitsForDisk && this.#bulk.ready) {
        this.#bulks += 1;
        void this.#readBulk(runs).finally(() => {
          this.#bulks -= 1;
          this.#start();
        });
      } else {
        this.#runs = runs;
        this.#nextRun = 0;
      }
    }
  }

  #takeGroup(): Want[] {
    const group: Want[] = [];
    this.#requests.takeGroup(GROUP_MAX, GROUP_BYTES_MAX, (request, at) => this.#want(request, at, group));
    return group;
  }

  /** Returns the record's size. */
  #want(request: RecordRequest, at: number, group: Want[]): number {
    const position = request.positions[at]!;
    const segment = this.#segments.find(position);
    const index = segment?.table.indexOf(position) ?? -1;
    if (segment === undefined || index < 0) {
      request.fail(this.#condition.corrupt(`record ${position} is missing`));
      return 0;
    }
    segment.pin();
    const offset = segment.table.offsetAt(index);
    const behind = segment.table.endAt(index);
    group.push({ request, at, segment, offset, end: behind });
    return behind - offset;
  }

  async #readBulk(runs: readonly Run[]): Promise<void> {
    const places = runs.map(({ wants, from, end }) => {
      const { segment, offset } = wants[from]!;
      return { file: segment.file, offset, length: end - offset };
    });
    try {
      const tookMs = await this.#bulk.read(places, (bytes) => this.#loop.run(DELIVER, this.#deliverAll(runs, bytes)));
      if (tookMs > DISK_MS * runs.length + 1) this.#slow();
      unpin(runs[0]!.wants);
    } catch {
      // Read one by one, to find out which record cannot be read.
      for (const run of runs) await this.#readRun(run);
    }
  }

  *#deliverAll(runs: readonly Run[], bytes: Uint8Array): PureJob<void> {
    let start = 0;
    for (const run of runs) {
      const { offset } = run.wants[run.from]!;
      const length = run.end - offset;
      yield* this.#deliverRun(run, bytes.subarray(start, start + length), false);
      start += length;
    }
  }

  *#deliverRun({ wants, from, to }: Run, bytes: Uint8Array, kept: boolean): PureJob<void> {
    const { offset } = wants[from]!;
    for (let at = from; at < to; at += 1) {
      const want = wants[at]!;
      this.#deliver(want, bytes, offset, kept);
      if (this.#loop.shouldYield(byteSteps(want.end - want.offset))) yield;
    }
  }

  async #readInline(runs: readonly Run[]): Promise<void> {
    const startMs = this.#clock.nowMs();
    const done = Promise.all(runs.map((run) => this.#readRun(run, true)));
    this.#tookInline((this.#clock.nowMs() - startMs) / runs.length);
    await done;
  }

  /**
   * Reads one record at once. Undefined if that could take long, if such reads have had their share of the loop's time
   * (`InlineShare`), or if the record cannot be read: `read` says why.
   */
  readNow(position: LogPosition): Uint8Array | undefined {
    const startMs = this.#clock.nowMs();
    const { inline } = this.#loop;
    if (!inline.mayBegin(startMs) || startMs < this.#diskUntilMs) return undefined;
    const segment = this.#segments.find(position);
    const index = segment?.table.indexOf(position) ?? -1;
    if (segment === undefined || index < 0) return undefined;
    const offset = segment.table.offsetAt(index);
    const length = segment.table.endAt(index) - offset;
    if (length > PIECE_BYTES) return undefined;
    const bytes = this.#pieces.take(length);
    let read = 0;
    try {
      read = segment.file.readNow(bytes, offset);
    } catch {
      // `read` meets the same error and reports it. Its time counts: a failing disk is slow.
    }
    const tookMs = this.#clock.nowMs() - startMs;
    inline.spend(tookMs);
    this.#tookInline(tookMs);
    if (read < length) return undefined;
    const contents = checkRecord(bytes, 0, length, position);
    if (contents === undefined || RECORD_HEADER_BYTES + contents !== length) return undefined;
    return bytes.subarray(RECORD_HEADER_BYTES);
  }

  #tookInline(eachMs: number): void {
    this.#inlineMs += (Math.min(eachMs, INLINE_MS_MAX) - this.#inlineMs) * INLINE_WEIGHT;
    if (this.#inlineMs <= INLINE_MS) return;
    this.#inlineMs = 0;
    this.#slow();
  }

  /**
   * Call it after slow reads. They have waited for the disk if any bytes were read from it, otherwise for the
   * processor.
   */
  #slow(): void {
    const diskReads = this.#fileSystem.diskReads();
    if (diskReads > this.#diskReads) this.#diskUntilMs = this.#clock.nowMs() + DISK_FOR_MS;
    this.#diskReads = diskReads;
  }

  async #readRun(run: Run, inline = false): Promise<void> {
    const { wants, from, to } = run;
    const { segment, offset } = wants[from]!;
    const length = run.end - offset;
    // A longer read is of one record, and its memory is nobody else's.
    const kept = length <= PIECE_BYTES || length > READ_BYTES_MAX;
    const buffer = length <= PIECE_BYTES ? this.#pieces.take(length) : this.#takeBuffer(length);
    const bytes = buffer.subarray(0, length);
    try {
      await this.#condition.reading(fileName('seg', segment.id), () => segment.file.read(bytes, offset, inline));
      if (inline) for (let at = from; at < to; at += 1) this.#deliver(wants[at]!, bytes, offset, kept);
      else await this.#loop.run(DELIVER, this.#deliverRun(run, bytes, kept));
    } catch (error) {
      if (to - from > 1 && error instanceof StorageCorruptError) await this.#readEach(run);
      else for (let at = from; at < to; at += 1) wants[at]!.request.fail(error);
    } finally {
      unpin(wants, from, to);
      if (!kept && this.#buffers.length < BUFFERS_MAX && buffer.length === READ_BYTES_MAX) this.#buffers.push(buffer);
    }
  }

  /** Neighbours could not be read at once. The disk may have all of them but one, and each has its own caller. */
  async #readEach({ wants, from, to }: Run): Promise<void> {
    for (let at = from; at < to; at += 1) {
      const want = wants[at]!;
      const { request, segment, offset, end } = want;
      if (request.ended) continue;
      const bytes = allocate(end - offset);
      try {
        await this.#condition.reading(fileName('seg', segment.id), () => segment.file.read(bytes, offset));
        this.#deliver(want, bytes, offset, true);
      } catch (error) {
        request.fail(error);
      }
    }
  }

  /** `kept` says that the bytes may be given away without a copy. */
  #deliver(want: Want, bytes: Uint8Array, start: number, kept: boolean): void {
    const { request } = want;
    if (request.ended) return;
    const place = want.offset - start;
    const length = checkRecord(bytes, place, want.end - start, request.positions[want.at]!);
    if (length === undefined || want.offset + RECORD_HEADER_BYTES + length !== want.end) {
      request.fail(this.#damage(want));
      return;
    }
    const record = bytes.subarray(place + RECORD_HEADER_BYTES, want.end - start);
    request.deliver(want.at, kept ? record : this.#pieces.copy(record));
  }

  #takeBuffer(length: number): Uint8Array {
    if (length > READ_BYTES_MAX) return allocate(length);
    return this.#buffers.pop() ?? allocate(READ_BYTES_MAX);
  }

  #damage({ request, at, segment, offset }: Want): StorageCorruptError {
    const name = fileName('seg', segment.id);
    return this.#condition.corrupt(`record ${request.positions[at]} is damaged: segment ${name} at ${offset}`);
  }
}

/** Memory for records that are given away: many share one allocation. */
class Pieces {
  #piece = new Uint8Array(0);
  #used = 0;

  take(length: number): Uint8Array {
    if (this.#used + length > this.#piece.length) {
      if (length > PIECE_BYTES / 2) return allocate(length);
      this.#piece = allocate(PIECE_BYTES);
      this.#used = 0;
    }
    const bytes = this.#piece.subarray(this.#used, this.#used + length);
    this.#used += length;
    return bytes;
  }

  copy(record: Uint8Array): Uint8Array {
    const bytes = this.take(record.length);
    bytes.set(record);
    return bytes;
  }
}

function allocate(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
}

/** Sorts the wanted records by place and joins neighbours. */
function runsOf(wants: Want[]): Run[] {
  if (wants.length > 1) wants.sort(byPlace);
  const runs: Run[] = [];
  let from = 0;
  while (from < wants.length) {
    const { segment, offset, end } = wants[from]!;
    let last = end;
    let to = from + 1;
    for (; to < wants.length; to += 1) {
      const want = wants[to]!;
      if (want.segment !== segment || want.offset > last + GAP_BYTES_MAX || want.end - offset > READ_BYTES_MAX) break;
      last = Math.max(last, want.end);
    }
    runs.push({ wants, from, to, end: last });
    from = to;
  }
  return runs;
}

function isSmall(runs: readonly Run[]): boolean {
  if (runs.length > INLINE_MAX) return false;
  let bytes = 0;
  for (const { wants, from, end } of runs) bytes += end - wants[from]!.offset;
  return bytes <= INLINE_BYTES_MAX;
}

function byPlace(left: Want, right: Want): number {
  if (left.segment !== right.segment) return left.segment.id - right.segment.id;
  return left.offset - right.offset;
}

function unpin(wants: readonly Want[], from = 0, to = wants.length): void {
  for (let at = from; at < to; at += 1) wants[at]!.segment.unpin();
}
