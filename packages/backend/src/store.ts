import type { AuthChange } from '@engram/auth';
import type { ByteList, LeaseId, LogPosition, PagedBytes, RangeOp, Revision, Txn } from '@engram/core';
import type { WatchHub } from '@engram/watch-hub';
import type { AuthView } from './apply/auth-store.ts';
import type { Caller } from './caller.ts';

/**
 * The answer to a range. `kvs` are encoded mvccpb.KeyValue messages. They are shared: callers send them as they are
 * and must not change them.
 */
export interface RangeResult {
  readonly kind: 'range';
  /** For the header: the store's revision at the read, or the revision that a range inside a transaction saw. */
  readonly revision: Revision;
  readonly kvs: ByteList;
  readonly more: boolean;
  readonly count: number;
}

export interface PutResult {
  readonly kind: 'put';
  readonly revision: Revision;
  /** Encoded mvccpb.KeyValue. Undefined if it was not requested or the key did not exist. */
  readonly prevKv: Uint8Array | undefined;
}

/** A long list for a caller that sends it unchanged. Its bytes are loaded while the caller reads them. See PagedBytes. */
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
  /**
   * Only for a caller with `recallAboveBytes`: the answer is larger. It has no key-values, and the transaction saw this
   * revision.
   */
  readonly recallAfter?: Revision;
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
  /** The position after the last record that has taken effect. */
  readonly logPosition: LogPosition;
  readonly keys: number;
}

/**
 * Every version that is readable at or above the compact revision, as of one revision, in the order of (mod revision,
 * sub). Compactions do not free these versions until the image is disposed. If the image delays a compaction for too
 * long, it is revoked, and its methods throw Compacted.
 */
export interface StoreImage extends Disposable {
  readonly revision: Revision;
  readonly compactRevision: Revision;
  /** The number of versions. The methods below take an index from 0 to `count - 1`. */
  readonly count: number;
  modRevision(at: number): number;
  sub(at: number): number;
  isTombstone(at: number): boolean;
  /** The length of the encoded mvccpb.KeyValue. */
  bytes(at: number): number;
  /**
   * The encoded KeyValues of the versions from `from` up to but not including `to`. A tombstone's has only key and
   * mod_revision.
   */
  read(from: number, to: number, signal: AbortSignal): Promise<readonly Uint8Array[]>;
}

/** A lease as it was granted. Every node knows this much of a lease. */
export interface LeaseGrant {
  readonly id: LeaseId;
  readonly grantedTtlSeconds: number;
}

export interface LeaseView extends LeaseGrant {
  readonly remainingSeconds: number;
}

/** A lease. `keys` are its attached keys in byte order, empty if the caller did not ask for them. */
export interface LeaseDetails extends LeaseView {
  readonly keys: ByteList;
}

/** Calls that any node answers from its own replica, which may lag behind the log. All refusals are EngramError. */
export interface LocalStore {
  /** The newest revision that has taken effect on this node: durable, and published to its watchers. */
  readonly revision: Revision;
  /** -1 before the first compaction. */
  readonly compactRevision: Revision;
  readonly watchHub: WatchHub;
  /** Users and roles as they have taken effect on this node. */
  readonly auth: AuthView;

  /**
   * The leases whose grant has taken effect, as of the call. `by-remaining`: those that end first come first, as the leader
   * knows it. `by-id`: in the order of the ids as unsigned numbers, and callers share the list while no lease comes or goes.
   * Error of `by-remaining`: ResponseTooLarge, if the account has no room.
   */
  leases(order: 'by-id' | 'by-remaining', caller: Caller): Promise<readonly LeaseGrant[]>;
  /** The keys that are attached to a lease, in no order and in the form of `keyText`. None for an unknown lease. */
  keysOfLease(id: LeaseId): Iterable<string>;
  alarms(): readonly Alarm[];
  /** `revision` 0 means the current one. The hash at a negative revision is 0. Errors: Compacted, FutureRev. */
  hashKv(revision: number, signal: AbortSignal): Promise<HashKvResult>;
  /**
   * An image at the current revision. Rejects when the signal aborts. Error: TooManyRequests, if there are others and all of
   * them would take too much memory.
   */
  image(signal: AbortSignal): Promise<StoreImage>;
  /**
   * Returns the space of compacted history to the file system. Resolves when that is done or after a few seconds,
   * whichever is first. The work then continues in the background.
   */
  defragment(): Promise<void>;
  status(): StoreStatus;
}

