import type { Slice, SlicedWork } from './slice.ts';

/** The number of items that are sorted without a pause. */
const RUN_ITEMS = 256;

/**
 * Sorts the items in slices. The order is that of `toSorted`: equal items keep their order. `compareUs` is the time of
 * one comparison, in microseconds. If some comparisons take much longer, `compare` counts the rest itself. `runItems`
 * bounds how many items are sorted before the slice is checked.
 */
export function* sortSliced<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
  slice: Slice,
  compareUs = 0.1,
  runItems: number = RUN_ITEMS,
): SlicedWork<Item[]> {
  const runUs = runItems * Math.log2(runItems) * compareUs;
  let sorted: Item[] = [];
  for (let from = 0; from < items.length; from += runItems) {
    const run = items.slice(from, from + runItems).sort(compare);
    for (const item of run) sorted.push(item);
    if (slice.spend(runUs)) yield;
  }
  for (let width = runItems; width < items.length; width *= 2) {
    const merged: Item[] = [];
    for (let from = 0; from < sorted.length; from += 2 * width) {
      let left = from;
      let right = Math.min(from + width, sorted.length);
      const leftEnd = right;
      const rightEnd = Math.min(from + 2 * width, sorted.length);
      while (merged.length < rightEnd) {
        // Of equal items the left one comes first: it was first in the input.
        if (right === rightEnd || (left < leftEnd && compare(sorted[left]!, sorted[right]!) <= 0)) {
          merged.push(sorted[left]!);
          left += 1;
        } else {
          merged.push(sorted[right]!);
          right += 1;
        }
        if (slice.spend(compareUs)) yield;
      }
    }
    sorted = merged;
  }
  return sorted;
}
