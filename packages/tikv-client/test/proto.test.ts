import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import { decode, encode } from '../src/proto/codec.ts';
import { GetRequestCodec, KeyErrorCodec, PrewriteRequestCodec } from '../src/proto/gen/kvrpcpb.ts';
import { MalformedMessage, Reader } from '../src/proto/reader.ts';
import { Writer } from '../src/proto/writer.ts';
import { generated } from '../tools/generate.ts';

test('the generated codecs are fresh', () => {
  for (const [path, text] of Object.entries(generated)) expect(readFileSync(path, 'utf8') === text, path).toBe(true);
});

const oracle = protobuf
  .parse(
    `syntax = "proto3"; message M { uint64 a = 1; int64 b = 2; bytes c = 3; string d = 4; uint32 e = 5; bool f = 6; }`,
  )
  .root.lookupType('M');

test('primitives are those of protobufjs', () => {
  const message = fc.record({
    a: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    b: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    c: fc.uint8Array({ minLength: 1, maxLength: 300 }),
    d: fc.string({ minLength: 1, unit: 'grapheme' }),
    e: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  });
  fc.assert(
    fc.property(message, ({ a, b, c, d, e }) => {
      const writer = new Writer(1);
      writer.varint(e);
      writer.varint(40);
      writer.text(d);
      writer.varint(34);
      writer.bytes(c);
      writer.varint(26);
      writer.varint64(b);
      writer.varint(16);
      writer.varint64(a);
      writer.varint(8);
      const bytes = writer.finish();
      const read = oracle.toObject(oracle.decode(bytes), { longs: String, defaults: true });
      expect(read).toMatchObject({ a: `${a}`, b: `${b}`, d, e });
      const reader = new Reader(bytes);
      reader.uint32();
      expect(reader.uint64()).toBe(a);
      reader.uint32();
      expect(reader.int64()).toBe(b);
      reader.uint32();
      expect(reader.bytes()).toEqual(c);
      reader.uint32();
      expect(reader.text()).toBe(d);
      reader.uint32();
      expect(reader.uint32()).toBe(e);
    }),
  );
});

test('a count is exact up to 2^53 - 1 and refused above', () => {
  for (const value of [0, 127, 128, 2 ** 28, 2 ** 32, 2 ** 35 + 5, Number.MAX_SAFE_INTEGER]) {
    const writer = new Writer();
    writer.varint(value);
    expect(new Reader(writer.finish()).count()).toBe(value);
  }
  const writer = new Writer();
  writer.varint64(2n ** 53n);
  expect(() => new Reader(writer.finish()).count()).toThrow(MalformedMessage);
});

test('messages round-trip with nested, repeated and packed fields', () => {
  const request = {
    context: {
      regionId: 7,
      regionEpoch: { confVer: 1, version: 300 },
      peer: { id: 9, storeId: 4 },
      resolvedLocks: [5n, 2n ** 63n],
    },
    mutations: [
      { op: 0, key: Uint8Array.of(1), value: Uint8Array.of(2, 3) },
      { op: 6, key: Uint8Array.of(4), assertion: 2 },
    ],
    primaryLock: Uint8Array.of(1),
    startVersion: 449_000_000_000_000_001n,
    txnSize: 2n ** 64n - 1n,
    secondaries: [Uint8Array.of(4)],
  };
  const read = decode(PrewriteRequestCodec, encode(PrewriteRequestCodec, request));
  expect(read).toMatchObject(request);
  expect(encode(PrewriteRequestCodec, read)).toEqual(encode(PrewriteRequestCodec, request));
});

test('fields of other versions are skipped', () => {
  const known = encode(GetRequestCodec, { key: Uint8Array.of(1), version: 9n });
  const writer = new Writer();
  writer.raw(known);
  writer.bytes(Uint8Array.of(1, 2, 3));
  writer.varint((900 << 3) | 2);
  writer.raw(Uint8Array.of(1, 2, 3, 4));
  writer.varint((901 << 3) | 5);
  expect(decode(GetRequestCodec, writer.finish())).toMatchObject({ key: Uint8Array.of(1), version: 9n });
});

test('damaged bytes are refused by name, whatever they are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        decode(KeyErrorCodec, bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedMessage);
      }
    }),
  );
});
