import { expect, test } from 'vitest';
import { Prng, Scheduler, SimClock } from '../index.ts';

test('a timer fires once, at its time, unless it is cancelled', () => {
  const clock = new SimClock();
  const seen: number[] = [];
  const note = (): void => void seen.push(clock.nowMs());
  clock.after(30, note);
  clock.after(10, () => {
    note();
    clock.after(5, note);
  });
  clock.after(20, note).cancel();
  clock.advance(29);
  expect(seen).toEqual([10, 15]);
  clock.advance(1);
  expect(seen).toEqual([10, 15, 30]);
  expect(clock.waiting).toBe(0);
  expect(clock.nowMs()).toBe(30);
});

test('a clock of its own gives turns by itself, and its time stands still', async () => {
  const clock = new SimClock();
  let turned = false;
  clock.soon(() => (turned = true));
  expect(turned).toBe(false);
  await clock.settle(2);
  expect(turned).toBe(true);
  expect(clock.nowMs()).toBe(0);
});

test.each([0.9, 1, 1.1, 1 / 3])('a clock of rate %d measures its own time, and no timer is early', async (rate) => {
  const scheduler = new Scheduler();
  const random = new Prng(9);
  const clock = new SimClock({ scheduler, rate, originMs: 5000, wallMs: 1_700_000_000_000 });
  for (let at = 0; at < 300; at += 1) {
    const startMs = clock.nowMs();
    const delayMs = random.fraction() * 1000;
    let firedMs: number | undefined;
    clock.after(delayMs, () => (firedMs = clock.nowMs()));
    await scheduler.pass(delayMs / rate + 0.01);
    expect(firedMs).toBeGreaterThanOrEqual(startMs + delayMs);
    expect(firedMs).toBeLessThan(startMs + delayMs + 0.01);
  }
  expect(clock.nowMs()).toBeCloseTo(5000 + scheduler.nowMs * rate, 6);
});

test('the time of day jumps, durations do not', () => {
  const clock = new SimClock({ wallMs: 1000 });
  clock.advance(10);
  clock.jumpWall(-500);
  expect(clock.wallMs()).toBe(510);
  expect(clock.nowMs()).toBe(10);
});
