import { assert, type LeaseId, leaseId, type Revision, revision, unreachable, utf8 } from '@engram/core';
import { writeVarint } from '@engram/protobuf';
import { ByteReader } from './byte-reader.ts';
import { type KeyValue, keyValueSize, tombstone, writeKeyValue } from './key-value.ts';
import { allocateRecord } from './record-slab.ts';
import { varintSize } from './varint.ts';

/** One record of the log. Seconds are whole numbers. */
export type LogRecord =
  /** `kv` is the encoded mvccpb.KeyValue, `sub` the order of the change in its revision. */
  | { readonly kind: 'put'; readonly sub: number; readonly kv: Uint8Array }
  /** `kv` has only key and mod_revision. */
  | { readonly kind: 'delete'; readonly sub: number; readonly kv: Uint8Array }
  | { readonly kind: 'lease-grant'; readonly id: LeaseId; readonly ttlSeconds: number }
  | { readonly kind: 'lease-revoke'; readonly id: LeaseId }
  | { readonly kind: 'lease-checkpoint'; readonly id: LeaseId; readonly remainingSeconds: number }
  | { readonly kind: 'compact'; readonly revision: Revision }
  | { readonly kind: 'alarm'; readonly memberId: bigint; readonly alarm: number; readonly active: boolean }
  /** The member forwarded the write before this record, as its `sequence`-th. */
  | { readonly kind: 'origin'; readonly memberId: bigint; readonly sequence: number }
  /** A change of users and roles, in the form of package auth. Has hashes of passwords. */
  | { readonly kind: 'auth'; readonly change: Uint8Array }
  /** A user has logged in. `digest` is that of the simple token, which the log does not have. */
  | { readonly kind: 'login'; readonly user: string; readonly digest: Uint8Array };

// The first byte of a record is its kind. Numbers are never reused: a log outlives the program that wrote it.
const PUT = 1;
const DELETE = 2;
const LEASE_GRANT = 3;
const LEASE_REVOKE = 4;
const COMPACT = 5;
const ALARM = 6;
const LEASE_CHECKPOINT = 7;
const ORIGIN = 8;
const AUTH = 9;
const LOGIN = 10;

const TOKEN_DIGEST_BYTES = 32;
const names = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A put or delete record is: kind, sub, length of kv, kv. The length of kv follows from the record's length, too. It is
 * stored because a KeyValue that was cut between two fields would still decode.
 */
export function encodeRecord(record: LogRecord): Uint8Array {
  switch (record.kind) {
    case 'put':
      return kvRecord(PUT, record.sub, record.kv);
    case 'delete':
      return kvRecord(DELETE, record.sub, record.kv);
    case 'lease-grant':
      return idRecord(LEASE_GRANT, record.id, record.ttlSeconds);
    case 'lease-revoke':
      return idRecord(LEASE_REVOKE, record.id, undefined);
    case 'lease-checkpoint':
      return idRecord(LEASE_CHECKPOINT, record.id, record.remainingSeconds);
    case 'compact': {
      const bytes = new Uint8Array(1 + varintSize(record.revision));
      bytes[0] = COMPACT;
      writeVarint(record.revision, bytes, 1);
      return bytes;
    }
    case 'alarm': {
      const bytes = new Uint8Array(10 + varintSize(record.alarm));
      bytes[0] = ALARM;
      writeFixed64(bytes, 1, record.memberId);
      bytes[9] = record.active ? 1 : 0;
      writeVarint(record.alarm, bytes, 10);
      return bytes;
    }
    case 'origin': {
      const bytes = new Uint8Array(9 + varintSize(record.sequence));
      bytes[0] = ORIGIN;
      writeFixed64(bytes, 1, record.memberId);
      writeVarint(record.sequence, bytes, 9);
      return bytes;
    }
    case 'auth': {
      const { change } = record;
      const bytes = new Uint8Array(1 + varintSize(change.length) + change.length);
      bytes[0] = AUTH;
      bytes.set(change, writeVarint(change.length, bytes, 1));
      return bytes;
    }
    case 'login': {
      assert(record.digest.length === TOKEN_DIGEST_BYTES, 'a digest of another length');
      const user = utf8(record.user);
      const bytes = new Uint8Array(1 + TOKEN_DIGEST_BYTES + varintSize(user.length) + user.length);
      bytes[0] = LOGIN;
      bytes.set(record.digest, 1);
      bytes.set(user, writeVarint(user.length, bytes, 1 + TOKEN_DIGEST_BYTES));
      return bytes;
    }
    default:
      return unreachable(record);
  }
}

