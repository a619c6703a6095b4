import type { PureJob, Turn } from './turn.ts';

/** The number of items that are sorted without a pause. */
const RUN_ITEMS = 256;

/**
 * Sorts the items. The order is that of `toSorted`: equal items keep their order. If some comparisons take much longer than
 * a step, `compare` counts the rest itself. `runItems` bounds how many items are sorted between two questions.
 */
export function* sorting<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
  turn: Turn,
  runItems: number = RUN_ITEMS,
): PureJob<Item[]> {
  let sorted: Item[] = [];
  for (let from = 0; from < items.length; from += runItems) {
    const run = items.slice(from, from + runItems).sort(compare);
    for (const item of run) sorted.push(item);
    if (turn.shouldYield(runItems)) yield;
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
        if (turn.shouldYield()) yield;
      }
    }
    sorted = merged;
  }
  return sorted;
}

/**
 * The indices of `count` items, in the order of the items that `compare` is asked about by their indices. As `sorting`.
 */
export function* sortingIndices(
  count: number,
  compare: (left: number, right: number) => number,
  turn: Turn,
  runItems: number = RUN_ITEMS,
): PureJob<number[]> {
  const indices: number[] = [];
  // Array.from took 15 ms for 70,000 of them, and does not give way.
  for (let at = 0; at < count; at += 1) {
    indices.push(at);
    if (turn.shouldYield()) yield;
  }
  return yield* sorting(indices, compare, turn, runItems);
}
