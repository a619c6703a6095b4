import {
  type Backend,
  type BackendSettings,
  type Caller,
  type LeadershipEnd,
  type NodeStats,
  openReplica,
  type Store,
} from '@engram/backend';
import { assert, type Clock, epoch, leaseId, type Logger, type Random, revision } from '@engram/core';
import { Loop, SeededPace } from '@engram/loop';
import type { Storage } from '@engram/storage';
import type { Settings } from '../plan/settings.ts';

export const MEMBER_ID = 1n;

export interface FaceOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: Settings;
  readonly onDeposed: (end: LeadershipEnd) => void;
  readonly onFatal: (error: Error) => void;
  /** Called when the work of a compaction is complete. */
  readonly onCompacted: (compactRevision: number) => void;
}

/** The settings that belong to the store. Its long work is cut where the seed says. */
export function storeSettings(
  settings: Settings,
  { clock, random }: Pick<FaceOptions, 'clock' | 'random'>,
): BackendSettings {
  return {
    quotaBytes: settings.quotaBytes,
    cacheBytesMax: settings.cacheBytesMax,
    batchBytesMax: settings.batchBytesMax,
    waitingBytesMax: settings.waitingBytesMax,
    requestTimeoutMs: settings.requestTimeoutMs,
    watchProgressIntervalMs: settings.watchProgressIntervalMs,
    checkpointEveryBytes: settings.checkpointEveryBytes,
    imageHoldMaxMs: settings.imageHoldMaxMs,
    sharingChangesMax: settings.sharingChangesMax,
    loop: new Loop({ clock, pace: new SeededPace(random) }),
  };
}

const caller = (signal: AbortSignal): Caller => ({ signal, user: '', authRevision: 0, timeoutMs: undefined });

/** The store that is simulated, as clients use it. */
export class Face {
  readonly #store: Store;
  readonly #stats: NodeStats;
  /** Undefined if a member moves the store. */
  readonly #own: Backend | undefined;

  constructor(store: Store, stats: NodeStats, own?: Backend) {
    this.#store = store;
    this.#stats = stats;
    this.#own = own;
  }

  /** Opens a store that has read its log and does not lead. */
  static async open({ settings, onCompacted, ...options }: FaceOptions): Promise<Face> {
    const backend = await openReplica({
      ...options,
      memberId: MEMBER_ID,
      observer: { compacted: onCompacted },
      ...storeSettings(settings, options),
    });
    return new Face(backend, backend.stats, backend);
  }

  lead(wanted: number): Promise<void> {
    return this.#moved.lead(epoch(wanted));
  }

  stepDown(): Promise<void> {
    return this.#moved.stepDown();
  }

  get #moved(): Backend {
    assert(this.#own !== undefined, 'a member moves this store');
    return this.#own;
  }

  get leads(): boolean {
    return this.#stats.leadsIn !== undefined;
  }

  get revision(): number {
    return this.#store.revision;
  }

  /** Everything in the log before this position has taken effect in this store. */
  get applied(): number {
    return this.#stats.applied;
  }

  get compactRevision(): number {
    return this.#store.compactRevision;
  }

  get hub(): Store['watchHub'] {
    return this.#store.watchHub;
  }

  txn(txn: Parameters<Store['txn']>[0], signal: AbortSignal): ReturnType<Store['txn']> {
    return this.#store.txn(txn, caller(signal));
  }

  async range(op: Parameters<Store['range']>[0], signal: AbortSignal): Promise<Awaited<ReturnType<Store['range']>>> {
    return this.#store.range(op, caller(signal));
  }

  rangeStream(
    op: Parameters<Store['range']>[0],
    chunkBytes: number,
    signal: AbortSignal,
  ): ReturnType<Store['rangeStream']> {
    return this.#store.rangeStream(op, chunkBytes, caller(signal));
  }

  compact(wanted: number, physical: boolean, signal: AbortSignal): Promise<void> {
    return this.#store.compact(wanted, physical, caller(signal));
  }

  leaseGrant(id: bigint, ttlSeconds: number, signal: AbortSignal): ReturnType<Store['leaseGrant']> {
    return this.#store.leaseGrant(leaseId(id), ttlSeconds, caller(signal));
  }

  leaseRevoke(id: bigint, signal: AbortSignal): ReturnType<Store['leaseRevoke']> {
    return this.#store.leaseRevoke(leaseId(id), caller(signal));
  }

  async keepAlive(id: bigint, signal: AbortSignal): Promise<number> {
    return this.#store.leaseKeepAlive(leaseId(id), caller(signal));
  }

  timeToLive(id: bigint, withKeys: boolean, signal: AbortSignal): ReturnType<Store['leaseTimeToLive']> {
    return this.#store.leaseTimeToLive(leaseId(id), withKeys, caller(signal));
  }

  async leases(): Promise<readonly bigint[]> {
    return (await this.#store.leases('by-remaining', caller(new AbortController().signal))).map(({ id }) => id);
  }

  alarms(): ReturnType<Store['alarms']> {
    return this.#store.alarms();
  }

  activateAlarm(alarm: number, signal: AbortSignal): Promise<void> {
    return this.#store.activateAlarm({ memberId: MEMBER_ID, alarm }, caller(signal));
  }

  deactivateAlarm(alarm: number, signal: AbortSignal): Promise<boolean> {
    return this.#store.deactivateAlarm({ memberId: MEMBER_ID, alarm }, caller(signal));
  }

  hashKv(wanted: number, signal: AbortSignal): ReturnType<Store['hashKv']> {
    return this.#store.hashKv(revision(wanted), signal);
  }

  image(signal: AbortSignal): ReturnType<Store['image']> {
    return this.#store.image(signal);
  }

  defragment(): Promise<void> {
    return this.#store.defragment();
  }

  /** Pins that hold compaction back. */
  get pins(): number {
    return this.#stats.pins;
  }

  /** Asserts that the index is consistent. */
  verify(): void {
    this.#stats.verify();
  }

  /** The index's count of live keys. */
  get liveKeys(): number {
    return this.#store.status().keys;
  }

  async dispose(): Promise<void> {
    await this.#moved[Symbol.asyncDispose]();
  }
}
