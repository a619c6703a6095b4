import { logPosition, revision } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { Pins } from '@engram/scanner';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { type AnswerParts, answerTxn } from '../src/answer/answer.ts';

/** Reads of single versions wait until the test settles them. */
function waiting() {
  const reads: PromiseWithResolvers<readonly Uint8Array[]>[] = [];
  const scanner = {
    versions: () => {
      const read = Promise.withResolvers<readonly Uint8Array[]>();
      reads.push(read);
      return read.promise;
    },
  };
  const pins = new Pins();
  const loop = new Loop({ clock: new SimClock(), pace: new StepPace(1) });
  const parts: AnswerParts = { scanner: scanner as never, pins, loop, signal: new AbortController().signal };
  const at = revision(9);
  const answer = (puts: number) => {
    const responses = Array.from({ length: puts }, (_, prev) => ({
      kind: 'put' as const,
      revision: at,
      prev: logPosition(prev + 1),
    }));
    return Promise.resolve(answerTxn({ kind: 'txn', revision: at, succeeded: true, responses }, revision(8), parts));
  };
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 40; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { reads, pins, answer, settle };
}

test('the operations of a transaction are read for together, and answered in their order', async () => {
  const { reads, pins, answer, settle } = waiting();
  const answered = answer(3);
  await settle();
  expect([reads.length, pins.size]).toEqual([3, 1]);
  for (const at of [2, 0, 1]) reads[at]!.resolve([Uint8Array.of(at)]);
  const { responses } = await answered;
  expect(responses.map((response) => response.kind === 'put' && response.prevKv?.[0])).toEqual([0, 1, 2]);
  expect(pins.size).toBe(0);
});

test('no more than 64 of them at a time', async () => {
  const { reads, answer, settle } = waiting();
  const answered = answer(70);
  await settle();
  await settle();
  expect(reads).toHaveLength(64);
  for (const read of reads) read.resolve([Uint8Array.of(1)]);
  await settle();
  for (const read of reads) read.resolve([Uint8Array.of(1)]);
  expect((await answered).responses).toHaveLength(70);
});

test('a read that fails fails the answer, also while others have not been begun', async () => {
  const { reads, pins, answer, settle } = waiting();
  const outcome = answer(3).catch((error: unknown) => error);
  const broken = new Error('the disk');
  reads[0]!.reject(broken);
  await settle();
  for (const read of reads.slice(1)) read.resolve([Uint8Array.of(1)]);
  expect(await outcome).toBe(broken);
  expect(pins.size).toBe(0);
});
