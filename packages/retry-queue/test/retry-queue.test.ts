import { type Logger, logPosition, type Seal } from '@engram/core';
import { RetryQueue } from '@engram/retry-queue';
import { SimClock } from '@engram/sim';
import {
  type AppendFault,
  type LogBatch,
  MemoryStorage,
  StorageClosedError,
  StorageFailedError,
} from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { beforeEach, describe, expect, test } from 'vitest';

const first = sealOf(1);
const batch: LogBatch = { first: logPosition(1), records: [Uint8Array.of(7), Uint8Array.of(8)] };
const policy = { firstDelayMs: 10, delayMaxMs: 35 };

let clock: SimClock;
let lines: string[];
let stop: AbortController;
let faults: AppendFault[];
/** Times of the attempts, by the clock. */
let attempts: number[];
let storage: MemoryStorage;
let queue: RetryQueue;
/** Appends wait for this promise before they begin. */
let gate: Promise<void> | undefined;

const keep = (_fields: object, message: string): void => void lines.push(message);
const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };

beforeEach(async () => {
  clock = new SimClock();
  lines = [];
  stop = new AbortController();
  faults = [];
  attempts = [];
  gate = undefined;
  storage = new MemoryStorage({
    gate: async (operation) => (operation === 'append' ? gate : undefined),
    append() {
      attempts.push(clock.nowMs());
      return faults.shift() ?? 'none';
    },
  });
  await storage.log.seal(first);
  queue = new RetryQueue({ log: storage.log, clock, logger, signal: stop.signal, policy });
});

async function readAll(): Promise<number[]> {
  const seen: number[] = [];
  for await (const { records } of storage.log.read(logPosition(1), never)) seen.push(...records.map((one) => one[0]!));
  return seen;
}

/** Advances the clock by `ms`, and lets the queue continue before and after. */
async function pass(ms: number): Promise<void> {
  await clock.settle();
  clock.advance(ms);
  await clock.settle();
}

test('an append that is answered passes, without a timer or a word', async () => {
  expect(await queue.append(batch, first)).toEqual({ kind: 'committed' });
  expect(queue.unsettled).toBeUndefined();
  expect(clock.waiting).toBe(0);
  expect(lines).toEqual([]);
});

test.each([
  { fault: 'uncertain-there', why: 'its answer was lost' },
  { fault: 'uncertain-lost', why: 'it never arrived' },
  { fault: 'uncertain-late', why: 'it arrives before the next' },
] as const)('$fault is committed, once: $why', async ({ fault }) => {
  faults = [fault];
  const append = queue.append(batch, first);
  await pass(10);
  expect(await append).toEqual({ kind: 'committed' });
  expect(await readAll()).toEqual([7, 8]);
  expect(attempts).toEqual([0, 10]);
  expect(lines).toEqual(['an append is uncertain: it is tried again', 'settled an append']);
});

test('the delays double up to the last, and it says how long the append has taken', async () => {
  faults = ['uncertain-lost', 'uncertain-lost', 'uncertain-there', 'uncertain-lost', 'uncertain-lost'];
  const append = queue.append(batch, first);
  const seen: unknown[] = [];
  for (const ms of [10, 20, 35, 35]) {
    await pass(ms);
    seen.push([queue.appendMs, queue.unsettled?.attempts]);
  }
  await pass(34);
  expect(queue.appendMs).toBe(134);
  await pass(1);
  expect(await append).toEqual({ kind: 'committed' });
  expect(seen).toEqual([
    [10, 2],
    [30, 3],
    [65, 4],
    [100, 5],
  ]);
  expect(attempts).toEqual([0, 10, 30, 65, 100, 135]);
  expect(queue.appendMs).toBe(0);
  expect(await readAll()).toEqual([7, 8]);
});

test('an append that does not end counts from its beginning', async () => {
  const stuck = Promise.withResolvers<void>();
  gate = stuck.promise;
  expect(queue.appendMs).toBe(0);
  const append = queue.append(batch, first);
  await pass(5000);
  expect([queue.appendMs, queue.unsettled]).toEqual([5000, undefined]);
  stuck.resolve();
  expect(await append).toEqual({ kind: 'committed' });
  expect(queue.appendMs).toBe(0);
});

test('a second append while one is unsettled is an assertion', async () => {
  faults = ['uncertain-lost'];
  const append = queue.append(batch, first);
  await clock.settle();
  await expect(queue.append({ ...batch, first: logPosition(3) }, first)).rejects.toThrow('two appends at a time');
  await pass(10);
  expect(await append).toEqual({ kind: 'committed' });
  expect(await readAll()).toEqual([7, 8]);
});

