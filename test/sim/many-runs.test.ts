import { expect, test } from 'vitest';
import { cpuMsOf } from './cpu-of-process.ts';

test.runIf(process.platform === 'linux')(
  'knows what a process has used of a CPU, and not how long it has lived',
  () => {
    const { pid } = process;
    const own = (): number => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    const leastMs = own();
    const usedMs = cpuMsOf(pid)!;
    // The kernel counts in ticks.
    expect(usedMs).toBeGreaterThan(leastMs - 50);
    expect(usedMs).toBeLessThan(own() + 50);
  },
);

test('knows nothing of a process that is no more', () => {
  expect(cpuMsOf(2 ** 30)).toBeUndefined();
});
