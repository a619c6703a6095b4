import {
  AnswerRoom,
  type ByteList,
  ByteViews,
  type Clock,
  doSliced,
  EngramError,
  type KeyRange,
  type LogPosition,
  type RangeOp,
  type Revision,
  Slice,
  type SlicedWork,
} from '@engram/core';
import { type KeyIndex, NO_VERSION, type VersionSlot } from '@engram/index';
import { KeyOnlyList } from './key-only-list.ts';
import { ListMemory } from './list-memory.ts';
import { PagedList } from './paged-list.ts';
import type { Pin, Pins } from './pins.ts';
import {
  countRange,
  fetchMax,
  isPlainList,
  isPlainPoint,
  planRange,
  type RangePlan,
  type ValueOrder,
} from './range-plan.ts';
import { VersionsByValue } from './value-order.ts';
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
  readonly clock: Clock;
  /** See `Slice`. */
  readonly sliceUs?: number;
  /** The bound on the answer of one range that is not part of a larger answer. */
  readonly answerBytesMax?: number;
}

/** The versions that the first slice found. The rest of the list begins at `next`, unless the list is `whole`. */
interface ListBegin {
  readonly slots: VersionSlot[];
  readonly next: Uint8Array | undefined;
  readonly whole: boolean;
  readonly slice: Slice;
}

/** The number of keys of a list that are looked up and fetched in one turn: about a millisecond of work. */
const LIST_KEYS = 4096;
/** A list with fewer versions is answered with one view for each. */
const LIST_MIN = 64;
/** A list with more bytes is answered in pages, unless SENT_BYTES_MIN applies. */
const PAGED_BYTES_MIN = 64 * 1024;
/**
 * A list whose versions are this long on average is sent from the buffers that hold them, up to SENT_TOTAL_MAX. Pages
 * cannot do that.
 */
const SENT_BYTES_MIN = 16 * 1024;
const SENT_TOTAL_MAX = 1024 * 1024;
/** The most keys in one chunk of a stream. */
const STREAM_KEYS = 1024;
/** The number of versions that are fetched at once if the answer is not a plain list. */
const FETCH_KEYS = 1024;
/** The time to find one version in memory, in microseconds. */
const FETCH_US = 1;
/** The longest message that gRPC can carry. */
const ANSWER_BYTES_MAX = 2 ** 31 - 1;

/**
 * Answers ranges. The index gives the versions; memory or storage gives their bytes. Small answers whose bytes are at
 * hand are synchronous. Long answers are made in slices, so that a list of all keys does not delay small requests. They
 * stay at their revision, because versions are immutable and are pinned against compaction while they are read.
 */
export class Scanner {
  readonly #index: KeyIndex;
  readonly #bytes: VersionBytes;
  readonly #pins: Pins;
  readonly #clock: Clock;
  readonly #sliceUs: number | undefined;
  readonly #answerBytesMax: number;
  readonly #memory = new ListMemory();

  constructor({ index, bytes, pins, clock, sliceUs, answerBytesMax }: ScannerOptions) {
    this.#index = index;
    this.#bytes = bytes;
    this.#pins = pins;
    this.#clock = clock;
    this.#sliceUs = sliceUs;
    this.#answerBytesMax = answerBytesMax ?? ANSWER_BYTES_MAX;
  }

