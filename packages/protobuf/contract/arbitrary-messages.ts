import fc from 'fast-check';
import type { Int64 } from '@engram/core';
import type { Field, Kind, MessageSchema, Schema } from '../schema.ts';

const NESTED_MAX = 4;

const toInt64 = (value: bigint): Int64 => (Number.isSafeInteger(Number(value)) ? Number(value) : value);
export const arbitraryInt64: fc.Arbitrary<Int64> = fc.oneof(
  fc.integer({ min: -200, max: 200 }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(toInt64),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(toInt64),
  fc.bigInt({ min: -(2n ** 53n) - 3n, max: -(2n ** 53n) + 3n }).map(toInt64),
);

const scalars: Readonly<Record<Exclude<Kind, 'message'>, fc.Arbitrary<unknown>>> = {
  bool: fc.boolean(),
  bytes: fc.uint8Array({ maxLength: 200 }),
  string: fc.string({ unit: 'binary', maxLength: 80 }),
  'lenient-string': fc.string({ unit: 'binary', maxLength: 80 }),
  int32: fc.oneof(fc.integer(), fc.constantFrom(-1, 1, 127, 128, -(2 ** 31), 2 ** 31 - 1)),
  uint32: fc.oneof(fc.nat(), fc.constantFrom(1, 127, 128, 2 ** 32 - 1)),
  int64: fc.oneof(
    fc.maxSafeInteger(),
    fc.integer({ min: -200, max: 200 }),
    fc.constantFrom(2 ** 31, 2 ** 32, -(2 ** 32)),
  ),
  uint64: fc.oneof(fc.maxSafeNat(), fc.nat(200), fc.constantFrom(2 ** 31, 2 ** 32, 2 ** 52)),
  count: fc.oneof(fc.maxSafeNat(), fc.nat(200), fc.constantFrom(2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER)),
  'exact-int64': arbitraryInt64,
  'big-int64': fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -200n, max: 200n })),
  'big-uint64': fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 200n })),
};

/** Random messages of a schema: any subset of a message's fields, at most one of each oneof. */
export class ArbitraryMessages {
  readonly #byName: ReadonlyMap<string, MessageSchema>;

  constructor(schema: Schema) {
    this.#byName = new Map(schema.messages.map((message) => [`${message.package}.${message.name}`, message]));
  }

  schemaOf({ type }: Field): MessageSchema {
    return this.#byName.get(`${type!.package}.${type!.name}`)!;
  }

  of(message: MessageSchema, depth = 0): fc.Arbitrary<Record<string, unknown>> {
    const fields: Record<string, fc.Arbitrary<unknown>> = {};
    for (const field of message.fields) {
      if (depth === NESTED_MAX && field.kind === 'message') continue;
      const value = field.kind === 'message' ? this.of(this.schemaOf(field), depth + 1) : scalars[field.kind];
      fields[field.name] = field.repeated ? fc.array(value, { maxLength: 3 }) : value;
    }
    return fc.record(fields, { requiredKeys: [] }).map((record) => {
      for (const field of message.fields) {
        if (record[field.name] !== undefined) for (const rival of field.rivals ?? []) delete record[rival];
      }
      return record;
    });
  }
}
