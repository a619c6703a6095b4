import type { LeaseId, LogPosition, Revision } from '@engram/core';

/**
 * Handle of one version: a small non-negative integer. Valid until the version is dropped (compacted or undone); after
 * that the same number may come to mean another version.
 */
export type VersionSlot = number;

/** "No such version." */
export const NO_VERSION = -1;

/** All that the index knows of one version besides its key. */
export interface VersionMeta {
  /** 0 for a tombstone, as etcd has it. */
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** The order of the change within its revision, 0 <= sub < 2^31. */
  readonly sub: number;
  /** Puts since the creation, from 1; 0 for a tombstone. */
  readonly version: number;
  /** NO_LEASE for a tombstone. */
  readonly lease: LeaseId;
  readonly tombstone: boolean;
  /** Where the version's bytes are found. */
  readonly position: LogPosition;
  /** Length of the encoded mvccpb.KeyValue, 0 <= bytes < 2^32. */
  readonly bytes: number;
}
