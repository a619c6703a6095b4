import { createRequire } from 'node:module';
import { EMPTY_BYTES, leaseId, NO_LEASE, revision, utf8 } from '@engram/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CoderError,
  decodeKeyValue,
  encodeKeyValue,
  encodeDeleteRecord,
  recordKv,
  type KeyValue,
  keyValueValue,
  withoutValue,
} from '../index.ts';
import { keyValues, truncations } from './arbitraries.ts';

// protobufjs is the reference for the encoding.
const requireFromWire = createRequire(new URL('../../wire/package.json', import.meta.url));
const protobuf: typeof import('protobufjs') = requireFromWire('protobufjs');
const Reference = protobuf
  .parse(
    `syntax = "proto3"; message KeyValue { bytes key = 1; int64 create_revision = 2; int64 mod_revision = 3;
     int64 version = 4; bytes value = 5; int64 lease = 6; }`,
    { keepCase: true },
  )
  .root.lookupType('KeyValue');

// proto3 omits zero fields. protobufjs omits only fields that are not set.
function reference(kv: KeyValue): Uint8Array {
  const fields: Record<string, unknown> = {};
  if (kv.key.length > 0) fields['key'] = kv.key;
  if (kv.createRevision > 0) fields['create_revision'] = long(BigInt(kv.createRevision));
  if (kv.modRevision > 0) fields['mod_revision'] = long(BigInt(kv.modRevision));
  if (kv.version > 0) fields['version'] = long(BigInt(kv.version));
  if (kv.value.length > 0) fields['value'] = kv.value;
  if (kv.lease !== NO_LEASE) fields['lease'] = long(kv.lease);
  return new Uint8Array(Reference.encode(Reference.create(fields)).finish());
}

function long(value: bigint): { low: number; high: number; unsigned: boolean } {
  const low = Number(BigInt.asIntN(32, value));
  return { low, high: Number(BigInt.asIntN(32, value >> 32n)), unsigned: false };
}

const hello: KeyValue = {
  key: utf8('/registry/pods/default/web-0'),
  createRevision: revision(7),
  modRevision: revision(300),
  version: 3,
  value: utf8('hello'),
  lease: leaseId(0x694d5c6a4f6a1d0bn),
};

