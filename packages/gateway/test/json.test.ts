import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish, StepPace, unhurried } from '@engram/loop';
import type { JsonMessage } from '@engram/protobuf';
import { ArbitraryMessages } from '@engram/protobuf/contract';
import { loadRoot, messageSet, readSchema } from '@engram/protobuf/schema';
import { toJson } from '@engram/protobuf/testing';
import {
  etcdserverpb,
  etcdserverpbJson,
  StatusError,
  v3electionpb,
  v3electionpbJson,
  v3lockpb,
  v3lockpbJson,
} from '@engram/wire';
import { JsonOfMessage } from '../src/json/json-of-message.ts';
import { JsonText } from '../src/json/json-text.ts';
import { messageOfJson } from '../src/json/message-of-json.ts';

const etcd = messageSet('etcd');
const schema = readSchema(etcd, loadRoot(etcd));
const messages = new ArbitraryMessages(schema);
const codecs: Record<string, object> = { etcdserverpb, v3lockpb, v3electionpb };
const tables: Record<string, object> = {
  etcdserverpb: etcdserverpbJson,
  v3lockpb: v3lockpbJson,
  v3electionpb: v3electionpbJson,
};

const typed = schema.messages.flatMap((message) => {
  if (tables[message.package] === undefined) return [];
  const codec = codecs[message.package] as Record<string, unknown>;
  return [
    {
      name: `${message.package}.${message.name}`,
      message,
      table: (tables[message.package] as Record<string, JsonMessage>)[`${message.name}Json`]!,
      encode: codec[`encode${message.name}`] as (value: object) => Uint8Array,
      decode: codec[`decode${message.name}`] as (bytes: Uint8Array) => object,
    },
  ];
});

const BYTES_MAX = 1024 * 1024;

const read = (table: JsonMessage, text: string, turn = unhurried): Uint8Array =>
  finish(messageOfJson(table, new JsonText(Buffer.from(text), turn), BYTES_MAX, turn));

function written(table: JsonMessage, bytes: Uint8Array, cuts: readonly number[]): string {
  const json = new JsonOfMessage(table);
  const places = [
    0,
    ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((left, right) => left - right),
    bytes.length,
  ];
  let text = '';
  for (const [at, end] of places.slice(1).entries()) {
    // The caller may use its buffer again.
    const piece = bytes.slice(places[at], end);
    text += json.push(piece);
    piece.fill(0xff);
  }
  return text + json.end();
}

describe.each(typed)('$name', ({ message, table, encode, decode }) => {
  test('has the JSON of its decoded form, wherever its bytes are cut, and is read from it in slices of any length', () => {
    fc.assert(
      fc.property(messages.of(message), fc.array(fc.nat(), { maxLength: 5 }), fc.nat(3), (value, cuts, steps) => {
        const bytes = encode(value);
        const text = written(table, bytes, cuts);
        expect(JSON.parse(text)).toEqual(toJson(table, decode(bytes)));
        expect(decode(read(table, text, new StepPace(steps)))).toEqual(decode(bytes));
      }),
      { numRuns: 30 },
    );
  });
});

test('the messages of all services are compared', () => {
  expect(typed.length).toBeGreaterThan(85);
});

test('each byte of a message may come alone', () => {
  const bytes = etcdserverpb.encodeRangeResponse({
    header: { clusterId: 2n ** 64n - 1n, memberId: 1n, revision: 7, raftTerm: 2 },
    kvs: [
      { key: Buffer.from('a'), value: Buffer.from('four'), modRevision: 3, lease: -5n },
      { key: Buffer.from('bb'), value: new Uint8Array(0), version: 1 },
    ],
    count: 2,
  });
  const text = written(etcdserverpbJson.RangeResponseJson, bytes, [...bytes.keys()]);
  expect(JSON.parse(text)).toEqual({
    header: { cluster_id: '18446744073709551615', member_id: '1', revision: '7', raft_term: '2' },
    kvs: [
      { key: 'YQ==', value: 'Zm91cg==', mod_revision: '3', lease: '-5' },
      { key: 'YmI=', version: '1' },
    ],
    count: '2',
  });
});

const { RangeRequestJson, PutRequestJson, CompareJson, TxnRequestJson, WatchCreateRequestJson, AlarmRequestJson } =
  etcdserverpbJson;
const range = (json: string): etcdserverpb.RangeRequest =>
  etcdserverpb.decodeRangeRequest(read(RangeRequestJson, json));

