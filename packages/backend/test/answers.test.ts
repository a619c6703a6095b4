import { logPosition } from '@engram/core';
import { Loop } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { Answers } from '../src/answer/answers.ts';

test('callers that waited behind one long write go on in several turns, in their order', async () => {
  const clock = new SimClock();
  const answers = new Answers({
    leases: { applied: () => undefined } as never,
    decisions: { timeOut: () => expect.unreachable() },
    clock,
    loop: new Loop({ clock }),
    observer: {},
    timeoutMs: 7000,
  });
  const order: number[] = [];
  for (let at = 0; at < 1_000; at += 1) {
    const told = Promise.withResolvers<void>();
    answers.addWaiter(logPosition(5), {} as never, () => told.resolve());
    void told.promise.then(() => {
      order.push(at);
      clock.advance(0.1);
    });
  }
  answers.addWaiter(logPosition(6), {} as never, () => expect.unreachable());
  const published = Promise.resolve(answers.published([], logPosition(5), clock.nowMs()));
  for (let turns = 0; order.length < 1_000; turns += 1) {
    expect(turns).toBeLessThan(100);
    const beganMs = clock.nowMs();
    await clock.settle(1);
    expect(clock.nowMs() - beganMs).toBeLessThanOrEqual(10);
  }
  await published;
  expect(order).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
});
