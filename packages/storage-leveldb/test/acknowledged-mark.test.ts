import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { epoch, logPosition } from '@engram/core';
import { SimClock } from '@engram/sim';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AcknowledgedMark, readAcknowledged } from '../src/acknowledged-mark.ts';
import { ACKNOWLEDGED_FILE } from '../src/files.ts';
import { TestLogger } from './level-bed.ts';

const start = { end: logPosition(1), sealed: epoch(0), checkpoint: 0 };
let path: string;
let clock: SimClock;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'engram-mark-'));
  clock = new SimClock();
});
afterEach(async () => await rm(path, { recursive: true }));

test('is there from the beginning', async () => {
  expect(await readAcknowledged(path)).toBeUndefined();
  const mark = await AcknowledgedMark.open(path, start, clock, new TestLogger());
  expect(await readAcknowledged(path)).toEqual(start);
  await mark.close();
});

test('follows many steps with one write', async () => {
  const mark = await AcknowledgedMark.open(path, start, clock, new TestLogger());
  for (let end = 2; end <= 50; end += 1) mark.advance({ end: logPosition(end) });
  mark.advance({ sealed: epoch(3) });
  mark.advance({ checkpoint: 7 });
  expect(await readAcknowledged(path)).toEqual(start);
  expect(clock.advance(1000)).toBe(1);
  mark.advance({ end: logPosition(51) });
  expect(clock.advance(1000)).toBe(1);
  await mark.close();
  expect(await readAcknowledged(path)).toEqual({ end: 51, sealed: 3, checkpoint: 7 });
});

test('is up to date when it is closed, and needs the clock no more', async () => {
  const mark = await AcknowledgedMark.open(path, start, clock, new TestLogger());
  mark.advance({ end: logPosition(9) });
  await mark.close();
  expect(await readAcknowledged(path)).toEqual({ ...start, end: 9 });
  expect(clock.advance(1000)).toBe(0);
});

test('never goes back', async () => {
  const mark = await AcknowledgedMark.open(path, { ...start, end: logPosition(5) }, clock, new TestLogger());
  expect(() => mark.advance({ end: logPosition(4) })).toThrow(/taken back/);
  await mark.close();
});

test.each([
  { bytes: [], why: 'empty' },
  { bytes: [1, 2, 3], why: 'too short' },
  { bytes: new Array<number>(28).fill(7), why: 'of the right length, and wrong' },
])('a file that says nothing is damaged: $why', async ({ bytes }) => {
  await writeFile(join(path, ACKNOWLEDGED_FILE), Uint8Array.from(bytes));
  expect(await readAcknowledged(path)).toBe('damaged');
});
