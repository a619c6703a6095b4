import { type LogPosition, logPosition } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { realClock } from '@engram/sim';
import type { LogBatch, Storage } from '@engram/storage';
import { record, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import { RecordTable } from '../src/format/record-table.ts';
import { SegmentBed } from './segment-bed.ts';

/* An append of very many records must not block the event loop while its frame is assembled. */

const RECORDS = 60_000;
const never = new AbortController().signal;

async function all(storage: Storage, from: LogPosition): Promise<LogBatch[]> {
  const batches: LogBatch[] = [];
  for await (const { first, records } of storage.log.read(from, never)) batches.push({ first, records });
  return batches;
}

const batchOf = (first: number, count: number): LogBatch => ({
  first: logPosition(first),
  records: Array.from({ length: count }, (_, at) => record(first + at, 20 + (at % 7))),
});

test('a batch of very many records is laid out in slices, and is one batch in the log', async () => {
  const loop = new Loop({ clock: realClock, pace: new StepPace(RECORDS / 10) });
  await using bed = await SegmentBed.make(64 << 20, { loop });
  const storage = await bed.open();
  await storage.log.seal(sealOf(1));
  const batches = [batchOf(1, 3), batchOf(4, RECORDS), batchOf(4 + RECORDS, 2)];
  for (const batch of batches) expect(await storage.log.append(batch, sealOf(1))).toEqual({ kind: 'committed' });
  expect(loop.usage.get('durable')!.slices).toBeGreaterThanOrEqual(9);
  expect(await all(storage, logPosition(1))).toEqual(batches);
  const reopened = await bed.reopen(storage);
  expect(await all(reopened, logPosition(1))).toEqual(batches);
  const positions = [4, 5, 3 + RECORDS, 4 + RECORDS].map(logPosition);
  const found = await reopened.values.getMany(positions, never);
  const expected = positions.map((position) =>
    record(position, position > 3 + RECORDS ? 20 : 20 + ((position - 4) % 7)),
  );
  expect(found).toEqual(expected);
});

test('a frame that is added whole is what its records are one by one', () => {
  for (const before of [[], [5, 9], Array.from({ length: 400 }, (_, at) => at % 30)]) {
    const [single, whole] = [new RecordTable(32, false), new RecordTable(32, false)];
    for (const table of [single, whole]) {
      if (before.length > 0) table.beginFrame();
      for (const [at, length] of before.entries()) table.add(100 + at, length, at === 0);
    }
    const first = 100 + before.length;
    const lengths = Array.from({ length: 700 }, (_, at) => at % 40);
    const offsets = new Uint32Array(lengths.length);
    single.beginFrame();
    for (const [at, length] of lengths.entries()) {
      offsets[at] = single.end;
      single.add(first + at, length, at === 0);
    }
    whole.addFrame(first, offsets, single.end);
    expect(whole.columns).toEqual(single.columns);
    const said = ({ first: from, next, end, count }: RecordTable): number[] => [from, next, end, count];
    expect(said(whole)).toEqual(said(single));
    expect(whole.recordBytes(32)).toBe(single.recordBytes(32));
    expect(whole.frameStart(whole.count - 1)).toBe(before.length);
    expect(() => whole.addFrame(whole.next, offsets, single.end)).toThrow('begins elsewhere');
    expect(() => whole.addFrame(whole.next + 1, offsets, single.end)).toThrow('a gap');
  }
});
