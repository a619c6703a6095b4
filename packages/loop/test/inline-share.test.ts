import { expect, test } from 'vitest';
import { InlineShare } from '../src/inline-share.ts';

test('reads block for a millisecond of every four, whoever makes them', () => {
  const share = new InlineShare();
  const readsOfMs = (nowMs: number, ms: number): number => {
    let reads = 0;
    while (share.mayBegin(nowMs) && reads < 100) {
      share.spend(ms);
      reads += 1;
    }
    return reads;
  };
  expect(readsOfMs(10, 0.25)).toBe(4);
  expect(readsOfMs(13.9, 0.25)).toBe(0);
  expect(readsOfMs(14, 0.5)).toBe(2);
  // A read that took longer than the share is the last one of its time, and owes nothing.
  expect(readsOfMs(18, 30)).toBe(1);
  expect(readsOfMs(22, 0.5)).toBe(2);
  expect(share.usage).toEqual({ ms: 33, refused: 5 });
});
