import type { Loop } from '@engram/loop';
import type { Following } from './lead/following.ts';

/** Settings of a store; everything has a default. */
export interface BackendSettings {
  /** etcd uses ceil(1.5 election timeouts). */
  readonly minLeaseTtlSeconds?: number;
  /** No quota if 0 or less. */
  readonly quotaBytes?: number;
  /** Encoded versions kept in memory for readers and watchers. */
  readonly cacheBytesMax?: number;
  readonly batchBytesMax?: number;
  readonly waitingBytesMax?: number;
  /** etcd uses 5 s plus two election timeouts. */
  readonly requestTimeoutMs?: number;
  /** See `confirmedLately`; half of an election timeout, 500. */
  readonly confirmedWithinMs?: number;
  readonly watchProgressIntervalMs?: number;
  /** Bytes of events kept for watchers that read history, for all watchers together. */
  readonly watchBacklogBytesMax?: number;
  /**
   * Minimum bytes of log between two index checkpoints; more if the checkpoint itself is larger. By default 128 MiB, or an
   * eighth of the quota if that is less.
   */
  readonly checkpointEveryBytes?: number;
  /**
   * How long a snapshot may delay a compaction before the snapshot is ended. While a write waits for room below the quota, it is a fourth
   * of `requestTimeoutMs`, from when the write began to wait.
   */
  readonly imageHoldMaxMs?: number;
  /**
   * The most puts and deletes of one transaction: above it RequestTooLarge. A lease ends with all its keys, however
   * many.
   */
  readonly txnChangesMax?: number;
  /** The most bytes of ranges and superseded versions in the answer to one transaction: above it ResponseTooLarge. */
  readonly txnAnswerBytesMax?: number;
  /** The most leases: above it a grant is refused with TooManyRequests. */
  readonly leasesMax?: number;
  /** The most bytes that the images of several snapshots may take. One alone may take more. */
  readonly imagesBytesMax?: number;
  /** The most pages for the bytes of keys: above it a put of a new key is refused with NoSpace. Tests make it small. */
  readonly keyPagesMax?: number;
  /**
   * The most changes of writes that are appended together. One with more is appended alone, and gives way as it takes effect. Tests
   * make it small.
   */
  readonly sharingChangesMax?: number;
  /** Until it has ended, only its caller writes. Undefined: the store follows no other. */
  readonly following?: Following;
  /** The owner of the event loop's time. If undefined, the store has one of its own. */
  readonly loop?: Loop;
}
