import {
  EMPTY_BYTES,
  type LeaseId,
  leaseId,
  type LogPosition,
  logPosition,
  type Revision,
  revision,
} from '@engram/core';
import { finish, type PureJob, type Turn, unhurried } from '@engram/loop';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';

/** The state that a checkpoint holds besides the index. Seconds are whole numbers. */
export interface CheckpointHeader {
  /** The store's revision when the checkpoint began. Entries may be newer: writes go on meanwhile, and are replayed. */
  readonly revision: Revision;
  /** NO_REVISION before the first compaction. */
  readonly compactRevision: Revision;
  /** Replay continues here. */
  readonly nextPosition: LogPosition;
  readonly leases: readonly CheckpointLease[];
  readonly alarms: readonly { readonly memberId: bigint; readonly alarm: number }[];
  /** Users and roles, in the form of package auth. Empty: there were never any. */
  readonly auth: Uint8Array;
}

export interface CheckpointLease {
  readonly id: LeaseId;
  readonly ttlSeconds: number;
  readonly remainingSeconds: number;
}

// The first byte of every chunk says its kind.
const HEADER_CHUNK = 1;
export const ENTRIES_CHUNK = 2;
export const GARBAGE_CHUNK = 3;
/** With users and roles at the end. Without them the first format is written, which earlier programs read as well. */
const FORMAT_VERSION = 2;
const FORMAT_WITHOUT_AUTH = 1;
const FIXED64_BYTES = 8;
const NUMBER_BYTES_MAX = 8;

/** A header whose leases are given one after another. */
export interface LongCheckpointHeader extends Omit<CheckpointHeader, 'leases'> {
  readonly leaseCount: number;
  readonly leases: Iterable<CheckpointLease>;
}

/** The first chunk of a checkpoint. */
export const encodeCheckpointHeader = (header: CheckpointHeader): Uint8Array =>
  finish(encodeLongCheckpointHeader({ ...header, leaseCount: header.leases.length }, unhurried));

/** As `encodeCheckpointHeader`, as a job. */
export function* encodeLongCheckpointHeader(header: LongCheckpointHeader, turn: Turn): PureJob<Uint8Array> {
  const leaseBytes = FIXED64_BYTES + 2 * NUMBER_BYTES_MAX;
  const alarmBytes = FIXED64_BYTES + NUMBER_BYTES_MAX;
  const { auth } = header;
  const writer = new ByteWriter(80 + header.leaseCount * leaseBytes + header.alarms.length * alarmBytes + auth.length);
  writer.byte(HEADER_CHUNK);
  writer.varint(auth.length === 0 ? FORMAT_WITHOUT_AUTH : FORMAT_VERSION);
  writer.varint(header.revision);
  // NO_REVISION is -1; a varint has no sign.
  writer.varint(header.compactRevision + 1);
  writer.varint(header.nextPosition);
  writer.varint(header.leaseCount);
  for (const lease of header.leases) {
    writer.fixed64(lease.id);
    writer.varint(lease.ttlSeconds);
    writer.varint(lease.remainingSeconds);
    if (turn.shouldYield()) yield;
  }
  writer.varint(header.alarms.length);
  for (const alarm of header.alarms) {
    writer.fixed64(alarm.memberId);
    writer.varint(alarm.alarm);
  }
  if (auth.length > 0) {
    writer.varint(auth.length);
    writer.bytes(auth);
  }
  return writer.take();
}

/** `auth` is a view of the chunk. Throws CoderError for damage, for a chunk of another kind, and for any other format version. */
export function decodeCheckpointHeader(chunk: Uint8Array): CheckpointHeader {
  const reader = new ByteReader(chunk, 'the header of a checkpoint');
  if (reader.byte() !== HEADER_CHUNK) throw reader.failure('another kind of chunk');
  const format = reader.varint();
  if (format !== FORMAT_VERSION && format !== FORMAT_WITHOUT_AUTH) {
    throw reader.failure(`format ${format} where ${FORMAT_WITHOUT_AUTH} and ${FORMAT_VERSION} are known`);
  }
  const current = revision(reader.varint());
  const compactRevision = revision(reader.varint() - 1);
  const nextPosition = logPosition(reader.varint());
  const leases: CheckpointLease[] = [];
  for (let left = reader.varint(); left > 0; left -= 1) {
    const id = leaseId(reader.fixed64());
    const ttlSeconds = reader.varint();
    leases.push({ id, ttlSeconds, remainingSeconds: reader.varint() });
  }
  const alarms: { memberId: bigint; alarm: number }[] = [];
  for (let left = reader.varint(); left > 0; left -= 1) {
    const memberId = BigInt.asUintN(64, reader.fixed64());
    alarms.push({ memberId, alarm: reader.varint() });
  }
  const auth = format === FORMAT_VERSION ? reader.slice(reader.varint()) : EMPTY_BYTES;
  reader.end();
  return { revision: current, compactRevision, nextPosition, leases, alarms, auth };
}
