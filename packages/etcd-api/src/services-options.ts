import type { Clock, Logger, SharedBudget, Tracer } from '@engram/core';
import type { Store } from '@engram/backend';
import type { Loop } from '@engram/loop';
import type { AuthSettings } from './auth/authenticator.ts';
import type { Cluster } from './cluster-view.ts';
import type { HealthStatus } from './health-status.ts';

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

/** Counts the calls of clients that report one API version. Called synchronously; must not throw. */
export interface ClientObserver {
  request(): void;
}

/** Hooks for metrics. Called synchronously; must not throw. */
export interface ServicesObserver {
  /** etcd_server_client_requests_total. `version` is the client's API version, or "unknown". Called once for each head. */
  client?(type: 'unary' | 'stream', version: string): ClientObserver | undefined;
  /** etcd_debugging_mvcc_events_total: `count` events were sent to a watcher. */
  eventsSent?(count: number): void;
}

export interface ServicesOptions {
  readonly store: Store;
  readonly cluster: Cluster;
  /** The version that this server reports: `major.minor.patch`. The cluster's and the storage's version derive from it. */
  readonly version: string;
  readonly limits?: Partial<Limits>;
  readonly clock: Clock;
  /** The owner of the event loop's time. If undefined, the services have one of their own. */
  readonly loop?: Loop | undefined;
  readonly logger: Logger;
  readonly observer?: ServicesObserver;
  /** Records all calls; by default none. */
  readonly tracer?: Tracer | undefined;
  /** The memory that the watchers of all clients may take. Unbounded if absent. */
  readonly watcherBytes?: SharedBudget;
  /** How users log in. If absent, there are none, and none can be made. */
  readonly auth?: AuthSettings | undefined;
  /** If absent, the member is always healthy. */
  readonly health?: HealthStatus;
}
