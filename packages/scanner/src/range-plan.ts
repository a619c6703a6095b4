import { encodeKeyValue } from '@engram/coder';
import {
  compareBytes,
  EMPTY_BYTES,
  isPoint,
  type KeyRange,
  type LogPosition,
  type RangeOp,
  type Revision,
  SortOrder,
  SortTarget,
} from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';

/**
 * A range that the index has answered: what is left is to fetch bytes. It stays true whatever is written later; the
 * positions are readable as long as compaction is held back (see Pins).
 */
export interface RangePlan {
  readonly count: number;
  readonly more: boolean;
  /** Complete answers that needed no bytes (keys_only); `positions` is empty then. */
  readonly keys: readonly Uint8Array[] | undefined;
  readonly positions: readonly LogPosition[];
  /** Only for a sort by VALUE: the bytes must be sorted, cut to `limit`, and perhaps stripped, after the fetch. */
  readonly byValue: { readonly descending: boolean; readonly limit: number; readonly keysOnly: boolean } | undefined;
}

const isFiltered = (op: RangeOp): boolean =>
  op.minModRevision !== 0 || op.maxModRevision !== 0 || op.minCreateRevision !== 0 || op.maxCreateRevision !== 0;

/** One key with its value: neither limit nor order matter. */
export const isPlainPoint = (op: RangeOp): boolean =>
  isPoint(op.range) && !op.countOnly && !op.keysOnly && !isFiltered(op);

/** NONE is not "unsorted": with a target other than KEY etcd sorts ascending (etcd server/etcdserver/txn/range.go). */
const isKeyOrder = (op: RangeOp): boolean => op.sortTarget === SortTarget.KEY && op.sortOrder !== SortOrder.DESCEND;

/** Keys with their values as the index has them: nothing to sort, to filter or to strip. */
export const isPlainList = (op: RangeOp): boolean => isKeyOrder(op) && !op.countOnly && !op.keysOnly && !isFiltered(op);

/**
 * How many keys must be looked at: limit + 1 tell `more`. The limit comes before the sort where the order is NONE and
 * nothing is filtered, as in etcd; a key order that is ascending is the index's own.
 */
export function fetchMax(op: RangeOp): number {
  if (op.limit <= 0 || isFiltered(op)) return Number.POSITIVE_INFINITY;
  return op.sortOrder === SortOrder.NONE || isKeyOrder(op) ? op.limit + 1 : Number.POSITIVE_INFINITY;
}

export function planRange(index: KeyIndex, op: RangeOp, at: Revision): RangePlan {
  if (op.countOnly) return countPlan(index.count(op.range, at));
  const max = fetchMax(op);
  const slots = index.collect(op.range, at, max);
  return planSlots(index, op, slots, slots.length < max ? slots.length : countOf(index, op.range, at, slots.length));
}

export const countPlan = (count: number): RangePlan => ({
  count,
  more: false,
  keys: undefined,
  positions: [],
  byValue: undefined,
});

const countOf = (index: KeyIndex, range: KeyRange, at: Revision, found: number): number =>
  isPoint(range) ? found : index.count(range, at);

/** `slots` are the live versions of the range in key order, at most `fetchMax(op)`; `count` is that of the whole range. */
export function planSlots(index: KeyIndex, op: RangeOp, slots: readonly VersionSlot[], count: number): RangePlan {
  const filtered = isFiltered(op) ? slots.filter((slot) => passes(index, op, slot)) : slots;
  if (op.sortTarget === SortTarget.VALUE) {
    const byValue = { descending: op.sortOrder === SortOrder.DESCEND, limit: op.limit, keysOnly: op.keysOnly };
    return { count, more: false, keys: undefined, positions: filtered.map((slot) => index.position(slot)), byValue };
  }
  const sorted = isKeyOrder(op) ? filtered : sortSlots(index, op, filtered);
  const more = op.limit > 0 && sorted.length > op.limit;
  const cut = more ? op.limit : sorted.length;
  if (op.keysOnly) {
    const keys = new Array<Uint8Array>(cut);
    for (let at = 0; at < cut; at += 1) keys[at] = encodeWithoutValue(index, sorted[at]!);
    return { count, more, keys, positions: [], byValue: undefined };
  }
  const positions = new Array<LogPosition>(cut);
  for (let at = 0; at < cut; at += 1) positions[at] = index.position(sorted[at]!);
  return { count, more, keys: undefined, positions, byValue: undefined };
}

/** Bounds are inclusive, 0 is "not set", and a negative bound is taken literally. */
function passes(index: KeyIndex, op: RangeOp, slot: VersionSlot): boolean {
  const mod = index.modRevision(slot);
  const create = index.createRevision(slot);
  return (
    (op.maxModRevision === 0 || mod <= op.maxModRevision) &&
    (op.minModRevision === 0 || mod >= op.minModRevision) &&
    (op.maxCreateRevision === 0 || create <= op.maxCreateRevision) &&
    (op.minCreateRevision === 0 || create >= op.minCreateRevision)
  );
}

function sortSlots(index: KeyIndex, op: RangeOp, slots: readonly VersionSlot[]): readonly VersionSlot[] {
  if (op.sortTarget === SortTarget.KEY) return slots.toReversed();
  const target = (slot: VersionSlot): number => {
    switch (op.sortTarget) {
      case SortTarget.VERSION:
        return index.version(slot);
      case SortTarget.CREATE:
        return index.createRevision(slot);
      default:
        return index.modRevision(slot);
    }
  };
  const sign = op.sortOrder === SortOrder.DESCEND ? -1 : 1;
  return slots.toSorted((left, right) => sign * (target(left) - target(right)));
}

function encodeWithoutValue(index: KeyIndex, slot: VersionSlot): Uint8Array {
  return encodeKeyValue({
    key: index.key(slot),
    createRevision: index.createRevision(slot),
    modRevision: index.modRevision(slot),
    version: index.version(slot),
    value: EMPTY_BYTES,
    lease: index.lease(slot),
  });
}

export const compareValues =
  (descending: boolean) =>
  (left: Uint8Array, right: Uint8Array): number =>
    descending ? compareBytes(right, left) : compareBytes(left, right);
