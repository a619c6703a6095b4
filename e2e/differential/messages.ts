import { type Field, loadRoot, messageSet, readSchema } from '@engram/protobuf/schema';

/**
 * etcd's messages by their schema, independent of the store's codecs. A request may contain values that no client would
 * write (all 64 bits, bytes that are not UTF-8, repeated fields). An answer keeps unknown fields.
 */
export type Value = bigint | number | boolean | string | Uint8Array | PerStore | Fields | readonly Value[];
export interface Fields {
  readonly [name: string]: Value | undefined;
}

/** A number that each store chose itself. A request to a store gets that store's value. */
export class PerStore {
  readonly name: string;
  readonly values: readonly bigint[];

  constructor(name: string, values: readonly bigint[]) {
    this.name = name;
    this.values = values;
  }
}

/** A decoded message. Numbers are bigint. Bytes and texts are strings with one character for each byte. Zeros are omitted. */
export type Decoded = bigint | boolean | string | DecodedMessage | Decoded[];
export interface DecodedMessage {
  [name: string]: Decoded;
}

const etcd = messageSet('etcd');
const schema = new Map(
  readSchema(etcd, loadRoot(etcd)).messages.map((message) => [`${message.package}.${message.name}`, message.fields]),
);

function fieldsOf(type: string): readonly Field[] {
  const fields = schema.get(type);
  if (fields === undefined) throw new Error(`no message ${type}`);
  return fields;
}

const typeOf = ({ type }: Field): string => `${type?.package}.${type?.name}`;
const isDelimited = ({ kind }: Field): boolean => kind === 'message' || kind === 'bytes' || kind === 'string';

export function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

export function delimited(field: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varint(BigInt(field * 8 + 2)), varint(BigInt(bytes.length)), bytes]);
}

/** Characters of a string are bytes. In text fields they are encoded as UTF-8. `store` is 0 or 1. */
export function encode(type: string, message: Fields, store: number): Uint8Array {
  const known = fieldsOf(type);
  const parts: Uint8Array[] = [];
  for (const [name, value] of Object.entries(message)) {
    const field = known.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${type} has no field ${name}`);
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parts.push(encodeField(field, one, store));
  }
  return Buffer.concat(parts);
}

function encodeField(field: Field, value: Value, store: number): Uint8Array {
  if (field.kind === 'message') return delimited(field.number, encode(typeOf(field), value as Fields, store));
  if (isDelimited(field)) return delimited(field.number, textBytes(field, value));
  const tag = varint(BigInt(field.number * 8));
  if (value instanceof PerStore) return Buffer.concat([tag, varint(value.values[store] ?? 0n)]);
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') {
    return Buffer.concat([tag, varint(BigInt(value))]);
  }
  throw new Error(`${field.name} is a number`);
}

function textBytes(field: Field, value: Value): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'string') throw new Error(`${field.name} takes bytes`);
  return Buffer.from(value, field.kind === 'string' ? 'utf8' : 'latin1');
}

/** `nameOf` returns the common name of a number that a store chose itself. */
export function decode(type: string, bytes: Uint8Array, nameOf: (id: bigint) => string | undefined): DecodedMessage {
  const known = fieldsOf(type);
  const message: DecodedMessage = {};
  let at = 0;
  const number = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new Error(`${type} ends within a number`);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
  };
  while (at < bytes.length) {
    const tag = Number(number());
    const field = known.find(({ number: candidate }) => candidate === tag >>> 3);
    if ((tag & 7) !== 0 && (tag & 7) !== 2) throw new Error(`${type} has a field of wire type ${tag & 7}`);
    const count = number();
    let raw: bigint | Uint8Array = count;
    if ((tag & 7) === 2) {
      raw = bytes.subarray(at, at + Number(count));
      at += Number(count);
      if (at > bytes.length) throw new Error(`${type} ends within a field`);
    }
    add(message, field?.name ?? `unknown${tag >>> 3}`, field?.repeated ?? false, readValue(field, raw, nameOf));
  }
  return message;
}

function readValue(
  field: Field | undefined,
  raw: bigint | Uint8Array,
  nameOf: (id: bigint) => string | undefined,
): Decoded[] {
  if (raw instanceof Uint8Array) {
    if (field?.kind === 'message') return [decode(typeOf(field), raw, nameOf)];
    const text = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1');
    return text === '' && isPlain(field) ? [] : [text];
  }
  if (raw === 0n && isPlain(field)) return [];
  if (field?.kind === 'bool') return [raw !== 0n];
  const signed = field?.kind.endsWith('uint64') ? raw : BigInt.asIntN(64, raw);
  return [nameOf(signed) ?? signed];
}

/** Whether zero means that the field is absent. */
const isPlain = (field: Field | undefined): boolean =>
  field !== undefined && field.rivals === undefined && !field.repeated;

function add(message: DecodedMessage, name: string, repeated: boolean, values: readonly Decoded[]): void {
  for (const value of values) {
    const before = message[name];
    if (!repeated) message[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else message[name] = [value];
  }
}

/** Formats a value for messages: escapes bytes outside ASCII and cuts long strings. */
export function show(value: Decoded | Value | undefined): string {
  return JSON.stringify(value, (_name, one: unknown) => {
    if (typeof one === 'bigint') return `${one}`;
    if (one instanceof PerStore) return one.name;
    if (one instanceof Uint8Array) return show(Buffer.from(one).toString('latin1'));
    if (typeof one === 'string') return one.length > 80 ? `${one.slice(0, 60)}... (${one.length} bytes)` : one;
    return one;
  });
}
