import { type AuthState, decodeAuthRecord, followAuthRecord } from '@engram/auth';
import { CoderError, decodeKeyValueMeta, decodeRecord, type KeyValueMeta, type LogRecord } from '@engram/coder';
import { type LeaseId, logPosition, NO_LEASE, type Revision, revision } from '@engram/core';
import { MAX_TTL_SECONDS } from '@engram/lease';
import type { PureJob, Turn } from '@engram/loop';
import type { LogBatch } from '@engram/storage';

const SUB_MAX = 2 ** 31 - 1;
const KV_BYTES_MAX = 2 ** 32 - 1;

export type ChangeRecord = Extract<LogRecord, { readonly kind: 'put' | 'delete' }>;

/** A record, decoded. Its bytes are views of the record's. */
export type ReadRecord =
  | { readonly record: ChangeRecord; readonly kv: KeyValueMeta }
  | { readonly record: Exclude<LogRecord, ChangeRecord>; readonly kv: undefined };

/** A batch that a replica can take: each of its records is decoded, and continues what is before the batch. */
export interface ReadBatch {
  readonly batch: LogBatch;
  readonly records: readonly ReadRecord[];
  /** The store's revision behind the batch. */
  readonly revision: Revision;
  /** The leases that the batch grants (true) and revokes (false). */
  readonly leases: ReadonlyMap<LeaseId, boolean>;
  /** Users and roles behind the batch. */
  readonly auth: AuthState;
}

/** What is before a batch. */
export interface BeforeBatch {
  readonly revision: Revision;
  readonly hasLease: (id: LeaseId) => boolean;
  readonly auth: AuthState;
}

/** Throws CoderError for damage and for unknown kinds. */
export function readRecord(bytes: Uint8Array): ReadRecord {
  const record = decodeRecord(bytes);
  if (record.kind !== 'put' && record.kind !== 'delete') return { record, kv: undefined };
  return { record, kv: decodeKeyValueMeta(record.kv) };
}

/**
 * Decodes a batch of another member, and checks it against the rules by which a leader writes. Changes nothing. Returns the
 * first fault as a text. What passes breaks no invariant when it is applied.
 */
export function* readBatch(batch: LogBatch, before: BeforeBatch, turn: Turn): PureJob<ReadBatch | string> {
  const records: ReadRecord[] = [];
  const rules = new BatchRules(before);
  for (const bytes of batch.records) {
    if (turn.shouldYield()) yield;
    const position = logPosition(batch.first + records.length);
    let read: ReadRecord;
    try {
      read = readRecord(bytes);
    } catch (error) {
      if (error instanceof CoderError) return `record ${position}: ${error.message}`;
      throw error;
    }
    const fault = rules.faultOf(read);
    if (fault !== undefined) return `record ${position}: ${fault}`;
    records.push(read);
  }
  if (records.length === 0) return 'a batch without a record';
  return { batch, records, revision: rules.revision, leases: rules.leases, auth: rules.auth };
}

/** What the records of a batch must keep to, one after the other. */
class BatchRules {
  readonly leases = new Map<LeaseId, boolean>();
  revision: Revision;
  auth: AuthState;
  readonly #hasLease: (id: LeaseId) => boolean;
  /** The write before the record may get an origin. */
  #takesOrigin = false;
  /** The keys of the transaction that may go on. */
  #group: { readonly first: Uint8Array; readonly rest: Set<string> } | undefined;

  constructor(before: BeforeBatch) {
    this.revision = before.revision;
    this.auth = before.auth;
    this.#hasLease = before.hasLease;
  }

  faultOf({ record, kv }: ReadRecord): string | undefined {
    if (kv !== undefined) return this.#changeFault(record, kv);
    this.#group = undefined;
    const takesOrigin = this.#takesOrigin;
    this.#takesOrigin = record.kind !== 'origin';
    switch (record.kind) {
      case 'origin':
        return takesOrigin ? undefined : 'the origin of no write';
      case 'lease-grant':
        this.leases.set(record.id, true);
        if (record.id === NO_LEASE) return 'a lease without an id';
        return record.ttlSeconds > MAX_TTL_SECONDS ? 'a TTL out of bounds' : undefined;
      case 'lease-revoke':
        this.leases.set(record.id, false);
        return undefined;
      case 'compact':
        return record.revision > this.revision ? 'a compaction above the revision of the store' : undefined;
      case 'auth':
        return this.#authFault(record.change);
      default:
        return undefined;
    }
  }

  #authFault(change: Uint8Array): string | undefined {
    try {
      const after = followAuthRecord(this.auth, decodeAuthRecord(change));
      if (after === undefined) return 'a change of users and roles that does not fit them';
      this.auth = after;
      return undefined;
    } catch (error) {
      if (error instanceof CoderError) return error.message;
      throw error;
    }
  }

  #changeFault(record: ChangeRecord, kv: KeyValueMeta): string | undefined {
    const { key, createRevision, modRevision, lease } = kv;
    if (key.length === 0) return 'a change of no key';
    if (createRevision > modRevision) return 'a version that is older than its key';
    if (record.sub > SUB_MAX || record.kv.length > KV_BYTES_MAX) return 'a number out of bounds';
    if (lease !== NO_LEASE) {
      if (record.kind === 'delete') return 'a deletion with a lease';
      if (!(this.leases.get(lease) ?? this.#hasLease(lease))) return `a key of lease ${lease}, which there is not`;
    }
    this.#takesOrigin = true;
    const group = this.#group;
    if (group !== undefined && modRevision === this.revision) {
      if (sameBytes(group.first, key) || group.rest.has(nameOf(key)))
        return 'a second change of a key in a transaction';
      group.rest.add(nameOf(key));
      return undefined;
    }
    if (modRevision !== this.revision + 1) return `revision ${modRevision} behind ${this.revision}`;
    this.revision = revision(modRevision);
    this.#group = { first: key, rest: new Set() };
    return undefined;
  }
}

const sameBytes = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

const nameOf = (key: Uint8Array): string => Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