  /** See `planRange`. */
  plan(op: RangeOp, at: Revision, room: AnswerRoom, slice: Slice): SlicedWork<RangePlan> {
    return planRange(this.#index, op, at, room, slice);
  }

  /**
   * The caller has checked that `at` is neither compacted nor in the future. ResponseTooLarge if the answer does not
   * fit into `room`. Without `room`, the range has its own.
   */
  scan(op: RangeOp, at: Revision, signal: AbortSignal, room?: AnswerRoom): ScanResult | Promise<ScanResult> {
    if (isPlainPoint(op)) {
      const found = this.#point(op.range.key, at);
      if (found !== undefined) {
        if (room !== undefined) for (const kv of found.kvs) room.take(kv.length);
        return found;
      }
    }
    if (isPlainList(op)) {
      return this.#list(op, at, this.#listBegin(op, at), room ?? new AnswerRoom(this.#answerBytesMax), signal);
    }
    if (op.countOnly) return this.#countOnly(op.range, at, signal);
    return this.#planAndFetch(op, at, room ?? new AnswerRoom(this.#answerBytesMax), signal);
  }

  /**
   * As `scan`, for an answer that is sent as it is: a long list holds only the places of its versions, and fetches
   * their bytes a page at a time. An empty list is never paged, because it has nothing to hold.
   */
  scanPaged(
    op: RangeOp,
    at: Revision,
    signal: AbortSignal,
  ): ScanResult | PagedScanResult | Promise<ScanResult | PagedScanResult> {
    if (!isPlainList(op) || isPlainPoint(op)) return this.scan(op, at, signal);
    const room = new AnswerRoom(this.#answerBytesMax);
    const first = this.#listBegin(op, at);
    const { slots, whole } = first;
    if (whole && this.#isHeld(slots)) return this.#list(op, at, first, room, signal);
    return this.#page(op, at, first, room, signal);
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

  /** Synchronous if the first slice found the whole list and its count. */
  #page(
    op: RangeOp,
    at: Revision,
    first: ListBegin,
    room: AnswerRoom,
    signal: AbortSignal,
  ): PagedScanResult | Promise<ScanResult | PagedScanResult> {
    const { slots, whole, slice } = first;
    const list = new PagedList(this.#bytes, this.#memory, this.#pins.hold(at, true), signal);
    try {
      room.take(list.add(this.#index, slots), slots.length);
      if (!whole) return this.#pageOn(op, at, first, list, room, signal);
      if (slots.length < fetchMax(op)) return { kvs: list, count: slots.length, more: false };
      list.truncate(op.limit);
      const count = this.#count(op.range, at, slice, signal);
      if (!(count instanceof Promise)) return { kvs: list, count, more: true };
      return this.#whenCounted(list, count);
    } catch (error) {
      list[Symbol.dispose]();
      throw error;
    }
  }

  async #pageOn(
    op: RangeOp,
    at: Revision,
    { next, slice }: ListBegin,
    list: PagedList,
    room: AnswerRoom,
    signal: AbortSignal,
  ): Promise<ScanResult | PagedScanResult> {
    const max = fetchMax(op);
    try {
      for (let key = next; key !== undefined && list.length < max; ) {
        await slice.turn(this.#clock, signal);
        const slots: VersionSlot[] = [];
        const range = { key, end: op.range.end };
        key = this.#index.collectSome(range, at, Math.min(LIST_KEYS, max - list.length), slice, slots);
        room.take(list.add(this.#index, slots), slots.length);
      }
      if (list.length === 0) {
        list[Symbol.dispose]();
        return nothingFound;
      }
      if (list.length < max) return { kvs: list, count: list.length, more: false };
      list.truncate(op.limit);
      return { kvs: list, count: await this.#count(op.range, at, slice, signal), more: true };
    } catch (error) {
      list[Symbol.dispose]();
      throw error;
    }
  }

  async #whenCounted(kvs: PagedList, count: Promise<number>): Promise<PagedScanResult> {
    try {
      return { kvs, count: await count, more: true };
    } catch (error) {
      kvs[Symbol.dispose]();
      throw error;
    }
  }

  /** One key, as in most reads: no plan, only its bytes if they are in memory. */
  #point(key: Uint8Array, at: Revision): ScanResult | undefined {
    const slot = this.#index.at(key, at);
    if (slot === NO_VERSION || this.#index.isTombstone(slot)) return nothingFound;
    const kv = this.#bytes.peek(this.#index.position(slot));
    return kv === undefined ? undefined : { kvs: [kv], count: 1, more: false };
  }

  #countOnly(range: KeyRange, at: Revision, signal: AbortSignal): ScanResult | Promise<ScanResult> {
    const slice = new Slice(this.#sliceUs);
    const { live, next } = this.#index.countSome(range, at, slice);
    if (next === undefined) return { kvs: [], count: live, more: false };
    return this.pinned(at, async () => {
      await slice.turn(this.#clock, signal);
      const rest = await this.#count({ key: next, end: range.end }, at, slice, signal);
      return { kvs: [], count: live + rest, more: false };
    });
  }

  #planAndFetch(op: RangeOp, at: Revision, room: AnswerRoom, signal: AbortSignal): ScanResult | Promise<ScanResult> {
    const slice = new Slice(this.#sliceUs);
    let pin: Pin | undefined;
    const plan = doSliced(this.plan(op, at, room, slice), () => {
      // Taken in the same turn as the first read of the index, so no compaction has come between.
      pin ??= this.#pins.hold(at);
      return slice.turn(this.#clock, signal);
    });
    if (!(plan instanceof Promise)) return this.fetch(plan, at, signal, slice);
    return plan.then((made) => this.fetch(made, at, signal, slice)).finally(() => pin?.[Symbol.dispose]());
  }

  /**
   * Fetches the bytes of a plan. `at` is pinned from now until the answer is complete. `slice` is the slice of the
   * longer work that this is a part of, if any.
   */
  fetch(
    plan: RangePlan,
    at: Revision,
    signal: AbortSignal,
    slice: Slice = new Slice(this.#sliceUs),
  ): ScanResult | Promise<ScanResult> {
    const { keys, positions, count, more, byValue } = plan;
    if (keys !== undefined) return { kvs: keys, count, more };
    if (byValue !== undefined) return this.#fetchByValue(positions, byValue, count, at, signal, slice);
    const kvs = this.fetchAll(positions, at, signal, slice);
    return kvs instanceof Promise ? kvs.then((fetched) => ({ kvs: fetched, count, more })) : { kvs, count, more };
  }

  /** The bytes of these versions. `at` and `slice` as in `fetch`. */
  fetchAll(
    positions: readonly LogPosition[],
    at: Revision,
    signal: AbortSignal,
    slice: Slice = new Slice(this.#sliceUs),
  ): ByteList | Promise<ByteList> {
    if (positions.length > FETCH_KEYS) return this.#fetchInSlices(positions, at, signal, slice);
    slice.spend(FETCH_US * positions.length);
    return this.versions(positions, at, signal);
  }

  async #fetchInSlices(
    positions: readonly LogPosition[],
    at: Revision,
    signal: AbortSignal,
    slice: Slice,
  ): Promise<ByteList> {
    using _pin = this.#pins.hold(at);
    const kvs = new ByteViews();
    for (let from = 0; from < positions.length; from += FETCH_KEYS) {
      const part = positions.slice(from, from + FETCH_KEYS);
      await this.#bytes.collect(new Float64Array(part), kvs, signal);
      if (slice.spend(FETCH_US * part.length)) await slice.turn(this.#clock, signal);
    }
    return kvs;
  }

  async #fetchByValue(
    positions: readonly LogPosition[],
    byValue: ValueOrder,
    count: number,
    at: Revision,
    signal: AbortSignal,
    slice: Slice,
  ): Promise<ScanResult> {
    using _pin = this.#pins.hold(at);
    const turn = (): Promise<void> => slice.turn(this.#clock, signal);
    const chosen = new VersionsByValue(byValue, slice);
    for (let from = 0; from < positions.length; from += FETCH_KEYS) {
      const part = positions.slice(from, from + FETCH_KEYS);
      const kvs = await this.#bytes.getMany(part, signal);
      slice.spend(FETCH_US * part.length);
      await doSliced(chosen.add(kvs), turn);
      if (slice.spent) await turn();
    }
    return { ...(await doSliced(chosen.finish(), turn)), count };
  }

  #listBegin(op: RangeOp, at: Revision): ListBegin {
    const max = fetchMax(op);
    const slice = new Slice(this.#sliceUs);
    const slots: VersionSlot[] = [];
    const next = this.#index.collectSome(op.range, at, Math.min(LIST_KEYS, max), slice, slots);
    return { slots, next, whole: next === undefined || slots.length === max, slice };
  }

  #list(
    op: RangeOp,
    at: Revision,
    { slots, next, whole, slice }: ListBegin,
    room: AnswerRoom,
    signal: AbortSignal,
  ): ScanResult | Promise<ScanResult> {
    const max = fetchMax(op);
    if (next !== undefined && !whole) return this.#listInSlices(op, at, room, slots, next, slice, signal);
    const more = slots.length === max;
    if (more) slots.length = op.limit;
    const positions = this.#positions(slots, room);
    const count = more ? this.#count(op.range, at, slice, signal) : slots.length;
    if (slots.length < LIST_MIN) {
      const kvs = this.#bytes.getMany(positions, signal);
      if (!(kvs instanceof Promise || count instanceof Promise)) return { kvs, count, more };
      return this.#whenThere(kvs, count, more, at);
    }
    const kvs = new ByteViews();
    const loading = this.#bytes.collect(new Float64Array(positions), kvs, signal);
    if (loading === undefined && !(count instanceof Promise)) return { kvs, count, more };
    return this.#whenThere(loading?.then(() => kvs) ?? kvs, count, more, at);
  }

  async #whenThere(
    kvs: ByteList | Promise<ByteList>,
    count: number | Promise<number>,
    more: boolean,
    at: Revision,
  ): Promise<ScanResult> {
    using _pin = this.#pins.hold(at);
    const [loaded, counted] = await Promise.all([kvs, count]);
    return { kvs: loaded, count: counted, more };
  }

  /** Continues after the first slice, which ends before `next`. */
  async #listInSlices(
    op: RangeOp,
    at: Revision,
    room: AnswerRoom,
    first: readonly VersionSlot[],
    next: Uint8Array,
    slice: Slice,
    signal: AbortSignal,
  ): Promise<ScanResult> {
    using _pin = this.#pins.hold(at);
    const max = fetchMax(op);
    const kvs = new ByteViews();
    await this.#bytes.collect(new Float64Array(this.#positions(first, room)), kvs, signal);
    for (let key: Uint8Array | undefined = next; key !== undefined && kvs.length < max; ) {
      await slice.turn(this.#clock, signal);
      const slots: VersionSlot[] = [];
      const range = { key, end: op.range.end };
      key = this.#index.collectSome(range, at, Math.min(LIST_KEYS, max - kvs.length), slice, slots);
      await this.#bytes.collect(new Float64Array(this.#positions(slots, room)), kvs, signal);
    }
    if (kvs.length < max) return { kvs, count: kvs.length, more: false };
    kvs.truncate(op.limit);
    return { kvs, count: await this.#count(op.range, at, slice, signal), more: true };
  }

  /** If it returns a promise, the caller must hold `at` back from compaction until the promise settles. */
  #count(range: KeyRange, at: Revision, slice: Slice, signal: AbortSignal): number | Promise<number> {
    return doSliced(countRange(this.#index, range, at, slice), () => slice.turn(this.#clock, signal));
  }

  #positions(slots: readonly VersionSlot[], room: AnswerRoom): readonly LogPosition[] {
    const positions = new Array<LogPosition>(slots.length);
    room.take(this.#index.places(slots, positions, 0), slots.length);
    return positions;
  }

  /**
   * The range in chunks of about `chunkBytes`, in key order, all at `at`. `more` and `count` are those of the whole
   * range, and valid in the last chunk. The stream waits for its consumer between chunks and holds no pin meanwhile. If
   * compaction overtakes it, which `compacted` tells, it rejects with Compacted, as a page of a list would.
   */
  async *stream(
    op: RangeOp,
    at: Revision,
    chunkBytes: number,
    compacted: () => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<ScanResult & { readonly last: boolean }> {
    const slice = new Slice(this.#sliceUs);
    const count = await this.pinned(at, () => this.#count(op.range, at, slice, signal));
    if (op.countOnly) {
      yield { kvs: [], count, more: false, last: true };
      return;
    }
    const wanted = op.limit > 0 ? Math.min(op.limit, count) : count;
    let sent = 0;
    let chunkKeys = 10;
    let next: Uint8Array | undefined = op.range.key;
    for (let last = false; !last; ) {
      const key = next;
      const kvs = await this.pinned(at, async (): Promise<ByteList> => {
        if (compacted()) throw new EngramError('Compacted');
        const slots: VersionSlot[] = [];
        const max = Math.min(chunkKeys, wanted - sent);
        if (key === undefined || max === 0) next = undefined;
        else next = this.#index.collectSome({ key, end: op.range.end }, at, max, slice, slots);
        return op.keysOnly
          ? this.#keysOnly(slots)
          : await this.#bytes.getMany(this.#positions(slots, boundless), signal);
      });
      signal.throwIfAborted();
      sent += kvs.length;
      let bytes = 0;
      for (const kv of kvs) bytes += kv.length;
      if (bytes > chunkBytes) chunkKeys = Math.max(1, chunkKeys >> 1);
      else if (bytes * 2 < chunkBytes) chunkKeys = Math.min(STREAM_KEYS, chunkKeys * 2);
      last = sent >= wanted || next === undefined;
      if (last || kvs.length > 0) yield { kvs, count, more: sent < count, last };
      if (!last) await slice.turn(this.#clock, signal);
    }
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
    const kvs = this.#bytes.getMany(positions, signal);
    if (!(kvs instanceof Promise)) return kvs;
    const pin = this.#pins.hold(at);
    return kvs.finally(() => pin[Symbol.dispose]());
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
