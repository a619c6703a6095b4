import {
  type AnswerAccount,
  AnswerRoom,
  type ByteList,
  ByteViews,
  EngramError,
  type KeyRange,
  type LogPosition,
  type RangeOp,
  type Revision,
  SortTarget,
  whenLate,
} from '@engram/core';
import { type KeyIndex, NO_VERSION, type VersionSlot } from '@engram/index';
import type { Job, Loop, PureJob, Task, Turn } from '@engram/loop';
import { KeyOnlyList } from './key-only-list.ts';
import { ListMemory } from './list-memory.ts';
import { PagedList } from './paged-list.ts';
import type { Pin, Pins } from './pins.ts';
import { PlanGate } from './plan-gate.ts';
import {
  LIST_KEYS,
  PAGED_BYTES_MIN,
  plannedKeys,
  rangeHoldsBytes,
  SENT_BYTES_MIN,
  SENT_TOTAL_MAX,
} from './range-bytes.ts';
import {
  countRange,
  fetchMax,
  isPaged,
  isPlainList,
  isPlainPoint,
  planRange,
  type RangePlan,
  selectVersions,
} from './range-plan.ts';
import { versionsAtOnce, VersionsByValue } from './value-order.ts';
import type { VersionBytes } from './version-bytes.ts';

export interface ScanResult {
  readonly kvs: ByteList;
  readonly count: number;
  readonly more: boolean;
}

/** A list whose bytes are fetched while it is read. The caller disposes of `kvs`. */
export interface PagedScanResult {
  readonly kvs: PagedList;
  readonly count: number;
  readonly more: boolean;
}

export interface ScannerOptions {
  readonly index: KeyIndex;
  readonly bytes: VersionBytes;
  readonly pins: Pins;
  readonly loop: Loop;
  /** The bound on the answer of one range that is not part of a larger answer. */
  readonly answerBytesMax?: number;
}

/** Versions of a list, one chunk of it. */
interface Chunk {
  /** At most as many as the answer wants. */
  readonly slots: readonly VersionSlot[];
  /** The next chunk begins here, unless this is the last one. */
  readonly next: Uint8Array | undefined;
  readonly last: boolean;
  /** More keys follow than the answer wants. */
  readonly more: boolean;
}

/** A part of a stream; the next one begins at `next`. */
interface StreamPart {
  readonly kvs: ByteList;
  readonly next: Uint8Array | undefined;
}

/** Ranges whose caller is not told. */
const RANGE: Task = { work: 'client', caller: 'ranges', stage: 'range' };

/** A list with fewer versions is answered with one view for each. */
const LIST_MIN = 64;
/** The most keys in one chunk of a stream. */
const STREAM_KEYS = 1024;
/** The number of versions that are fetched at once if the answer is not a plain list. */
const FETCH_KEYS = 1024;
/** The longest message that gRPC can carry. */
const ANSWER_BYTES_MAX = 2 ** 31 - 1;

/**
 * Answers ranges. The index gives the versions; memory or storage gives their bytes. Small answers whose bytes are at
 * hand are synchronous. Long answers are jobs that give way, so that a list of all keys does not delay small requests. They
 * stay at their revision, because versions are immutable and are pinned against compaction while they are read.
 */
export class Scanner {
  readonly #index: KeyIndex;
  readonly #bytes: VersionBytes;
  readonly #pins: Pins;
  readonly #loop: Loop;
  readonly #answerBytesMax: number;
  readonly #memory = new ListMemory();
  readonly #gate = new PlanGate();

  constructor({ index, bytes, pins, loop, answerBytesMax }: ScannerOptions) {
    this.#index = index;
    this.#bytes = bytes;
    this.#pins = pins;
    this.#loop = loop;
    this.#answerBytesMax = answerBytesMax ?? ANSWER_BYTES_MAX;
  }

