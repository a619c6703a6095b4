import { logPosition } from '@engram/core';
import type { LogBatch } from '@engram/storage';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeptBatches } from '../src/kept-batches.ts';

/** Each record is its position and its length, repeated. */
const recordAt = (position: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at % 2 === 0 ? position : length) % 256);

const batchOf = (first: number, lengths: readonly number[]): LogBatch => ({
  first: logPosition(first),
  records: lengths.map((length, at) => recordAt(first + at, length)),
});

/** Pushes batches of records of these lengths, from position 1 on. */
function kept(bounds: Partial<typeof options>, ...lengths: readonly (readonly number[])[]): KeptBatches {
  const batches = new KeptBatches({ ...options, ...bounds });
  let next = 1;
  for (const one of lengths) {
    batches.push(batchOf(next, one));
    next += one.length;
  }
  return batches;
}

const options = { bytesMax: 400, newestBytesMax: 30, slabBytes: 200 };

describe('kept batches', () => {
  test('a batch is found by any of its positions, from there on', () => {
    const batches = kept({}, [20, 3], [25], [1, 2, 3]);
    expect(batches.at(logPosition(1))).toEqual(batchOf(1, [20, 3]));
    expect(batches.at(logPosition(2))).toEqual(batchOf(2, [3]));
    expect(batches.at(logPosition(5))).toEqual(batchOf(5, [2, 3]));
    expect(batches.at(logPosition(7))).toBeUndefined();
    expect([batches.first, batches.end]).toEqual([1, 7]);
  });

  test('a batch keeps its chain, among the newest and as a copy, and a part of it has none', () => {
    const batches = new KeptBatches({ ...options, bytesMax: 800 });
    for (const first of [1, 3, 5]) batches.push({ ...batchOf(first, [20, 20]), chain: Uint8Array.of(first) });
    expect([1, 3, 5].map((first) => batches.at(logPosition(first))!.chain)).toEqual(
      [1, 3, 5].map((at) => Uint8Array.of(at)),
    );
    expect([2, 4, 6].map((part) => batches.at(logPosition(part))!.chain)).toEqual([undefined, undefined, undefined]);
  });

  test('nothing is kept at first', () => {
    const batches = kept({});
    expect([batches.first, batches.end, batches.at(logPosition(1))]).toEqual([undefined, undefined, undefined]);
  });

  test('a batch must follow the one before', () => {
    const batches = kept({}, [1]);
    expect(() => batches.push(batchOf(3, [1]))).toThrow(/does not follow/);
  });

  test('what was handed out stays as it is when its memory is used again', () => {
    const batches = kept({}, [80], [80]);
    const first = batches.at(logPosition(1))!;
    for (let next = 3; next < 9; next += 1) batches.push(batchOf(next, [80]));
    expect(batches.first).toBe(7);
    expect(first).toEqual(batchOf(1, [80]));
  });

  test('a batch that is larger than a slab is kept while it is among the newest, and nothing from before it is later', () => {
    const batches = kept({ newestBytesMax: 300 }, [20], [250], [20]);
    expect(batches.at(logPosition(2))).toEqual(batchOf(2, [250]));
    expect(batches.first).toBe(1);
    batches.push(batchOf(4, [60]));
    expect([batches.first, batches.at(logPosition(2))]).toEqual([3, undefined]);
    expect(batches.at(logPosition(3))).toEqual(batchOf(3, [20]));
  });

  test('property: the last batches, as they were pushed, and no more memory than its bound', () => {
    const lengths = fc.array(fc.array(fc.nat(70), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(lengths, (all) => {
        const batches = kept({}, ...all);
        const flat = all.flat();
        const first = Number(batches.first);
        expect(batches.end).toBe(flat.length + 1);
        for (let position = first; position <= flat.length; ) {
          const batch = batches.at(logPosition(position))!;
          expect(batch).toEqual(batchOf(position, flat.slice(position - 1, position - 1 + batch.records.length)));
          position += batch.records.length;
        }
        for (let position = 1; position < first; position += 1)
          expect(batches.at(logPosition(position))).toBeUndefined();
        const last = all.at(-1)!;
        const sum = flat.slice(first - 1).reduce((total, length) => total + length, 0);
        expect(sum).toBeLessThanOrEqual(
          Math.max(
            options.bytesMax,
            options.newestBytesMax,
            last.reduce((total, length) => total + length, 0),
          ),
        );
      }),
    );
  });
});
