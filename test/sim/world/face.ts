import { type Backend, type BackendSettings, type Caller, type LeadershipEnd, openReplica } from '@engram/backend';
import { type Clock, epoch, leaseId, type Logger, type Random, revision } from '@engram/core';
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

/** The settings that belong to the store. */
export function storeSettings(settings: Settings): BackendSettings {
  return {
    quotaBytes: settings.quotaBytes,
    cacheBytesMax: settings.cacheBytesMax,
    batchBytesMax: settings.batchBytesMax,
    waitingBytesMax: settings.waitingBytesMax,
    requestTimeoutMs: settings.requestTimeoutMs,
    watchProgressIntervalMs: settings.watchProgressIntervalMs,
    checkpointEveryBytes: settings.checkpointEveryBytes,
    imageHoldMaxMs: settings.imageHoldMaxMs,
    sliceMax: settings.sliceMax,
  };
}

const caller = (signal: AbortSignal): Caller => ({ signal, user: '', authRevision: 0, timeoutMs: undefined });

/** The store that is simulated, as clients use it. */
export class Face {
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Opens a store that has read its log and does not lead. */
  static async open({ settings, onCompacted, ...options }: FaceOptions): Promise<Face> {
    const backend = await openReplica({
      ...options,
      memberId: MEMBER_ID,
      observer: { compacted: onCompacted },
      ...storeSettings(settings),
    });
    return new Face(backend);
  }

  lead(wanted: number): Promise<void> {
    return this.#backend.lead(epoch(wanted));
  }

  stepDown(): Promise<void> {
    return this.#backend.stepDown();
  }

  get leads(): boolean {
    return this.#backend.leadership !== undefined;
  }

  get revision(): number {
    return this.#backend.revision;
  }

  /** Everything in the log before this position has taken effect in this store. */
  get applied(): number {
    return this.#backend.replica.applied;
  }

  get compactRevision(): number {
    return this.#backend.compactRevision;
  }

  get hub(): Backend['watchHub'] {
    return this.#backend.watchHub;
  }

  txn(txn: Parameters<Backend['txn']>[0], signal: AbortSignal): ReturnType<Backend['txn']> {
    return this.#backend.txn(txn, caller(signal));
  }

  async range(
    op: Parameters<Backend['range']>[0],
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<Backend['range']>>> {
    return this.#backend.range(op, caller(signal));
  }

  rangeStream(
    op: Parameters<Backend['range']>[0],
    chunkBytes: number,
    signal: AbortSignal,
  ): ReturnType<Backend['rangeStream']> {
    return this.#backend.rangeStream(op, chunkBytes, caller(signal));
  }

  compact(wanted: number, physical: boolean, signal: AbortSignal): Promise<void> {
    return this.#backend.compact(wanted, physical, caller(signal));
  }

  leaseGrant(id: bigint, ttlSeconds: number, signal: AbortSignal): ReturnType<Backend['leaseGrant']> {
    return this.#backend.leaseGrant(leaseId(id), ttlSeconds, caller(signal));
  }

  leaseRevoke(id: bigint, signal: AbortSignal): ReturnType<Backend['leaseRevoke']> {
    return this.#backend.leaseRevoke(leaseId(id), caller(signal));
  }

  async keepAlive(id: bigint, signal: AbortSignal): Promise<number> {
    return this.#backend.leaseKeepAlive(leaseId(id), caller(signal));
  }

  timeToLive(id: bigint, withKeys: boolean, signal: AbortSignal): ReturnType<Backend['leaseTimeToLive']> {
    return this.#backend.leaseTimeToLive(leaseId(id), withKeys, caller(signal));
  }

  async leases(): Promise<readonly bigint[]> {
    return (await this.#backend.leases('by-remaining', caller(new AbortController().signal))).map(({ id }) => id);
  }

  alarms(): ReturnType<Backend['alarms']> {
    return this.#backend.alarms();
  }

  activateAlarm(alarm: number, signal: AbortSignal): Promise<void> {
    return this.#backend.activateAlarm({ memberId: MEMBER_ID, alarm }, caller(signal));
  }

  deactivateAlarm(alarm: number, signal: AbortSignal): Promise<boolean> {
    return this.#backend.deactivateAlarm({ memberId: MEMBER_ID, alarm }, caller(signal));
  }

  hashKv(wanted: number, signal: AbortSignal): ReturnType<Backend['hashKv']> {
    return this.#backend.hashKv(revision(wanted), signal);
  }

  image(signal: AbortSignal): ReturnType<Backend['image']> {
    return this.#backend.image(signal);
  }

  defragment(): Promise<void> {
    return this.#backend.defragment();
  }

  /** Pins that hold compaction back. */
  get pins(): number {
    return this.#backend.replica.pins.size;
  }

  /** Asserts that the index is consistent. */
  verify(): void {
    this.#backend.replica.state.index.verify();
  }

  /** The index's count of live keys. */
  get liveKeys(): number {
    return this.#backend.status().keys;
  }

  async dispose(): Promise<void> {
    await this.#backend[Symbol.asyncDispose]();
  }
}
