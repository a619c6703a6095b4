import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallerRing, QUANTUM_MS } from '../src/caller-ring.ts';
import { FairQueue } from '../src/fair-queue.ts';
import { CLASS_WEIGHTS, type Task, WORK_CLASSES, type WorkClass } from '../src/work-class.ts';

const SLICE_MAX_MS = 4;

const task = (work: WorkClass, caller = 'one'): Task => ({ work, caller, stage: 'test' });

/** Serves the queue for so long; what was served waits again. The time that each key got. */
function shares(
  tasks: readonly Task[],
  sliceMs: (task: Task) => number,
  totalMs: number,
  keyOf: (task: Task) => string,
): Map<string, number> {
  const queue = new FairQueue<Task>();
  for (const each of tasks) queue.push(each, each);
  const got = new Map<string, number>();
  for (let spentMs = 0; spentMs < totalMs; ) {
    const next = queue.take();
    const ms = sliceMs(next);
    queue.charge(next, ms);
    queue.push(next, next);
    spentMs += ms;
    got.set(keyOf(next), (got.get(keyOf(next)) ?? 0) + ms);
  }
  return got;
}

const slices = fc.record({
  lengths: fc.array(fc.double({ min: 0.2, max: SLICE_MAX_MS, noNaN: true }), { minLength: 2, maxLength: 6 }),
  jobs: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 6, maxLength: 6 }),
});

test('callers of a class get equal time, whatever their slices and however many jobs they have', () => {
  fc.assert(
    fc.property(slices, ({ lengths, jobs }) => {
      const tasks = lengths.flatMap((_, at) => Array.from({ length: jobs[at]! }, () => task('client', `${at}`)));
      const got = shares(
        tasks,
        ({ caller }) => lengths[Number(caller)]!,
        400 * lengths.length,
        (of) => `${of.caller}`,
      );
      for (const ms of got.values()) expect(Math.abs(ms - 400)).toBeLessThanOrEqual(2 * (SLICE_MAX_MS + QUANTUM_MS));
      expect(got.size).toBe(lengths.length);
    }),
    { numRuns: 50 },
  );
});

test('classes that all wait get time by their weights, and none starves', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.2, max: SLICE_MAX_MS, noNaN: true }),
      fc.subarray([...WORK_CLASSES]),
      (ms, works) => {
        if (works.length === 0) return;
        const weights = works.reduce((sum, work) => sum + CLASS_WEIGHTS[work], 0);
        const totalMs = 100 * weights;
        const got = shares(
          works.map((work) => task(work)),
          () => ms,
          totalMs,
          ({ work }) => work,
        );
        for (const work of works) {
          const wanted = (totalMs * CLASS_WEIGHTS[work]) / weights;
          expect(Math.abs((got.get(work) ?? 0) - wanted), work).toBeLessThanOrEqual(0.1 * wanted + 2 * SLICE_MAX_MS);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('a slice that was much too long is paid for, and does not keep the queue busy', () => {
  const queue = new FairQueue<string>();
  const [long, short] = [task('background', 'long'), task('background', 'short')];
  queue.push(long, 'long');
  queue.push(short, 'short');
  expect(queue.take()).toBe('long');
  queue.charge(long, 60_000);
  queue.push(long, 'long');
  for (let slice = 0; slice < 40; slice += 1) {
    expect(queue.take()).toBe('short');
    queue.charge(short, QUANTUM_MS);
    queue.push(short, 'short');
  }
  const next: string[] = [];
  for (let slice = 0; slice < 20; slice += 1) {
    const taken = queue.take();
    next.push(taken);
    queue.charge(taken === 'long' ? long : short, QUANTUM_MS);
    queue.push(taken === 'long' ? long : short, taken);
  }
  expect(next, 'a debt is bounded').toContain('long');
});

test('a caller that has nothing left and owes is remembered until it has paid', () => {
  const ring = new CallerRing<string>();
  ring.push('long', 'l');
  ring.push('short', 's');
  expect(ring.take()).toBe('l');
  ring.charge('long', 5 * QUANTUM_MS);
  const taken: string[] = [];
  while (taken.at(-1) !== 'l') {
    taken.push(ring.take());
    ring.charge('short', QUANTUM_MS);
    ring.push('short', 's');
    // It comes back a moment after the first slice of the other one.
    if (taken.length === 1) ring.push('long', 'l');
  }
  expect(taken.join('')).toBe('sssssl');
});

test('the most urgent class that has time left goes first', () => {
  const queue = new FairQueue<WorkClass>();
  for (const work of WORK_CLASSES.toReversed()) queue.push(task(work), work);
  expect(WORK_CLASSES.map(() => queue.take())).toEqual(WORK_CLASSES);
  expect(queue.size).toBe(0);
  expect(() => queue.take()).toThrow('nothing waits');
});

test('items of one caller keep their order, and a caller that has left is forgotten', () => {
  const ring = new CallerRing<number>();
  for (let at = 0; at < 5000; at += 1) ring.push('one', at);
  for (let caller = 0; caller < 100; caller += 1) ring.push(`${caller}`, -1);
  const taken = Array.from({ length: 5100 }, () => ring.take());
  expect(taken.filter((item) => item >= 0)).toEqual(Array.from({ length: 5000 }, (_, at) => at));
  expect(ring.size).toBe(0);
  ring.push('two', 1);
  ring.charge('two', QUANTUM_MS);
  ring.take();
  expect(ring.callers, 'only the last one').toBe(1);
});
