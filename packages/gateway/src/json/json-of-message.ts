import { assert } from '@engram/core';
import type { JsonField, JsonMessage, JsonScalar } from '@engram/protobuf';
import { fieldIndex, type NumberedField } from './field-index.ts';

const VARINT = 0;
const DELIMITED = 2;
const INFINITY = Number.POSITIVE_INFINITY;
const NONE = Buffer.alloc(0);
/** A varint of up to this many bytes is an exact number. */
const NUMBER_BYTES = 7;

/** A message that has begun and has not ended. */
interface Open {
  readonly byNumber: ReadonlyMap<number, NumberedField>;
  /** Where it ends, counted from the first byte of the outermost one, whose end nobody has said. */
  readonly end: number;
  /** Its last field. */
  last: JsonField | undefined;
  /** The last field is a list that has begun. */
  inList: boolean;
  /** The bits of the fields that it had. */
  seen: number;
}

/**
 * The JSON of a message whose bytes come in pieces, cut anywhere: names as in the .proto files, 64-bit integers as strings, bytes as
 * base64, enums by name. Fields with their default are left out. Nothing is decoded as a whole: what is held is a field that is cut,
 * and of a bytes field two bytes.
 *
 * The bytes are those of this node's encoders, with the items of a list behind one another. What is not is an assertion.
 */
export class JsonOfMessage {
  readonly #open: Open[];
  /** Bytes that are not read yet, behind `#at` of the message. */
  #rest: Buffer = NONE;
  #at = 0;
  /** What is left of a bytes field whose string has begun; -1 if there is none. */
  #bytesLeft = -1;
  #text = '';
  // The last varint that was read: its value, and the bytes that it took.
  #value: number | bigint = 0;
  #valueBytes = 0;

  constructor(type: JsonMessage) {
    this.#open = [{ byNumber: fieldIndex(type).byNumber, end: INFINITY, last: undefined, inList: false, seen: 0 }];
    this.#text = '{';
  }

  /** The text that these bytes and those before them give. They may be changed afterwards. */
  push(bytes: Uint8Array): string {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const data = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let at = 0;
    for (;;) {
      const took = this.#bytesLeft >= 0 ? this.#takeBytes(data, at) : this.#takeField(data, at);
      if (took < 0) break;
      at += took;
      this.#at += took;
    }
    this.#rest = at === data.length ? NONE : Buffer.from(data.subarray(at));
    return this.#taken();
  }

