import type { VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
/** Below this, comparing is faster than counting digits. */
const FEW = 128;

/** Sorts slots by (modRevision, sub). A checkpoint may bring millions. */
export function sortByRevision(slots: readonly VersionSlot[], versions: VersionTable): VersionSlot[] {
  if (slots.length < FEW) {
    return slots.toSorted(
      (left, right) => versions.mod(left) - versions.mod(right) || versions.sub(left) - versions.sub(right),
    );
  }
  const count = slots.length;
  const subs = new Float64Array(count);
  const mods = new Float64Array(count);
  let lowest = Number.POSITIVE_INFINITY;
  for (let at = 0; at < count; at += 1) {
    const slot = slots[at]!;
    subs[at] = versions.sub(slot);
    mods[at] = versions.mod(slot);
    if (mods[at]! < lowest) lowest = mods[at]!;
  }
  for (let at = 0; at < count; at += 1) mods[at] = mods[at]! - lowest;
  // The last sort decides; equal elements keep the order of the sort before.
  let order: Uint32Array = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) order[at] = at;
  order = sortDigits(sortDigits(order, subs), mods);
  const sorted: VersionSlot[] = [];
  for (const at of order) sorted.push(slots[at]!);
  return sorted;
}

/** Sorts indexes of `values` (integers, not negative) by value, stably, digit after digit. */
function sortDigits(indexes: Uint32Array, values: Float64Array): Uint32Array {
  let highest = 0;
  for (const value of values) if (value > highest) highest = value;
  let sorted = indexes;
  let target: Uint32Array = new Uint32Array(indexes.length);
  for (let unit = 1; unit <= highest; unit *= DIGITS) {
    const starts = new Uint32Array(DIGITS + 1);
    for (const value of values) {
      const digit = Math.floor(value / unit) % DIGITS;
      starts[digit + 1] = starts[digit + 1]! + 1;
    }
    for (let digit = 1; digit <= DIGITS; digit += 1) starts[digit] = starts[digit]! + starts[digit - 1]!;
    for (const index of sorted) {
      const digit = Math.floor(values[index]! / unit) % DIGITS;
      target[starts[digit]!] = index;
      starts[digit] = starts[digit]! + 1;
    }
    [sorted, target] = [target, sorted];
  }
  return sorted;
}
