import { keyValueValue, withoutValue } from '@engram/coder';
import {
  type ByteList,
  ByteViews,
  type Clock,
  EngramError,
  keySuccessor,
  type KeyRange,
  type LogPosition,
  nextTurn,
  type RangeOp,
  type Revision,
} from '@engram/core';
import { type KeyIndex, NO_VERSION, type VersionSlot } from '@engram/index';
import type { Pins } from './pins.ts';
import {
  compareValues,
  fetchMax,
  isPlainList,
  isPlainPoint,
  planRange,
  planSlots,
  type RangePlan,
} from './range-plan.ts';
import type { VersionBytes } from './version-bytes.ts';

export interface ScanResult {
  readonly kvs: ByteList;
  readonly count: number;
  readonly more: boolean;
}

/** Keys that are looked at before others get their turn: about half a millisecond of work. */
const SLICE_KEYS = 4096;
/** Fewer are answered by a view for each. */
const LIST_MIN = 64;

/**
 * Answers ranges: the index says which versions, memory or storage give their bytes. Small answers whose bytes are at
 * hand are synchronous. Long ones are worked off in slices, so that a list of everything holds up no small request;
 * they stay at their revision, since versions are immutable and pinned against compaction while they are read.
 */
export class Scanner {
  readonly #index: KeyIndex;
  readonly #bytes: VersionBytes;
  readonly #pins: Pins;
  readonly #clock: Clock;

  constructor(options: { index: KeyIndex; bytes: VersionBytes; pins: Pins; clock: Clock }) {
    this.#index = options.index;
    this.#bytes = options.bytes;
    this.#pins = options.pins;
    this.#clock = options.clock;
  }

