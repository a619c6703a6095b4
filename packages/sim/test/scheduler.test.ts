import { expect, test } from 'vitest';
import { Prng, Scheduler, SimClock } from '../index.ts';

/** The order of events when three workers take turns of no length. */
async function interleaving(seed: number): Promise<string> {
  const scheduler = new Scheduler({ random: new Prng(seed) });
  const clock = new SimClock({ scheduler });
  let story = '';
  const work = async (name: string): Promise<void> => {
    for (let turn = 0; turn < 4; turn += 1) {
      await new Promise<void>((resolve) => clock.soon(resolve));
      story += name;
    }
  };
  await scheduler.run(Promise.all([work('a'), work('b'), work('c')]));
  return story;
}

test('the seed decides the order of turns, and nothing else does', async () => {
  const stories = new Set<string>();
  for (let seed = 0; seed < 20; seed += 1) {
    const story = await interleaving(seed);
    expect(await interleaving(seed)).toBe(story);
    stories.add(story);
  }
  expect(stories.size).toBeGreaterThan(15);
});

test('without a seed what is due at the same time comes in the order in which it was scheduled', async () => {
  const scheduler = new Scheduler();
  const seen: number[] = [];
  for (const delayMs of [5, 1, 5, 0, 1]) scheduler.after(delayMs, () => seen.push(delayMs + seen.length / 10));
  await scheduler.pass(5);
  expect(seen).toEqual([0, 1.1, 1.2, 5.3, 5.4]);
  expect(scheduler.nowMs).toBe(5);
});

test('between two events all microtasks run, however many follow from each other', async () => {
  const scheduler = new Scheduler();
  const seen: string[] = [];
  scheduler.after(1, () => {
    void (async () => {
      for (let at = 0; at < 100; at += 1) await undefined;
      seen.push('microtasks of the first');
    })();
  });
  scheduler.after(1, () => seen.push('second'));
  await scheduler.pass(1);
  expect(seen).toEqual(['microtasks of the first', 'second']);
});

test('a run ends with its promise, with what an event throws, or where nothing is left', async () => {
  const scheduler = new Scheduler();
  let far = false;
  scheduler.after(100, () => (far = true));
  const answer = new Promise<string>((resolve) => void scheduler.after(7, () => resolve('answer')));
  expect(await scheduler.run(answer)).toBe('answer');
  expect(scheduler.nowMs).toBe(7);
  expect(far).toBe(false);
  scheduler.after(1, () => {
    throw new Error('thrown by an event');
  });
  await expect(scheduler.run(new Promise(() => {}))).rejects.toThrow('thrown by an event');
  await expect(scheduler.run(new Promise(() => {}))).rejects.toThrow('nothing is left to happen');
  expect(far).toBe(true);
  expect(scheduler.waiting).toBe(0);
});

test('what is cancelled does not fire, and does not count as waiting', () => {
  const scheduler = new Scheduler();
  const seen: number[] = [];
  const events = [3, 1, 2].map((delayMs) => scheduler.after(delayMs, () => seen.push(delayMs)));
  events[1]!.cancel();
  expect(scheduler.waiting).toBe(2);
  scheduler.advance(10);
  events[0]!.cancel(); // after it has fired
  expect(seen).toEqual([2, 3]);
});

test('the queue gives events back in the order of their time', () => {
  const random = new Prng(4);
  const scheduler = new Scheduler({ random });
  const seen: number[] = [];
  const expected: number[] = [];
  for (let at = 0; at < 500; at += 1) {
    const delayMs = random.below(200);
    const event = scheduler.after(delayMs, () => seen.push(delayMs));
    if (random.chance(0.3)) event.cancel();
    else expected.push(delayMs);
  }
  scheduler.advance(200);
  expect(seen).toEqual(expected.sort((left, right) => left - right));
});
