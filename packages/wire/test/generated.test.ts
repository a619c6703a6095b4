import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { type Int64, isInt64 } from '@engram/core';
import { authpb, etcdserverpb, healthpb, leasepb, mvccpb, v3electionpb, v3lockpb, WireError } from '@engram/wire';
import { camelCase, loadRoot, readSchema, type Field, type MessageSchema } from '../tools/schema.ts';

const root = loadRoot(join(import.meta.dirname, '../../../proto'));
const schema = readSchema(root);
const modules: Readonly<Record<string, object>> = {
  etcdserverpb,
  mvccpb,
  authpb,
  leasepb,
  v3lockpb,
  v3electionpb,
  'grpc.health.v1': healthpb,
};

const toInt64 = (value: bigint): Int64 => (Number.isSafeInteger(Number(value)) ? Number(value) : value);

/** A message as a plain tree: fields at their default and absent ones are left out, numbers are bigint. */
type Tree = { readonly [field: string]: Leaf | readonly Leaf[] };
type Leaf = bigint | boolean | string | Tree;

interface Codec {
  encode(message: object): Uint8Array;
  decode(bytes: Uint8Array): object;
}

function codec(message: MessageSchema): Codec {
  const functions = modules[message.package] as Record<string, unknown>;
  return {
    encode: functions[`encode${message.name}`] as Codec['encode'],
    decode: functions[`decode${message.name}`] as Codec['decode'],
  };
}

const byName = new Map(schema.messages.map((message) => [`${message.package}.${message.name}`, message]));
const schemaOf = (field: Field): MessageSchema => byName.get(`${field.type!.package}.${field.type!.name}`)!;

const integers = {
  int32: fc.oneof(fc.integer(), fc.constantFrom(-1, 1, 127, 128, -(2 ** 31), 2 ** 31 - 1)),
  uint32: fc.oneof(fc.nat(), fc.constantFrom(1, 127, 128, 2 ** 32 - 1)),
  int64: fc.oneof(
    fc.maxSafeInteger(),
    fc.integer({ min: -200, max: 200 }),
    fc.constantFrom(2 ** 31, 2 ** 32, -(2 ** 32)),
  ),
  uint64: fc.oneof(fc.maxSafeNat(), fc.nat(200), fc.constantFrom(2 ** 31, 2 ** 32, 2 ** 52)),
};
const exact = fc.oneof(
  fc.integer({ min: -200, max: 200 }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(toInt64),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(toInt64),
  fc.bigInt({ min: -(2n ** 53n) - 3n, max: -(2n ** 53n) + 3n }).map(toInt64),
);
const bigs = {
  'big-int64': fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -200n, max: 200n })),
  'big-uint64': fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 200n })),
};

function arbitraryOf(field: Field, depth: number): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'message':
      return messageOf(schemaOf(field), depth + 1);
    case 'bool':
      return fc.boolean();
    case 'bytes':
      return fc.uint8Array({ maxLength: 200 });
    case 'string':
      return fc.string({ unit: 'binary', maxLength: 40 });
    case 'big-int64':
    case 'big-uint64':
      return bigs[field.kind];
    case 'exact-int64':
      return exact;
    default:
      return integers[field.kind];
  }
}

/** A message with any of its fields, at most one of each oneof. */
function messageOf(message: MessageSchema, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of message.fields) {
    if (depth > 3 && field.kind === 'message') continue;
    const value = arbitraryOf(field, depth);
    fields[field.name] = field.repeated ? fc.array(value, { maxLength: 3 }) : value;
  }
  return fc.record(fields, { requiredKeys: [] }).map((record) => {
    for (const field of message.fields) {
      if (record[field.name] !== undefined) for (const rival of field.rivals ?? []) delete record[rival];
    }
    return record;
  });
}

function ownTree(message: MessageSchema, value: object): Tree {
  const tree: Record<string, Leaf | readonly Leaf[]> = {};
  for (const field of message.fields) {
    const content = (value as Record<string, unknown>)[field.name];
    if (content === undefined) continue;
    const leaf = (one: unknown): Leaf =>
      field.kind === 'message' ? ownTree(schemaOf(field), one as object) : scalarLeaf(one);
    if (field.repeated) {
      if ((content as unknown[]).length > 0) tree[field.name] = (content as unknown[]).map(leaf);
    } else if (field.rivals !== undefined || field.kind === 'message' || !isDefault(content)) {
      tree[field.name] = leaf(content);
    }
  }
  return tree;
}

