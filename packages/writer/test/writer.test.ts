import { epoch, type LogPosition, logPosition } from '@engram/core';
import { SimClock } from '@engram/sim';
import type { AppendOutcome, Log, LogBatch } from '@engram/storage';
import { Writer } from '@engram/writer';
import { beforeEach, describe, expect, test } from 'vitest';

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
  heldBy(): Promise<boolean> {
    return Promise.resolve(true);
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
    soon: (fire) => clock.soon(fire),
    first: logPosition(10),
    batchBytesMax: 100,
    next: {
      appending: (entries) => {
        events.push(`appending ${entries.join(' ')}`);
        return undefined;
      },
      durable: ({ entries, next }) => events.push(`committed ${entries.join(' ')} to ${next - 1}`),
      stopped: (outcome, entries) => events.push(`stopped ${outcome.kind} ${entries.join(' ')}`),
    },
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

describe('after a slow append', () => {
  const slow = async (first: readonly string[], meanwhile: readonly string[]): Promise<void> => {
    for (const entry of first) writer.enqueue(entry, [record()]);
    await turn();
    for (const entry of meanwhile) writer.enqueue(entry, [record()]);
    clock.advance(6);
    await log.finish();
  };

  test('the next waits until the writers that were answered are back', async () => {
    await slow(['a', 'b'], ['c']);
    expect(events).toEqual(['appending a b', 'committed a b to 11']);
    writer.enqueue('a2', [record()]);
    await turn();
    expect(log.underWay).toBe(0);
    writer.enqueue('b2', [record()]);
    await turn();
    expect(events.at(-1)).toBe('appending c a2 b2');
    expect(clock.waiting).toBe(0);
  });

  test('drained waits for the writes that wait for others', async () => {
    await slow(['a', 'b'], ['c']);
    let drained = false;
    const draining = writer.drained().then(() => {
      drained = true;
    });
    await turn();
    expect(drained).toBe(false);
    clock.advance(3.1);
    await turn();
    expect(drained).toBe(false);
    await log.finish();
    await draining;
  });

  test('drained, asked for while an append is under way, waits for what came behind it', async () => {
    for (const entry of ['a', 'b']) writer.enqueue(entry, [record()]);
    await turn();
    writer.enqueue('c', [record()]);
    let drained = false;
    const draining = writer.drained().then(() => {
      drained = true;
    });
    clock.advance(6);
    await log.finish();
    expect(drained).toBe(false);
    clock.advance(3.1);
    await turn();
    await log.finish();
    await draining;
  });

  test('the next waits half as long at most', async () => {
    await slow(['a', 'b'], ['c']);
    clock.advance(2.9);
    await turn();
    expect(log.underWay).toBe(0);
    clock.advance(0.2);
    await turn();
    expect(events.at(-1)).toBe('appending c');
  });

  test('a full batch does not wait, and one that is waiting leaves when it is full', async () => {
    await slow(['a'], []);
    writer.enqueue('b', [record()]);
    await turn();
    writer.enqueue('c', [record(100)]);
    clock.advance(6);
    await log.finish();
    expect(events).toContain('appending c');
    await log.finish();
    await slow(['d', 'e'], ['f']);
    expect(log.underWay).toBe(0);
    writer.enqueue('g', [record(99)]);
    await turn();
    expect(events.at(-1)).toBe('appending f g');
  });

  test('a writer that has nothing waiting, or is halted, leaves no timer', async () => {
    await slow(['a'], []);
    expect(clock.waiting).toBe(0);
    await slow(['b'], ['c']);
    expect(clock.waiting).toBe(1);
    expect(writer.halt()).toEqual(['c']);
    expect(clock.waiting).toBe(0);
    await writer.drained();
    clock.advance(10);
    await turn();
    expect(log.underWay).toBe(0);
  });

  test('writes at a steady rate are not held up, but for a try now and then', async () => {
    let waits = 0;
    writer.enqueue('first', [record()]);
    await turn();
    for (let round = 0; round < 100; round += 1) {
      for (let at = 0; at < 6; at += 1) writer.enqueue(`${round}.${at}`, [record()]);
      clock.advance(6);
      await log.finish();
      if (log.underWay > 0) continue;
      if (round >= 50) waits += 1;
      // As many as arrive in half the time of an append.
      for (let at = 0; at < 3; at += 1) writer.enqueue(`${round}+${at}`, [record()]);
      clock.advance(3);
      await turn();
    }
    expect(waits).toBeGreaterThan(1);
    expect(waits).toBeLessThan(5);
  });

  test('clients that wait for each answer share every append', async () => {
    for (let client = 0; client < 40; client += 1) writer.enqueue(`${client}`, [record()]);
    await turn();
    // Half of them came a little later.
    for (let client = 40; client < 80; client += 1) writer.enqueue(`${client}`, [record()]);
    for (let round = 0; round < 20; round += 1) {
      const answered = log.batches.at(-1)!.records.length;
      clock.advance(6);
      await log.finish();
      for (let client = 0; client < answered; client += 1) writer.enqueue(`${client}`, [record()]);
      await turn();
    }
    expect(log.batches.at(-1)!.records).toHaveLength(80);
  });
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
