import { Scheduler, SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { Gathering } from '../src/transport/gathering.ts';

test('who comes alone leaves with the tick, who comes in company with the turn', async () => {
  const clock = new SimClock({ scheduler: new Scheduler() });
  const gathering = new Gathering();
  const leavesWithTick = async (): Promise<boolean> => {
    let left = false;
    gathering.plan(clock, () => {
      left = true;
    });
    expect(left).toBe(false); // who asks in one go leaves together
    await new Promise((resolve) => setImmediate(resolve));
    const withTick = left;
    await clock.pass(1);
    expect(left).toBe(true);
    return withTick;
  };
  expect(await leavesWithTick()).toBe(true);
  gathering.sent(8);
  expect(await leavesWithTick()).toBe(false);
  for (let message = 0; message < 30; message += 1) gathering.sent(1);
  expect(await leavesWithTick()).toBe(true);
});
