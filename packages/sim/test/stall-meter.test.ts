import { setImmediate as turn } from 'node:timers/promises';
import { StallMeter } from '@engram/sim';
import { expect, test } from 'vitest';

function workFor(cpuMs: number): void {
  const start = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(start);
    if (user + system >= cpuMs * 1000) return;
  }
}

test('the longest stretch is what one turn takes, not their sum', async () => {
  const { stall, result } = await StallMeter.during(async () => {
    for (let at = 0; at < 6; at += 1) {
      workFor(at === 3 ? 60 : 20);
      await turn();
    }
    return 'done';
  });
  expect(result).toBe('done');
  expect(stall.cpuMs).toBeGreaterThanOrEqual(59);
  expect(stall.cpuMs).toBeLessThan(110);
  expect(stall.wallMs).toBeGreaterThanOrEqual(59);
});

test('work that never gives way is one stretch', async () => {
  const { stall } = await StallMeter.during(() => workFor(30));
  expect(stall.cpuMs).toBeGreaterThanOrEqual(29);
});
