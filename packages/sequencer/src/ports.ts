import type {
  AnswerRoom,
  KeyRange,
  LeaseId,
  LogPosition,
  RangeOp,
  Revision,
  Slice,
  SlicedWork,
  VersionMeta,
} from '@engram/core';

/** Versions of keys as one reader sees them. */
export interface ReadVersions {
  /** The newest version that is seen, a tombstone perhaps; negative when the key has none. */
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
   * Adds live versions at a revision to `into`, in key order: at most `max`, and as many as `slice` allows. Returns the
   * key from which it goes on; undefined: nothing is left.
   */
  collectSome(range: KeyRange, at: Revision, max: number, slice: Slice, into: number[]): Uint8Array | undefined;
}

/** What the sequencer knows of keys: all versions, those that are not durable yet included. The index is one. */
export interface KeyVersions extends ReadVersions {
  /** How many keys of a range live at a revision; quick at the newest one. */
  count(range: KeyRange, at: Revision): number;
  /** Whether so many keys can be added: `append` asserts. */
  hasRoomFor(newKeys: number): boolean;
  append(key: Uint8Array, meta: VersionMeta): number;
  /** Takes a key's newest version back; in the reverse order of `append`. */
  undo(version: number): void;
}

/** Which leases there are once everything that was sequenced has taken effect. */
export interface SequencedLeases {
  has(id: LeaseId): boolean;
  /** A put that is sequenced now will attach `key`. */
  attach(id: LeaseId, key: Uint8Array): void;
  /** The put that would have attached it is undone. */
  detach(id: LeaseId, key: Uint8Array): void;
}

/** How a change becomes bytes: the log record, of which `kv` is the part that clients get. */
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
 * Turns a range inside a transaction into what must be fetched for it. Begun at the moment of the op, and has taken all
 * that it needs when it ends: a moment later the versions are others.
 */
export interface RangePlanner<Plan> {
  /**
   * `at` is the revision that the range reads. `pinned` is the oldest revision at which every version of the plan that
   * is older than the transaction is visible: what must be held back from compaction until the answer is fetched. It is
   * below `at` where the transaction reads its own revision, because a later op of it may supersede what is read.
   * `room` is that of the whole answer.
   */
  plan(op: RangeOp, at: Revision, pinned: Revision, room: AnswerRoom, slice: Slice): SlicedWork<Plan>;
}

/** Values that a decision needs before it can be taken: those of VALUE compares and of puts that keep the value. */
export interface KnownValues {
  /** The value of the version at this position. Asserts when it was not loaded: see `valueNeeds` and `Deciding`. */
  value(position: LogPosition): Uint8Array;
}

/**
 * A decision in slices. It yields undefined where its slice is used up; or the positions of values that `KnownValues`
 * must have when it is resumed. `kept`: until it has ended; otherwise until it asks for others.
 */
export type Deciding<Result> = Generator<NeededNow | undefined, Result, undefined>;

export interface NeededNow {
  readonly positions: readonly LogPosition[];
  readonly kept: boolean;
}
