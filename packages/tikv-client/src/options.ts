import type { Clock, Logger, Random } from '@engram/core';
import type { KeyCodec } from './codec/key-codec.ts';
import type { Observer } from './observer.ts';
import type { TlsOptions } from './transport/tls.ts';
import type { Transport } from './transport/transport.ts';

/** All durations in milliseconds, all sizes in bytes. */
export interface TikvClientOptions {
  /** PD members: `host:port` or URLs. It is enough if one answers. All must belong to one cluster. */
  readonly pdAddresses: readonly string[];
  /** If given, any other cluster is refused. */
  readonly clusterId?: bigint | undefined;
  readonly tls?: TlsOptions | undefined;
  /** The timeout of a call that names none. */
  readonly callTimeoutMs?: number | undefined;
  /** Timeout of one request to a store. A lost answer is noticed after this time. */
  readonly requestTimeoutMs?: number | undefined;
  /** Timeout of one request to PD, and of one timestamp request. */
  readonly pdTimeoutMs?: number | undefined;
  /** Maximal sum of the sleeps of one operation. The call's deadline also applies. */
  readonly backoffBudgetMs?: number | undefined;
  /** The same for work that outlives its call: commits of secondaries, rollbacks, locks resolved for readers. */
  readonly backgroundBudgetMs?: number | undefined;
  readonly keyBytesMax?: number | undefined;
  readonly valueBytesMax?: number | undefined;
  readonly transactionBytesMax?: number | undefined;
  /**
   * Maximal bytes that one prewrite request, and so a one-phase commit, makes a store write: values, keys (a little over
   * twice), and for each mutation the primary key and 128 bytes. At most 6 MiB, because an entry of TiKV's Raft log has at
   * most 8 MiB. A single larger write is sent alone.
   */
  readonly writeBatchBytes?: number | undefined;
  /** Maximal requests of one operation (scan, batch get, commit) that are under way at a time. */
  readonly concurrency?: number | undefined;
  /** How long a lock of this client lives without a heartbeat. TiKV measures it by PD's clock. */
  readonly lockTtlMs?: number | undefined;
  /** A cached region that was not used for this long is dropped. */
  readonly regionIdleMs?: number | undefined;
  /** Reads ask PD again when the cached safe point is older than this. */
  readonly safePointMaxAgeMs?: number | undefined;
  /** The source of requests in TiKV's metrics. */
  readonly requestSource?: string | undefined;
  readonly codec?: KeyCodec | undefined;
  readonly observer?: Observer | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** For tests and tunnels. The default is gRPC over sockets. */
  readonly transport?: Transport | undefined;
}

/** The limits and durations in force: options with the defaults filled in. */
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
