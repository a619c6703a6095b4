import type { PureJob, Turn } from '@engram/loop';
import type { VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
/** For fewer versions, a comparison sort is faster than a radix sort. */
const FEW = 128;
/** Versions between two questions: of each version something is looked up, or it is placed. */
const BLOCK = 1024;
/** A step is about so many of these. */
const STEP_VERSIONS = 8;
const BLOCK_STEPS = BLOCK / STEP_VERSIONS;

/** Sorts slots by (modRevision, sub). A checkpoint may have millions. The versions must not change meanwhile. */
export function* sortByRevision(
  slots: readonly VersionSlot[],
  versions: VersionTable,
  turn: Turn,
): PureJob<VersionSlot[]> {
  if (slots.length < FEW) {
    return slots.toSorted(
      (left, right) => versions.mod(left) - versions.mod(right) || versions.sub(left) - versions.sub(right),
    );
  }
  const count = slots.length;
  const subs = new Float64Array(count);
  const mods = new Float64Array(count);
  let lowest = Number.POSITIVE_INFINITY;
  for (let from = 0; from < count; from += BLOCK) {
    for (let at = from; at < Math.min(from + BLOCK, count); at += 1) {
      const slot = slots[at]!;
      subs[at] = versions.sub(slot);
      mods[at] = versions.mod(slot);
      if (mods[at]! < lowest) lowest = mods[at]!;
    }
    if (turn.shouldYield(BLOCK_STEPS)) yield;
  }
  // The sorts are stable, so the last one decides and equal elements keep the order of the sort before it.
  const order = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) order[at] = at;
  const places = yield* sortDigits(yield* sortDigits(order, subs, 0, turn), mods, lowest, turn);
  const sorted: VersionSlot[] = [];
  for (let from = 0; from < count; from += BLOCK) {
    for (let at = from; at < Math.min(from + BLOCK, count); at += 1) sorted.push(slots[places[at]!]!);
    if (turn.shouldYield(BLOCK_STEPS)) yield;
  }
  return sorted;
}

/** Sorts indexes of `values` (integers, none below `lowest`) by value with a stable radix sort. */
function* sortDigits(indexes: Uint32Array, values: Float64Array, lowest: number, turn: Turn): PureJob<Uint32Array> {
  const count = indexes.length;
  let highest = 0;
  for (const value of values) if (value - lowest > highest) highest = value - lowest;
  let sorted = indexes;
  let target: Uint32Array = new Uint32Array(count);
  for (let unit = 1; unit <= highest; unit *= DIGITS) {
    const starts = new Uint32Array(DIGITS + 1);
    for (const value of values) {
      const digit = Math.floor((value - lowest) / unit) % DIGITS;
      starts[digit + 1] = starts[digit + 1]! + 1;
    }
    for (let digit = 1; digit <= DIGITS; digit += 1) starts[digit] = starts[digit]! + starts[digit - 1]!;
    for (let from = 0; from < count; from += BLOCK) {
      for (let at = from; at < Math.min(from + BLOCK, count); at += 1) {
        const index = sorted[at]!;
        const digit = Math.floor((values[index]! - lowest) / unit) % DIGITS;
        target[starts[digit]!] = index;
        starts[digit] = starts[digit]! + 1;
      }
      // The cost includes the count of the digits.
      if (turn.shouldYield(2 * BLOCK_STEPS)) yield;
    }
    [sorted, target] = [target, sorted];
  }
  return sorted;
}
