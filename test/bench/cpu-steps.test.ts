import { expect, test } from 'vitest';
import { CpuSteps } from '../../bench/attacks/cpu-steps.ts';

test('a step counts once for each limit that it is above', () => {
  const steps = new CpuSteps(100);
  for (const cpuMs of [100, 102, 104.5, 110, 120, 131]) steps.read(cpuMs);
  expect(steps.counts).toEqual([
    [2, 4],
    [5, 3],
    [10, 1],
  ]);
  expect(steps.longestMs).toBe(11);
});
