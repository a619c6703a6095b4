import type { KeyIndex } from '@engram/index';
import type { PureJob, Turn } from '@engram/loop';

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
/** Slots handled between two questions. */
const RUN_SLOTS = 256;

/**
 * Sorts slots by log position: a radix sort from the lowest digit on. Uses `slots` as working memory, and as much memory
 * again.
 */
export function* sortByPosition(slots: Int32Array, index: KeyIndex, turn: Turn): PureJob<Int32Array> {
  function* eachRun(work: (from: number, to: number) => void): PureJob<void> {
    for (let from = 0; from < slots.length; from += RUN_SLOTS) {
      const to = Math.min(slots.length, from + RUN_SLOTS);
      work(from, to);
      if (turn.shouldYield(to - from)) yield;
    }
  }
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  yield* eachRun((from, to) => {
    for (let at = from; at < to; at += 1) {
      const position = index.position(slots[at]!);
      if (position < lowest) lowest = position;
      if (position > highest) highest = position;
    }
  });
  let sorted = slots;
  let target: Int32Array = new Int32Array(slots.length);
  for (let unit = 1; unit <= highest - lowest; unit *= DIGITS) {
    const digit = (slot: number): number => Math.floor((index.position(slot) - lowest) / unit) % DIGITS;
    const source = sorted;
    const into = target;
    const starts = new Uint32Array(DIGITS + 1);
    yield* eachRun((from, to) => {
      for (let at = from; at < to; at += 1) {
        const next = digit(source[at]!) + 1;
        starts[next] = starts[next]! + 1;
      }
    });
    for (let at = 1; at <= DIGITS; at += 1) starts[at] = starts[at]! + starts[at - 1]!;
    yield* eachRun((from, to) => {
      for (let at = from; at < to; at += 1) {
        const slot = source[at]!;
        const place = digit(slot);
        into[starts[place]!] = slot;
        starts[place] = starts[place]! + 1;
      }
    });
    [sorted, target] = [into, source];
  }
  return sorted;
}
