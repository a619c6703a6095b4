import type { AnswerRoom, KeyRange, KvEvent, LeaseId, LogPosition, RangeOp, Revision, VersionMeta } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';

/** Versions of keys as one reader sees them. */
export interface ReadVersions {
  /** The newest version that the reader sees, which may be a tombstone; negative if the key has none. */
  head(key: Uint8Array): number;
  modRevision(version: number): Revision;
  createRevision(version: number): Revision;
  version(version: number): number;
  lease(version: number): LeaseId;
  position(version: number): LogPosition;
  /** The length of the encoded mvccpb.KeyValue. */
  bytes(version: number): number;
  isTombstone(version: number): boolean;
  key(version: number): Uint8Array;
  /**
   * Adds versions that live at revision `at` to `into`, in key order: at most `max`, and as many as `turn` allows.
   * Returns the key to continue from, or undefined if nothing is left.
   */
  collectSome(range: KeyRange, at: Revision, max: number, turn: Turn, into: number[]): Uint8Array | undefined;
}

/** All versions of keys, including those that are not durable yet. The index implements it. */
export interface KeyVersions extends ReadVersions {
  /** How many keys of the range live at a revision, for as much of it as `turn` allows. Fast at the newest one. */
  countSome(range: KeyRange, at: Revision, turn: Turn): { readonly live: number };
  /** Whether so many new keys can be added; `append` asserts it. */
  hasRoomFor(newKeys: number): boolean;
  append(key: Uint8Array, meta: VersionMeta): number;
  /** Removes a key's newest version. Must be called in the reverse order of `append`. */
  undo(version: number): void;
}

/** The leases as they will be when everything that was decided has taken effect. */
export interface DecidedLeases {
  has(id: LeaseId): boolean;
  /** A put that is decided now will attach `key`. */
  attach(id: LeaseId, key: Uint8Array): void;
  /** The put that would have attached `key` is undone. */
  detach(id: LeaseId, key: Uint8Array): void;
}

/** Is told of the versions that are in the index and not in effect yet. */
export interface PendingVersions {
  /** A version was added to the index. */
  added(event: KvEvent): void;
  /** The versions from this position on are out of the index again, because their transaction was refused after all. */
  undone(from: LogPosition): void;
}

/** Encodes a change as a log record. `kv` is the part of the record that clients get. */
export interface ChangeEncoder {
  put(change: {
    readonly sub: number;
    readonly key: Uint8Array;
    readonly value: Uint8Array;
    readonly createRevision: Revision;
    readonly modRevision: Revision;
    readonly version: number;
    readonly lease: LeaseId;
  }): EncodedChange;
  delete(sub: number, key: Uint8Array, modRevision: Revision): EncodedChange;
}

export interface EncodedChange {
  readonly record: Uint8Array;
  /** A view of the encoded mvccpb.KeyValue inside `record`. */
  readonly kv: Uint8Array;
}

/**
 * Plans what must be fetched for a range inside a transaction. Planning starts when the op is executed. When it ends,
 * it must have read everything it needs from the index, because later ops change the versions.
 */
export interface RangePlanner<Plan> {
  /**
   * `at` is the revision that the range reads. `pinned` is the oldest revision at which every version of the plan
   * that is older than the transaction is visible. It must be protected from compaction until the answer is fetched.
   * It is below `at` if the transaction reads its own revision, because a later op may supersede what is read. `room`
   * is that of the whole answer.
   */
  plan(op: RangeOp, at: Revision, pinned: Revision, room: AnswerRoom, turn: Turn): PureJob<Plan>;
}

/** Values that a decision needs: those of VALUE compares and of puts that keep the value. */
export interface DecisionValues {
  /**
   * Brings the values of the versions at these positions. Undefined if they are in memory, otherwise a promise that the
   * decision yields. Values that are `kept` are at hand until the decision ends, others until it asks for the next ones.
   */
  bring(positions: readonly LogPosition[], kept: boolean): Promise<void> | undefined;
  /** The value of the version at this position. Asserts if it was not brought. */
  value(position: LogPosition): Uint8Array;
}
