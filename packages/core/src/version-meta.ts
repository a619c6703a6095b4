import type { LeaseId } from './lease-id.ts';
import type { LogPosition } from './log-position.ts';
import type { Revision } from './revision.ts';

/** All that is known about one version of a key besides the key and its bytes. */
export interface VersionMeta {
  /** 0 for a tombstone, as in etcd. */
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** The order of the change within its revision, 0 <= sub < 2^31. */
  readonly sub: number;
  /** Puts since the creation, from 1; 0 for a tombstone. */
  readonly version: number;
  /** NO_LEASE for a tombstone. */
  readonly lease: LeaseId;
  readonly tombstone: boolean;
  /** The log position that finds the version's bytes. */
  readonly position: LogPosition;
  /** Length of the encoded mvccpb.KeyValue, 0 <= bytes < 2^32. */
  readonly bytes: number;
}
