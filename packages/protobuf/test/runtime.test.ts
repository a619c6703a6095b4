import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import { type Codec, decode, encode, Reader, WireError, Writer } from '@engram/protobuf';

const oracle = protobuf
  .parse(
    `syntax = "proto3"; message M { uint64 a = 1; int64 b = 2; bytes c = 3; string d = 4; uint32 e = 5; int32 f = 6; }`,
  )
  .root.lookupType('M');

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }),
  fc.string({ minLength: 1, maxLength: 100, unit: 'binary-ascii' }),
);

test('primitives are those of protobufjs', () => {
  const message = fc.record({
    a: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    b: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    c: fc.uint8Array({ minLength: 1, maxLength: 300 }),
    d: text,
    e: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    f: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  });
  fc.assert(
    fc.property(message, ({ a, b, c, d, e, f }) => {
      const writer = new Writer(1);
      writer.int64(f);
      writer.varint(48);
      writer.varint(e);
      writer.varint(40);
      writer.string(d);
      writer.varint(34);
      writer.bytes(c);
      writer.varint(26);
      writer.bigint(b);
      writer.varint(16);
      writer.bigint(a);
      writer.varint(8);
      const bytes = writer.finish();
      const read = oracle.toObject(oracle.decode(bytes), { longs: String, defaults: true });
      expect(read).toMatchObject({ a: `${a}`, b: `${b}`, d, e, f });
      const reader = new Reader(bytes);
      expect([reader.tag(), reader.bigUint64()]).toEqual([8, a]);
      expect([reader.tag(), reader.bigInt64()]).toEqual([16, b]);
      expect([reader.tag(), reader.bytes()]).toEqual([26, c]);
      expect([reader.tag(), reader.string()]).toEqual([34, d]);
      expect([reader.tag(), reader.uint32()]).toEqual([40, e]);
      expect([reader.tag(), reader.int32()]).toEqual([48, f]);
      expect(reader.more()).toBe(false);
    }),
  );
});

const sizes = [0, 1, 127, 128, 2 ** 14 - 1, 2 ** 14, 2 ** 21 - 1, 2 ** 21, 2 ** 28, 2 ** 32 - 1, 2 ** 32, 2 ** 35 + 5];

test.each([...sizes, Number.MAX_SAFE_INTEGER])('%d is written as a varint and read again', (value) => {
  const writer = new Writer();
  writer.varint(value);
  const bytes = writer.finish();
  expect(bytes.length).toBe(
    BigInt(value).toString(2).length <= 7 ? 1 : Math.ceil(BigInt(value).toString(2).length / 7),
  );
  expect(new Reader(bytes).count()).toBe(value);
  expect(new Reader(bytes).uint64()).toBe(value);
});

test('a count is refused above 2^53 - 1', () => {
  const writer = new Writer();
  writer.bigint(2n ** 53n);
  expect(() => new Reader(writer.finish()).count()).toThrow(WireError);
});

test('bytes that are not UTF-8 are refused as a string, and mended as a lenient one', () => {
  const bytes = Uint8Array.of(3, 0x61, 0xff, 0x62);
  expect(() => new Reader(bytes).string()).toThrow(WireError);
  expect(new Reader(bytes).lenientString()).toBe('a\ufffdb');
});

test('a reader that failed deep inside reads on where it is told, and no further', () => {
  // Field 1 contains a field 1 that contains a field 1 that ends too early. Field 2 is 7.
  const bytes = Uint8Array.of(10, 4, 10, 2, 10, 9, 16, 7);
  const reader = new Reader(bytes);
  reader.tag();
  reader.enter();
  reader.tag();
  reader.enter();
  reader.tag();
  expect(() => reader.enter()).toThrow(WireError);
  reader.seek(6, 8);
  expect([reader.tag(), reader.int32(), reader.more()]).toEqual([16, 7, false]);
  expect(() => reader.seek(6, 9)).toThrow();
});

test('messages that were left in the middle do not count as nesting', () => {
  const reader = new Reader(Uint8Array.of(10, 0));
  for (let round = 0; round < 2_000; round += 1) {
    reader.seek(1, 2);
    reader.enter();
  }
  expect(reader.more()).toBe(false);
});

test('a message that could not be written leaves nothing for the next one', () => {
  const broken: Codec<unknown, undefined> = {
    write: (writer) => {
      writer.varint(1);
      throw new TypeError('not a number');
    },
    read: () => undefined,
  };
  const one: Codec<number, number> = {
    write: (writer, value) => writer.varint(value),
    read: (reader) => reader.int32(),
  };
  expect(() => encode(broken, undefined)).toThrow(TypeError);
  expect(encode(one, 7)).toEqual(Uint8Array.of(7));
  expect(decode(one, Uint8Array.of(7))).toBe(7);
});

test('encoded bytes belong to the caller: the next message does not change them', () => {
  const raw: Codec<Uint8Array, Uint8Array> = { write: (writer, bytes) => writer.raw(bytes), read: (r) => r.bytes() };
  const messages = [3, 200, 300, 2 * 1024 * 1024, 50].map((length, at) => new Uint8Array(length).fill(at + 1));
  const encoded = messages.map((message) => encode(raw, message));
  expect(encoded.every((bytes, at) => Buffer.compare(bytes, messages[at]!) === 0)).toBe(true);
});
