import { GrpcCode } from '@engram/core';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';
import { integerBounds, JSON_DEPTH_MAX, type JsonField, type JsonMessage } from '@engram/protobuf';
import { StatusError } from '@engram/wire';
import { base64Bytes, decodeBase64, isPadded, withoutBreaks, withoutPadding } from './base64.ts';
import { fieldIndex } from './field-index.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { integerOf } from './integers.ts';
import type { JsonKind, JsonString, JsonText } from './json-text.ts';
import { unescaped } from './unescape.ts';

/** A field's name, an enum's name, or a number that stands in quotes. */
const SHORT_STRING_MAX = 1024;

const VARINT = 0;
const DELIMITED = 2;

/**
 * The next value of a text as an encoded message, by protobuf's JSON mapping and by the rules of etcd's gateway: fields by either of
 * their names, integers as numbers or strings, base64 of either alphabet, enums by name or number. null is an absent field; unknown
 * fields and names of enums are passed over. Throws StatusError with INVALID_ARGUMENT for everything else, and with
 * RESOURCE_EXHAUSTED for a message of more than `bytesMax`.
 *
 * A job in slices. It holds the bytes of the message besides those of the text, and nothing for what is passed over. So what is
 * small as JSON is small here.
 */
export function* messageOfJson(type: JsonMessage, text: JsonText, bytesMax: number, turn: Turn): PureJob<Uint8Array> {
  const out = new GrowingBytes(bytesMax, 0);
  const start = text.position;
  try {
    const kind = yield* text.kind();
    yield* new MessageReader(text, out, turn).message(type, kind, 0);
  } catch (error) {
    // Go reads a value to its end before it looks at what is in it: where the value is no JSON, that is the error.
    if (error instanceof StatusError && error.grpc === GrpcCode.INVALID_ARGUMENT) yield* text.from(start).skip();
    throw error;
  }
  return out.bytes;
}

class MessageReader {
  readonly #text: JsonText;
  readonly #out: GrowingBytes;
  readonly #turn: Turn;

  constructor(text: JsonText, out: GrowingBytes, turn: Turn) {
    this.#text = text;
    this.#out = out;
    this.#turn = turn;
  }

  *message(type: JsonMessage, kind: JsonKind, depth: number): PureJob<void> {
    if (kind !== 'object') throw invalid(`proto: syntax error: unexpected ${kind}, expected a message`);
    if (depth > JSON_DEPTH_MAX) throw invalid('proto: exceeded maximum recursion depth');
    const { byName } = fieldIndex(type);
    let seen: Set<JsonField> | undefined;
    /** The fields of oneofs that are set, by their names in the message. */
    let chosen: string[] | undefined;
    const text = this.#text;
    for (let more = yield* text.enter('object'); more; more = yield* text.another('object')) {
      const field = byName.get((yield* this.#shortString(yield* text.name())) ?? '');
      if (this.#turn.shouldYield()) yield;
      if (field === undefined) {
        yield* text.skip();
        continue;
      }
      if (seen?.has(field) === true) throw invalid(`proto: duplicate field "${field.proto}"`);
      seen = (seen ?? new Set()).add(field);
      const value = yield* text.kind();
      if (value === 'null') {
        text.word('null');
        continue;
      }
      const { rivals } = field;
      if (rivals !== undefined) {
        if (chosen?.some((other) => rivals.includes(other)) === true)
          throw invalid(`proto: error parsing "${field.proto}", its oneof is already set`);
        chosen = [...(chosen ?? []), field.name];
      }
      if (field.repeated) yield* this.#list(field, value, depth);
      else yield* this.#value(field, value, depth, rivals !== undefined);
    }
  }

  *#list(field: JsonField, kind: JsonKind, depth: number): PureJob<void> {
    if (kind !== 'list') throw unexpected(field, kind);
    const text = this.#text;
    for (let more = yield* text.enter('list'); more; more = yield* text.another('list')) {
      yield* this.#value(field, yield* text.kind(), depth, true);
      if (this.#turn.shouldYield()) yield;
    }
  }

  /** `always`: written also if it is the default. */
  *#value(field: JsonField, kind: JsonKind, depth: number, always: boolean): PureJob<void> {
    const { type } = field;
    if (typeof type === 'function') {
      this.#tag(field, DELIMITED);
      const start = this.#out.open();
      yield* this.message(type(), kind, depth + 1);
      this.#out.close(start);
    } else if (typeof type === 'object') {
      const value = yield* this.#enum(field, type, kind);
      if (value !== undefined) this.#integer(field, value, always);
    } else if (type === 'bytes') {
      yield* this.#bytes(field, kind, always);
    } else if (type === 'string') {
      yield* this.#string(field, kind, always);
    } else if (type === 'bool') {
      if (kind !== 'true' && kind !== 'false') throw unexpected(field, kind);
      this.#text.word(kind);
      this.#integer(field, kind === 'true' ? 1n : 0n, always);
    } else {
      const name = type.startsWith('u') ? (type === 'uint32' ? type : 'uint64') : type === 'int32' ? type : 'int64';
      this.#integer(field, yield* this.#bounded(field, name, kind), always);
    }
  }

  /** Undefined for a name that is unknown. */
  *#enum(field: JsonField, values: Readonly<Record<string, number>>, kind: JsonKind): PureJob<bigint | undefined> {
    if (kind !== 'string') return yield* this.#bounded(field, 'int32', kind);
    const name = yield* this.#shortString(yield* this.#checked());
    return name !== undefined && Object.hasOwn(values, name) ? BigInt(values[name]!) : undefined;
  }

  *#bounded(field: JsonField, name: keyof typeof integerBounds, kind: JsonKind): PureJob<bigint> {
    let text: string | undefined;
    if (kind === 'number') text = this.#text.number();
    else if (kind === 'string') text = yield* this.#shortString(yield* this.#checked());
    else throw unexpected(field, kind);
    const value = text === undefined ? undefined : integerOf(text);
    const [low, high] = integerBounds[name];
    if (value === undefined || value < low || value > high) {
      throw invalid(
        `proto: invalid value for ${name} field ${field.proto}: ${JSON.stringify(text?.slice(0, 40) ?? '')}`,
      );
    }
    return value;
  }

