import type { Logger } from '@engram/core';
import { MAX_TIMESTAMP, TIMESTAMPS_MAX, type Timestamp } from '@engram/tso';
import { RegionAdmin } from './admin/region-admin.ts';
import { apiV1 } from './codec/key-codec.ts';
import { Engine } from './engine.ts';
import { TikvError } from './errors.ts';
import { GcWorker } from './gc/gc-worker.ts';
import { SafePoint } from './gc/safe-point.ts';
import { noObserver } from './observer.ts';
import { defaultSettings, type Settings, type TikvClientOptions } from './options.ts';
import { PdClient } from './pd/pd-client.ts';
import { RegionCalls } from './region/region-calls.ts';
import { RegionLocator } from './region/region-locator.ts';
import { RegionSender } from './region/region-sender.ts';
import { StorePool } from './region/store-pool.ts';
import { BackgroundTasks } from './runtime/background-tasks.ts';
import { Call, type CallOptions } from './runtime/call.ts';
import { systemClock, systemRandom } from './runtime/system.ts';
import { GrpcTransport } from './transport/grpc-transport.ts';
import { LockResolver } from './txn/lock-resolver.ts';
import { Snapshot, type SnapshotOptions } from './txn/snapshot.ts';
import { StatusCache } from './txn/status-cache.ts';
import { Transaction } from './txn/transaction.ts';

const WRITE_BATCH_MAX = 6 << 20;

export interface ClientStatus {
  readonly clusterId: bigint;
  readonly pdLeader: string | undefined;
  readonly cachedRegions: number;
  readonly backgroundTasks: number;
}

/** A client of one TiKV cluster. Callers share it. Close it after the last call. */
export class TikvClient implements AsyncDisposable {
  readonly #engine: Engine;
  readonly #newest: Snapshot;
  readonly #closer: AbortController;
  readonly admin: RegionAdmin;
  readonly gc: GcWorker;

  private constructor(engine: Engine, closer: AbortController) {
    this.#engine = engine;
    this.#closer = closer;
    this.#newest = new Snapshot(engine, MAX_TIMESTAMP);
    this.admin = new RegionAdmin(engine);
    this.gc = new GcWorker(engine);
  }

  /** Finds PD's leader and the cluster. Rejects with `pd-unreachable`, `cluster-mismatch`, `tls-failed`, `invalid-argument`. */
  static async connect(options: TikvClientOptions & CallOptions): Promise<TikvClient> {
    const settings = settingsOf(options);
    const clock = options.clock ?? systemClock;
    const random = options.random ?? systemRandom;
    const observer = options.observer ?? noObserver;
    const codec = options.codec ?? apiV1;
    const logger: Logger | undefined = options.logger;
    const transport = options.transport ?? new GrpcTransport(options.tls);
    const secure = options.tls !== undefined || options.pdAddresses.some((address) => address.startsWith('https:'));
    const closer = new AbortController();
    const end = (error: TikvError): void => {
      logger?.error({ error: error.message }, 'the TiKV client stops');
      closer.abort(error);
    };
    const pd = new PdClient({
      transport,
      clock,
      random,
      observer,
      logger,
      seeds: options.pdAddresses,
      secure,
      clusterId: options.clusterId,
      timeoutMs: settings.pdTimeoutMs,
      budgetMs: settings.backoffBudgetMs,
      closing: closer.signal,
      onFatal: end,
    });
    try {
      await pd.members.start(Call.from(clock, settings.callTimeoutMs, options, closer.signal));
    } catch (error) {
      pd.close();
      throw error;
    }
    const stores = new StorePool(pd, { transport, secure, clock, observer });
    const locator = new RegionLocator(pd, codec, observer, settings.regionIdleMs);
    const context = {
      apiVersion: codec.apiVersion,
      keyspaceId: codec.keyspaceId,
      requestSource: settings.requestSource,
      maxExecutionDurationMs: Math.ceil(settings.requestTimeoutMs),
    };
    const sender = new RegionSender(locator, stores, {
      random,
      observer,
      requestTimeoutMs: settings.requestTimeoutMs,
      context,
    });
    const background = new BackgroundTasks(logger);
    const parts = {
      clock,
      random,
      observer,
      logger,
      settings,
      codec,
      pd,
      stores,
      locator,
      sender,
      background,
      closing: closer.signal,
    };
    const statuses = new StatusCache();
    const resolver = new LockResolver(new RegionCalls(parts), statuses);
    const safePoint = new SafePoint(parts);
    return new TikvClient(new Engine({ ...parts, statuses, resolver, safePoint }), closer);
  }

