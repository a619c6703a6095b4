import { readFile } from 'node:fs';
import { FRAMES_PHASE_MS, LATE_PHASE_MS, TURN_MS } from '@engram/loop';
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

test('what the input of a turn takes beyond its part is known to the loop', async () => {
  const { transport } = clock.loop;
  const sliceMs = async (inputMs: number): Promise<number> => {
    // Its callback is input, behind which the rest of the turn follows.
    await new Promise((resolve) => readFile(import.meta.filename, resolve));
    const startMs = clock.nowMs();
    transport.inputComes(startMs);
    while (clock.nowMs() < startMs + inputMs);
    return new Promise((resolve) => transport.waitForFrames(() => resolve(transport.frameSliceMs)));
  };
  expect(await sliceMs(TURN_MS)).toBe(LATE_PHASE_MS);
  const short: number[] = [];
  for (let tries = 0; tries < 100 && !short.includes(FRAMES_PHASE_MS); tries += 1) short.push(await sliceMs(0));
  expect(short, 'of a turn with little input').toContain(FRAMES_PHASE_MS);
});