test.each([
  {
    json: '{"key":"-_8","limit":"7"}',
    fields: { key: Uint8Array.of(0xfb, 0xff), limit: 7 },
    why: 'base64 of URLs, no padding',
  },
  { json: '{"key":"+\\/8="}', fields: { key: Uint8Array.of(0xfb, 0xff) }, why: 'a slash that PHP escapes' },
  { json: '{"key":"Y\\u0051=="}', fields: { key: Uint8Array.of(0x61) }, why: 'any character may be escaped' },
  {
    json: String.raw`{"key":"Zm9v\n","range_end":"Z\r\nm8=\n\n"}`,
    fields: { key: Uint8Array.of(0x66, 0x6f, 0x6f), rangeEnd: Uint8Array.of(0x66, 0x6f) },
    why: 'breaks of lines are passed over',
  },
  { json: '{"rangeEnd":"AA=="}', fields: { rangeEnd: Uint8Array.of(0) }, why: 'lowerCamelCase' },
  { json: '{"\\u006bey":"YQ=="}', fields: { key: Uint8Array.of(0x61) }, why: 'an escaped name' },
  { json: '{"limit":7,"keys_only":true}', fields: { limit: 7, keysOnly: true }, why: 'a number' },
  { json: '{"limit":70e-1,"revision":"1.50e1"}', fields: { limit: 7, revision: 15 }, why: 'an integer in any form' },
  { json: '{"limit":-0,"revision":0.0}', fields: {}, why: 'nothing' },
  { json: '{"sort_order":"DESCEND","sort_target":3}', fields: { sortOrder: 2, sortTarget: 3 }, why: 'enums' },
  {
    json: '{"sort_order":"sideways","sort_target":"constructor"}',
    fields: {},
    why: 'unknown names of enums are passed over',
  },
  { json: '{"sort_order":77}', fields: { sortOrder: 77 }, why: 'unknown numbers of enums are not' },
  {
    json: '{"key":null,"x":{"a":[1,{"b":"]}"}],"c":{}},"y":[],"limit":1}',
    fields: { limit: 1 },
    why: 'unknown fields',
  },
  { json: ' \t\r\n{ "limit" : 1 } x', fields: { limit: 1 }, why: 'what is behind the value is not read' },
  { json: '{}', fields: {}, why: 'nothing' },
])('a range is read from $json: $why', ({ json, fields }) => {
  expect(range(json)).toEqual({ ...etcdserverpb.newRangeRequest(), ...fields });
});

test('ids keep all of their bits, as numbers too', () => {
  const put = etcdserverpb.decodePutRequest(read(PutRequestJson, '{"lease":7587895129463432201}'));
  expect(put.lease).toBe(7587895129463432201n);
  const alarm = etcdserverpb.decodeAlarmRequest(read(AlarmRequestJson, '{"memberID":"18446744073709551615"}'));
  expect(alarm.memberID).toBe(2n ** 64n - 1n);
});

test('a list of enums is read', () => {
  const { filters } = etcdserverpb.decodeWatchCreateRequest(
    read(WatchCreateRequestJson, '{"filters":["NOPUT","NODELETE",0]}'),
  );
  expect(filters).toEqual([0, 1, 0]);
});

test('a member of a oneof is kept with its default', () => {
  const compare = etcdserverpb.decodeCompare(read(CompareJson, '{"target":"MOD","mod_revision":0}'));
  expect(compare).toEqual(etcdserverpb.decodeCompare(etcdserverpb.encodeCompare({ target: 2, modRevision: 0 })));
});

