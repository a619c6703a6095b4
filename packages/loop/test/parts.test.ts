import { eachOf, type Job, Loop, settled, StepPace, type Task } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';

const READ: Task = { work: 'client', caller: 'a connection', stage: 'list' };

/** Numbers that come one by one, and what became of the iteration. */
function source(count: number, failsAt = Number.POSITIVE_INFINITY) {
  const seen = { ended: 0 };
  async function* items(): AsyncGenerator<number> {
    try {
      for (let at = 0; at < count; at += 1) {
        if (at === failsAt) throw new Error('the source fails');
        await Promise.resolve();
        yield at;
      }
    } finally {
      seen.ended += 1;
    }
  }
  return { items: items(), seen };
}

test('a value that is there is not waited for, and one that is promised is', async () => {
  const loop = new Loop({ clock: new SimClock() });
  function* sum(...values: (number | Promise<number>)[]): Job<number> {
    let all = 0;
    for (const value of values) all += yield* settled(value);
    return all;
  }
  expect(loop.run(READ, sum(1, 2))).toBe(3);
  expect(await loop.run(READ, sum(1, Promise.resolve(2)))).toBe(3);
});

test('each item is visited in order, and a visit may give way', async () => {
  const loop = new Loop({ clock: new SimClock(), pace: new StepPace(2) });
  const { items, seen } = source(6);
  const visited: number[] = [];
  function* all(): Job<string> {
    yield* eachOf(items, function* (item) {
      visited.push(item);
      if (loop.shouldYield(2)) yield;
    });
    return 'all';
  }
  expect(await loop.run(READ, all())).toBe('all');
  expect(visited).toEqual([0, 1, 2, 3, 4, 5]);
  expect(seen.ended).toBe(1);
});

test.each([
  ['the source', 3, Number.POSITIVE_INFINITY],
  ['a visit', Number.POSITIVE_INFINITY, 3],
])('if %s fails, the job fails once the iteration has ended', async (_, sourceFailsAt, visitFailsAt) => {
  const loop = new Loop({ clock: new SimClock() });
  const { items, seen } = source(6, sourceFailsAt);
  function* all(): Job<void> {
    yield* eachOf(items, function* (item) {
      if (item === visitFailsAt) throw new Error('a visit fails');
      yield;
    });
  }
  await expect(
    Promise.resolve(loop.run(READ, all())).catch((error: Error) => {
      expect(seen.ended).toBe(1);
      throw error;
    }),
  ).rejects.toThrow(/fails/);
});

test('a job that is cancelled ends the iteration', async () => {
  const loop = new Loop({ clock: new SimClock() });
  const { items, seen } = source(1000);
  const ending = new AbortController();
  let visited = 0;
  function* all(): Job<void> {
    yield* eachOf(items, function* () {
      visited += 1;
      if (visited === 10) ending.abort(new Error('nobody waits'));
      yield;
    });
  }
  await expect(loop.run(READ, all(), ending.signal)).rejects.toThrow('nobody waits');
  await new Promise((resolve) => setImmediate(resolve));
  expect(visited).toBe(10);
  expect(seen.ended).toBe(1);
});
