import type { Clock, Logger, SharedBudget } from '@engram/core';
import type { NodeStore } from '@engram/backend';
import type { Loop } from '@engram/loop';
import type { AuthSettings } from './auth/authenticator.ts';
import type { Cluster } from './cluster-view.ts';
import type { HealthStatus } from './health-status.ts';
import type { ServiceCounts } from './service-counts.ts';

export interface Limits {
  /** A larger write request is refused (etcd: --max-request-bytes). */
  readonly maxRequestBytes: number;
  /** The most compares, or operations of one branch, in a transaction (etcd: --max-txn-ops). */
  readonly maxTxnOps: number;
  /**
   * Bytes that a stream may queue for a client that does not read. A watcher beyond it gets the rest from history once
   * there is room. A client that sends requests without reading is disconnected at four times as much.
   */
  readonly streamQueueBytesMax: number;
  /** The stream of a client that reads nothing of a streamed answer (RangeStream, Snapshot) for this long is ended. */
  readonly stallMsMax: number;
  /** A stream that requires a leader ends after three times this long without one (etcd: --election-timeout). */
  readonly electionTimeoutMs: number;
}

export const defaultServiceLimits: Limits = {
  maxRequestBytes: 1.5 * 1024 * 1024,
  maxTxnOps: 128,
  streamQueueBytesMax: 2 * 1024 * 1024,
  stallMsMax: 60_000,
  electionTimeoutMs: 1000,
};

export interface ServicesOptions {
  readonly store: NodeStore;
  readonly cluster: Cluster;
  /** The version that this server reports: `major.minor.patch`. The cluster's and the storage's version derive from it. */
  readonly version: string;
  readonly limits?: Partial<Limits>;
  readonly clock: Clock;
  /** The owner of the event loop's time. If undefined, the services have one of their own. */
  readonly loop?: Loop | undefined;
  readonly logger: Logger;
  /** Where the services count. By default in counts that nobody reads. */
  readonly counts?: ServiceCounts | undefined;
  /** The memory that the watchers of all clients may take. Unbounded if absent. */
  readonly watcherBytes?: SharedBudget;
  /** How users log in. If absent, there are none, and none can be made. */
  readonly auth?: AuthSettings | undefined;
  /** If absent, the member is always healthy. */
  readonly health?: HealthStatus;
}
