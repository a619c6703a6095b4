import { endsWithin, sleep, withDeadline } from '@engram/core';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';

const tell = (work: Promise<unknown>): { text: string } => {
  const seen = { text: 'waits' };
  work.then(
    (value) => {
      seen.text = `done ${String(value)}`;
    },
    (error: unknown) => {
      seen.text = String(error);
    },
  );
  return seen;
};

test('a sleep ends at its time, and not before', async () => {
  const clock = new SimClock();
  const slept = tell(sleep(clock, 100));
  clock.advance(99);
  await clock.settle(2);
  expect(slept.text).toBe('waits');
  clock.advance(1);
  await clock.settle(2);
  expect(slept.text).toBe('done undefined');
});

test('a sleep ends with its signal, before it or in the middle', async () => {
  const clock = new SimClock();
  const stop = new AbortController();
  const slept = tell(sleep(clock, 100, stop.signal));
  stop.abort(new Error('stopped'));
  await clock.settle(2);
  expect(slept.text).toBe('Error: stopped');
  await expect(sleep(clock, 100, stop.signal)).rejects.toThrow('stopped');
});

test('work learns of its deadline, and of the signal of its caller', async () => {
  const clock = new SimClock();
  const heeding = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  const bounded = tell(withDeadline(clock, 100, () => new Error('late'), heeding));
  const stop = new AbortController();
  const stopped = tell(withDeadline(clock, 100, () => new Error('late'), heeding, stop.signal));
  stop.abort(new Error('stopped'));
  await clock.settle(2);
  expect([bounded.text, stopped.text]).toEqual(['waits', 'Error: stopped']);
  clock.advance(100);
  await clock.settle(2);
  expect(bounded.text).toBe('Error: late');
});

test('work that ends in time is not told that it is late', async () => {
  const clock = new SimClock();
  let seen: AbortSignal | undefined;
  const value = await withDeadline(
    clock,
    100,
    () => new Error('late'),
    async (signal) => {
      seen = signal;
      return 7;
    },
  );
  clock.advance(1000);
  await clock.settle(2);
  expect(value).toBe(7);
  expect(seen?.aborted).toBe(false);
});

test('work ends within its time, or later, or fails', async () => {
  const clock = new SimClock();
  const work = Promise.withResolvers<void>();
  const late = tell(endsWithin(clock, 100, work.promise));
  const early = tell(endsWithin(clock, 101, work.promise));
  clock.advance(100);
  await clock.settle(2);
  work.resolve();
  await clock.settle(4);
  expect([late.text, early.text]).toEqual(['done false', 'done true']);
  await expect(endsWithin(clock, 100, Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(clock.waiting).toBe(0);
});