function scalarLeaf(value: unknown): Leaf {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value === 'number') return BigInt(value);
  return value as Leaf;
}

const isDefault = (value: unknown): boolean =>
  value === 0 || value === 0n || value === false || value === '' || (value instanceof Uint8Array && value.length === 0);

/** The same tree from what protobufjs has decoded. */
function otherTree(type: protobuf.Type, message: object): Tree {
  const tree: Record<string, Leaf | readonly Leaf[]> = {};
  const oneofs = new Set(type.oneofsArray.flatMap((oneof) => oneof.fieldsArray));
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(message, field.name)) continue;
    const content = (message as Record<string, unknown>)[field.name];
    if (field instanceof protobuf.MapField) {
      const entries = Object.entries(content as Record<string, object>);
      const valueType = field.resolvedType as protobuf.Type;
      if (entries.length > 0) {
        tree[camelCase(field.name)] = entries
          .toSorted(([left], [right]) => (left < right ? -1 : 1))
          .map(([key, value]) => ({ ...(key === '' ? {} : { key }), value: otherTree(valueType, value) }));
      }
      continue;
    }
    const leaf = (one: unknown): Leaf =>
      field.resolvedType instanceof protobuf.Type ? otherTree(field.resolvedType, one as object) : otherScalar(one);
    if (field.repeated) {
      if ((content as unknown[]).length > 0) tree[camelCase(field.name)] = (content as unknown[]).map(leaf);
    } else if (oneofs.has(field) || field.resolvedType instanceof protobuf.Type) {
      tree[camelCase(field.name)] = leaf(content);
    } else {
      const scalar = leaf(content);
      if (!isDefault(scalar)) tree[camelCase(field.name)] = scalar;
    }
  }
  return tree;
}

function otherScalar(value: unknown): Leaf {
  // protobufjs has a class of its own for 64-bit integers.
  if (typeof value === 'object' && !(value instanceof Uint8Array)) return BigInt(String(value));
  return scalarLeaf(value);
}

test('the generated codecs are what the generator makes of proto/', () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../tools/generate.ts'), '--check']);
});

const plain = schema.messages.filter((message) => !message.name.includes('HealthListResponse'));
describe.each(plain)('$package.$name', (message) => {
  const { encode, decode } = codec(message);
  const type = root.lookupType(`${message.package}.${message.name}`);

  test('is read by protobufjs as it was written, and by us', () => {
    fc.assert(
      fc.property(messageOf(message), (value) => {
        const bytes = encode(value);
        const expected = ownTree(message, value);
        expect(ownTree(message, decode(bytes))).toEqual(expected);
        expect(otherTree(type, type.decode(bytes))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('has the bytes that protobufjs writes', () => {
    fc.assert(
      fc.property(messageOf(message), (value) => {
        const bytes = encode(value);
        expect(Buffer.from(type.encode(type.decode(bytes)).finish())).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 30 },
    );
  });

  test('torn or changed bytes give a message or a WireError, in no time', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
    fc.assert(
      fc.property(messageOf(message), damage, fc.nat(), (value, changes, cut) => {
        const bytes = encode(value).slice();
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        for (const damaged of [bytes, bytes.subarray(0, cut % (bytes.length + 1))]) {
          try {
            decode(damaged);
          } catch (error) {
            expect(error).toBeInstanceOf(WireError);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

test('a watch id arrives in its one form, exactly', () => {
  fc.assert(
    fc.property(exact, (watchId) => {
      expect(isInt64(watchId)).toBe(true);
      const { watchId: read } = etcdserverpb.decodeWatchCancelRequest(
        etcdserverpb.encodeWatchCancelRequest({ watchId }),
      );
      expect(read).toBe(watchId);
    }),
  );
});

test('a map travels as a list of its entries', () => {
  const type = root.lookupType('grpc.health.v1.HealthListResponse');
  const bytes = healthpb.encodeHealthListResponse({ statuses: [{ key: 'etcd', value: { status: 1 } }] });
  expect(otherTree(type, type.decode(bytes))).toEqual({ statuses: [{ key: 'etcd', value: { status: 1n } }] });
  expect(healthpb.decodeHealthListResponse(bytes).statuses).toEqual([{ key: 'etcd', value: { status: 1 } }]);
});