/**
 * Encodes the KeyValue directly into the record. `recordKv` returns the KeyValue for the event. The bytes share a slab
 * with other records: the caller copies them if they must outlive the batch.
 */
export function encodePutRecord(sub: number, kv: KeyValue): Uint8Array {
  return inPlace(PUT, sub, kv);
}

/** Like `encodePutRecord`, for a deletion. */
export function encodeDeleteRecord(sub: number, key: Uint8Array, modRevision: Revision): Uint8Array {
  return inPlace(DELETE, sub, tombstone(key, modRevision));
}

/** Returns the encoded KeyValue of a put or delete record, as a view. Throws CoderError for any other record. */
export function recordKv(record: Uint8Array): Uint8Array {
  const reader = new ByteReader(record, 'a log record');
  const kind = reader.byte();
  if (kind !== PUT && kind !== DELETE) throw reader.failure(`kind ${kind} has no KeyValue`);
  reader.varint();
  return readKv(reader);
}

/** `kv`, `change` and `digest` are views of `bytes` and are not decoded. Throws CoderError for damage and for unknown kinds. */
export function decodeRecord(bytes: Uint8Array): LogRecord {
  const reader = new ByteReader(bytes, 'a log record');
  const record = readRecord(reader);
  reader.end();
  return record;
}

function readRecord(reader: ByteReader): LogRecord {
  const kind = reader.byte();
  switch (kind) {
    case PUT:
      return { kind: 'put', sub: reader.varint(), kv: readKv(reader) };
    case DELETE:
      return { kind: 'delete', sub: reader.varint(), kv: readKv(reader) };
    case LEASE_GRANT:
      return { kind: 'lease-grant', id: leaseId(reader.fixed64()), ttlSeconds: reader.varint() };
    case LEASE_REVOKE:
      return { kind: 'lease-revoke', id: leaseId(reader.fixed64()) };
    case LEASE_CHECKPOINT:
      return { kind: 'lease-checkpoint', id: leaseId(reader.fixed64()), remainingSeconds: reader.varint() };
    case COMPACT:
      return { kind: 'compact', revision: revision(reader.varint()) };
    case ALARM: {
      const memberId = BigInt.asUintN(64, reader.fixed64());
      const active = reader.byte();
      if (active > 1) throw reader.failure(`${active} where 0 or 1 is due`);
      return { kind: 'alarm', memberId, alarm: reader.varint(), active: active === 1 };
    }
    case ORIGIN:
      return { kind: 'origin', memberId: BigInt.asUintN(64, reader.fixed64()), sequence: reader.varint() };
    case AUTH:
      return { kind: 'auth', change: reader.slice(reader.varint()) };
    case LOGIN: {
      const digest = reader.slice(TOKEN_DIGEST_BYTES);
      return { kind: 'login', digest, user: readName(reader) };
    }
    default:
      throw reader.failure(`unknown kind ${kind}`);
  }
}

function readName(reader: ByteReader): string {
  const name = reader.slice(reader.varint());
  try {
    return names.decode(name);
  } catch {
    throw reader.failure('a name that is not UTF-8');
  }
}

function readKv(reader: ByteReader): Uint8Array {
  const kv = reader.slice(reader.varint());
  reader.end();
  return kv;
}

function kvRecord(kind: number, sub: number, kv: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + varintSize(sub) + varintSize(kv.length) + kv.length);
  bytes.set(kv, writeKvHeader(bytes, kind, sub, kv.length));
  return bytes;
}

function inPlace(kind: number, sub: number, kv: KeyValue): Uint8Array {
  const size = keyValueSize(kv);
  const bytes = allocateRecord(1 + varintSize(sub) + varintSize(size) + size);
  const end = writeKeyValue(bytes, writeKvHeader(bytes, kind, sub, size), kv);
  assert(end === bytes.length, 'the size of a KeyValue was measured wrongly');
  return bytes;
}

function writeKvHeader(bytes: Uint8Array, kind: number, sub: number, kvSize: number): number {
  bytes[0] = kind;
  return writeVarint(kvSize, bytes, writeVarint(sub, bytes, 1));
}

function idRecord(kind: number, id: LeaseId, seconds: number | undefined): Uint8Array {
  const bytes = new Uint8Array(9 + (seconds === undefined ? 0 : varintSize(seconds)));
  bytes[0] = kind;
  writeFixed64(bytes, 1, id);
  if (seconds !== undefined) writeVarint(seconds, bytes, 9);
  return bytes;
}

function writeFixed64(bytes: Uint8Array, at: number, value: bigint): void {
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).setBigInt64(at, BigInt.asIntN(64, value), true);
}
