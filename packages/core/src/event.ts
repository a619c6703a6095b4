import type { LeaseId } from './lease-id.ts';
import type { LogPosition } from './log-position.ts';
import type { Revision } from './revision.ts';

/** The numbers of mvccpb.Event.EventType. */
export const EVENT_PUT = 0;
export const EVENT_DELETE = 1;
export type EventType = typeof EVENT_PUT | typeof EVENT_DELETE;

/** One change of one key. A key changes at most once in a revision (etcd refuses transactions that would). */
export interface KvEvent {
  readonly type: EventType;
  readonly key: Uint8Array;
  readonly modRevision: Revision;
  /** The order of the change within its revision, from 0. */
  readonly sub: number;
  /** 0 for a deletion, as `version` and `lease` are. */
  readonly createRevision: Revision;
  readonly version: number;
  readonly lease: LeaseId;
  /** The encoded mvccpb.KeyValue that a client gets; for a deletion only key and mod_revision. Shared: never changed. */
  readonly kv: Uint8Array;
  /** Where the change lies in the log. */
  readonly position: LogPosition;
  /** Where the live version that it supersedes lies; undefined for a creation. */
  readonly prevPosition: LogPosition | undefined;
  /** The superseded version's revision; 0 for a creation. */
  readonly prevModRevision: Revision;
  /** The superseded version's lease, from which this change takes the key away; NO_LEASE where there is none to tell. */
  readonly prevLease: LeaseId;
  /**
   * The superseded version as an encoded mvccpb.KeyValue, once somebody has asked for it. Undefined: not asked for,
   * not there (a creation), or compacted away. Set at most once, before the event is published.
   */
  prevKv: Uint8Array | undefined;
}

/** The events of one revision, in the order of `sub`: what arrives whole or not at all. Watchers share it. */
export interface EventGroup {
  readonly revision: Revision;
  readonly events: readonly KvEvent[];
}

/** What one commit made durable: groups in revision order, consecutive with the batch before. */
export interface CommittedBatch {
  readonly groups: readonly EventGroup[];
  /** The store's revision after it; that of the last group, or the one before when the batch holds no event. */
  readonly revision: Revision;
}
