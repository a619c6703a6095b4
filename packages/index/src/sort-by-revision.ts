import type { VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** Slots by mod revision, equal ones in their order. Counting by digits: a checkpoint may bring millions. */
export function sortByRevision(slots: readonly VersionSlot[], versions: VersionTable): Int32Array {
  let sorted: Int32Array = Int32Array.from(slots);
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  for (const slot of sorted) {
    lowest = Math.min(lowest, versions.mod(slot));
    highest = Math.max(highest, versions.mod(slot));
  }
  let target: Int32Array = new Int32Array(sorted.length);
  for (let unit = 1; unit <= highest - lowest; unit *= DIGITS) {
    const starts = new Uint32Array(DIGITS + 1);
    const digit = (slot: VersionSlot): number => Math.floor((versions.mod(slot) - lowest) / unit) % DIGITS;
    for (const slot of sorted) starts[digit(slot) + 1] = starts[digit(slot) + 1]! + 1;
    for (let at = 1; at <= DIGITS; at += 1) starts[at] = starts[at]! + starts[at - 1]!;
    for (const slot of sorted) {
      const at = digit(slot);
      target[starts[at]!] = slot;
      starts[at] = starts[at]! + 1;
    }
    [sorted, target] = [target, sorted];
  }
  return sorted;
}
