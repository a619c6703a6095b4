import { expect, test } from 'vitest';
import type { AppendOutcome, LogBatch } from '@engram/storage';
import { LogFiller } from '../src/log-filler.ts';

const BATCH_RECORDS = 8_192;

/** A log whose appends end when the test says so. */
function heldLog() {
  const begun: LogBatch[] = [];
  const held: PromiseWithResolvers<AppendOutcome>[] = [];
  let most = 0;
  let running = 0;
  const append = async (batch: LogBatch): Promise<AppendOutcome> => {
    begun.push(batch);
    running += 1;
    most = Math.max(most, running);
    const outcome = Promise.withResolvers<AppendOutcome>();
    held.push(outcome);
    try {
      return await outcome.promise;
    } finally {
      running -= 1;
    }
  };
  return { begun, held, append, most: () => most };
}

const addBatch = (filler: LogFiller): void => {
  for (let at = 0; at < BATCH_RECORDS; at += 1) filler.add(Uint8Array.of(at & 0xff));
  expect(filler.full).toBe(true);
};

test('while a batch is written the next one is filled, and the one after it waits', async () => {
  const log = heldLog();
  const filler = new LogFiller(log);
  addBatch(filler);
  await filler.append();
  expect([log.begun.length, filler.full, filler.next]).toEqual([1, false, BATCH_RECORDS + 1]);
  addBatch(filler);
  let second = false;
  const appending = filler.append().then(() => {
    second = true;
  });
  await new Promise(setImmediate);
  expect([log.begun.length, second]).toEqual([1, false]);
  log.held[0]!.resolve({ kind: 'committed' });
  await appending;
  filler.add(Uint8Array.of(7));
  const flushed = filler.flush();
  for (const at of [1, 2]) {
    await new Promise(setImmediate);
    log.held[at]!.resolve({ kind: 'committed' });
  }
  await flushed;
  expect(log.begun.map(({ first, records }) => [first, records.length])).toEqual([
    [1, BATCH_RECORDS],
    [BATCH_RECORDS + 1, BATCH_RECORDS],
    [2 * BATCH_RECORDS + 1, 1],
  ]);
  expect(log.most()).toBe(1);
  expect(filler.next).toBe(2 * BATCH_RECORDS + 2);
});

test('a flush ends when the last batch is there, and not before', async () => {
  const log = heldLog();
  const filler = new LogFiller(log);
  filler.add(Uint8Array.of(1));
  let flushed = false;
  const flushing = filler.flush().then(() => {
    flushed = true;
  });
  await new Promise(setImmediate);
  expect([log.begun.length, flushed]).toEqual([1, false]);
  log.held[0]!.resolve({ kind: 'committed' });
  await flushing;
  await filler.flush();
  expect(log.begun).toHaveLength(1);
});

test.each(['append', 'flush'] as const)('a batch that may not be there ends the work at the next %s', async (next) => {
  const log = heldLog();
  const filler = new LogFiller(log);
  addBatch(filler);
  await filler.append();
  const cause = new Error('the disk is full');
  log.held[0]!.resolve({ kind: 'uncertain', cause });
  // Nobody looks at the batch until then, and nothing is said of a rejection that nobody handles.
  await new Promise(setImmediate);
  addBatch(filler);
  await expect(filler[next]()).rejects.toMatchObject({ message: 'the log took no more records', cause });
  expect(log.begun).toHaveLength(1);
});
