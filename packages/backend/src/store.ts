import type { ByteList, KeyRange, LeaseId, LogPosition, PagedBytes, RangeOp, Revision, Txn } from '@engram/core';
import type { WatchHub } from '@engram/watch-hub';
import type { Caller } from './caller.ts';

/** The answer to a range. `kvs` are encoded mvccpb.KeyValue messages, shared: never changed, sent as they are. */
export interface RangeResult {
  readonly kind: 'range';
  /** For the header: the store's revision at the read; inside a transaction what was visible at that point. */
  readonly revision: Revision;
  readonly kvs: ByteList;
  readonly more: boolean;
  readonly count: number;
}

export interface PutResult {
  readonly kind: 'put';
  readonly revision: Revision;
  /** Encoded mvccpb.KeyValue; undefined when not asked for or not there. */
  readonly prevKv: Uint8Array | undefined;
}

/** A long list for whoever sends it as it is: its bytes are brought while they are read. See PagedBytes. */
export interface PagedRangeResult {
  readonly kind: 'paged-range';
  readonly revision: Revision;
  readonly kvs: PagedBytes;
  readonly more: boolean;
  readonly count: number;
}

export interface DeleteRangeResult {
  readonly kind: 'delete-range';
  readonly revision: Revision;
  readonly deleted: number;
  readonly prevKvs: ByteList;
}

export interface TxnResult {
  readonly kind: 'txn';
  readonly revision: Revision;
  readonly succeeded: boolean;
  readonly responses: readonly OpResult[];
}

export type OpResult = RangeResult | PutResult | DeleteRangeResult | TxnResult;

/** The numbers of etcdserverpb.AlarmType. */
export interface Alarm {
  readonly memberId: bigint;
  readonly alarm: number;
}

export interface HashKvResult {
  readonly hash: number;
  readonly hashRevision: Revision;
  readonly compactRevision: Revision;
}

export interface StoreStatus {
  readonly totalBytes: number;
  readonly inUseBytes: number;
  readonly quotaBytes: number;
  /** The position behind the last record that has taken effect. */
  readonly logPosition: LogPosition;
  readonly keys: number;
}

/**
 * Every version that is readable at or above the compact revision, as of one revision, in the order of (mod revision,
 * sub). What it shows cannot be freed before it is disposed.
 */
export interface StoreImage extends Disposable {
  readonly revision: Revision;
  readonly compactRevision: Revision;
  /** Of versions; the others take an index below it. */
  readonly count: number;
  modRevision(at: number): number;
  sub(at: number): number;
  isTombstone(at: number): boolean;
  /** The length of the encoded mvccpb.KeyValue. */
  bytes(at: number): number;
  /** The encoded KeyValues of the versions from `from` to before `to`; of a tombstone, key and mod_revision. */
  read(from: number, to: number, signal: AbortSignal): Promise<readonly Uint8Array[]>;
}

/** A lease as it was granted: what every node knows of it. */
export interface LeaseGrant {
  readonly id: LeaseId;
  readonly grantedTtlSeconds: number;
}

export interface LeaseView extends LeaseGrant {
  readonly remainingSeconds: number;
}

/** A lease, and the keys that are attached to it where they were asked for, in byte order. */
export interface LeaseDetails extends LeaseView {
  readonly keys: readonly Uint8Array[];
}

/** What any node answers from its own copy, however far it has come. All refusals are EngramError. */
export interface LocalStore {
  /** The newest revision that has taken effect on this node: durable, and published to its watchers. */
  readonly revision: Revision;
  /** -1 before the first compaction. */
  readonly compactRevision: Revision;
  readonly watchHub: WatchHub;

  /** Those whose grant has taken effect; on the leader by remaining time. */
  leases(): readonly LeaseGrant[];
  alarms(): readonly Alarm[];
  /** `revision` 0 is the current one; at a negative one there is nothing to hash. Compacted, FutureRev. */
  hashKv(revision: number, signal: AbortSignal): Promise<HashKvResult>;
  /** As of now. Rejects when the signal aborts. */
  image(signal: AbortSignal): Promise<StoreImage>;
  /**
   * Gives the space of compacted history back to the file system. Answers when that is done or after a few seconds,
   * whichever is first; it then goes on by itself.
   */
  defragment(): Promise<void>;
  status(): StoreStatus;
  /** How many keys live in the range now: for metrics and health, no bytes are read. */
  count(range: KeyRange): number;
}

/**
 * What only the leader decides; another node asks it on the caller's behalf. Answered when it has taken effect on the
 * node that answers, so that a read there sees it. Beside what each says: LeaderChanged, NoLeader, Stopped, Timeout,
 * TooManyRequests.
 */
export interface Proposals {
  /** Put and DeleteRange are transactions of one op without compares. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult>;
  /** Readers are refused from the answer on; with `physical` the answer waits for the space to be freed. */
  compact(revision: number, physical: boolean, caller: Caller): Promise<void>;

  /** Id 0 picks one. LeaseExist, LeaseTtlTooLarge; the answer carries the granted TTL. */
  leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView>;
  /** LeaseNotFound. The keys go in one revision, which is the answer. */
  leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision>;
  /** The granted TTL, or 0 for a lease that is unknown; waits where an expiry is under way. */
  leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number>;
  /** Undefined: unknown. The leader alone knows how long a lease has left. */
  leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined>;

  activateAlarm(alarm: Alarm, caller: Caller): Promise<void>;
  /** False: it was not set. */
  deactivateAlarm(alarm: Alarm, caller: Caller): Promise<boolean>;
}

/**
 * One key-value store with history, leases and watches: everything that etcd's API means, without its messages. Callers
 * have validated what a single request shows by itself (empty keys, too many ops, duplicate keys, sort options, ignore
 * flags that contradict); what depends on the state is checked here.
 */
export interface Store extends LocalStore, Proposals {
  /**
   * Resolves when this node has applied everything that was acknowledged to anybody before the call; undefined: it has.
   * NoLeader, LeaderChanged, Timeout.
   */
  readIndex(caller: Caller): Promise<void> | undefined;
  /** Linearizable unless the range is serializable. Synchronous where all bytes are at hand. Compacted, FutureRev. */
  range(op: RangeOp, caller: Caller): RangeResult | Promise<RangeResult>;
  /** As `range`, where a long list comes in pages. Whoever gets one disposes of its `kvs`. */
  rangePaged(op: RangeOp, caller: Caller): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult>;
  /**
   * The same range in chunks of about `chunkBytes`, all at one revision; the last one alone carries `more` and
   * `count` of the whole. Sort orders and filters are the caller's to refuse.
   */
  rangeStream(op: RangeOp, chunkBytes: number, caller: Caller): AsyncIterable<RangeResult>;
}
