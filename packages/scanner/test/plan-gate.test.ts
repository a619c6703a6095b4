import { expect, test } from 'vitest';
import { PlanGate } from '../src/plan-gate.ts';

const KEYS_MAX = 256 * 1024;

test('what has so many keys together is in, and the rest comes in its order', async () => {
  const gate = new PlanGate();
  const first = gate.place(KEYS_MAX - 10);
  const small = gate.place(10);
  expect([first.waits, small.waits]).toEqual([undefined, undefined]);
  const large = gate.place(20);
  const behind = gate.place(1);
  expect(large.isIn).toBe(false);
  small[Symbol.dispose]();
  // One key would fit, but does not overtake.
  expect([large.isIn, behind.isIn]).toEqual([false, false]);
  const waits = large.waits;
  first[Symbol.dispose]();
  await waits;
  expect([large.isIn, behind.isIn]).toEqual([true, true]);
});

test('what has more keys than may be in is in alone', () => {
  const gate = new PlanGate();
  const huge = gate.place(10 * KEYS_MAX);
  const next = gate.place(10 * KEYS_MAX);
  const last = gate.place(1);
  expect([huge.isIn, next.isIn, last.isIn]).toEqual([true, false, false]);
  huge[Symbol.dispose]();
  expect([next.isIn, last.isIn]).toEqual([true, false]);
  next[Symbol.dispose]();
  expect(last.isIn).toBe(true);
});

test('what is given back while it waits keeps nobody waiting, and what is given back twice counts once', () => {
  const gate = new PlanGate();
  const first = gate.place(KEYS_MAX);
  const gone = gate.place(KEYS_MAX);
  const next = gate.place(1);
  gone[Symbol.dispose]();
  expect(next.isIn).toBe(false);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect([gone.isIn, next.isIn]).toEqual([false, true]);
  expect(gate.place(KEYS_MAX).isIn).toBe(false);
  expect(gate.place(0).isIn, 'behind it').toBe(false);
});

test('one that waits in front of nobody leaves the way free at once', () => {
  const gate = new PlanGate();
  const first = gate.place(KEYS_MAX - 1);
  const large = gate.place(KEYS_MAX);
  const small = gate.place(1);
  expect([first.isIn, large.isIn, small.isIn]).toEqual([true, false, false]);
  large[Symbol.dispose]();
  expect(small.isIn).toBe(true);
});
