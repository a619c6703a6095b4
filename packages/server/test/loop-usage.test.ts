import { expect, test } from 'vitest';
import { loopUsage } from '../src/loop-usage.ts';

const WORK_MS = 0.5;
const ROUNDS = 400;
/** Reading two clocks one after the other. */
const APART_MS = 0.2;

test('the CPU time of a short piece of work is never more than the time that it took', () => {
  let mostMs = 0;
  let fewest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = performance.now();
    const { cpuMs } = loopUsage();
    while (performance.now() - startMs < WORK_MS);
    const ranMs = loopUsage().cpuMs - cpuMs;
    mostMs = Math.max(mostMs, ranMs - (performance.now() - startMs));
    fewest = Math.min(fewest, ranMs);
  }
  expect(mostMs).toBeLessThan(APART_MS);
  expect(fewest).toBeGreaterThan(0);
});