/**
 * Calls that only the leader decides, and permits: it judges the caller's rights when it decides. Another node forwards them to the leader on the caller's behalf. A call
 * resolves when its effect is visible on the node that answers, so a later read there sees it. Errors of all calls:
 * LeaderChanged, NoLeader, Stopped, Timeout, TooManyRequests.
 */
export interface Proposals {
  /** Put and DeleteRange are transactions of one op without compares. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult>;
  /** When this resolves, reads below `revision` are refused. With `physical` it also waits until the space is freed. */
  compact(revision: number, physical: boolean, caller: Caller): Promise<void>;

  /**
   * With id 0 the leader picks a free id. The answer has the granted TTL. Errors: LeaseExist, LeaseTTLTooLarge, and
   * TooManyRequests if there are too many leases.
   */
  leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView>;
  /**
   * Deletes the lease's keys in one revision and resolves with it; without keys, with the current one. Errors:
   * LeaseNotFound.
   */
  leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision>;
  /** Returns the granted TTL, or 0 for an unknown lease. Waits if the lease is being ended. */
  leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number>;
  /**
   * Undefined for an unknown lease. Only the leader knows the remaining time of a lease. Error: ResponseTooLarge, if the
   * account has no room for the keys.
   */
  leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined>;

  activateAlarm(alarm: Alarm, caller: Caller): Promise<void>;
  /** Resolves with false if the alarm was not set. */
  deactivateAlarm(alarm: Alarm, caller: Caller): Promise<boolean>;

  /** Needs the role root while authentication is on. Errors: AuthRefusal and ChangeRefusal of package auth. */
  changeAuth(change: AuthChange, caller: Caller): Promise<void>;
  /**
   * Every node knows the token from then on. The caller has checked the password. Errors: AuthNotEnabled, AuthFailed, and
   * AuthOldRevision if the revision is another one by now.
   */
  logIn(login: Login, caller: Caller): Promise<void>;
}

/** A user who has given the right password. */
export interface Login {
  readonly user: string;
  /** The auth revision at which the password was checked. */
  readonly authRevision: number;
  /** Of the user's new simple token: `tokenDigest` of package auth. */
  readonly digest: Uint8Array;
}

/**
 * One key-value store with history, leases and watches: the meaning of etcd's API without its messages. Callers must
 * have validated what a single request shows by itself (empty keys, too many ops, duplicate keys, sort options,
 * ignore flags that contradict). The store checks what depends on its state.
 */
export interface Store extends LocalStore, Proposals, Ranges {
  /**
   * Resolves when this node has applied every write that was acknowledged to any client before the call. Undefined if
   * it already has. Errors: NoLeader, LeaderChanged, Timeout.
   */
  readIndex(caller: Caller): Promise<void> | undefined;
}

/** With `pages`, a long list comes in pages (`PagedRangeResult`). */
export type ListForm = 'list' | 'pages';

/** Reads of ranges: of a `Store` linearizable, unless the range is serializable. Errors: Compacted, FutureRev. */
export interface Ranges {
  /** Synchronous if all bytes are at hand. The caller must dispose the `kvs` of a PagedRangeResult. */
  range(
    op: RangeOp,
    caller: Caller,
    form: ListForm,
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult>;
  range(op: RangeOp, caller: Caller): RangeResult | Promise<RangeResult>;
  /**
   * The same range in chunks of about `chunkBytes`, all at one revision. Only the last chunk has `more` and `count`
   * of the whole range. Callers must refuse sort orders and filters.
   */
  rangeStream(op: RangeOp, chunkBytes: number, caller: Caller): AsyncIterable<RangeResult>;
}

/** Reads of what has taken effect on this node. They wait for nothing, also where the range is not serializable. */
export interface AppliedReads extends Ranges {
  /** About what a range holds until its answer is made; 0 if that is little. */
  holdsBytes(op: RangeOp): number;
  /** A transaction that only reads (`isReadOnly`). */
  txn(txn: Txn, caller: Caller): Promise<TxnResult>;
}

/** The store of a node. Who waits for `readIndex` itself, and then judges the caller, reads through `applied`. */
export interface NodeStore extends Store {
  readonly applied: AppliedReads;
}