describe('KeyValue', () => {
  test('is encoded as protobufjs does it', () => {
    fc.assert(
      fc.property(keyValues, (kv) => {
        expect(encodeKeyValue(kv)).toEqual(reference(kv));
      }),
    );
  });

  test('survives the round trip', () => {
    fc.assert(
      fc.property(keyValues, (kv) => {
        expect(decodeKeyValue(encodeKeyValue(kv))).toEqual(kv);
      }),
    );
  });

  test.each([
    { field: 'createRevision', value: 2 ** 31 - 1, why: 'the last that shifts can take' },
    { field: 'createRevision', value: 2 ** 31, why: 'the first that they cannot' },
    { field: 'modRevision', value: 2 ** 32, why: 'more than 32 bits' },
    { field: 'modRevision', value: 2 ** 53 - 1, why: 'the last number' },
    { field: 'version', value: 127, why: 'the last of one byte' },
    { field: 'version', value: 128, why: 'the first of two' },
    { field: 'lease', value: -1n, why: 'a client may choose any id' },
    { field: 'lease', value: -(2n ** 63n), why: 'the smallest id' },
    { field: 'lease', value: 2n ** 63n - 1n, why: 'the largest id' },
    { field: 'lease', value: 2n ** 31n, why: 'the sign bit of the low half' },
  ])('$field $value: $why', ({ field, value }) => {
    const kv = { ...hello, [field]: value };
    expect(encodeKeyValue(kv)).toEqual(reference(kv));
    expect(decodeKeyValue(encodeKeyValue(kv))).toEqual(kv);
  });

  test.each([
    { version: -1, why: 'negative' },
    { version: 1.5, why: 'not whole' },
    { version: 2 ** 53, why: 'not exact' },
    { version: Number.NaN, why: 'no number' },
  ])('version $version is refused: $why', ({ version }) => {
    expect(() => encodeKeyValue({ ...hello, version })).toThrow(/varint/);
  });

  test('key and value are views', () => {
    const bytes = encodeKeyValue(hello);
    const kv = decodeKeyValue(bytes);
    expect(kv.key.buffer).toBe(bytes.buffer);
    expect(kv.value.buffer).toBe(bytes.buffer);
    expect(keyValueValue(bytes).buffer).toBe(bytes.buffer);
  });

  test('keyValueValue is the value', () => {
    fc.assert(
      fc.property(keyValues, (kv) => {
        expect(keyValueValue(encodeKeyValue(kv))).toEqual(kv.value);
      }),
    );
  });

  test('withoutValue is the encoding with an empty value', () => {
    fc.assert(
      fc.property(keyValues, (kv) => {
        expect(withoutValue(encodeKeyValue(kv))).toEqual(encodeKeyValue({ ...kv, value: EMPTY_BYTES }));
      }),
    );
  });

  test('withoutValue copies nothing where there is no value', () => {
    const bytes = encodeKeyValue({ ...hello, value: EMPTY_BYTES });
    expect(withoutValue(bytes)).toBe(bytes);
  });

  test('a tombstone has key and mod_revision only', () => {
    expect(Array.from(recordKv(encodeDeleteRecord(0, utf8('k'), revision(9))))).toEqual([0x0a, 1, 0x6b, 0x18, 9]);
  });

  test('unknown fields are passed over, and the last of the same number counts', () => {
    const bytes = Uint8Array.of(
      ...[0x78, 0xff, 0x01], // 15: varint
      ...[0x2a, 1, 1], // 5: value, overridden below
      ...[0x71, 1, 2, 3, 4, 5, 6, 7, 8], // 14: fixed64
      ...[0x6d, 1, 2, 3, 4], // 13: fixed32
      ...[0x62, 2, 9, 9], // 12: bytes
      ...[0x2a, 2, 7, 8],
      ...[0x20, 0x83, 0x00], // 4: version, in more bytes than it needs
      ...[0x0a, 1, 0x61],
    );
    const kv = decodeKeyValue(bytes);
    expect(kv).toMatchObject({ key: utf8('a'), value: Uint8Array.of(7, 8), version: 3 });
    expect(keyValueValue(bytes)).toEqual(Uint8Array.of(7, 8));
    expect(decodeKeyValue(withoutValue(bytes))).toEqual({ ...kv, value: EMPTY_BYTES });
  });

  test.each([
    { bytes: [0x0a], why: 'a tag without its length' },
    { bytes: [0x0a, 5, 1], why: 'fewer bytes than announced' },
    { bytes: [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f], why: 'a length of 2^52' },
    { bytes: [0x10, 0xff], why: 'half a number' },
    { bytes: [0x10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10], why: 'a number of 2^53' },
    { bytes: [0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], why: 'a negative revision' },
    { bytes: [0x30, ...new Array<number>(11).fill(0x80), 0], why: 'a number of twelve bytes' },
    { bytes: [0x00, 1], why: 'field number 0' },
    { bytes: [0x7b], why: 'a group' },
    { bytes: [0x7f], why: 'wire type 7' },
  ])('$why is refused', ({ bytes }) => {
    expect(() => decodeKeyValue(Uint8Array.from(bytes))).toThrow(CoderError);
  });

  test('arbitrary bytes decode or throw CoderError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        for (const decode of [decodeKeyValue, keyValueValue, withoutValue]) {
          try {
            decode(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(CoderError);
          }
        }
      }),
    );
  });

  test('what is cut off inside a field throws CoderError', () => {
    fc.assert(
      fc.property(truncations(keyValues.map(encodeKeyValue)), (cut) => {
        let decoded: KeyValue;
        try {
          decoded = decodeKeyValue(cut);
        } catch (error) {
          expect(error).toBeInstanceOf(CoderError);
          return;
        }
        // The cut fell between two fields, so the bytes are a complete, shorter message.
        expect(encodeKeyValue(decoded)).toEqual(cut);
      }),
    );
  });
});
