import { assert } from '@engram/core';
import { integerBounds, JSON_DEPTH_MAX, type JsonField, type JsonMessage } from '../json.ts';
import { WireError } from '../wire-error.ts';

// protobuf's JSON mapping over whole values, as simple as it can be: a reference for readers and writers that work on text.

/** The form of lossless decimal integers, also with a fraction or an exponent that changes nothing is not taken. */
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/**
 * The message as protobuf's JSON mapping has it (https://protobuf.dev/programming-guides/json), with the names of the .proto
 * files, as etcd's gateway answers: 64-bit integers are strings, bytes are base64, enums are names, or numbers if unknown.
 * Fields with the default value are left out.
 */
export function toJson({ fields }: JsonMessage, message: object): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const { proto, name, type, repeated, rivals } of fields) {
    const value = (message as Record<string, unknown>)[name];
    if (value === undefined) continue;
    if (repeated) {
      const values = value as readonly unknown[];
      if (values.length > 0) json[proto] = values.map((one) => valueToJson(type, one));
    } else if (rivals !== undefined || typeof type === 'function' || !isDefault(value)) {
      json[proto] = valueToJson(type, value);
    }
  }
  return json;
}

function valueToJson(type: JsonField['type'], value: unknown): unknown {
  if (typeof type === 'function') return toJson(type(), value as object);
  if (typeof type === 'object') return Object.entries(type).find(([, number]) => number === value)?.[0] ?? value;
  if (type === 'bytes') return base64Of(value as Uint8Array);
  // Digit by digit: a number above 2^53 has others in its shortest text.
  return type.includes('64') ? String(BigInt(value as number | bigint)) : value;
}

const isDefault = (value: unknown): boolean =>
  value === 0 || value === 0n || value === false || value === '' || (value instanceof Uint8Array && value.length === 0);

/**
 * Reads what `toJson` writes, and the other forms that the mapping allows: names in lowerCamelCase, numbers for 64-bit integers
 * and enums, strings for 32-bit ones, base64 with the alphabet of URLs and without padding. null is an absent field, and unknown
 * fields are passed over, as etcd's gateway does. Throws WireError for everything else.
 */
export function fromJson(type: JsonMessage, json: unknown): object {
  return read(type, json, 0);
}

function read({ fresh, fields }: JsonMessage, json: unknown, depth: number): object {
  if (depth > JSON_DEPTH_MAX) throw new WireError('proto: exceeded maximum recursion depth');
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw unexpected('a message', json);
  const message = fresh() as Record<string, unknown>;
  for (const { proto, name, type, repeated, rivals } of fields) {
    const value = own(json, proto) ?? own(json, camelCase(proto));
    if (value === undefined || value === null) continue;
    if (rivals?.some((rival) => message[rival] !== undefined))
      throw new WireError(`proto: oneof of ${proto} is set twice`);
    if (!repeated) {
      message[name] = valueFromJson(type, value, proto, depth);
    } else {
      if (!Array.isArray(value)) throw unexpected(`a list for ${proto}`, value);
      message[name] = value.map((one) => valueFromJson(type, one, proto, depth));
    }
  }
  return message;
}

/** Only what the object has itself: a client's JSON does not reach a prototype. */
const own = (json: object, name: string): unknown =>
  Object.hasOwn(json, name) ? (json as Record<string, unknown>)[name] : undefined;

const camelCase = (proto: string): string => proto.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function valueFromJson(type: JsonField['type'], value: unknown, proto: string, depth: number): unknown {
  if (typeof type === 'function') return read(type(), value, depth + 1);
  if (typeof type === 'object') {
    if (typeof value === 'string' && Object.hasOwn(type, value)) return type[value];
    return typeof value === 'number'
      ? Number(integer('int32', value, proto))
      : fail(`a value of the enum ${proto}`, value);
  }
  switch (type) {
    case 'bool':
      return typeof value === 'boolean' ? value : fail(`true or false for ${proto}`, value);
    case 'string':
      return typeof value === 'string' && value.isWellFormed() ? value : fail(`a string for ${proto}`, value);
    case 'bytes':
      return typeof value === 'string' ? bytesOf(value, proto) : fail(`base64 for ${proto}`, value);
    case 'int32':
    case 'uint32':
      return Number(integer(type, value, proto));
    default: {
      const read64 = integer(type.startsWith('u') ? 'uint64' : 'int64', value, proto);
      if (type.endsWith('big')) return read64;
      return type.endsWith('exact') && !Number.isSafeInteger(Number(read64)) ? read64 : Number(read64);
    }
  }
}

function integer(kind: keyof typeof integerBounds, value: unknown, proto: string): bigint {
  const isInteger =
    typeof value === 'number' ? Number.isInteger(value) : typeof value === 'string' && INTEGER.test(value);
  // The text of a longer number is never in range, and costs time to read.
  if (!isInteger || String(value).length > 24) throw unexpected(`an integer for ${proto}`, value);
  const read = BigInt(value as number | string);
  const [low, high] = integerBounds[kind];
  return read >= low && read <= high ? read : fail(`an ${kind} for ${proto}`, value);
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

function bytesOf(text: string, proto: string): Uint8Array {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  if (!/^[A-Za-z0-9+/]*$/.test(standard) || standard.length % 4 === 1) throw unexpected(`base64 for ${proto}`, text);
  const chars = atob(standard);
  const bytes = new Uint8Array(chars.length);
  for (let at = 0; at < chars.length; at += 1) bytes[at] = chars.charCodeAt(at);
  assert(bytes.length === Math.floor((standard.length * 3) / 4), 'base64 of another length');
  return bytes;
}

const unexpected = (wanted: string, value: unknown): WireError =>
  new WireError(`proto: syntax error: expected ${wanted}, got ${JSON.stringify(value)?.slice(0, 40)}`);

function fail(wanted: string, value: unknown): never {
  throw unexpected(wanted, value);
}
