import { describe, expect, test } from 'vitest';
import { REQUEST_FIELDS_MAX, WireError } from '@engram/protobuf';
import {
  decodeDeleteRange,
  decodeKeepAlive,
  decodePut,
  decodeRange,
  decodeTxnWithin,
  etcdserverpb,
} from '@engram/wire';

const OPS_MAX = 128;
/** Of 64 times as many operations, and one request more. */
const TXN_FIELDS_MAX = REQUEST_FIELDS_MAX + 16 * 64 * OPS_MAX;
/** Field 1, of length 0: a name, a key. */
const EMPTY_FIELD = [0x0a, 0];
const repeated = (times: number, bytes: readonly number[] = EMPTY_FIELD): Buffer =>
  Buffer.from(Array.from({ length: times }, () => bytes).flat());
const within = (tag: number, message: Uint8Array): Buffer => Buffer.from([tag, ...varint(message.length), ...message]);

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

/** How a request of so many fields, in all, is read. */
const requests: Readonly<
  Record<string, readonly [read: (bytes: Buffer) => unknown, of: (fields: number) => Buffer, max: number]>
> = {
  'a name': [etcdserverpb.decodeAuthenticateRequest, repeated, REQUEST_FIELDS_MAX],
  'an unknown field': [
    etcdserverpb.decodeAuthenticateRequest,
    (fields) => repeated(fields, [0x78, 1]),
    REQUEST_FIELDS_MAX,
  ],
  'a group without an end': [
    etcdserverpb.decodeLeaseRevokeRequest,
    (fields) => Buffer.concat([Buffer.from([0x7b]), repeated(fields - 2, [0x08, 1]), Buffer.from([0x7c])]),
    REQUEST_FIELDS_MAX,
  ],
  'a field of a nested message': [
    etcdserverpb.decodeWatchRequest,
    (fields) => within(0x0a, repeated(fields - 1)),
    REQUEST_FIELDS_MAX,
  ],
  'an item of a packed list': [
    etcdserverpb.decodeWatchRequest,
    (fields) => within(0x0a, within(0x2a, repeated(fields - 2, [1]))),
    REQUEST_FIELDS_MAX,
  ],
  'the key of a range': [decodeRange, repeated, REQUEST_FIELDS_MAX],
  'the key of a put': [decodePut, repeated, REQUEST_FIELDS_MAX],
  'the key of a deletion': [decodeDeleteRange, repeated, REQUEST_FIELDS_MAX],
  'the id of a renewal': [decodeKeepAlive, (fields) => repeated(fields, [8, 1]), REQUEST_FIELDS_MAX],
  'the key of an operation': [
    (bytes) => decodeTxnWithin(bytes, OPS_MAX),
    (fields) => within(0x12, within(0x0a, repeated(fields - 2))),
    TXN_FIELDS_MAX,
  ],
};

describe.each(Object.entries(requests))('%s that comes again and again', (_, [read, of, max]) => {
  test(`is read ${max} times`, () => {
    read(of(max));
  });

  test('is refused beyond that', () => {
    expect(() => read(of(max + 1))).toThrow(new WireError('proto: too many fields'));
  });
});

test('answers have as many fields as they need', () => {
  const names = Array.from({ length: 2 * REQUEST_FIELDS_MAX }, () => 'user');
  const answer = etcdserverpb.encodeAuthUserListResponse({ users: names });
  expect(etcdserverpb.decodeAuthUserListResponse(answer).users).toEqual(names);
});
