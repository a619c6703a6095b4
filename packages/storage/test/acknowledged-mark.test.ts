import { epoch, logPosition, type Logger } from '@engram/core';
import { SimClock } from '@engram/sim';
import { AcknowledgedMark, decodeMark, MARK_BYTES, type MarkFile } from '@engram/storage';
import { beforeEach, expect, test } from 'vitest';

const NAME = 'acknowledged';
const start = { end: logPosition(1), sealed: epoch(0), checkpoint: 0 };

/** A file in memory whose next `failures` writes fail. */
class FakeFile implements MarkFile {
  bytes = new Uint8Array(0);
  writes = 0;
  synced = false;
  closed = false;
  failures = 0;

  async write(bytes: Uint8Array, offset: number): Promise<void> {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error('no space');
    }
    expect(offset).toBe(0);
    this.bytes = bytes.slice();
    this.writes += 1;
    this.synced = false;
  }

  async sync(): Promise<void> {
    this.synced = true;
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  get says(): unknown {
    return decodeMark(NAME, this.bytes);
  }
}

let file: FakeFile;
let clock: SimClock;
let warnings: string[];
beforeEach(() => {
  file = new FakeFile();
  clock = new SimClock();
  warnings = [];
});

function open(state = start): Promise<AcknowledgedMark> {
  const keep = (_fields: object, message: string): void => void warnings.push(message);
  const logger: Logger = { debug: () => {}, info: () => {}, warn: keep, error: keep };
  return AcknowledgedMark.open({ name: NAME, file, clock, logger }, state);
}

test('is there from the beginning', async () => {
  const mark = await open();
  expect(file.says).toEqual(start);
  expect(file.bytes.length).toBe(MARK_BYTES);
  await mark.close();
});

test('follows many steps with one write, 100 ms later', async () => {
  const mark = await open();
  for (let end = 2; end <= 50; end += 1) mark.advance({ end: logPosition(end) });
  mark.advance({ sealed: epoch(3) });
  mark.advance({ checkpoint: 7 });
  expect(clock.advance(99)).toBe(0);
  expect(file.says).toEqual(start);
  expect(clock.advance(1)).toBe(1);
  mark.advance({ end: logPosition(51) });
  expect(clock.advance(100)).toBe(1);
  await mark.close();
  expect(file.writes).toBeLessThanOrEqual(3);
  expect(file.says).toEqual({ end: 51, sealed: 3, checkpoint: 7 });
});

test('is up to date and synced when it is closed, and needs the clock no more', async () => {
  const mark = await open();
  mark.advance({ end: logPosition(9) });
  await mark.close();
  expect(file).toMatchObject({ says: { ...start, end: 9 }, synced: true, closed: true });
  expect(clock.advance(1000)).toBe(0);
});

test('never goes back, and is not changed by the attempt', async () => {
  const mark = await open({ ...start, end: logPosition(5) });
  expect(() => mark.advance({ end: logPosition(4), checkpoint: 1 })).toThrow(/taken back/);
  await mark.close();
  expect(file.says).toEqual({ ...start, end: 5 });
});

test('a write that fails ends nothing: it is said, and the next one has all of it', async () => {
  const mark = await open();
  file.failures = 1;
  mark.advance({ end: logPosition(9) });
  clock.advance(100);
  await mark.close();
  expect(warnings).toEqual([`cannot write ${NAME}`]);
  expect(file).toMatchObject({ says: { ...start, end: 9 }, closed: true });
});

test('a file that takes nothing any more is closed all the same', async () => {
  const mark = await open();
  file.failures = Number.POSITIVE_INFINITY;
  mark.advance({ end: logPosition(9) });
  await mark.close();
  expect(file).toMatchObject({ says: start, closed: true });
});

test('where it cannot be written at the beginning, the file is closed', async () => {
  file.failures = 1;
  await expect(open()).rejects.toThrow('no space');
  expect(file.closed).toBe(true);
});

test.each([
  { bytes: [], why: 'empty' },
  { bytes: [1, 2, 3], why: 'too short' },
  { bytes: new Array<number>(MARK_BYTES).fill(7), why: 'of the right length, and wrong' },
])('a file that says nothing is damaged: $why', ({ bytes }) => {
  expect(decodeMark(NAME, Uint8Array.from(bytes))).toBe('damaged');
});

test('bytes behind the mark say nothing', async () => {
  const mark = await open();
  await mark.close();
  expect(decodeMark(NAME, Buffer.concat([file.bytes, Buffer.from('more')]))).toEqual(start);
  expect(decodeMark('another', file.bytes)).toBe('damaged');
});
