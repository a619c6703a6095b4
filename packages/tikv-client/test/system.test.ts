import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../src/runtime/system.ts';

test('a timer beyond those of node, as of a call that may take a month, does not fire at once', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let fired = false;
  const timer = systemClock.after(2 ** 31, () => {
    fired = true;
  });
  vi.advanceTimersByTime(60_000);
  expect(fired).toBe(false);
  timer.cancel();
});
