import type { AuthState } from '@engram/auth';
import {
  type Backend,
  type BackendSettings,
  type Caller,
  type LeadershipEnd,
  type NodeStats,
  openReplica,
  type RangeResult,
  type Store,
} from '@engram/backend';
import { assert, type Clock, epoch, leaseId, type Logger, type Random, revision } from '@engram/core';
import { LoneMember } from '@engram/etcd-api';
import { Loop, SeededPace } from '@engram/loop';
import type { SimProcess } from '@engram/sim';
import type { Storage } from '@engram/storage';
import type { Settings } from '../plan/settings.ts';
import type { Credential } from '../users/credentials.ts';
import { Desk, type DeskPath, type Work } from '../users/desk.ts';

export const MEMBER_ID = 1n;
const never = new AbortController().signal;
const self = { id: MEMBER_ID, name: 'node', peerUrls: [], clientUrls: [] };
const lone = new LoneMember({ clusterId: 0xc1n, member: self, term: 1 });

export interface FaceOptions {
  readonly storage: Storage;
  readonly process: SimProcess;
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
): BackendSettings & { readonly loop: Loop } {
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

/** A client of a store without users, or the node itself. */
const callerOf = (signal: AbortSignal, isNode: true | undefined): Caller => ({
  signal,
  isNode,
  user: '',
  authRevision: 0,
  timeoutMs: undefined,
});

export interface FaceParts {
  readonly store: Store;
  readonly stats: NodeStats;
  /** Undefined if a member moves the store. */
  readonly own?: Backend | undefined;
  /** Where clients with users come. Undefined: they have none. */
  readonly desk?: Desk | undefined;
  /** Who makes the calls of this face. Undefined: a client if there are no users, otherwise the node itself. */
  readonly credential?: Credential | undefined;
}

/** The store that is simulated, as clients use it. */
export class Face {
  readonly #parts: FaceParts;
  readonly #store: Store;
  readonly #stats: NodeStats;

  constructor(parts: FaceParts) {
    this.#parts = parts;
    this.#store = parts.store;
    this.#stats = parts.stats;
  }

  /** The same store for a client with this credential. */
  as(credential: Credential): Face {
    return new Face({ ...this.#parts, credential });
  }

  get desk(): Desk | undefined {
    return this.#parts.desk;
  }

  /** Opens a store that has read its log and does not lead. */
  static async open({ settings, onCompacted, ...options }: FaceOptions): Promise<Face> {
    const { process, logger } = options;
    const ofStore = storeSettings(settings, options);
    const backend = await openReplica({
      ...options,
      memberId: MEMBER_ID,
      observer: { compacted: onCompacted },
      ...ofStore,
    });
    const { users } = settings;
    const { loop } = ofStore;
    const parts = { store: backend, cluster: lone, process, loop, logger };
    const desk = users === 'none' ? undefined : new Desk({ ...parts, users });
    return new Face({ store: backend, stats: backend.stats, own: backend, desk });
  }

  /** A call of the store: of a client with users by the rules of this path. */
  #call<Answer>(path: DeskPath, signal: AbortSignal, work: Work<Answer>): Answer | Promise<Answer> {
    const { desk, credential } = this.#parts;
    if (desk === undefined || credential === undefined) {
      const isNode = desk !== undefined || this.authState.enabled;
      return work(this.#store, callerOf(signal, isNode ? true : undefined));
    }
    return desk.call(path, credential, signal, work);
  }

  lead(wanted: number): Promise<void> {
    return this.#moved.lead(epoch(wanted));
  }

  stepDown(): Promise<void> {
    return this.#moved.stepDown();
  }

  get #moved(): Backend {
    const { own } = this.#parts;
    assert(own !== undefined, 'a member moves this store');
    return own;
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

  /** Users and roles as they have taken effect. */
  get authState(): AuthState {
    return this.#store.auth.state;
  }

  async txn(txn: Parameters<Store['txn']>[0], signal: AbortSignal): ReturnType<Store['txn']> {
    return this.#call('KV/Txn', signal, (store, caller) => store.txn(txn, caller));
  }

  async range(op: Parameters<Store['range']>[0], signal: AbortSignal): Promise<Awaited<ReturnType<Store['range']>>> {
    return this.#call('KV/Range', signal, (store, caller) => store.range(op, caller));
  }

  async *rangeStream(
    op: Parameters<Store['range']>[0],
    chunkBytes: number,
    signal: AbortSignal,
  ): ReturnType<Store['rangeStream']> & AsyncGenerator<RangeResult> {
    yield* await this.#call('KV/RangeStream', signal, (store, caller) => ({
      [Symbol.asyncIterator]: () => store.rangeStream(op, chunkBytes, caller)[Symbol.asyncIterator](),
    }));
  }

  async compact(wanted: number, physical: boolean, signal: AbortSignal): Promise<void> {
    return this.#call('KV/Compact', signal, (store, caller) => store.compact(wanted, physical, caller));
  }

  async leaseGrant(id: bigint, ttlSeconds: number, signal: AbortSignal): ReturnType<Store['leaseGrant']> {
    return this.#call('Lease/LeaseGrant', signal, (store, caller) => store.leaseGrant(leaseId(id), ttlSeconds, caller));
  }

  async leaseRevoke(id: bigint, signal: AbortSignal): ReturnType<Store['leaseRevoke']> {
    return this.#call('Lease/LeaseRevoke', signal, (store, caller) => store.leaseRevoke(leaseId(id), caller));
  }

  async keepAlive(id: bigint, signal: AbortSignal): Promise<number> {
    return this.#call('Lease/LeaseKeepAlive', signal, (store, caller) => store.leaseKeepAlive(leaseId(id), caller));
  }

  async timeToLive(id: bigint, withKeys: boolean, signal: AbortSignal): ReturnType<Store['leaseTimeToLive']> {
    return this.#call('Lease/LeaseTimeToLive', signal, (store, caller) =>
      store.leaseTimeToLive(leaseId(id), withKeys, caller),
    );
  }

  async leases(): Promise<readonly bigint[]> {
    const list = await this.#call('Lease/LeaseLeases', never, (store, caller) => store.leases('by-remaining', caller));
    return list.map(({ id }) => id);
  }

  alarms(): ReturnType<Store['alarms']> {
    return this.#store.alarms();
  }

  async activateAlarm(alarm: number, signal: AbortSignal): Promise<void> {
    return this.#call('Maintenance/Alarm', signal, (store, caller) =>
      store.activateAlarm({ memberId: MEMBER_ID, alarm }, caller),
    );
  }

  async deactivateAlarm(alarm: number, signal: AbortSignal): Promise<boolean> {
    return this.#call('Maintenance/Alarm', signal, (store, caller) =>
      store.deactivateAlarm({ memberId: MEMBER_ID, alarm }, caller),
    );
  }

  async hashKv(wanted: number, signal: AbortSignal): ReturnType<Store['hashKv']> {
    return this.#call('Maintenance/HashKV', signal, (store) => store.hashKv(revision(wanted), signal));
  }

  async image(signal: AbortSignal): ReturnType<Store['image']> {
    return this.#call('Maintenance/Snapshot', signal, (store) => store.image(signal));
  }

  async defragment(): Promise<void> {
    return this.#call('Maintenance/Defragment', never, (store) => store.defragment());
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
