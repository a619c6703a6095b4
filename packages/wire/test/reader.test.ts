import fc from 'fast-check';
import { expect, test } from 'vitest';
import { etcdserverpb, mvccpb, WireError } from '@engram/wire';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

test.each([
  { bytes: '0a', why: 'a length is missing' },
  { bytes: '0a 05 61', why: 'a value ends early' },
  { bytes: '10', why: 'a varint is missing' },
  { bytes: '10 80', why: 'a varint ends early' },
  { bytes: '10 80 80 80 80 80 80 80 80 80 80 01', why: 'a varint has eleven bytes' },
  { bytes: '10 ff ff ff ff ff ff ff ff ff 02', why: 'a varint has 65 bits' },
  { bytes: '00 00', why: 'field number 0' },
  { bytes: '80 80 80 80 10 00', why: 'field number 2^29' },
  { bytes: '0e 00', why: 'wire type 6 is reserved' },
  { bytes: '0f 00', why: 'wire type 7 is reserved' },
  { bytes: '0c', why: 'a group ends that never began' },
  { bytes: '9b 06', why: 'a group never ends' },
  { bytes: '9b 06 a4 06', why: 'a group ends with the number of another' },
  { bytes: '0d 00 00', why: 'a fixed 32-bit value of an unknown field ends early' },
  { bytes: '0a ff ff ff ff ff ff ff ff ff 01', why: 'a length of 2^64-1' },
])('$bytes is refused: $why', ({ bytes }) => {
  expect(() => mvccpb.decodeKeyValue(hex(bytes))).toThrow(WireError);
});

test.each([
  { bytes: '08 01 0a 01 61', why: 'a known number with another wire type is an unknown field' },
  { bytes: '9b 06 08 01 ab 06 ac 06 9c 06 0a 01 61', why: 'groups within groups are passed over' },
  { bytes: '0d 00 00 00 00 0a 01 61', why: 'so is a fixed 32-bit value' },
  { bytes: '09 00 00 00 00 00 00 00 00 0a 01 61', why: 'and a fixed 64-bit value' },
  { bytes: '8a 80 00 01 61', why: 'a tag may be longer than it needs to be' },
  { bytes: '0a 01 62 0a 01 61', why: 'the last one of a scalar counts' },
])('$bytes is read: $why', ({ bytes }) => {
  expect(mvccpb.decodeKeyValue(hex(bytes))).toEqual({ ...mvccpb.newKeyValue(), key: hex('61') });
});

test('a nested message that comes twice is merged', () => {
  const bytes = Uint8Array.of(...hex('12 03 0a 01 61'), ...hex('12 02 20 05'));
  expect(mvccpb.decodeEvent(bytes).kv).toEqual({ ...mvccpb.newKeyValue(), key: hex('61'), version: 5 });
});

test('of a oneof the last one counts', () => {
  const put = etcdserverpb.encodeRequestOp({ requestPut: { key: hex('61') } });
  const range = etcdserverpb.encodeRequestOp({ requestRange: { key: hex('62') } });
  const op = etcdserverpb.decodeRequestOp(Buffer.concat([put, range]));
  expect(op.requestPut).toBeUndefined();
  expect(op.requestRange?.key).toEqual(hex('62'));
});

test('enums are read packed and one by one, and unknown numbers stay', () => {
  expect(etcdserverpb.decodeWatchCreateRequest(hex('2a 02 01 09 28 00')).filters).toEqual([1, 9, 0]);
});

test('a value of a nested message cannot reach past it', () => {
  expect(() => mvccpb.decodeEvent(hex('12 02 0a 05 61 62 63 64 65'))).toThrow(WireError);
});

test('strings are UTF-8 or refused; a byte order mark is a character', () => {
  expect(() => etcdserverpb.decodeAuthUserGetRequest(hex('0a 02 c3 28'))).toThrow(WireError);
  expect(() => etcdserverpb.decodeAuthUserGetRequest(hex('0a 03 ed a0 80'))).toThrow(WireError);
  expect(etcdserverpb.decodeAuthUserGetRequest(hex('0a 04 ef bb bf 61')).name).toBe('\ufeffa');
});

test('clients get the texts of protobuf-go', () => {
  const text = 'proto: cannot parse invalid wire-format data';
  for (const bytes of ['0a 05', '0f', '00 00', '0c']) expect(() => mvccpb.decodeKeyValue(hex(bytes))).toThrow(text);
  const message = 'string field contains invalid UTF-8';
  expect(() => etcdserverpb.decodeAuthUserGetRequest(hex('0a 01 ff'))).toThrow(expect.objectContaining({ message }));
});

test('messages nested without end are refused before the stack ends', () => {
  let bytes: Uint8Array = new Uint8Array(0);
  const wrapped = (tag: number, inner: Uint8Array): Uint8Array => {
    const prefix = [tag];
    for (let rest = inner.length; ; rest >>>= 7) {
      prefix.push(rest >= 0x80 ? (rest & 0x7f) | 0x80 : rest);
      if (rest < 0x80) break;
    }
    return Buffer.concat([Uint8Array.from(prefix), inner]);
  };
  for (let depth = 0; depth < 3_000; depth += 1) bytes = wrapped(0x12, wrapped(0x22, bytes));
  expect(() => etcdserverpb.decodeTxnRequest(bytes)).toThrow('recursion depth');
});

test.each([
  { sent: '10 ff ff ff ff ff ff ff ff 7f', read: 2 ** 63, why: 'the largest is rounded' },
  { sent: '10 80 80 80 80 80 80 80 80 80 01', read: -(2 ** 63), why: 'the smallest is exact' },
  { sent: '10 ff ff ff ff ff ff ff ff ff 01', read: -1, why: 'a negative one has ten bytes' },
  { sent: '10 ff ff ff ff ff ff ff 0f', read: 2 ** 53 - 1, why: 'the largest exact one' },
])('$sent is read as $read: $why', ({ sent, read }) => {
  expect(mvccpb.decodeKeyValue(hex(sent)).createRevision).toBe(read);
});

test.each([
  { value: 2 ** 63, bytes: '10 ff ff ff ff ff ff ff ff 7f', why: 'beyond 64 bits the largest is sent' },
  { value: Infinity, bytes: '10 ff ff ff ff ff ff ff ff 7f', why: 'the same' },
  { value: -(2 ** 70), bytes: '10 80 80 80 80 80 80 80 80 80 01', why: 'and the smallest' },
  { value: 2 ** 60, bytes: '10 80 80 80 80 80 80 80 80 10', why: 'between 2^53 and 2^63 it is exact' },
])('$value is written as $bytes: $why', ({ value, bytes }) => {
  expect(mvccpb.encodeKeyValue({ createRevision: value })).toEqual(hex(bytes));
});

test('decoded bytes are views of the input', () => {
  const input = mvccpb.encodeKeyValue({ key: hex('61'), value: hex('62 63') });
  const { value } = mvccpb.decodeKeyValue(input);
  expect(value.buffer).toBe(input.buffer);
});

test('any bytes give a message or a WireError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      for (const decode of [etcdserverpb.decodeTxnRequest, etcdserverpb.decodeWatchResponse, mvccpb.decodeEvent]) {
        try {
          decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
        }
      }
    }),
    { numRuns: 3_000 },
  );
});
