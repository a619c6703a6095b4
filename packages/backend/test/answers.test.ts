import { logPosition } from '@engram/core';
import { Loop } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { Answers } from '../src/answer/answers.ts';
import { Write } from '../src/decide/write.ts';
import { nodeItself } from '../src/caller.ts';

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

test('callers whose time is over are refused in several turns, in their order, and those that came later after theirs', async () => {
  const TIMEOUT_MS = 4000;
  const CALLERS = 1_000;
  const clock = new SimClock();
  const refused: number[] = [];
  const answers: Answers = new Answers({
    leases: { applied: () => undefined } as never,
    decisions: { timeOut: (write, error) => write.tell(error) },
    clock,
    loop: new Loop({ clock }),
    observer: {},
    timeoutMs: TIMEOUT_MS,
  });
  const ask = (at: number): void => {
    const reject = (): void => {
      refused.push(at);
      clock.advance(0.1);
    };
    const end = { resolve: () => expect.unreachable(), reject };
    const write = new Write(nodeItself, false, clock.nowMs(), () => expect.unreachable(), end);
    answers.add(write);
    answers.addWaiter(logPosition(5), write, () => expect.unreachable());
  };
  for (let at = 0; at < CALLERS; at += 1) ask(at);
  clock.advance(TIMEOUT_MS / 8);
  ask(CALLERS);
  clock.advance(TIMEOUT_MS - TIMEOUT_MS / 8);
  expect(refused.length).toBeLessThanOrEqual(100);
  for (let turns = 0; refused.length < CALLERS; turns += 1) {
    expect(turns).toBeLessThan(100);
    const beganMs = clock.nowMs();
    await clock.settle(1);
    expect(clock.nowMs() - beganMs).toBeLessThanOrEqual(10);
  }
  await clock.settle();
  expect(answers.waitingBytes).toBe(1024);
  while (refused.length === CALLERS) {
    expect(clock.nowMs()).toBeLessThan(2 * TIMEOUT_MS);
    clock.advance(TIMEOUT_MS / 4);
    await clock.settle();
  }
  expect(refused).toEqual(Array.from({ length: CALLERS + 1 }, (_, at) => at));
  expect(answers.waitingBytes).toBe(0);
});