test.each([
  { table: RangeRequestJson, json: '', message: 'unexpected EOF' },
  { table: RangeRequestJson, json: '{', message: 'unexpected EOF' },
  { table: RangeRequestJson, json: '{"key":"YQ', message: 'unexpected EOF' },
  { table: RangeRequestJson, json: '{"key":"YQ\\"', message: 'unexpected EOF' },
  { table: RangeRequestJson, json: '{"x":[1,{"y":2}', message: 'unexpected EOF' },
  { table: RangeRequestJson, json: 'x', message: "invalid character 'x' looking for beginning of value" },
  { table: RangeRequestJson, json: '{x', message: "invalid character 'x' looking for beginning of object key string" },
  { table: RangeRequestJson, json: '{"key" 1}', message: "invalid character '1' after object key" },
  { table: RangeRequestJson, json: '{"limit":1 "x"', message: `invalid character '"' after object key:value pair` },
  { table: RangeRequestJson, json: '{"x":[1 2]}', message: "invalid character '2' after array element" },
  {
    table: RangeRequestJson,
    json: '{"limit":1,}',
    message: "invalid character '}' looking for beginning of object key string",
  },
  {
    table: RangeRequestJson,
    json: '{"keys_only":trye}',
    message: "invalid character 'y' in literal true (expecting 'u')",
  },
  { table: RangeRequestJson, json: '{"x":"a\nb"}', message: "invalid character '\\n' in string literal" },
  { table: RangeRequestJson, json: '{"x\u0001":1}', message: "invalid character '\\x01' in string literal" },
  { table: RangeRequestJson, json: '{"sort_order":"\u000b"}', message: "invalid character '\\v' in string literal" },
  {
    table: RangeRequestJson,
    json: '{"key":"Zg=\u007f"}',
    message: 'proto: invalid value for bytes field key: not base64',
  },
  { table: RangeRequestJson, json: '{"key":"Zg=\n"}', message: "invalid character '\\n' in string literal" },
  { table: RangeRequestJson, json: String.raw`{"x":"\q"}`, message: "invalid character 'q' in string escape code" },
  {
    table: RangeRequestJson,
    json: String.raw`{"x\'":1}`,
    message: String.raw`invalid character '\'' in string escape code`,
  },
  {
    table: RangeRequestJson,
    json: String.raw`{"x":"\u12"}`,
    message: String.raw`invalid character '"' in \u hexadecimal character escape`,
  },
  {
    table: RangeRequestJson,
    json: '\u007f',
    message: String.raw`invalid character '\x7f' looking for beginning of value`,
  },
  {
    table: RangeRequestJson,
    json: '{"limit":1.}',
    message: "invalid character '}' after decimal point in numeric literal",
  },
  { table: RangeRequestJson, json: '{"x":1e}', message: "invalid character '}' in exponent of numeric literal" },
  { table: RangeRequestJson, json: '{"x":1E+}', message: "invalid character '}' in exponent of numeric literal" },
  { table: RangeRequestJson, json: '{"x":1e-', message: 'unexpected EOF' },
  { table: RangeRequestJson, json: '{"x":1.', message: 'unexpected EOF' },
  { table: RangeRequestJson, json: '{"x":1.5.1}', message: "invalid character '.' after object key:value pair" },
  { table: RangeRequestJson, json: '{"x":1e5.1}', message: "invalid character '.' after object key:value pair" },
  { table: RangeRequestJson, json: '{"x":1e5e}', message: "invalid character 'e' after object key:value pair" },
  { table: RangeRequestJson, json: '{"x":01}', message: "invalid character '1' after object key:value pair" },
  // What is no JSON is told before what is no request, wherever it stands.
  { table: RangeRequestJson, json: 'nonsense', message: "invalid character 'o' in literal null (expecting 'u')" },
  { table: RangeRequestJson, json: '[1 2]', message: "invalid character '2' after array element" },
  { table: RangeRequestJson, json: '{"key":7', message: 'unexpected EOF' },
  {
    table: RangeRequestJson,
    json: '{"key":7} behind',
    message: 'proto: syntax error: unexpected number for field key',
  },
  {
    table: RangeRequestJson,
    json: '{"limit":"x","key":"!","x":[{"y":1,}]}',
    message: "invalid character '}' looking for beginning of object key string",
  },
  { table: RangeRequestJson, json: '[]', message: 'proto: syntax error: unexpected list, expected a message' },
  { table: RangeRequestJson, json: 'null', message: 'proto: syntax error: unexpected null, expected a message' },
  { table: RangeRequestJson, json: '{"key":7}', message: 'proto: syntax error: unexpected number for field key' },
  { table: RangeRequestJson, json: '{"key":"!"}', message: 'proto: invalid value for bytes field key: not base64' },
  { table: RangeRequestJson, json: '{"key":"AAAAA"}', message: 'proto: invalid value for bytes field key: not base64' },
  // As Go has it: their number decides whether there is padding.
  ...[String.raw`Zm8=\n`, String.raw`Zm8\n`, String.raw`Z\n\n\n`, String.raw`Zm8=\n\n\n\nZ`].map((key) => ({
    table: RangeRequestJson,
    json: `{"key":"${key}"}`,
    message: 'proto: invalid value for bytes field key: not base64',
  })),
  { table: RangeRequestJson, json: '{"key":"AA="}', message: 'proto: invalid value for bytes field key: not base64' },
  { table: RangeRequestJson, json: '{"key":"+-AA"}', message: 'proto: invalid value for bytes field key: not base64' },
  { table: RangeRequestJson, json: '{"key":"A\\q=="}', message: "invalid character 'q' in string escape code" },
  { table: RangeRequestJson, json: '{"\\ud800x":1}', message: 'proto: invalid UTF-8 in string' },
  { table: RangeRequestJson, json: '{"limit":"1.5"}', message: 'proto: invalid value for int64 field limit: "1.5"' },
  { table: RangeRequestJson, json: '{"limit":"0x10"}', message: 'proto: invalid value for int64 field limit: "0x10"' },
  { table: RangeRequestJson, json: '{"limit":1e999}', message: 'proto: invalid value for int64 field limit: "1e999"' },
  {
    table: RangeRequestJson,
    json: '{"limit":"9223372036854775808"}',
    message: 'proto: invalid value for int64 field limit: "9223372036854775808"',
  },
  {
    table: RangeRequestJson,
    json: '{"keys_only":"true"}',
    message: 'proto: syntax error: unexpected string for field keys_only',
  },
  { table: RangeRequestJson, json: '{"range_end":"","rangeEnd":""}', message: 'proto: duplicate field "range_end"' },
  {
    table: TxnRequestJson,
    json: '{"success":{}}',
    message: 'proto: syntax error: unexpected object for field success',
  },
  {
    table: TxnRequestJson,
    json: '{"success":[null]}',
    message: 'proto: syntax error: unexpected null, expected a message',
  },
  {
    table: CompareJson,
    json: '{"version":1,"value":"AA=="}',
    message: 'proto: error parsing "value", its oneof is already set',
  },
])('a request is refused: $json', ({ table, json, message }) => {
  for (const turn of [unhurried, new StepPace(0)]) {
    expect(() => read(table, json, turn)).toThrow(new StatusError(3, message));
  }
});