  /** The text behind what `push` has given. The message has ended. */
  end(): string {
    assert(this.#rest.length === 0 && this.#bytesLeft < 0 && this.#open.length === 1, 'a message ends within a field');
    this.#close();
    return this.#taken();
  }

  #taken(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  /** Returns how many bytes it has taken, or -1 if it needs more. */
  #takeField(data: Buffer, at: number): number {
    const open = this.#open.at(-1)!;
    if (this.#at === open.end) {
      this.#close();
      return 0;
    }
    if (!this.#varint(data, at)) return -1;
    const tag = Number(this.#value);
    const tagBytes = this.#valueBytes;
    const wireType = tag % 8;
    assert(wireType === VARINT || wireType === DELIMITED, 'an answer has a field of no type that etcd uses');
    if (!this.#varint(data, at + tagBytes)) return -1;
    const headBytes = tagBytes + this.#valueBytes;
    const numbered = open.byNumber.get(Math.floor(tag / 8));
    assert(numbered !== undefined, 'an answer has a field without a name');
    const { field } = numbered;
    if (wireType === VARINT) {
      if (field.repeated === true || field.rivals !== undefined || Number(this.#value) !== 0)
        this.#begin(open, numbered, scalarText(field.type, this.#value));
      return headBytes;
    }
    const length = Number(this.#value);
    if (typeof field.type === 'function') {
      this.#begin(open, numbered, '{');
      const { byNumber } = fieldIndex(field.type());
      this.#open.push({ byNumber, end: this.#at + headBytes + length, last: undefined, inList: false, seen: 0 });
      return headBytes;
    }
    const shown = length > 0 || field.repeated === true || field.rivals !== undefined;
    if (field.type === 'bytes') {
      if (shown) {
        this.#begin(open, numbered, '"');
        this.#bytesLeft = length;
      }
      return headBytes;
    }
    const end = at + headBytes + length;
    if (end > data.length) return -1;
    if (field.type === 'string') {
      if (shown) this.#begin(open, numbered, JSON.stringify(data.toString('utf8', at + headBytes, end)));
    } else {
      assert(field.repeated === true, 'a number has a length');
      for (let item = at + headBytes; item < end; item += this.#valueBytes) {
        assert(this.#varint(data, item), 'a packed list ends within a number');
        this.#begin(open, numbered, scalarText(field.type, this.#value));
      }
    }
    return headBytes + length;
  }

  /** Three bytes are four characters, so a string goes on with the next three. */
  #takeBytes(data: Buffer, at: number): number {
    const left = this.#bytesLeft;
    const there = data.length - at;
    const taken = there >= left ? left : there - (there % 3);
    this.#text += data.toString('base64', at, at + taken);
    this.#bytesLeft = left - taken;
    if (this.#bytesLeft === 0) {
      this.#text += '"';
      this.#bytesLeft = -1;
    } else if (taken === 0) return -1;
    return taken;
  }

  #begin(open: Open, { field, bit }: NumberedField, value: string): void {
    const { last } = open;
    if (open.inList && last === field) {
      this.#text += `,${value}`;
      return;
    }
    assert((open.seen & bit) === 0, 'a field of an answer comes twice');
    open.seen |= bit;
    const before = `${open.inList ? ']' : ''}${last === undefined ? '' : ','}`;
    open.last = field;
    open.inList = field.repeated === true;
    this.#text += `${before}"${field.proto}":${open.inList ? '[' : ''}${value}`;
  }

  #close(): void {
    const { inList } = this.#open.pop()!;
    this.#text += inList ? ']}' : '}';
  }

  /** Reads into #value and #valueBytes. False if the bytes end before it does. */
  #varint(data: Buffer, at: number): boolean {
    let value = 0;
    let scale = 1;
    for (let byte = 0; byte < NUMBER_BYTES; byte += 1) {
      const next = data[at + byte];
      if (next === undefined) return false;
      value += (next & 0x7f) * scale;
      scale *= 128;
      if (next < 0x80) {
        this.#value = value;
        this.#valueBytes = byte + 1;
        return true;
      }
    }
    return this.#longVarint(data, at, BigInt(value));
  }

  #longVarint(data: Buffer, at: number, low: bigint): boolean {
    let value = low;
    for (let byte = NUMBER_BYTES; ; byte += 1) {
      assert(byte < 10, 'a number of more than 64 bits');
      const next = data[at + byte];
      if (next === undefined) return false;
      value |= BigInt(next & 0x7f) << BigInt(7 * byte);
      if (next >= 0x80) continue;
      this.#value = value;
      this.#valueBytes = byte + 1;
      return true;
    }
  }
}

function scalarText(type: JsonField['type'], value: number | bigint): string {
  assert(typeof type !== 'function', 'a message has no length');
  if (typeof type === 'object') {
    const number = Number(BigInt.asIntN(32, BigInt(value)));
    const name = namesOf(type).get(number);
    return name === undefined ? String(number) : `"${name}"`;
  }
  return numberText(type, value);
}

function numberText(type: JsonScalar, value: number | bigint): string {
  if (type === 'bool') return 'true';
  if (type === 'int32') return String(BigInt.asIntN(32, BigInt(value)));
  if (type === 'uint32') return String(BigInt.asUintN(32, BigInt(value)));
  if (typeof value === 'number') return `"${value}"`;
  return `"${type.startsWith('u') ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value)}"`;
}

const names = new WeakMap<object, ReadonlyMap<number, string>>();

function namesOf(values: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  const known = names.get(values);
  if (known !== undefined) return known;
  const byNumber = new Map(Object.entries(values).map(([name, number]) => [number, name]));
  names.set(values, byNumber);
  return byNumber;
}
