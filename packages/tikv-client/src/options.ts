import type { Clock, Logger, Random } from '@engram/core';
import type { KeyCodec } from './codec/key-codec.ts';
import type { Observer } from './observer.ts';
import type { TlsOptions } from './transport/tls.ts';
import type { Transport } from './transport/transport.ts';

/** All durations in milliseconds, all sizes in bytes. */
export interface TikvClientOptions {
  /** PD members: `host:port` or URLs. One that answers is enough; all must belong to one cluster. */
  readonly pdAddresses: readonly string[];
  /** If given, any other cluster is refused. */
  readonly clusterId?: bigint | undefined;
  readonly tls?: TlsOptions | undefined;
  /** The patience of a call that names no timeout of its own. */
  readonly callTimeoutMs?: number | undefined;
  /** One request to a store; a lost answer is noticed after this. */
  readonly requestTimeoutMs?: number | undefined;
  /** One request to PD, and one timestamp request. */
  readonly pdTimeoutMs?: number | undefined;
  /** Sum of the sleeps that one operation may spend waiting for the cluster, besides the call's deadline. */
  readonly backoffBudgetMs?: number | undefined;
  /** The same for what runs after the caller has its answer: commits of secondaries, rollbacks, resolving for readers. */
  readonly backgroundBudgetMs?: number | undefined;
  readonly keyBytesMax?: number | undefined;
  readonly valueBytesMax?: number | undefined;
  readonly transactionBytesMax?: number | undefined;
  /**
   * What one prewrite request makes a store write at most, and so a one-phase commit: values, keys (a little over twice), and
   * for each mutation the primary key and 128 bytes. At most 6 MiB, since an entry of TiKV's Raft log ends at 8 MiB. A larger
   * single write goes alone.
   */
  readonly writeBatchBytes?: number | undefined;
  /** Requests of one operation (scan, batch get, commit) that are under way at a time. */
  readonly concurrency?: number | undefined;
  /** How long a lock of ours lives without a heartbeat; TiKV judges it by PD's clock. */
  readonly lockTtlMs?: number | undefined;
  /** How long a cached region is used without being asked for. */
  readonly regionIdleMs?: number | undefined;
  /** How old the cached safe point may be before reads ask PD again. */
  readonly safePointMaxAgeMs?: number | undefined;
  /** Shows up in TiKV's metrics as the source of requests. */
  readonly requestSource?: string | undefined;
  readonly codec?: KeyCodec | undefined;
  readonly observer?: Observer | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** For tests and tunnels; the default speaks gRPC over sockets. */
  readonly transport?: Transport | undefined;
}

/** The limits and durations in force, all set. */
export interface Settings {
  readonly callTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly pdTimeoutMs: number;
  readonly backoffBudgetMs: number;
  readonly backgroundBudgetMs: number;
  readonly keyBytesMax: number;
  readonly valueBytesMax: number;
  readonly transactionBytesMax: number;
  readonly writeBatchBytes: number;
  readonly concurrency: number;
  readonly lockTtlMs: number;
  readonly regionIdleMs: number;
  readonly safePointMaxAgeMs: number;
  readonly requestSource: string;
}

export const defaultSettings: Settings = {
  callTimeoutMs: 30_000,
  requestTimeoutMs: 5_000,
  pdTimeoutMs: 3_000,
  backoffBudgetMs: 40_000,
  backgroundBudgetMs: 40_000,
  keyBytesMax: 4 << 10,
  valueBytesMax: 6 << 20,
  transactionBytesMax: 100 << 20,
  writeBatchBytes: 4 << 20,
  concurrency: 16,
  lockTtlMs: 3_000,
  regionIdleMs: 600_000,
  safePointMaxAgeMs: 10_000,
  requestSource: 'external_engram',
};
