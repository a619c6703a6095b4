import { assert } from '@engram/core';
import { HeaderField } from './header-field.ts';
import { HpackDynamicTable } from './hpack-dynamic-table.ts';
import { STATIC_TABLE_LENGTH, staticTable } from './hpack-static-table.ts';
import { huffmanEncode, huffmanLength } from './huffman.ts';

/** One field to encode. Name and value have one character for each byte. */
export interface FieldToEncode {
  readonly name: string;
  readonly value: string;
  /** `remember` adds the field to the peer's table, for fields that will be sent again. */
  readonly indexing: 'remember' | 'once';
}

const staticPairs = new Map<string, number>();
const staticNames = new Map<string, number>();
for (let index = STATIC_TABLE_LENGTH; index > 0; index -= 1) {
  const field = staticTable[index]!;
  if (field.value !== '') staticPairs.set(`${field.name}\n${field.value}`, index);
  staticNames.set(field.name, index); // the loop goes down, so the lowest index of a name stays
}

/** Encodes the header blocks of one direction of a connection. */
export class HpackEncoder {
  readonly #table: HpackDynamicTable;
  readonly #ownMaxBytes: number;
  #maxBytes: number;
  /** The smallest bound since the last block, if the next block must signal a change (RFC 7541 §4.2). */
  #smallestSince: number | undefined;

  /** Uses at most `maxTableBytes` of the table size that the peer allows (4096 before its SETTINGS). */
  constructor(maxTableBytes: number) {
    this.#table = new HpackDynamicTable(maxTableBytes);
    this.#ownMaxBytes = maxTableBytes;
    this.#maxBytes = maxTableBytes;
  }

  /** While this number is the same, a block that was encoded without changing it stays valid. */
  get tableChanges(): number {
    return this.#table.changes;
  }

  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  setPeerMaxBytes(peerMaxBytes: number): void {
    const maxBytes = Math.min(peerMaxBytes, this.#ownMaxBytes);
    if (maxBytes === this.#maxBytes) return;
    this.#maxBytes = maxBytes;
    this.#smallestSince = Math.min(this.#smallestSince ?? maxBytes, maxBytes);
    this.#table.setMaxBytes(maxBytes);
  }

  /** The caller owns the bytes. */
  encode(fields: readonly FieldToEncode[]): Buffer {
    let bytesMax = 16;
    for (const { name, value } of fields) bytesMax += name.length + value.length + 16;
    const target = Buffer.allocUnsafe(bytesMax);
    let at = 0;
    if (this.#smallestSince !== undefined) {
      if (this.#smallestSince < this.#maxBytes) at = putInteger(target, at, 0x20, 0x1f, this.#smallestSince);
      at = putInteger(target, at, 0x20, 0x1f, this.#maxBytes);
      this.#smallestSince = undefined;
      this.#table.setMaxBytes(this.#maxBytes); // counts as a change, so that a kept block with the size update is not reused
    }
    for (const field of fields) at = this.#put(target, at, field);
    return target.subarray(0, at);
  }

  #put(target: Uint8Array, start: number, { name, value, indexing }: FieldToEncode): number {
    const pair = staticPairs.get(`${name}\n${value}`) ?? this.#find(name, value);
    if (pair !== undefined) return putInteger(target, start, 0x80, 0x7f, pair);
    const nameIndex = staticNames.get(name) ?? this.#find(name, undefined) ?? 0;
    let at: number;
    const field = new HeaderField(name, value);
    if (indexing === 'remember' && field.size <= this.#maxBytes) {
      at = putInteger(target, start, 0x40, 0x3f, nameIndex);
      this.#table.add(field);
    } else {
      at = putInteger(target, start, 0, 0x0f, nameIndex);
    }
    if (nameIndex === 0) at = putString(target, at, name);
    return putString(target, at, value);
  }

  #find(name: string, value: string | undefined): number | undefined {
    for (let age = 0; age < this.#table.length; age += 1) {
      const field = this.#table.at(age);
      assert(field !== undefined, 'the table is shorter than it says');
      if (field.name === name && (value === undefined || field.value === value)) return STATIC_TABLE_LENGTH + 1 + age;
    }
    return undefined;
  }
}

function putInteger(target: Uint8Array, at: number, marks: number, mask: number, value: number): number {
  if (value < mask) {
    target[at] = marks | value;
    return at + 1;
  }
  target[at] = marks | mask;
  let next = at + 1;
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) {
    target[next] = (rest & 0x7f) | 0x80;
    next += 1;
  }
  target[next] = rest;
  return next + 1;
}

function putString(target: Uint8Array, start: number, text: string): number {
  const coded = huffmanLength(text);
  if (coded < text.length) return huffmanEncode(text, target, putInteger(target, start, 0x80, 0x7f, coded));
  let at = putInteger(target, start, 0, 0x7f, text.length);
  for (let index = 0; index < text.length; index += 1) {
    target[at] = text.charCodeAt(index);
    at += 1;
  }
  return at;
}
