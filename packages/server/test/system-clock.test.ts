import { expect, test } from 'vitest';
import { SystemClock } from '../src/system-clock.ts';

const clock = new SystemClock();

test.each([0, 0.4, 1, 7.5, 20])('%d ms are waited for in full', async (delayMs) => {
  const startMs = clock.nowMs();
  await new Promise<void>((resolve) => clock.after(delayMs, resolve));
  expect(clock.nowMs() - startMs).toBeGreaterThanOrEqual(delayMs);
});

test('a delay above what timers take does not fire at once, and can be cancelled', async () => {
  let fired = false;
  const timer = clock.after(30 * 86_400_000, () => {
    fired = true;
  });
  await new Promise<void>((resolve) => clock.after(20, resolve));
  expect(fired).toBe(false);
  timer.cancel();
  timer.cancel();
});
