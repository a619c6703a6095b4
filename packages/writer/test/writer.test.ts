import { epoch, type LogPosition, logPosition } from '@engram/core';
import { SimClock } from '@engram/sim';
import type { AppendOutcome, Log, LogBatch } from '@engram/storage';
import { Writer } from '@engram/writer';
import { beforeEach, expect, test } from 'vitest';

/** A log whose appends end when the test says so. */
class HeldLog implements Log {
  readonly batches: LogBatch[] = [];
  readonly #held: { resolve(outcome: AppendOutcome): void; reject(cause: unknown): void }[] = [];

  append(batch: LogBatch): Promise<AppendOutcome> {
    this.batches.push(batch);
    return new Promise((resolve, reject) => this.#held.push({ resolve, reject }));
  }
  async finish(outcome: AppendOutcome = { kind: 'committed' }): Promise<void> {
    this.#held.shift()!.resolve(outcome);
    await turn();
  }
  async throws(cause: unknown): Promise<void> {
    this.#held.shift()!.reject(cause);
    await turn();
  }
  get underWay(): number {
    return this.#held.length;
  }
  async *read(): AsyncGenerator<LogBatch> {}
  seal(): Promise<LogPosition> {
    return Promise.resolve(logPosition(1));
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const record = (size = 1): Uint8Array => new Uint8Array(size);

let log: HeldLog;
let clock: SimClock;
let events: string[];
let writer: Writer<string>;

beforeEach(() => {
  log = new HeldLog();
  clock = new SimClock();
  events = [];
  writer = new Writer<string>({
    log,
    seal: { epoch: epoch(1), holder: 1n },
    clock,
    next: logPosition(10),
    batchBytesMax: 100,
    onAppending: (entries) => events.push(`appending ${entries.join(' ')}`),
    onCommitted: (entries, durable) => events.push(`committed ${entries.join(' ')} to ${durable}`),
    onStopped: (outcome, entries) => events.push(`stopped ${outcome.kind} ${entries.join(' ')}`),
  });
});

test('what arrives in one turn goes in one batch', async () => {
  writer.enqueue('a', [record(), record()]);
  writer.enqueue('b', [record()]);
  expect(log.batches).toHaveLength(0);
  await turn();
  expect(log.batches).toMatchObject([{ first: 10, records: { length: 3 } }]);
  await log.finish();
  expect(events).toEqual(['appending a b', 'committed a b to 12']);
});

test('what arrives during an append gathers, and goes in one batch when that ends', async () => {
  writer.enqueue('a', [record()]);
  await turn();
  for (const entry of ['b', 'c', 'd']) writer.enqueue(entry, [record()]);
  await turn();
  expect(log.underWay).toBe(1);
  expect(writer.waitingWrites).toBe(3);
  await log.finish();
  expect(log.batches.map(({ first }) => first)).toEqual([10, 11]);
  await log.finish();
  // The next append begins before the previous one is reported, so that the disk works meanwhile.
  expect(events).toEqual(['appending a', 'appending b c d', 'committed a to 10', 'committed b c d to 13']);
});

test('a batch is closed before its bound, in the order of the writes, and a larger write goes alone', async () => {
  writer.enqueue('a', [record(60)]);
  writer.enqueue('b', [record(60)]);
  writer.enqueue('c', [record(500), record(500)]);
  writer.enqueue('d', [record(10)]);
  expect(writer.waitingBytes).toBe(1130);
  await turn();
  while (log.underWay > 0) await log.finish();
  expect(events.filter((event) => event.startsWith('committed'))).toEqual([
    'committed a to 10',
    'committed b to 11',
    'committed c to 13',
    'committed d to 14',
  ]);
  expect(writer.waitingBytes).toBe(0);
});

test.each([
  { outcome: { kind: 'fenced' } as const, why: 'a deposed writer acknowledges nothing more' },
  { outcome: { kind: 'uncertain', cause: new Error('no answer') } as const, why: 'nothing may stand behind a gap' },
])('$outcome.kind stops it with all that waits: $why', async ({ outcome }) => {
  writer.enqueue('a', [record()]);
  await turn();
  writer.enqueue('b', [record()]);
  await log.finish(outcome);
  expect(events).toEqual(['appending a', `stopped ${outcome.kind} a b`]);
  expect(writer.stopped).toBe(true);
  expect(() => writer.enqueue('c', [record()])).toThrow(/stopped/);
  await turn();
  expect(log.batches).toHaveLength(1);
});

test('a log that throws is as uncertain as one that says so', async () => {
  writer.enqueue('a', [record()]);
  await turn();
  await log.throws(new Error('broken'));
  expect(events.at(-1)).toBe('stopped uncertain a');
});

test('drained waits for everything before it, and for nothing when idle', async () => {
  await writer.drained();
  writer.enqueue('a', [record()]);
  let drained = false;
  void writer.drained().then(() => {
    drained = true;
  });
  await turn();
  expect(drained).toBe(false);
  await log.finish();
  expect(drained).toBe(true);
});

test('a write without records is an assertion', () => {
  expect(() => writer.enqueue('a', [])).toThrow(/without records/);
});

test('drained resolves when the writer is halted before its batch has left', async () => {
  writer.enqueue('a', [record()]);
  const drained = writer.drained();
  expect(writer.halt()).toEqual(['a']);
  await drained;
  await turn();
  expect(log.batches).toEqual([]);
});