  /** Takes all that the answer needs from the index, now. */
  plan(op: RangeOp, at: Revision): RangePlan {
    return planRange(this.#index, op, at);
  }

  /** The caller has checked that `at` is neither compacted nor in the future. */
  scan(op: RangeOp, at: Revision, signal: AbortSignal): ScanResult | Promise<ScanResult> {
    if (isPlainPoint(op)) {
      const found = this.#point(op.range.key, at);
      if (found !== undefined) return found;
    }
    if (isPlainList(op)) return this.#list(op, at, signal);
    if (op.countOnly || fetchMax(op) <= SLICE_KEYS) return this.fetch(this.plan(op, at), at, signal);
    const first = this.#index.collect(op.range, at, SLICE_KEYS);
    if (first.length < SLICE_KEYS) return this.fetch(planSlots(this.#index, op, first, first.length), at, signal);
    return this.#scanInSlices(op, at, first, signal);
  }

  /** One key, as most reads are: no plan for it, only its bytes where they are in memory. */
  #point(key: Uint8Array, at: Revision): ScanResult | undefined {
    const slot = this.#index.at(key, at);
    if (slot === NO_VERSION || this.#index.isTombstone(slot)) return nothingFound;
    const kv = this.#bytes.peek(this.#index.position(slot));
    return kv === undefined ? undefined : { kvs: [kv], count: 1, more: false };
  }

  /** Fills a plan in. `at` is pinned from now until the answer is there. */
  fetch(plan: RangePlan, at: Revision, signal: AbortSignal): ScanResult | Promise<ScanResult> {
    if (plan.keys !== undefined) return { kvs: plan.keys, count: plan.count, more: plan.more };
    const kvs = this.#bytes.getMany(plan.positions, signal);
    if (!(kvs instanceof Promise)) return finish(plan, kvs);
    const pin = this.#pins.hold(at);
    return kvs.then((loaded) => finish(plan, loaded)).finally(() => pin[Symbol.dispose]());
  }

  #list(op: RangeOp, at: Revision, signal: AbortSignal): ScanResult | Promise<ScanResult> {
    const max = fetchMax(op);
    const first = this.#index.collect(op.range, at, Math.min(SLICE_KEYS, max));
    if (first.length < LIST_MIN) {
      const count = first.length < max ? first.length : this.#index.count(op.range, at);
      return this.fetch(planSlots(this.#index, op, first, count), at, signal);
    }
    const kvs = new ByteViews();
    const loading = this.#bytes.collect(this.#positions(first), kvs, signal);
    if (first.length < SLICE_KEYS || first.length === max) {
      if (loading === undefined) return this.#listed(op, at, kvs);
      const pin = this.#pins.hold(at);
      return loading.then(() => this.#listed(op, at, kvs)).finally(() => pin[Symbol.dispose]());
    }
    return this.#listInSlices(op, at, kvs, first, loading, signal);
  }

  /** Goes on behind the first slice, whose bytes come with `loading`. */
  async #listInSlices(
    op: RangeOp,
    at: Revision,
    kvs: ByteViews,
    first: readonly VersionSlot[],
    loading: Promise<void> | undefined,
    signal: AbortSignal,
  ): Promise<ScanResult> {
    using _pin = this.#pins.hold(at);
    await loading;
    const max = fetchMax(op);
    for (let slice = first; slice.length === SLICE_KEYS && kvs.length < max; ) {
      const range = { key: keySuccessor(this.#index.key(slice.at(-1)!)), end: op.range.end };
      await this.#turn(signal);
      slice = this.#index.collect(range, at, Math.min(SLICE_KEYS, max - kvs.length));
      await this.#bytes.collect(this.#positions(slice), kvs, signal);
    }
    return this.#listed(op, at, kvs);
  }

  #listed(op: RangeOp, at: Revision, kvs: ByteViews): ScanResult {
    if (kvs.length < fetchMax(op)) return { kvs, count: kvs.length, more: false };
    kvs.truncate(op.limit);
    return { kvs, count: this.#index.count(op.range, at), more: true };
  }

  #positions(slots: readonly VersionSlot[]): readonly LogPosition[] {
    const positions = new Array<LogPosition>(slots.length);
    for (let at = 0; at < slots.length; at += 1) positions[at] = this.#index.position(slots[at]!);
    return positions;
  }

  async #scanInSlices(
    op: RangeOp,
    at: Revision,
    first: readonly VersionSlot[],
    signal: AbortSignal,
  ): Promise<ScanResult> {
    using _pin = this.#pins.hold(at);
    const max = fetchMax(op);
    const slots = first.slice();
    let range: KeyRange = op.range;
    for (let slice = first; slice.length === SLICE_KEYS && slots.length < max; ) {
      range = { key: keySuccessor(this.#index.key(slice.at(-1)!)), end: op.range.end };
      await this.#turn(signal);
      slice = this.#index.collect(range, at, Math.min(SLICE_KEYS, max - slots.length));
      for (const slot of slice) slots.push(slot);
    }
    const count = slots.length < max ? slots.length : this.#index.count(op.range, at);
    const plan = planSlots(this.#index, op, slots, count);
    if (plan.keys !== undefined) return { kvs: plan.keys, count: plan.count, more: plan.more };
    const { positions } = plan;
    const kvs = new Array<Uint8Array>(positions.length);
    for (let from = 0; from < positions.length; from += SLICE_KEYS) {
      if (from > 0) await this.#turn(signal);
      const loaded = await this.#bytes.getMany(positions.slice(from, from + SLICE_KEYS), signal);
      for (let at = 0; at < loaded.length; at += 1) kvs[from + at] = loaded[at]!;
    }
    return finish(plan, kvs);
  }

  /**
   * The range in chunks of about `chunkBytes`, in key order, all at `at`; `more` and `count` are those of the whole and
   * valid in the last chunk. It waits for its consumer between chunks and holds no pin meanwhile: where compaction
   * overtakes it, it rejects with Compacted (`compacted` tells), as a page of a list would.
   */
  async *stream(
    op: RangeOp,
    at: Revision,
    chunkBytes: number,
    compacted: () => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<ScanResult & { readonly last: boolean }> {
    const count = this.#index.count(op.range, at);
    if (op.countOnly) {
      yield { kvs: [], count, more: false, last: true };
      return;
    }
    const wanted = op.limit > 0 ? Math.min(op.limit, count) : count;
    let sent = 0;
    let chunkKeys = 10;
    let range: KeyRange = op.range;
    for (let last = false; !last; ) {
      const pin = this.#pins.hold(at);
      let kvs: readonly Uint8Array[];
      try {
        if (compacted()) throw new EngramError('Compacted');
        const slots = this.#index.collect(range, at, Math.min(chunkKeys, wanted - sent));
        if (slots.length > 0) range = { key: keySuccessor(this.#index.key(slots.at(-1)!)), end: op.range.end };
        const plan = planSlots(this.#index, { ...op, limit: 0 }, slots, count);
        kvs = plan.keys ?? (await this.#bytes.getMany(plan.positions, signal));
      } finally {
        pin[Symbol.dispose]();
      }
      signal.throwIfAborted();
      sent += kvs.length;
      let bytes = 0;
      for (const kv of kvs) bytes += kv.length;
      if (bytes > chunkBytes) chunkKeys = Math.max(1, chunkKeys >> 1);
      else if (bytes * 2 < chunkBytes) chunkKeys = Math.min(SLICE_KEYS, chunkKeys * 2);
      last = sent >= wanted || kvs.length === 0;
      yield { kvs, count, more: sent < count, last };
      if (!last) await this.#turn(signal);
    }
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

  /** As `versions`, for whoever passes over everything once: what others will ask for again stays in the cache. */
  async passing(positions: readonly LogPosition[], at: Revision, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    using _pin = this.#pins.hold(at);
    return await this.#bytes.passing(positions, signal);
  }

  async #turn(signal: AbortSignal): Promise<void> {
    await nextTurn(this.#clock);
    signal.throwIfAborted();
  }
}

const nothingFound: ScanResult = { kvs: [], count: 0, more: false };

function finish(plan: RangePlan, kvs: readonly Uint8Array[]): ScanResult {
  if (plan.byValue === undefined) return { kvs, count: plan.count, more: plan.more };
  const { descending, limit, keysOnly } = plan.byValue;
  const order = compareValues(descending);
  const sorted = kvs.toSorted((left, right) => order(keyValueValue(left), keyValueValue(right)));
  const more = limit > 0 && sorted.length > limit;
  const cut = more ? sorted.slice(0, limit) : sorted;
  return { kvs: keysOnly ? cut.map(withoutValue) : cut, count: plan.count, more };
}
