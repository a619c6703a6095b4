import { assert, EMPTY_BYTES, type LeaseId, leaseId, NO_LEASE, type Revision, revision } from '@engram/core';
import { sizeBig, writeBig, writeVarint } from '@engram/protobuf';
import { ByteReader } from './byte-reader.ts';
import { varintSize } from './varint.ts';

/** mvccpb.KeyValue (etcd api/mvccpb/kv.proto) without its value: what the index keeps of a version of a key. */
export interface KeyValueMeta {
  readonly key: Uint8Array;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly version: number;
  readonly lease: LeaseId;
}

/** mvccpb.KeyValue: one version of a key. */
export interface KeyValue extends KeyValueMeta {
  readonly value: Uint8Array;
}

// Field number << 3 | wire type. Wire type 0 is a varint, wire type 2 is a length and that many bytes.
const KEY = 0x0a;
const CREATE_REVISION = 0x10;
const MOD_REVISION = 0x18;
const VERSION = 0x20;
const VALUE = 0x2a;
const LEASE = 0x30;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
/** Up to this length, a loop is faster than a call of `set`. */
const LOOP_BYTES_MAX = 24;

export function keyValueSize(kv: KeyValue): number {
  return (
    bytesSize(kv.key) +
    numberSize(kv.createRevision) +
    numberSize(kv.modRevision) +
    numberSize(kv.version) +
    bytesSize(kv.value) +
    (kv.lease === NO_LEASE ? 0 : 1 + sizeBig(kv.lease))
  );
}

/** Writes the canonical encoding: fields in the order of their numbers, without zero or empty fields. Returns the end. */
export function writeKeyValue(target: Uint8Array, offset: number, kv: KeyValue): number {
  let at = writeBytes(target, offset, KEY, kv.key);
  at = writeNumber(target, at, CREATE_REVISION, kv.createRevision);
  at = writeNumber(target, at, MOD_REVISION, kv.modRevision);
  at = writeNumber(target, at, VERSION, kv.version);
  at = writeBytes(target, at, VALUE, kv.value);
  if (kv.lease !== NO_LEASE) {
    target[at] = LEASE;
    at = writeBig(kv.lease, target, at + 1);
  }
  return at;
}

/** The caller owns the bytes. They do not share their buffer. */
export function encodeKeyValue(kv: KeyValue): Uint8Array {
  const bytes = new Uint8Array(keyValueSize(kv));
  const end = writeKeyValue(bytes, 0, kv);
  assert(end === bytes.length, 'the size of a KeyValue was measured wrongly');
  return bytes;
}

/** What watchers see of a deletion: key and mod_revision only. */
export function tombstone(key: Uint8Array, modRevision: Revision): KeyValue {
  return { key, createRevision: revision(0), modRevision, version: 0, value: EMPTY_BYTES, lease: NO_LEASE };
}

/**
 * Reads the output of any protobuf encoder: fields may come in any order, the last field with a number counts, and
 * unknown fields are skipped. Key and value are views of `bytes`. Throws CoderError for anything else.
 */
export function decodeKeyValue(bytes: Uint8Array): KeyValue {
  const reader = keyValueReader(bytes);
  let key = EMPTY_BYTES;
  let createRevision = 0;
  let modRevision = 0;
  let version = 0;
  let value = EMPTY_BYTES;
  let lease = NO_LEASE;
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === KEY) key = reader.slice(reader.varint());
    else if (tag === CREATE_REVISION) createRevision = reader.varint();
    else if (tag === MOD_REVISION) modRevision = reader.varint();
    else if (tag === VERSION) version = reader.varint();
    else if (tag === VALUE) value = reader.slice(reader.varint());
    else if (tag === LEASE) lease = leaseId(reader.varint64());
    else skipField(reader, tag);
  }
  return { key, createRevision: revision(createRevision), modRevision: revision(modRevision), version, value, lease };
}

/** As `decodeKeyValue`, but skips the value: a view of it would be most of the cost. */
export function decodeKeyValueMeta(bytes: Uint8Array): KeyValueMeta {
  const reader = keyValueReader(bytes);
  let key = EMPTY_BYTES;
  let createRevision = 0;
  let modRevision = 0;
  let version = 0;
  let lease = NO_LEASE;
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === KEY) key = reader.slice(reader.varint());
    else if (tag === CREATE_REVISION) createRevision = reader.varint();
    else if (tag === MOD_REVISION) modRevision = reader.varint();
    else if (tag === VERSION) version = reader.varint();
    else if (tag === LEASE) lease = leaseId(reader.varint64());
    else skipField(reader, tag);
  }
  return { key, createRevision: revision(createRevision), modRevision: revision(modRevision), version, lease };
}

/** The value alone, as a view of `bytes`. */
export function keyValueValue(bytes: Uint8Array): Uint8Array {
  const reader = keyValueReader(bytes);
  let value = EMPTY_BYTES;
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === VALUE) value = reader.slice(reader.varint());
    else skipField(reader, tag);
  }
  return value;
}

/** Returns the same message without its value, for `keys_only`. Returns `bytes` itself if there is no value. */
export function withoutValue(bytes: Uint8Array): Uint8Array {
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  const reader = keyValueReader(bytes);
  let start = 0;
  while (!reader.done) {
    const fieldStart = reader.at;
    const tag = reader.varint();
    skipField(reader, tag);
    if (tag === VALUE) {
      kept.push(bytes.subarray(start, fieldStart));
      keptBytes += fieldStart - start;
      start = reader.at;
    }
  }
  if (kept.length === 0) return bytes;
  kept.push(bytes.subarray(start));
  const without = new Uint8Array(keptBytes + bytes.length - start);
  let at = 0;
  for (const part of kept) {
    without.set(part, at);
    at += part.length;
  }
  return without;
}

const keyValueReader = (bytes: Uint8Array): ByteReader => new ByteReader(bytes, 'mvccpb.KeyValue');

function skipField(reader: ByteReader, tag: number): void {
  const wireType = tag % 8;
  if (tag < 8) throw reader.failure('a field with number 0');
  if (wireType === VARINT) reader.varint64();
  else if (wireType === FIXED64) reader.skip(8);
  else if (wireType === BYTES) reader.skip(reader.varint());
  else if (wireType === FIXED32) reader.skip(4);
  else throw reader.failure(`wire type ${wireType}`);
}

function bytesSize(bytes: Uint8Array): number {
  return bytes.length === 0 ? 0 : 1 + varintSize(bytes.length) + bytes.length;
}

function numberSize(value: number): number {
  return value === 0 ? 0 : 1 + varintSize(value);
}

function writeBytes(target: Uint8Array, offset: number, tag: number, bytes: Uint8Array): number {
  const length = bytes.length;
  if (length === 0) return offset;
  target[offset] = tag;
  const at = writeVarint(length, target, offset + 1);
  if (length > LOOP_BYTES_MAX) target.set(bytes, at);
  else for (let index = 0; index < length; index += 1) target[at + index] = bytes[index]!;
  return at + length;
}

function writeNumber(target: Uint8Array, offset: number, tag: number, value: number): number {
  if (value === 0) return offset;
  target[offset] = tag;
  return writeVarint(value, target, offset + 1);
}
