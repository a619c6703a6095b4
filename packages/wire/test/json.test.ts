import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonMessage, WireError } from '@engram/protobuf';
import { ArbitraryMessages } from '@engram/protobuf/contract';
import { loadRoot, messageSet, readSchema } from '@engram/protobuf/schema';
import { fromJson, toJson } from '@engram/protobuf/testing';
import { authpb, etcdserverpb, leasepb, mvccpb, v3electionpb, v3lockpb } from '@engram/wire';
import * as authpbJson from '../src/gen/authpb-json.ts';
import * as etcdserverpbJson from '../src/gen/etcdserverpb-json.ts';
import * as leasepbJson from '../src/gen/leasepb-json.ts';
import * as mvccpbJson from '../src/gen/mvccpb-json.ts';
import * as v3electionpbJson from '../src/gen/v3electionpb-json.ts';
import * as v3lockpbJson from '../src/gen/v3lockpb-json.ts';

const etcd = messageSet('etcd');
/** 2^59 as a varint. */
const LARGE = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x08];
const root = loadRoot(etcd);
const schema = readSchema(etcd, root);
const messages = new ArbitraryMessages(schema);
const codecs: Record<string, object> = { etcdserverpb, mvccpb, authpb, leasepb, v3lockpb, v3electionpb };
const tables: Record<string, object> = {
  etcdserverpb: etcdserverpbJson,
  mvccpb: mvccpbJson,
  authpb: authpbJson,
  leasepb: leasepbJson,
  v3lockpb: v3lockpbJson,
  v3electionpb: v3electionpbJson,
};

/** protobufjs keeps nested types in their parents, under a shorter name. They are compared in their parents. */
function typeOf(name: string) {
  try {
    return root.lookupType(name);
  } catch {
    return undefined;
  }
}

const typed = schema.messages.flatMap((message) => {
  const type = typeOf(`${message.package}.${message.name}`);
  if (type === undefined || tables[message.package] === undefined) return [];
  const codec = codecs[message.package] as Record<string, unknown>;
  return [
    {
      name: `${message.package}.${message.name}`,
      message,
      type,
      table: (tables[message.package] as Record<string, JsonMessage>)[`${message.name}Json`]!,
      encode: codec[`encode${message.name}`] as (value: object) => Uint8Array,
      decode: codec[`decode${message.name}`] as (bytes: Uint8Array) => object,
    },
  ];
});

test('all packages of etcd are compared', () => {
  expect(typed.length).toBeGreaterThan(90);
});

describe.each(typed)('$name', ({ message, type, table, encode, decode }) => {
  test('has the JSON that protobufjs makes, and is read from it', () => {
    fc.assert(
      fc.property(messages.of(message), (value) => {
        const bytes = encode(value);
        const json = toJson(table, decode(bytes));
        const other = type.toObject(type.decode(bytes), { longs: String, enums: String, bytes: String });
        expect(json).toEqual(other);
        expect(Buffer.from(encode(fromJson(table, JSON.parse(JSON.stringify(json)))))).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 30 },
    );
  });
});

const { RangeRequestJson, PutRequestJson, CompareJson, TxnRequestJson } = etcdserverpbJson;

test.each([
  {
    json: { key: '-_8', limit: '7' },
    read: { key: Uint8Array.of(0xfb, 0xff), limit: 7 },
    why: 'base64 of URLs, no padding',
  },
  { json: { rangeEnd: 'AA==' }, read: { rangeEnd: Uint8Array.of(0) }, why: 'lowerCamelCase' },
  { json: { limit: 7, keys_only: true }, read: { limit: 7, keysOnly: true }, why: 'a number for a 64-bit integer' },
  {
    json: { sort_order: 'DESCEND', sort_target: 3 },
    read: { sortOrder: 2, sortTarget: 3 },
    why: 'an enum by name or number',
  },
  { json: { key: null, unknown: { a: 1 } }, read: {}, why: 'null is absent, and what is unknown is passed over' },
])('a range is read from $json: $why', ({ json, read }) => {
  expect(fromJson(RangeRequestJson, json)).toEqual({ ...etcdserverpb.newRangeRequest(), ...read });
});

test.each([
  { table: RangeRequestJson, json: 'x' },
  { table: RangeRequestJson, json: [] },
  { table: RangeRequestJson, json: { key: '!' } },
  { table: RangeRequestJson, json: { key: 'A' } },
  { table: RangeRequestJson, json: { limit: '1.5' } },
  { table: RangeRequestJson, json: { limit: '0x10' } },
  { table: RangeRequestJson, json: { limit: '9223372036854775808' } },
  { table: RangeRequestJson, json: { limit: '9'.repeat(1_000_000) } },
  { table: RangeRequestJson, json: { sort_order: 'sideways' } },
  { table: RangeRequestJson, json: { sort_order: 'constructor' } },
  { table: RangeRequestJson, json: { keys_only: 'true' } },
  { table: PutRequestJson, json: { lease: 1.5 } },
  { table: TxnRequestJson, json: { success: {} } },
  { table: CompareJson, json: { version: 1, value: 'AA==' } },
])('a request is refused: $json', ({ table, json }) => {
  expect(() => fromJson(table, json)).toThrow(WireError);
});

test('a transaction in a transaction is read to a bounded depth', () => {
  const nested = (depth: number): object => (depth === 0 ? {} : { success: [{ request_txn: nested(depth - 1) }] });
  expect(() => fromJson(TxnRequestJson, nested(20))).not.toThrow();
  expect(() => fromJson(TxnRequestJson, nested(2000))).toThrow(WireError);
});

test('a member of a oneof is written whenever it is set, also with its default', () => {
  const compare = etcdserverpb.decodeCompare(etcdserverpb.encodeCompare({ target: 2, modRevision: 0 }));
  expect(toJson(CompareJson, compare)).toEqual({ target: 'MOD', mod_revision: '0' });
  expect(fromJson(CompareJson, { target: 'MOD', mod_revision: '0' })).toEqual(compare);
});

test('a number above 2^53 has all its digits', () => {
  const json = toJson(etcdserverpbJson.RangeRequestJson, etcdserverpb.decodeRangeRequest(Uint8Array.of(24, ...LARGE)));
  expect(json).toEqual({ limit: '576460752303423488' });
});
