import { EMPTY_BYTES, leaseId, NO_LEASE, revision, utf8 } from '@engram/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CoderError,
  decodeKeyValue,
  decodeRecord,
  encodeDeleteRecord,
  encodeKeyValue,
  encodePutRecord,
  encodeRecord,
  type LogRecord,
  recordKv,
} from '../index.ts';
import { keyValues, leaseIds, naturals, revisions, truncations } from './arbitraries.ts';

const records: fc.Arbitrary<LogRecord> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), sub: naturals, kv: keyValues.map(encodeKeyValue) }),
  fc.record({ kind: fc.constant('delete' as const), sub: naturals, kv: keyValues.map(encodeKeyValue) }),
  fc.record({ kind: fc.constant('lease-grant' as const), id: leaseIds, ttlSeconds: naturals }),
  fc.record({ kind: fc.constant('lease-revoke' as const), id: leaseIds }),
  fc.record({ kind: fc.constant('lease-checkpoint' as const), id: leaseIds, remainingSeconds: naturals }),
  fc.record({ kind: fc.constant('compact' as const), revision: revisions }),
  fc.record({
    kind: fc.constant('alarm' as const),
    memberId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    alarm: naturals,
    active: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('origin' as const),
    memberId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    sequence: naturals,
  }),
  fc.record({ kind: fc.constant('auth' as const), change: fc.uint8Array({ maxLength: 200 }) }),
  fc.record({
    kind: fc.constant('login' as const),
    user: fc.string({ unit: 'grapheme' }),
    digest: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  }),
);

describe('log records', () => {
  test('survive the round trip', () => {
    fc.assert(
      fc.property(records, (record) => {
        expect(decodeRecord(encodeRecord(record))).toEqual(record);
      }),
    );
  });

  test('written in place are the same bytes as put together', () => {
    fc.assert(
      fc.property(naturals, keyValues, (sub, kv) => {
        const put = encodePutRecord(sub, kv);
        expect(put).toEqual(encodeRecord({ kind: 'put', sub, kv: encodeKeyValue(kv) }));
        expect(decodeKeyValue(recordKv(put))).toEqual(kv);
        const { key, modRevision } = kv;
        const gone = { key, modRevision, createRevision: revision(0), version: 0, value: EMPTY_BYTES, lease: NO_LEASE };
        const deletion = encodeDeleteRecord(sub, kv.key, kv.modRevision);
        expect(deletion).toEqual(encodeRecord({ kind: 'delete', sub, kv: encodeKeyValue(gone) }));
      }),
    );
  });

  test('give their KeyValue as a view', () => {
    const kv = { key: utf8('k'), createRevision: revision(2), modRevision: revision(2), version: 1, value: utf8('v') };
    const record = encodePutRecord(0, { ...kv, lease: NO_LEASE });
    expect(recordKv(record).buffer).toBe(record.buffer);
    const decoded = decodeRecord(record);
    expect(decoded.kind === 'put' && decoded.kv.buffer === record.buffer).toBe(true);
  });

  test('any front of a record is refused, also where a KeyValue would still decode', () => {
    fc.assert(
      fc.property(truncations(records.map(encodeRecord)), (cut) => {
        expect(() => decodeRecord(cut)).toThrow(CoderError);
      }),
    );
  });

  test('a longer record is refused', () => {
    fc.assert(
      fc.property(records, fc.uint8Array({ minLength: 1, maxLength: 9 }), (record, more) => {
        expect(() => decodeRecord(Uint8Array.of(...encodeRecord(record), ...more))).toThrow(CoderError);
      }),
    );
  });

  test('arbitrary bytes decode to what encodes again, or throw CoderError', () => {
    fc.assert(
      fc.property(fc.tuple(fc.nat({ max: 9 }), fc.uint8Array({ maxLength: 24 })), ([kind, rest]) => {
        let record: LogRecord;
        try {
          record = decodeRecord(Uint8Array.of(kind, ...rest));
        } catch (error) {
          expect(error).toBeInstanceOf(CoderError);
          return;
        }
        expect(decodeRecord(encodeRecord(record))).toEqual(record);
      }),
    );
  });

  test.each([
    { bytes: [], why: 'nothing' },
    { bytes: [0], why: 'kind 0' },
    { bytes: [8, 0, 0], why: 'a kind that is not known' },
    { bytes: [255], why: 'the last kind' },
    { bytes: [6, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1], why: 'an alarm that is neither on nor off' },
  ])('$why is refused', ({ bytes }) => {
    expect(() => decodeRecord(Uint8Array.from(bytes))).toThrow(CoderError);
  });

  test('only puts and deletions have a KeyValue', () => {
    const revoke = encodeRecord({ kind: 'lease-revoke', id: leaseId(1n) });
    expect(() => recordKv(revoke)).toThrow(/kind 4 has no KeyValue/);
    expect(() => recordKv(new Uint8Array(0))).toThrow(CoderError);
  });

  // A log outlives the program that wrote it, so these bytes must keep their meaning.
  test.each([
    { record: { kind: 'put', sub: 3, kv: Uint8Array.of(0x0a, 0) }, hex: '0103020a00' },
    { record: { kind: 'delete', sub: 300, kv: Uint8Array.of() }, hex: '02ac0200' },
    { record: { kind: 'lease-grant', id: leaseId(-2n), ttlSeconds: 60 }, hex: '03feffffffffffffff3c' },
    { record: { kind: 'lease-revoke', id: leaseId(1n) }, hex: '040100000000000000' },
    { record: { kind: 'compact', revision: revision(5) }, hex: '0505' },
    { record: { kind: 'alarm', memberId: 2n ** 64n - 1n, alarm: 1, active: true }, hex: '06ffffffffffffffff0101' },
    { record: { kind: 'lease-checkpoint', id: leaseId(1n), remainingSeconds: 2 }, hex: '07010000000000000002' },
  ] satisfies { record: LogRecord; hex: string }[])('$record.kind is $hex', ({ record, hex }) => {
    expect(Buffer.from(encodeRecord(record)).toString('hex')).toBe(hex);
    expect(decodeRecord(Uint8Array.from(Buffer.from(hex, 'hex')))).toEqual(record);
  });
});
