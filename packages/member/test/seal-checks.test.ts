import { EngramError, epoch } from '@engram/core';
import { SimClock } from '@engram/sim';
import { StorageClosedError, StorageCorruptError, StorageUnavailableError } from '@engram/storage';
import { beforeEach, expect, test } from 'vitest';
import { SealChecks } from '../src/seal-checks.ts';

const seal = { epoch: epoch(3), holder: 7n };

interface Question extends PromiseWithResolvers<boolean> {
  readonly signal: AbortSignal;
}

let clock: SimClock;
/** The questions that the log was asked, which end when the test says so, or with their signal. */
let questions: Question[];
let checks: SealChecks;

beforeEach(() => {
  clock = new SimClock();
  questions = [];
  const heldBy = (asked: typeof seal, signal: AbortSignal): Promise<boolean> => {
    expect(asked).toBe(seal);
    const question = { ...Promise.withResolvers<boolean>(), signal };
    signal.addEventListener('abort', () => question.reject(signal.reason), { once: true });
    questions.push(question);
    return question.promise;
  };
  checks = new SealChecks({ log: { heldBy }, seal, clock, timeoutMs: 5_000 });
});

test('asks after the call, and says what the log says', async () => {
  const held = checks.held();
  await clock.settle(3);
  expect(questions).toHaveLength(1);
  questions[0]!.resolve(true);
  expect(await held).toBe(true);
});

test('a question that began before a call does not answer it, and the next one answers all that came meanwhile', async () => {
  const first = checks.held();
  await clock.settle(3);
  const later = [checks.held(), checks.held(), checks.held()];
  await clock.settle(3);
  expect(questions).toHaveLength(1);
  questions[0]!.resolve(true);
  expect(await first).toBe(true);
  await clock.settle(3);
  expect(questions).toHaveLength(2);
  questions[1]!.resolve(false);
  expect(await Promise.all(later)).toEqual([false, false, false]);
});

test('that a later seal holds the log is final, and not asked again', async () => {
  const held = checks.held();
  await clock.settle(3);
  questions[0]!.resolve(false);
  expect(await held).toBe(false);
  expect(await checks.held()).toBe(false);
  expect(questions).toHaveLength(1);
});

test('asks again while the log can’t be reached', async () => {
  const held = checks.held();
  await clock.settle(3);
  questions[0]!.reject(new StorageUnavailableError('no answer'));
  await clock.pass(100);
  expect(questions).toHaveLength(2);
  questions[1]!.resolve(true);
  expect(await held).toBe(true);
});

test('a call that joins a question has no less than its own time', async () => {
  const ends: string[] = [];
  const ask = (name: string): void => void checks.held().catch(() => ends.push(name));
  ask('first');
  await clock.pass(1_000);
  ask('second');
  await clock.pass(3_900);
  ask('third'); // it shares the question of the second, which begins at 5 s
  await clock.pass(4_900);
  expect(ends).toEqual(['first']);
  await clock.pass(300);
  expect(ends).toEqual(['first', 'second', 'third']);
});

test('without an answer it ends with Timeout at the bound, and the next call asks anew', async () => {
  const held = checks.held();
  const ended = expect(held).rejects.toThrow(new EngramError('Timeout'));
  await clock.pass(2_000);
  const waits = checks.held();
  const endedToo = expect(waits).rejects.toThrow(new EngramError('Timeout'));
  await clock.pass(2_990);
  expect(questions).toHaveLength(1);
  expect(checks.underWayMs).toBeGreaterThan(4_900);
  await clock.pass(20);
  await ended;
  expect(questions[0]!.signal.aborted).toBe(true);
  await clock.pass(5_000);
  await endedToo;
  const held2 = checks.held();
  await clock.settle(3);
  questions.at(-1)!.resolve(true);
  expect(await held2).toBe(true);
  expect(checks.underWayMs).toBe(0);
});

test('the end of the leadership ends what waits for storage', async () => {
  const held = checks.held();
  await clock.settle(3);
  const waits = checks.held();
  const both = [held, waits].map((one) => expect(one).rejects.toThrow(new EngramError('LeaderChanged')));
  checks.end();
  await Promise.all(both);
  await expect(checks.held()).rejects.toThrow(new EngramError('LeaderChanged'));
  expect(questions).toHaveLength(1);
});

test('a closed storage is Stopped, and any other failure is passed on', async () => {
  const closed = checks.held();
  await clock.settle(3);
  questions[0]!.reject(new StorageClosedError('is closed'));
  await expect(closed).rejects.toThrow(new EngramError('Stopped'));
  const damaged = checks.held();
  await clock.settle(3);
  questions[1]!.reject(new StorageCorruptError('the seal of segment 4 is damaged', 'here'));
  await expect(damaged).rejects.toThrow(StorageCorruptError);
});
