import type { LeaseId } from './lease-id.ts';
import type { LogPosition } from './log-position.ts';
import type { Revision } from './revision.ts';

// The numbers of mvccpb.Event.EventType.
export const EVENT_PUT = 0;
export const EVENT_DELETE = 1;
export type EventType = typeof EVENT_PUT | typeof EVENT_DELETE;

/**
 * One change of one key. A key changes at most once in a revision: etcd refuses transactions that would change it
 * twice.
 */
export interface KvEvent {
  readonly type: EventType;
  readonly key: Uint8Array;
  readonly modRevision: Revision;
  /** The order of the change within its revision, from 0. */
  readonly sub: number;
  /** 0 for a deletion, as are `version` and `lease`. */
  readonly createRevision: Revision;
  readonly version: number;
  readonly lease: LeaseId;
  /**
   * The encoded mvccpb.KeyValue that clients get. For a deletion it has key and mod_revision only. Shared: must not be
   * changed.
   */
  readonly kv: Uint8Array;
  /** The position of the change in the log. */
  readonly position: LogPosition;
  /** The position of the live version that this change supersedes; undefined for a creation. */
  readonly prevPosition: LogPosition | undefined;
  /** The superseded version's revision; 0 for a creation. */
  readonly prevModRevision: Revision;
  /** The lease of the superseded version, from which this change detaches the key; NO_LEASE if there was none. */
  readonly prevLease: LeaseId;
  /**
   * The superseded version, encoded, if a watcher wants it. Undefined if no watcher does, if the change is a creation,
   * or if the version was compacted. Set at most once, before the event is published.
   */
  prevKv: Uint8Array | undefined;
}

/** The events of one revision, in the order of `sub`. They arrive together or not at all. All watchers share them. */
export interface EventGroup {
  readonly revision: Revision;
  readonly events: readonly KvEvent[];
}

/** What one commit made durable: groups in revision order, without a gap to the batch before. */
export interface CommittedBatch {
  readonly groups: readonly EventGroup[];
  /** The store's revision after the batch. Unchanged by a batch without events. */
  readonly revision: Revision;
}
