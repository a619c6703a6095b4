import type { Clock, Logger, SharedBudget } from '@engram/core';
import type { Store } from '@engram/backend';
import type { Cluster } from './cluster-view.ts';
import type { HealthStatus } from './health-status.ts';

export interface Limits {
  /** A write's request above it is refused (etcd: --max-request-bytes). */
  readonly maxRequestBytes: number;
  /** Compares, or operations of a branch, in a transaction (etcd: --max-txn-ops). */
  readonly maxTxnOps: number;
  /**
   * What a stream may have queued for a client that does not read. A watcher beyond it is sent the rest from history
   * once there is room; a client that goes on asking without reading is cut at four times as much.
   */
  readonly streamQueueBytesMax: number;
  /** A client that takes nothing of a streamed answer (RangeStream, Snapshot) for so long is cut. */
  readonly stallMsMax: number;
  /** A stream that asks for a leader ends after three times as long without one (etcd: --election-timeout). */
  readonly electionTimeoutMs: number;
}

export const defaultLimits: Limits = {
  maxRequestBytes: 1.5 * 1024 * 1024,
  maxTxnOps: 128,
  streamQueueBytesMax: 2 * 1024 * 1024,
  stallMsMax: 60_000,
  electionTimeoutMs: 1000,
};

/** Told of each call of clients that name one version; called synchronously, must not throw. */
export interface ClientObserver {
  request(): void;
}

/** Hooks for metrics; called synchronously, must not throw. */
export interface ServicesObserver {
  /** etcd_server_client_requests_total; `version` is what the client calls its API, or "unknown". Asked once for each head. */
  client?(type: 'unary' | 'stream', version: string): ClientObserver | undefined;
  /** etcd_debugging_mvcc_events_total: so many events were sent to a watcher. */
  eventsSent?(count: number): void;
}

export interface ServicesOptions {
  readonly store: Store;
  readonly cluster: Cluster;
  /** What this server says it is: `major.minor.patch`. The cluster's and the storage's version follow from it. */
  readonly version: string;
  readonly limits?: Partial<Limits>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer?: ServicesObserver;
  /** What the watchers of all clients may take of memory. Without one they are not bounded. */
  readonly watcherBytes?: SharedBudget;
  /** Without one the node is always healthy. */
  readonly health?: HealthStatus;
}