test('text in a request is UTF-8', () => {
  const name = (bytes: Uint8Array): Uint8Array => Buffer.concat([Buffer.from('{"name":"'), bytes, Buffer.from('"}')]);
  const parse = (bytes: Uint8Array): Uint8Array =>
    finish(
      messageOfJson(etcdserverpbJson.AuthUserAddRequestJson, new JsonText(bytes, unhurried), BYTES_MAX, unhurried),
    );
  expect(etcdserverpb.decodeAuthUserAddRequest(parse(name(Buffer.from('é\\ud83d\\ude00\\n')))).name).toBe('é😀\n');
  expect(() => parse(name(Buffer.from([0xff])))).toThrow('proto: invalid UTF-8 in string');
  // Also where it is passed over.
  const unknown = (value: string | Buffer): Buffer =>
    Buffer.concat([Buffer.from('{"x":["'), Buffer.from(value), Buffer.from('"]}')]);
  for (const whole of ['é\\ud83d\\uDE00', '\\ud7ff\\ue000', '']) expect(() => parse(unknown(whole))).not.toThrow();
  for (const broken of [Buffer.from([0xc3]), '\\ud83d', '\\ud83d\\u0041', '\\ude00\\ud83d', '\\uDBFFx\\uDC00'])
    expect(() => parse(unknown(broken))).toThrow('proto: invalid UTF-8 in string');
});

test('messages in messages have a bound, and what is passed over too', () => {
  const nested = (depth: number): string => (depth === 0 ? '{}' : `{"success":[{"request_txn":${nested(depth - 1)}}]}`);
  expect(() => read(TxnRequestJson, nested(20))).not.toThrow();
  expect(() => read(TxnRequestJson, nested(200))).toThrow('proto: exceeded maximum recursion depth');
  const lists = (depth: number): string => `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  expect(() => read(TxnRequestJson, lists(9_999))).not.toThrow();
  expect(() => read(TxnRequestJson, lists(10_000))).toThrow("invalid character '[' exceeded max depth");
});

test('a message that is too long is refused as gRPC refuses it', () => {
  const value = Buffer.alloc(BYTES_MAX).toString('base64');
  expect(() => read(PutRequestJson, `{"key":"YQ==","value":"${value}"}`)).toThrow(
    new StatusError(8, `grpc: received message larger than max (${BYTES_MAX + 7} vs. ${BYTES_MAX})`),
  );
});

test.each([
  { what: 'many small messages', json: `{"compare":[${Array(200_000).fill('{}').join(',')}]}` },
  { what: 'many unknown values', json: `{"x":[${Array(500_000).fill('0').join(',')}]}` },
  { what: 'a long string of escapes', json: `{"x":1,"compare":[{"key":"${'\\/'.repeat(350_000)}"}]}` },
  { what: 'a string of escaped quotes', json: `{"x":"${'\\"'.repeat(500_000)}"}` },
  { what: 'spaces', json: `{${' '.repeat(2_000_000)}}` },
  { what: 'a long value', json: `{"compare":[{"key":"${'A'.repeat(1_300_000)}"}]}` },
])('$what are read in slices', ({ json }) => {
  // Not by the clock, which a busy machine makes unsteady: what is read between two questions is what may not be long.
  let asked = 0;
  const turn = {
    shouldYield(steps = 1) {
      asked += steps;
      return false;
    },
  };
  read(TxnRequestJson, json, turn);
  expect(asked).toBeGreaterThan(json.length / 64 / 1024);
});
