import { type Clock, doSliced, Slice, type SlicedWork } from '@engram/core';
import { expect, test } from 'vitest';

function* count(slice: Slice, steps: number, stepUs: number, log: string[]): SlicedWork<number> {
  try {
    for (let step = 1; step <= steps; step += 1) {
      log.push(`step ${step}`);
      if (slice.spend(stepUs)) yield;
    }
    return steps;
  } finally {
    log.push('ended');
  }
}

test('work that fits a slice is done within the call', () => {
  const slice = new Slice(100);
  const log: string[] = [];
  const result = doSliced(count(slice, 9, 10, log), () => Promise.reject(new Error('no turn is due')));
  expect(result).toBe(9);
  expect(slice.spent).toBe(false);
});

test('others have their turn whenever the slice is used up', async () => {
  const slice = new Slice(100);
  const log: string[] = [];
  const clock: Pick<Clock, 'giveWay'> = {
    giveWay: (fire) => {
      log.push('turn');
      queueMicrotask(fire);
    },
  };
  const result = doSliced(count(slice, 5, 50, log), () => slice.turn(clock as Clock));
  expect(log, 'the first slice is done at once').toEqual(['step 1', 'step 2', 'turn']);
  expect(await result).toBe(5);
  expect(log).toEqual(['step 1', 'step 2', 'turn', 'step 3', 'step 4', 'turn', 'step 5', 'ended']);
});

test('work that is not wanted any more ends where it stands', async () => {
  const slice = new Slice(10);
  const log: string[] = [];
  const given = new Error('given up');
  const result = doSliced(count(slice, 5, 10, log), () => Promise.reject(given));
  await expect(result).rejects.toBe(given);
  expect(log).toEqual(['step 1', 'ended']);
});

test('what the work throws is the outcome, in a later slice too', async () => {
  const slice = new Slice(10);
  const broken = new Error('broken');
  function* work(): SlicedWork<void> {
    if (slice.spend(10)) yield;
    throw broken;
  }
  const result = doSliced(work(), async () => slice.renew());
  await expect(result).rejects.toBe(broken);
});

test('a turn rejects where nobody waits any more', async () => {
  const given = new Error('nobody waits');
  const clock = { giveWay: (fire: () => void) => queueMicrotask(fire) } as Clock;
  await expect(new Slice().turn(clock, AbortSignal.abort(given))).rejects.toBe(given);
});
