import { type Clock, nextTurn } from '@engram/core';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';

/** A clock whose turns come when the test says so. */
function manual(): { readonly clock: Clock; turn(): Promise<void> } {
  const sim = new SimClock();
  let due: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => sim.nowMs(),
    wallMs: () => sim.wallMs(),
    endOfTurn: queueMicrotask,
    after: (ms, fire) => sim.after(ms, fire),
    soon: (fire) => void due.push(fire),
  };
  const turn = async (): Promise<void> => {
    const fired = due;
    due = [];
    for (const fire of fired) fire();
    for (let hop = 0; hop < 10; hop += 1) await Promise.resolve();
  };
  return { clock, turn };
}

test('those who wait together have a turn each, in the order in which they asked', async () => {
  const { clock, turn } = manual();
  const log: string[] = [];
  const work = async (name: string, slices: number): Promise<void> => {
    for (let slice = 1; slice <= slices; slice += 1) {
      await nextTurn(clock);
      log.push(`${name}${slice}`);
    }
  };
  const all = Promise.all([work('a', 2), work('b', 3), work('c', 1)]);
  for (const expected of [['a1'], ['b1'], ['c1'], ['a2'], ['b2'], ['b3']]) {
    log.length = 0;
    await turn();
    expect(log).toEqual(expected);
  }
  await all;
  await turn();
  void work('d', 1);
  await turn();
  expect(log).toEqual(['b3', 'd1']);
});

test('one clock does not wait for another', async () => {
  const [one, other] = [manual(), manual()];
  let done = false;
  void nextTurn(one.clock);
  void nextTurn(other.clock).then(() => {
    done = true;
  });
  await other.turn();
  expect(done).toBe(true);
});
