import { assert } from '@engram/core';
import type { JsonField, JsonMessage } from '@engram/protobuf';

/** A field, and the bit that stands for it among the fields of its message. */
export interface NumberedField {
  readonly field: JsonField;
  readonly bit: number;
}

/** The fields of a message type by what they are called and by number. */
export interface FieldIndex {
  /** By the name of the .proto file, and by the same in lowerCamelCase. */
  readonly byName: ReadonlyMap<string, JsonField>;
  readonly byNumber: ReadonlyMap<number, NumberedField>;
}

const indexes = new WeakMap<JsonMessage, FieldIndex>();

export function fieldIndex(type: JsonMessage): FieldIndex {
  const known = indexes.get(type);
  if (known !== undefined) return known;
  const byName = new Map<string, JsonField>();
  for (const field of type.fields) byName.set(camelCase(field.proto), field);
  for (const field of type.fields) byName.set(field.proto, field);
  const byNumber = new Map(type.fields.map((field, at) => [field.number, { field, bit: 1 << at }]));
  assert(byNumber.size === type.fields.length, 'two fields have one number');
  assert(type.fields.length < 31, 'a message has more fields than bits');
  const index = { byName, byNumber };
  indexes.set(type, index);
  return index;
}

const camelCase = (proto: string): string => proto.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
