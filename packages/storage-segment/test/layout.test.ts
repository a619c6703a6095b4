import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileName, parseFileName } from '../src/disk/file-names.ts';
import {
  checkRecord,
  decodeSegmentHeader,
  encodeSegmentHeader,
  FRAME_HEADER_BYTES,
  RECORD_HEADER_BYTES,
  readFrameHeader,
  writeFrameHeader,
  writeRecordHeader,
} from '../src/format/layout.ts';

const positions = fc.oneof(fc.maxSafeNat(), fc.nat(), fc.integer({ min: 2 ** 32 - 3, max: 2 ** 32 + 3 }));
const u32 = fc.nat({ max: 2 ** 32 - 1 });

/** Yields a copy for every way to change one bit. */
function* flips(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = bytes.slice();
      changed[at] = changed[at]! ^ (1 << bit);
      yield changed;
    }
  }
}

describe('the header of a segment', () => {
  test('comes back', () => {
    fc.assert(
      fc.property(positions, u32, fc.constantFrom('appended' as const, 'cleaned' as const), (id, salt, kind) => {
        expect(decodeSegmentHeader(encodeSegmentHeader(id, salt, kind))).toMatchObject({ id, salt, kind });
      }),
    );
  });

  test('with any bit changed, or cut off, is none', () => {
    const bytes = encodeSegmentHeader(77, 0xdeadbeef, 'appended');
    for (const changed of flips(bytes)) expect(decodeSegmentHeader(changed)).toBeUndefined();
    for (let length = 0; length < bytes.length; length += 1) {
      expect(decodeSegmentHeader(bytes.subarray(0, length))).toBeUndefined();
    }
    expect(decodeSegmentHeader(new Uint8Array(64))).toBeUndefined();
  });
});

describe('the header of a frame', () => {
  const frame = { payloadBytes: 1000, records: 5, following: 2, first: 2 ** 40 + 7, previous: 0xabcdef01 };

  function headerOf(salt: number): Uint8Array {
    const bytes = new Uint8Array(FRAME_HEADER_BYTES);
    writeFrameHeader(new DataView(bytes.buffer), 0, salt, frame);
    return bytes;
  }

  test('comes back, in its own segment only', () => {
    fc.assert(
      fc.property(u32, u32, (salt, other) => {
        const bytes = headerOf(salt);
        expect(readFrameHeader(bytes, 0, salt)).toMatchObject(frame);
        if (other !== salt) expect(readFrameHeader(bytes, 0, other)).toBeUndefined();
      }),
    );
  });

  test('with any bit changed, or cut off, is none', () => {
    for (const changed of flips(headerOf(5))) expect(readFrameHeader(changed, 0, 5)).toBeUndefined();
    for (let length = 0; length < FRAME_HEADER_BYTES; length += 1) {
      expect(readFrameHeader(headerOf(5).subarray(0, length), 0, 5)).toBeUndefined();
    }
    expect(readFrameHeader(new Uint8Array(64), 0, 0)).toBeUndefined();
  });

  test('of a frame without records is none: it would have no end', () => {
    const bytes = new Uint8Array(FRAME_HEADER_BYTES);
    writeFrameHeader(new DataView(bytes.buffer), 0, 5, { ...frame, records: 0 });
    expect(readFrameHeader(bytes, 0, 5)).toBeUndefined();
  });
});

describe('a record', () => {
  function recordOf(position: number, record: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(RECORD_HEADER_BYTES + record.length);
    writeRecordHeader(new DataView(bytes.buffer), 0, position, record);
    bytes.set(record, RECORD_HEADER_BYTES);
    return bytes;
  }

  test('is known at its position only', () => {
    fc.assert(
      fc.property(positions, fc.uint8Array({ maxLength: 80 }), positions, (position, record, other) => {
        const bytes = recordOf(position, record);
        expect(checkRecord(bytes, 0, bytes.length, position)).toBe(record.length);
        if (other % 2 ** 32 !== position % 2 ** 32) {
          expect(checkRecord(bytes, 0, bytes.length, other)).toBeUndefined();
        }
      }),
    );
  });

  test.each([
    { length: 0, why: 'empty' },
    { length: 1, why: 'one byte' },
    { length: 30, why: 'some' },
  ])('with any bit changed, or cut off, is damaged: $why', ({ length }) => {
    const bytes = recordOf(9, new Uint8Array(length).fill(7));
    for (const changed of flips(bytes)) {
      const seen = checkRecord(changed, 0, changed.length, 9);
      // A length may shrink, but then its CRC differs.
      expect(seen).toBeUndefined();
    }
    for (let end = 0; end < bytes.length; end += 1) expect(checkRecord(bytes, 0, end, 9)).toBeUndefined();
  });

  test('that is all zeros is none', () => {
    expect(checkRecord(new Uint8Array(100), 0, 100, 1)).toBeUndefined();
  });
});

test.each([
  { name: fileName('seg', 1), file: { kind: 'seg', id: 1 } },
  { name: fileName('idx', 2 ** 52), file: { kind: 'idx', id: 2 ** 52 } },
  { name: '0000000000000001.seg.bak', file: undefined },
  { name: '1.seg', file: undefined },
  { name: 'fffffffffffffff0.seg', file: undefined },
  { name: '000000000000000A.seg', file: undefined },
])('the name $name is of $file', ({ name, file }) => {
  expect(parseFileName(name)).toEqual(file);
});