  #integer(field: JsonField, value: bigint, always: boolean): void {
    if (value === 0n && !always) return;
    this.#tag(field, VARINT);
    this.#out.big(value);
  }

  *#bytes(field: JsonField, kind: JsonKind, always: boolean): PureJob<void> {
    if (kind !== 'string') throw unexpected(field, kind);
    const { bytes, start, end, padded } = yield* this.#base64(yield* this.#text.string());
    const last = withoutPadding(bytes, start, end, padded);
    if (last === undefined) throw invalid(`proto: invalid value for bytes field ${field.proto}: not base64`);
    const length = base64Bytes(last - start);
    if (length === 0 && !always) return;
    this.#tag(field, DELIMITED);
    this.#out.varint(length);
    this.#out.expect(length);
    yield* decodeBase64(bytes, start, last, this.#out, field.proto, this.#turn);
  }

  *#string(field: JsonField, kind: JsonKind, always: boolean): PureJob<void> {
    if (kind !== 'string') throw unexpected(field, kind);
    const { bytes, start, end } = yield* this.#plain(yield* this.#checked());
    const text = bytes.subarray(start, end);
    if (text.length === 0 && !always) return;
    this.#tag(field, DELIMITED);
    this.#out.varint(text.length);
    this.#out.put(text);
    if (this.#turn.shouldYield(byteSteps(text.length))) yield;
  }

  /** The next value, a string that is checked. Base64 needs no such check: what JSON does not allow is none. */
  *#checked(): PureJob<JsonString> {
    const string = yield* this.#text.string();
    yield* this.#text.check(string);
    return string;
  }

  /** A string of at most SHORT_STRING_MAX bytes; undefined for a longer one, which is none that is asked for. */
  *#shortString(string: JsonString): PureJob<string | undefined> {
    if (string.end - string.start > SHORT_STRING_MAX) return undefined;
    const { bytes, start, end } = yield* this.#plain(string);
    return bytes.toString('utf8', start, end);
  }

  /** Where the characters of base64 are that a string stands for. Breaks of lines are in strings with escapes alone. */
  *#base64(string: JsonString): PureJob<{ bytes: Buffer; start: number; end: number; padded: boolean }> {
    const { bytes, start, end } = yield* this.#plain(string);
    const padded = isPadded(end - start);
    if (!string.escaped) return { bytes, start, end, padded };
    const unbroken = yield* withoutBreaks(bytes, this.#turn);
    return { bytes: unbroken, start: 0, end: unbroken.length, padded };
  }

  /** Where the bytes that a string stands for are. */
  *#plain({ start, end, escaped }: JsonString): PureJob<{ bytes: Buffer; start: number; end: number }> {
    if (!escaped) return { bytes: this.#text.bytes, start, end };
    const bytes = yield* unescaped(this.#text.bytes, start, end, this.#turn);
    return { bytes, start: 0, end: bytes.length };
  }

  #tag({ number }: JsonField, wireType: number): void {
    this.#out.varint(number * 8 + wireType);
  }
}

const invalid = (message: string): StatusError => new StatusError(GrpcCode.INVALID_ARGUMENT, message);

const unexpected = ({ proto }: JsonField, kind: JsonKind): StatusError =>
  invalid(`proto: syntax error: unexpected ${kind} for field ${proto}`);
