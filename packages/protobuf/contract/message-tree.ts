import protobuf from 'protobufjs';
import { fieldName, type MessageSchema, type MessageSet } from '../schema.ts';
import type { ArbitraryMessages } from './arbitrary-messages.ts';

/** A message as a plain tree. Absent fields and fields with their default value are omitted. Numbers are bigint. */
export type Tree = { readonly [field: string]: Leaf | readonly Leaf[] };
type Leaf = bigint | boolean | string | Tree;

/** The tree of a message that a generated codec writes or reads. */
export function ownTree(messages: ArbitraryMessages, message: MessageSchema, value: object): Tree {
  const tree: Record<string, Leaf | readonly Leaf[]> = {};
  for (const field of message.fields) {
    const content = (value as Record<string, unknown>)[field.name];
    if (content === undefined) continue;
    const leaf = (one: unknown): Leaf =>
      field.kind === 'message' ? ownTree(messages, messages.schemaOf(field), one as object) : scalarLeaf(one);
    if (field.repeated) {
      if ((content as unknown[]).length > 0) tree[field.name] = (content as unknown[]).map(leaf);
    } else if (field.rivals !== undefined || field.kind === 'message' || !isDefault(content)) {
      tree[field.name] = leaf(content);
    }
  }
  return tree;
}

/** The tree of a message that protobufjs reads. */
export function otherTree(set: MessageSet, type: protobuf.Type, message: object): Tree {
  const tree: Record<string, Leaf | readonly Leaf[]> = {};
  const oneofs = new Set(type.oneofsArray.flatMap((oneof) => oneof.fieldsArray));
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(message, field.name)) continue;
    const content = (message as Record<string, unknown>)[field.name];
    const name = fieldName(set, field.name);
    if (field instanceof protobuf.MapField) {
      const entries = Object.entries(content as Record<string, object>);
      const valueType = field.resolvedType as protobuf.Type;
      if (entries.length > 0) {
        tree[name] = entries
          .toSorted(([left], [right]) => (left < right ? -1 : 1))
          .map(([key, value]) => ({ ...(key === '' ? {} : { key }), value: otherTree(set, valueType, value) }));
      }
      continue;
    }
    const leaf = (one: unknown): Leaf =>
      field.resolvedType instanceof protobuf.Type
        ? otherTree(set, field.resolvedType, one as object)
        : otherScalar(one);
    if (field.repeated) {
      if ((content as unknown[]).length > 0) tree[name] = (content as unknown[]).map(leaf);
    } else if (oneofs.has(field) || field.resolvedType instanceof protobuf.Type) {
      tree[name] = leaf(content);
    } else {
      const scalar = leaf(content);
      if (!isDefault(scalar)) tree[name] = scalar;
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

function otherScalar(value: unknown): Leaf {
  // protobufjs represents 64-bit integers as objects of its own class.
  if (typeof value === 'object' && !(value instanceof Uint8Array)) return BigInt(String(value));
  return scalarLeaf(value);
}
