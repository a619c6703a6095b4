import { Scheduler, SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { Gathering } from '../src/transport/gathering.ts';

test('who comes alone leaves with the turn that asks, who comes in company with the next', async () => {
  const clock = new SimClock({ scheduler: new Scheduler() });
  const gathering = new Gathering();
  const order = async (): Promise<readonly string[]> => {
    const seen: string[] = [];
    clock.soon(() => seen.push('others'));
    gathering.plan(clock, () => seen.push('sent'));
    expect(seen).toEqual([]); // requests of one synchronous run leave together
    await clock.pass(1);
    return seen;
  };
  expect(await order()).toEqual(['sent', 'others']);
  gathering.sent(8);
  expect(await order()).toEqual(['others', 'sent']);
  for (let message = 0; message < 30; message += 1) gathering.sent(1);
  expect(await order()).toEqual(['sent', 'others']);
});