  /** A new timestamp, above all that PD has allocated to any client before the call. */
  timestamp(options?: CallOptions): Promise<Timestamp> {
    return settle(() => this.#engine.pd.oracle.next(this.#engine.call(options)));
  }

  /**
   * `count` timestamps by one request to PD, lowest first. No other caller gets them, so they may serve as start timestamps for
   * `beginAt`. At most 20,000. Rejects with `invalid-argument` for another count.
   */
  async timestamps(count: number, options?: CallOptions): Promise<readonly Timestamp[]> {
    const first = await this.timestampRun(count, options);
    return Array.from({ length: count }, (_, at) => first + BigInt(at));
  }

  /** As `timestamps`, without an array: returns the first of `count` consecutive timestamps. */
  async timestampRun(count: number, options?: CallOptions): Promise<Timestamp> {
    if (!Number.isInteger(count) || count < 1 || count > TIMESTAMPS_MAX)
      throw new TikvError('invalid-argument', `count ${count} is not in 1..${TIMESTAMPS_MAX}`);
    return await this.#engine.pd.oracle.first(count, this.#engine.call(options));
  }

  /** A snapshot of the current state, with every commit that was acknowledged before the call. */
  async snapshot(options: SnapshotOptions & CallOptions = {}): Promise<Snapshot> {
    return new Snapshot(this.#engine, await this.timestamp(options), options);
  }

  /**
   * A snapshot at `timestamp`, which must not lie above the newest that PD has allocated, nor below the safe point. Otherwise its
   * reads reject with `future-timestamp` or `gc-too-early`.
   */
  snapshotAt(timestamp: Timestamp, options: SnapshotOptions = {}): Snapshot {
    if (timestamp <= 0n || timestamp > MAX_TIMESTAMP) throw new TikvError('invalid-argument', `timestamp ${timestamp}`);
    return new Snapshot(this.#engine, timestamp, options);
  }

  /** The newest committed value of one key, without asking PD for a timestamp. As fresh as a new snapshot. */
  get(key: Uint8Array, options?: CallOptions): Promise<Uint8Array | undefined> {
    return this.#newest.get(key, options);
  }

  /** Starts a transaction. The time to live of its locks counts from this call, so commit soon. */
  async begin(options: SnapshotOptions & CallOptions = {}): Promise<Transaction> {
    return new Transaction(this.#engine, await this.timestamp(options), options);
  }

  /**
   * Starts a transaction that reads at `timestamp` and conflicts with all later commits. PD must have allocated `timestamp`, and no
   * other transaction may use it. It may be old, but not below the safe point, and not more than a day old at the commit. Calls
   * with a timestamp from the future reject with `future-timestamp` before anything is sent.
   */
  beginAt(timestamp: Timestamp, options: SnapshotOptions = {}): Transaction {
    return new Transaction(this.#engine, timestamp, options);
  }

  /** Fires when the client can never serve again. Its reason is the TikvError of every later call: `closed`, or what ended the client. */
  get ended(): AbortSignal {
    return this.#closer.signal;
  }

  get status(): ClientStatus {
    const { pd, locator, background } = this.#engine;
    return {
      clusterId: pd.members.clusterId,
      pdLeader: pd.members.leaderAddress,
      cachedRegions: locator.cache.size,
      backgroundTasks: background.size,
    };
  }

  /** Waits for the background tasks: commits of secondaries, rollbacks, locks resolved for readers. */
  async idle(options?: CallOptions): Promise<void> {
    await this.#engine.call(options).wait(this.#engine.background.idle());
  }

  /**
   * Calls under way fail with `closed`, and no timer, stream or socket is left. Background tasks get `graceMs` to end. Locks
   * that they leave are resolved by other clients. May be called again.
   */
  async close(graceMs = 1_000): Promise<void> {
    const { background, stores, pd, clock } = this.#engine;
    if (!this.#closer.signal.aborted && background.size > 0 && graceMs > 0) {
      const grace = new Call(clock, clock.nowMs() + graceMs, undefined);
      await grace.wait(background.idle()).catch(() => {});
    }
    if (!this.#closer.signal.aborted) this.#closer.abort(new TikvError('closed'));
    stores.close();
    pd.close();
    await background.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Turns an error that `start` throws synchronously into a rejection. */
const settle = async <T>(start: () => Promise<T>): Promise<T> => start();

function settingsOf(options: TikvClientOptions): Settings {
  const settings: Record<string, unknown> = { ...defaultSettings };
  for (const name of Object.keys(defaultSettings) as (keyof Settings)[]) {
    const given = options[name];
    if (given === undefined) continue;
    if (typeof given === 'number' && !(given > 0 && Number.isFinite(given)))
      throw new TikvError('invalid-argument', `${name} ${given}`);
    settings[name] = given;
  }
  const merged = settings as unknown as Settings;
  if (merged.writeBatchBytes > WRITE_BATCH_MAX)
    throw new TikvError('invalid-argument', `writeBatchBytes ${merged.writeBatchBytes} > ${WRITE_BATCH_MAX}`);
  return merged;
}