  /** See `planRange`. */
  plan(op: RangeOp, at: Revision, room: AnswerRoom, turn: Turn): PureJob<RangePlan> {
    return planRange(this.#index, op, at, room, turn);
  }

  /** See `rangeHoldsBytes`. */
  holdsBytes(op: RangeOp, newest: Revision): number {
    return rangeHoldsBytes(this.#index, op, newest);
  }

  /**
   * The caller has checked that `at` is neither compacted nor in the future. ResponseTooLarge if the answer does not
   * fit into `room`. Without `room`, the range has its own. `task`: what it is done for.
   */
  scan(
    op: RangeOp,
    at: Revision,
    signal: AbortSignal,
    room?: AnswerRoom,
    task: Task = RANGE,
  ): ScanResult | Promise<ScanResult> {
    if (isPlainPoint(op)) {
      const found = this.#point(op.range.key, at);
      if (found !== undefined) {
        if (room !== undefined) for (const kv of found.kvs) room.take(kv.length);
        return found;
      }
    }
    if (op.countOnly) return this.#count(op.range, at, signal, task);
    const own = room ?? new AnswerRoom(this.#answerBytesMax);
    const job = isPlainList(op) ? this.#list(op, at, own, signal) : this.#planned(op, at, own, signal);
    return this.#loop.run(task, job, signal);
  }

  /**
   * As `scan`, for an answer that is sent as it is: a long list holds only the places of its versions, and fetches
   * their bytes a page at a time. An empty list is never paged, because it has nothing to hold. A range that is sorted by value
   * holds its versions, and `account` must have room for them: ResponseTooLarge otherwise.
   */
  scanPaged(
    op: RangeOp,
    at: Revision,
    signal: AbortSignal,
    task: Task = RANGE,
    account?: AnswerAccount,
  ): ScanResult | PagedScanResult | Promise<ScanResult | PagedScanResult> {
    if (op.countOnly || isPlainPoint(op)) return this.scan(op, at, signal, undefined, task);
    const holds = op.sortTarget === SortTarget.VALUE;
    const room = new AnswerRoom(this.#answerBytesMax, holds ? account : undefined);
    if (!isPaged(op)) return this.scan(op, at, signal, room, task);
    const job = isPlainList(op)
      ? this.#paged(op, at, room, task, signal)
      : this.#listing(at, task, signal, (kvs) => this.#addOrdered(op, at, room, kvs, signal));
    return this.#loop.run(task, job, signal);
  }

  /** Whether the list holds its versions while it is sent, and is not paged. */
  #isHeld(slots: readonly VersionSlot[]): boolean {
    // So many versions cannot have this average length within SENT_TOTAL_MAX.
    const boundBytes = slots.length > SENT_TOTAL_MAX / SENT_BYTES_MIN ? PAGED_BYTES_MIN : SENT_TOTAL_MAX;
    let bytes = 0;
    for (let at = 0; at < slots.length && bytes <= boundBytes; at += 1) bytes += this.#index.bytes(slots[at]!);
    const long = bytes >= slots.length * SENT_BYTES_MIN;
    return bytes <= PAGED_BYTES_MIN || (long && bytes <= SENT_TOTAL_MAX);
  }

  /** What `fill` makes of a list in pages, which holds `pin`. A list that it does not return is given back. */
  *#listing(
    at: Revision,
    task: Task,
    signal: AbortSignal,
    fill: (kvs: PagedList, pin: Pin) => Job<ScanResult | PagedScanResult>,
  ): Job<ScanResult | PagedScanResult> {
    const pin = this.#pins.hold(at, true);
    const kvs = new PagedList(this.#bytes, this.#memory, pin, { loop: this.#loop, task }, signal);
    let returned = false;
    try {
      const result = yield* fill(kvs, pin);
      returned = result.kvs === kvs;
      return result;
    } finally {
      if (!returned) kvs[Symbol.dispose]();
    }
  }

  *#paged(
    op: RangeOp,
    at: Revision,
    room: AnswerRoom,
    task: Task,
    signal: AbortSignal,
  ): Job<ScanResult | PagedScanResult> {
    const first = this.#chunk(op, op.range.key, 0, at);
    if (first.last && this.#isHeld(first.slots)) return yield* this.#list(op, at, room, signal, first);
    return yield* this.#listing(at, task, signal, (kvs, pin) => this.#addChunks(op, at, room, first, kvs, pin));
  }

  /** The list may lose its pin to a compaction while it gives way: Compacted then. */
  *#addChunks(
    op: RangeOp,
    at: Revision,
    room: AnswerRoom,
    first: Chunk,
    kvs: PagedList,
    pin: Pin,
  ): Job<ScanResult | PagedScanResult> {
    let chunk = first;
    for (;;) {
      room.take(kvs.add(this.#index, chunk.slots), chunk.slots.length);
      if (chunk.last) break;
      if (this.#loop.shouldYield(chunk.slots.length)) yield;
      if (pin.revoked) throw new EngramError('Compacted');
      chunk = this.#chunk(op, chunk.next!, kvs.length, at);
    }
    if (kvs.length === 0) return nothingFound;
    const { more } = chunk;
    const count = more ? yield* countRange(this.#index, op.range, at, this.#loop) : kvs.length;
    return { kvs, count, more };
  }

  /**
   * As `#addChunks`, of versions that are filtered, or in another order than the index has: their places are known only when
   * all are. None of them may go before that, so a compaction waits for it. The list has its pin from the start all the
   * same: a compaction that waits revokes the pins that there are, once.
   */
  *#addOrdered(
    op: RangeOp,
    at: Revision,
    room: AnswerRoom,
    kvs: PagedList,
    signal: AbortSignal,
  ): Job<ScanResult | PagedScanResult> {
    const { slots, count, more } = yield* this.#inTurn(op, at, selectVersions(this.#index, op, at, this.#loop));
    using _pin = this.#pins.hold(at);
    if (this.#isHeld(slots)) return { kvs: yield* this.#many(this.#positions(slots, room), signal), count, more };
    for (let from = 0; from < slots.length; from += LIST_KEYS) {
      const part = slots.slice(from, from + LIST_KEYS);
      room.take(kvs.add(this.#index, part), part.length);
      if (this.#loop.shouldYield(part.length)) yield;
    }
    return { kvs, count, more };
  }

  /** One key, as in most reads: no plan, only its bytes if they are in memory. */
  #point(key: Uint8Array, at: Revision): ScanResult | undefined {
    const slot = this.#index.at(key, at);
    if (slot === NO_VERSION || this.#index.isTombstone(slot)) return nothingFound;
    const kv = this.#bytes.peek(this.#index.position(slot));
    return kv === undefined ? undefined : { kvs: [kv], count: 1, more: false };
  }

  /** No job for what one slice counts, as it does most ranges: jobs took a fifth of the CPU of a count. */
  #count(range: KeyRange, at: Revision, signal: AbortSignal, task: Task): ScanResult | Promise<ScanResult> {
    const { live, next } = this.#loop.slice(() => this.#index.countSome(range, at, this.#loop));
    if (next === undefined) return { kvs: [], count: live, more: false };
    return this.#loop.run(task, this.#countOn({ key: next, end: range.end }, at, live), signal);
  }

  *#countOn(range: KeyRange, at: Revision, counted: number): Job<ScanResult> {
    using _pin = this.#pins.hold(at);
    yield; // the slice before this one was the caller's
    return { kvs: [], count: counted + (yield* countRange(this.#index, range, at, this.#loop)), more: false };
  }

  *#planned(op: RangeOp, at: Revision, room: AnswerRoom, signal: AbortSignal): Job<ScanResult> {
    const plan = yield* this.#inTurn(op, at, this.plan(op, at, room, this.#loop));
    using _pin = this.#pins.hold(at);
    return yield* this.#fetch(plan, signal);
  }

  /**
   * `job`, which holds all keys of a range, in its turn. `at` is pinned while it runs. A compaction does not wait for its turn to
   * come: Compacted then.
   */
  *#inTurn<Result>(op: RangeOp, at: Revision, job: PureJob<Result>): Job<Result> {
    const keys = plannedKeys(this.#index, op);
    using place = keys === 0 ? undefined : this.#gate.place(keys);
    if (place?.waits !== undefined) {
      using waiting = this.#pins.hold(at, true);
      yield place.waits;
      if (waiting.revoked) throw new EngramError('Compacted');
    }
    // In the same turn of the event loop as the check of `at`, or as the end of the pin above: no compaction has come between.
    using _pin = this.#pins.hold(at);
    return yield* job;
  }

  /** Fetches the bytes of a plan. `at` is pinned from now until the answer is complete. */
  fetch(plan: RangePlan, at: Revision, signal: AbortSignal): ScanResult | Promise<ScanResult> {
    return this.#loop.run(RANGE, this.#pinned(at, this.#fetch(plan, signal)), signal);
  }

  /** The bytes of these versions. `at` as in `fetch`. */
  fetchAll(positions: readonly LogPosition[], at: Revision, signal: AbortSignal): ByteList | Promise<ByteList> {
    return this.#loop.run(RANGE, this.#pinned(at, this.#fetchAll(positions, signal)), signal);
  }

  *#pinned<Result>(at: Revision, job: Job<Result>): Job<Result> {
    using _pin = this.#pins.hold(at);
    return yield* job;
  }

  *#fetch({ keys, positions, count, more, byValue }: RangePlan, signal: AbortSignal): Job<ScanResult> {
    if (keys !== undefined) return { kvs: keys, count, more };
    if (byValue === undefined) return { kvs: yield* this.#fetchAll(positions, signal), count, more };
    const chosen = new VersionsByValue(byValue, this.#loop);
    const partKeys = versionsAtOnce(byValue.bytesMax, FETCH_KEYS);
    for (let from = 0; from < positions.length; from += partKeys) {
      const part = positions.slice(from, from + partKeys);
      yield* chosen.add(yield* this.#many(part, signal));
      if (this.#loop.shouldYield(part.length)) yield;
    }
    return { ...(yield* chosen.finish()), count };
  }

  *#fetchAll(positions: readonly LogPosition[], signal: AbortSignal): Job<ByteList> {
    if (positions.length <= FETCH_KEYS) return yield* this.#many(positions, signal);
    const kvs = new ByteViews();
    for (let from = 0; from < positions.length; from += FETCH_KEYS) {
      const part = positions.slice(from, from + FETCH_KEYS);
      yield* this.#bytes.collect(new Float64Array(part), kvs, this.#loop, signal);
      if (this.#loop.shouldYield(0)) yield;
    }
    return kvs;
  }

  #many(positions: readonly LogPosition[], signal: AbortSignal): Job<readonly Uint8Array[]> {
    return this.#bytes.many(positions, this.#loop, signal);
  }

  /** A list's versions from `key` on, after so many others. One key more than wanted tells that there are more. */
  #chunk(op: RangeOp, key: Uint8Array, found: number, at: Revision): Chunk {
    const left = fetchMax(op) - found;
    const slots: VersionSlot[] = [];
    const range = { key, end: op.range.end };
    const next = this.#index.collectSome(range, at, Math.min(LIST_KEYS, left), this.#loop, slots);
    const more = slots.length === left;
    if (more) slots.pop();
    return { slots, next, last: more || next === undefined, more };
  }

  *#list(op: RangeOp, at: Revision, room: AnswerRoom, signal: AbortSignal, first?: Chunk): Job<ScanResult> {
    using _pin = this.#pins.hold(at);
    let chunk = first ?? this.#chunk(op, op.range.key, 0, at);
    const few = chunk.last && chunk.slots.length < LIST_MIN;
    const kvs = few ? yield* this.#many(this.#positions(chunk.slots, room), signal) : new ByteViews();
    while (kvs instanceof ByteViews) {
      yield* this.#bytes.collect(new Float64Array(this.#positions(chunk.slots, room)), kvs, this.#loop, signal);
      if (chunk.last) break;
      if (this.#loop.shouldYield(chunk.slots.length)) yield;
      chunk = this.#chunk(op, chunk.next!, kvs.length, at);
    }
    const { more } = chunk;
    const count = more ? yield* countRange(this.#index, op.range, at, this.#loop) : kvs.length;
    return { kvs, count, more };
  }

  #positions(slots: readonly VersionSlot[], room: AnswerRoom): readonly LogPosition[] {
    const positions = new Array<LogPosition>(slots.length);
    room.take(this.#index.places(slots, positions, 0), slots.length);
    return positions;
  }

  /**
   * The range in chunks of about `chunkBytes`, in key order, all at `at`. An order by anything but the key applies within each
   * chunk only, as in etcd. `more` and `count` are those of the whole range, and valid in the last chunk. The stream waits for
   * its consumer between chunks and holds no pin meanwhile. If compaction overtakes it, which `compacted` tells, it rejects with
   * Compacted, as a page of a list would.
   */
  async *stream(
    op: RangeOp,
    at: Revision,
    chunkBytes: number,
    compacted: () => boolean,
    signal: AbortSignal,
    task: Task = RANGE,
  ): AsyncGenerator<ScanResult & { readonly last: boolean }> {
    const counting = this.#pinned(at, countRange(this.#index, op.range, at, this.#loop));
    const count = await this.#loop.run(task, counting, signal);
    if (op.countOnly) {
      yield { kvs: [], count, more: false, last: true };
      return;
    }
    const wanted = op.limit > 0 ? Math.min(op.limit, count) : count;
    let sent = 0;
    let chunkKeys = 10;
    let next: Uint8Array | undefined = op.range.key;
    for (let last = false; !last; ) {
      if (compacted()) throw new EngramError('Compacted');
      const max = Math.min(chunkKeys, wanted - sent);
      const part: StreamPart = await this.#loop.run(task, this.#streamPart(op, next, max, at, signal), signal);
      const { kvs } = part;
      next = part.next;
      signal.throwIfAborted();
      sent += kvs.length;
      let bytes = 0;
      for (const kv of kvs) bytes += kv.length;
      if (bytes > chunkBytes) chunkKeys = Math.max(1, chunkKeys >> 1);
      else if (bytes * 2 < chunkBytes) chunkKeys = Math.min(STREAM_KEYS, chunkKeys * 2);
      last = sent >= wanted || next === undefined;
      if (last || kvs.length > 0) yield { kvs, count, more: sent < count, last };
      if (!last) await this.#loop.pause(task, signal);
    }
  }

  *#streamPart(
    op: RangeOp,
    key: Uint8Array | undefined,
    max: number,
    at: Revision,
    signal: AbortSignal,
  ): Job<StreamPart> {
    using _pin = this.#pins.hold(at);
    const slots: VersionSlot[] = [];
    const range = { key: key ?? op.range.key, end: op.range.end };
    const next =
      key === undefined || max === 0 ? undefined : this.#index.collectSome(range, at, max, this.#loop, slots);
    if (op.sortTarget !== SortTarget.KEY && slots.length > 0) {
      const part = { ...op, range: { key: range.key, end: next ?? range.end }, limit: 0 };
      const plan = yield* this.plan(part, at, boundless, this.#loop);
      return { kvs: (yield* this.#fetch(plan, signal)).kvs, next };
    }
    const kvs = op.keysOnly ? this.#keysOnly(slots) : yield* this.#many(this.#positions(slots, boundless), signal);
    return { kvs, next };
  }

  /** Holds `at` back from compaction from the call until the work has ended. */
  async pinned<Result>(at: Revision, work: () => Result | Promise<Result>): Promise<Result> {
    using _pin = this.#pins.hold(at);
    return await work();
  }

  #keysOnly(slots: readonly VersionSlot[]): ByteList {
    const list = new KeyOnlyList(this.#index, slots.length);
    for (const slot of slots) list.add(slot);
    return list.kvs;
  }

  /** The bytes of single versions, pinned like a range at `at`. */
  versions(
    positions: readonly LogPosition[],
    at: Revision,
    signal: AbortSignal,
  ): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
    return whenLate(this.#bytes.getMany(positions, signal), async (kvs) => {
      using _pin = this.#pins.hold(at);
      return await kvs;
    });
  }

  /**
   * As `versions`, for a caller that reads everything once. Does not displace versions from the cache that other
   * readers will need.
   */
  async passing(positions: readonly LogPosition[], at: Revision, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    using _pin = this.#pins.hold(at);
    return await this.#bytes.passing(positions, signal);
  }
}

/** For answers that are sent while they are read. */
const boundless = new AnswerRoom(Number.POSITIVE_INFINITY);
const nothingFound: ScanResult = { kvs: [], count: 0, more: false };
