import type { Logger } from '@engram/core';
import { RegionAdmin } from './admin/region-admin.ts';
import { apiV1 } from './codec/key-codec.ts';
import { MAX_TIMESTAMP, type Timestamp } from './codec/timestamp.ts';
import { Engine } from './engine.ts';
import { TikvError } from './errors.ts';
import { GcWorker } from './gc/gc-worker.ts';
import { SafePoint } from './gc/safe-point.ts';
import { noObserver } from './observer.ts';
import { defaultSettings, type Settings, type TikvClientOptions } from './options.ts';
import { PdClient } from './pd/pd-client.ts';
import { TIMESTAMPS_MAX } from './pd/timestamp-oracle.ts';
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

/** One cluster of TiKV. Shared by all who use it; close it when they are done. */
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
    const engine = new Engine({
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
      statuses: new StatusCache(),
      closing: closer.signal,
    });
    engine.resolver = new LockResolver(engine);
    engine.safePoint = new SafePoint(engine);
    return new TikvClient(engine, closer);
  }

  /** A new timestamp: above all that anybody in the cluster got before the call. */
  timestamp(options?: CallOptions): Promise<Timestamp> {
    return settle(() => this.#engine.pd.oracle.next(this.#engine.call(options)));
  }

  /**
   * `count` timestamps with one question to PD, lowest first, each the caller's alone: start timestamps for `beginAt`, fetched
   * ahead. At most 20,000. Rejects with `invalid-argument` for another count.
   */
  async timestamps(count: number, options?: CallOptions): Promise<readonly Timestamp[]> {
    const first = await this.timestampRun(count, options);
    return Array.from({ length: count }, (_, at) => first + BigInt(at));
  }

  /** As `timestamps`, for many: the first of `count` that follow one another. */
  async timestampRun(count: number, options?: CallOptions): Promise<Timestamp> {
    if (!Number.isInteger(count) || count < 1 || count > TIMESTAMPS_MAX)
      throw new TikvError('invalid-argument', `count ${count} is not in 1..${TIMESTAMPS_MAX}`);
    return await this.#engine.pd.oracle.first(count, this.#engine.call(options));
  }

  /** The state now: sees every commit that was acknowledged before the call. */
  async snapshot(options: SnapshotOptions & CallOptions = {}): Promise<Snapshot> {
    return new Snapshot(this.#engine, await this.timestamp(options), options);
  }

  /**
   * The state at a timestamp that PD has dealt, or an earlier one, not below the safe point; else its reads reject with
   * `future-timestamp` or `gc-too-early`.
   */
  snapshotAt(timestamp: Timestamp, options: SnapshotOptions = {}): Snapshot {
    if (timestamp <= 0n || timestamp > MAX_TIMESTAMP) throw new TikvError('invalid-argument', `timestamp ${timestamp}`);
    return new Snapshot(this.#engine, timestamp, options);
  }

  /** The newest committed value of one key, without asking PD for a timestamp. As fresh as a new snapshot. */
  get(key: Uint8Array, options?: CallOptions): Promise<Uint8Array | undefined> {
    return this.#newest.get(key, options);
  }

  /** Starts a transaction now. Its locks' time to live counts from here, so commit soon. */
  async begin(options: SnapshotOptions & CallOptions = {}): Promise<Transaction> {
    return new Transaction(this.#engine, await this.timestamp(options), options);
  }

  /**
   * Starts a transaction that reads at, and conflicts with all that was committed after, a timestamp that PD has dealt and that
   * names no other transaction. It may be old, but must lie above the safe point; after a day no commit takes it. One from the future
   * rejects with `future-timestamp`, before anything is sent.
   */
  beginAt(timestamp: Timestamp, options: SnapshotOptions = {}): Transaction {
    return new Transaction(this.#engine, timestamp, options);
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

  /** Waits for what goes on behind acknowledged calls: commits of secondaries, rollbacks, locks resolved for readers. */
  async idle(options?: CallOptions): Promise<void> {
    await this.#engine.call(options).wait(this.#engine.background.idle());
  }

  /**
   * Everything under way fails with `closed`, and no timer, stream or socket is left. Background work gets `graceMs` to
   * end; what it leaves, others resolve. May be called again.
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

/** What a call throws before it waits comes as a rejection, like all else. */
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
