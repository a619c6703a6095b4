import { compareBytes, logPosition } from '@engram/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  RECORD_HEADER_BYTES,
  readRecordEntry,
  recordKey,
  recordKeyPosition,
  writeRecordHeader,
} from '../src/record-entry.ts';
import { Usage } from '../src/usage.ts';

const positions = fc.oneof(fc.maxSafeNat(), fc.nat(), fc.integer({ min: 2 ** 32 - 3, max: 2 ** 32 + 3 }));

function entry(position: number, following: number, record: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(RECORD_HEADER_BYTES + record.length);
  writeRecordHeader(bytes, 0, position, following, record);
  bytes.set(record, RECORD_HEADER_BYTES);
  return bytes;
}

describe('keys', () => {
  test('of records are ordered as their positions', () => {
    fc.assert(
      fc.property(positions, positions, (left, right) => {
        expect(Math.sign(compareBytes(recordKey(left), recordKey(right)))).toBe(Math.sign(left - right));
        expect(recordKeyPosition(recordKey(left))).toBe(left === 0 ? undefined : left);
      }),
    );
  });

  test.each([
    { key: [0, 0, 0, 0, 0, 0, 1], why: 'too short' },
    { key: [0, 0, 0, 0, 0, 0, 0, 0], why: 'before the first position' },
    { key: [0xff, 0, 0, 0, 0, 0, 0, 1], why: 'beyond every position' },
  ])('$key is no key of a record: $why', ({ key }) => {
    expect(recordKeyPosition(Uint8Array.from(key))).toBeUndefined();
  });
});

describe('an entry', () => {
  const records = fc.uint8Array({ maxLength: 80 });
  const numbers = fc.tuple(positions, fc.nat({ max: 2 ** 32 - 1 }));

  test('gives the record back, at its position only', () => {
    fc.assert(
      fc.property(numbers, records, positions, ([position, following], record, other) => {
        const bytes = entry(position, following, record);
        expect(readRecordEntry(bytes, position)).toEqual({ following, record });
        if (other !== position && other % 2 ** 32 !== position % 2 ** 32) {
          expect(readRecordEntry(bytes, other)).toBeUndefined();
        }
      }),
    );
  });

  test('with any bit changed is damaged', () => {
    fc.assert(
      fc.property(
        numbers,
        records,
        fc.nat(),
        fc.integer({ min: 0, max: 7 }),
        ([position, following], record, at, bit) => {
          const bytes = entry(position, following, record);
          const index = at % bytes.length;
          bytes[index] = bytes[index]! ^ (1 << bit);
          expect(readRecordEntry(bytes, position)).toBeUndefined();
        },
      ),
    );
  });

  test('that is cut off is damaged', () => {
    const bytes = entry(5, 0, Uint8Array.of(1, 2, 3));
    for (let length = 0; length < bytes.length; length += 1) {
      expect(readRecordEntry(bytes.subarray(0, length), 5)).toBeUndefined();
    }
  });
});

describe('usage', () => {
  test.each([
    { dropped: [4, 400], left: [6, 600], why: 'told what goes' },
    { dropped: [4, undefined], left: [6, 600], why: 'not told: the average' },
    { dropped: [4, 5000], left: [6, 0], why: 'never below nothing' },
    { dropped: [40, undefined], left: [0, 0], why: 'more than there is: dropped twice' },
  ] as const)('$dropped of 10 records with 1000 bytes leaves $left: $why', ({ dropped, left }) => {
    const usage = new Usage(logPosition(1), 0, 0);
    usage.appended(10, 1000);
    usage.dropped(dropped[0], dropped[1]);
    expect([usage.records, usage.bytes]).toEqual(left);
    usage.dropped(0, undefined);
    expect([usage.records, usage.bytes]).toEqual(left);
  });
});
