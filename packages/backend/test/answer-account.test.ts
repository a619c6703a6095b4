import { nodeItself } from '@engram/backend';
import type { ErrorCode, Op } from '@engram/core';
import { Scheduler, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode } from './harness.ts';
import { checkQuiet, everything, get, putOf, refusal, txnOf } from './ops.ts';

test('an answer is reserved while it is planned; where there is no room nothing is changed', async () => {
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const { backend } = await clock.run(openNode(new MemoryStorage(), { clock }));
  const puts = Array.from({ length: 3000 }, (_, at) => putOf(`k${at}`, 'x'));
  await clock.run(backend.txn(txnOf(...puts), nodeItself));
  let leftBytes = 0;
  let asked = 0;
  const caller = {
    ...nodeItself,
    reserveAnswer: (bytes: number): boolean => {
      asked += bytes;
      leftBytes -= bytes;
      return leftBytes >= 0;
    },
  };
  const run = (...ops: Op[]): Promise<ErrorCode | 'accepted'> => clock.run(refusal(backend.txn(txnOf(...ops), caller)));
  const one = everything();
  const deleteAll: Op = { kind: 'delete-range', range: one.range, prevKv: true };
  leftBytes = 10_000_000;
  expect(await run(putOf('other', 'x'), one)).toBe('accepted');
  const wholeBytes = asked;
  expect(wholeBytes).toBeGreaterThan(100_000);
  expect(await run(one)).toBe('accepted');
  expect(asked).toBeGreaterThan(1.8 * wholeBytes);
  const before = backend.revision;
  for (const ops of [
    [one, one],
    [putOf('other', 'y'), one, one],
    [one, deleteAll],
  ]) {
    leftBytes = wholeBytes;
    expect(await run(...ops.concat(one))).toBe('ResponseTooLarge');
  }
  expect(backend.revision).toBe(before);
  asked = 0;
  expect(await run(putOf('other', 'short'), get('other'))).toBe('accepted');
  expect(asked).toBe(0);
  checkQuiet(backend);
});