describe('a later seal settles it', () => {
  test.each([
    { fault: 'uncertain-there', kind: 'committed', left: [7, 8], why: 'it was there before the seal' },
    { fault: 'uncertain-lost', kind: 'fenced', left: [], why: 'it can not arrive any more' },
    { fault: 'uncertain-late', kind: 'fenced', left: [], why: 'the seal was faster' },
  ] as const)('$fault is $kind: $why', async ({ fault, kind, left }) => {
    faults = [fault];
    const append = queue.append(batch, first);
    await clock.settle();
    expect(await queue.seal(sealOf(2, 9n))).toBe(1 + left.length);
    await pass(10);
    expect(await append).toEqual({ kind });
    expect(await readAll()).toEqual(left);
  });
});

describe('a later seal that others tell of ends it, while storage does not answer', () => {
  test.each(['uncertain-there', 'uncertain-lost'] as const)('after a second attempt, %s both times', async (fault) => {
    faults = [fault, fault];
    const asked: Seal[] = [];
    const isSuperseded = async (seal: Seal): Promise<boolean> => asked.push(seal) > 0;
    queue = new RetryQueue({ log: storage.log, clock, logger, signal: stop.signal, policy, isSuperseded });
    const append = queue.append(batch, first);
    await clock.settle();
    expect(asked).toEqual([]);
    await pass(10);
    expect(await append).toEqual({ kind: 'superseded' });
    expect(asked).toEqual([first]);
    expect(queue.unsettled).toBeUndefined();
    expect(clock.waiting).toBe(0);
    expect(attempts).toEqual([0, 10]);
  });

  test('not where nobody holds the log later', async () => {
    faults = ['uncertain-lost', 'uncertain-lost', 'uncertain-lost'];
    const isSuperseded = async (): Promise<boolean> => false;
    queue = new RetryQueue({ log: storage.log, clock, logger, signal: stop.signal, policy, isSuperseded });
    const append = queue.append(batch, first);
    for (const ms of [10, 20, 35]) await pass(ms);
    expect(await append).toEqual({ kind: 'committed' });
    expect(await readAll()).toEqual([7, 8]);
  });

  test('what storage answers counts first', async () => {
    faults = ['uncertain-there'];
    const isSuperseded = async (): Promise<boolean> => true;
    queue = new RetryQueue({ log: storage.log, clock, logger, signal: stop.signal, policy, isSuperseded });
    const append = queue.append(batch, first);
    await pass(10);
    expect(await append).toEqual({ kind: 'committed' });
  });
});

describe('it rejects', () => {
  test('with StorageFailedError where storage must be opened again', async () => {
    faults = ['failed-there'];
    const append = queue.append(batch, first);
    const rejected = expect(append).rejects.toThrow(StorageFailedError);
    await pass(10);
    await rejected;
    expect(queue.unsettled).toBeUndefined();
    await storage[Symbol.asyncDispose]();
    storage = storage.reopen();
    expect(await readAll()).toEqual([7, 8]);
  });

  test('with StorageClosedError when storage was closed meanwhile', async () => {
    faults = ['uncertain-lost'];
    const append = queue.append(batch, first);
    const rejected = expect(append).rejects.toThrow(StorageClosedError);
    await clock.settle();
    await storage[Symbol.asyncDispose]();
    await pass(10);
    await rejected;
  });

  test("with the signal's reason, at once while it waits", async () => {
    faults = ['uncertain-lost'];
    const append = queue.append(batch, first);
    await clock.settle();
    const reason = new Error('stepping down');
    const rejected = expect(append).rejects.toBe(reason);
    stop.abort(reason);
    await rejected;
    expect(clock.waiting).toBe(0);
    expect(queue.appendMs).toBe(0);
    await expect(queue.append(batch, first)).rejects.toBe(reason);
    expect(attempts).toEqual([0]);
  });

  test("with the signal's reason only after the attempt under way, whose answer counts if it has one", async () => {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    let gated = false;
    const slow = new MemoryStorage({
      gate: (operation) => (gated && operation === 'append' ? opened : undefined),
      append: () => (gated ? 'none' : 'uncertain-lost'),
    });
    await slow.log.seal(first);
    const patient = new RetryQueue({ log: slow.log, clock, logger, signal: stop.signal, policy });
    let settled = false;
    const append = patient.append(batch, first).finally(() => (settled = true));
    await clock.settle();
    gated = true;
    await pass(10);
    stop.abort(new Error('stepping down'));
    await clock.settle();
    expect(settled).toBe(false);
    open();
    expect(await append).toEqual({ kind: 'committed' });
  });
});
