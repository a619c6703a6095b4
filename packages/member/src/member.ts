import { type Backend, type BackendSettings, type OnRecovery, openBackend, type StoreObserver } from '@engram/backend';
import { type Clock, epoch, type Logger, type Random, type SharedBudget } from '@engram/core';
import {
  type Cluster,
  etcdServices,
  HealthStatus,
  type Limits,
  LoneMember,
  type ServicesObserver,
} from '@engram/etcd-api';
import type { Storage } from '@engram/storage';
import type { MethodTable } from '@engram/wire';
import { type CompactionRetention, startAutoCompaction } from './auto-compaction.ts';
import { HealthChecks } from './health-checks.ts';

/** Who this member is, for the life of its data. */
export interface MemberIdentity {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
}

/** What every member is made of. */
export interface MemberOptions {
  /** The member owns it from the call on. */
  readonly storage: Storage;
  readonly identity: MemberIdentity;
  readonly settings: BackendSettings;
  readonly limits: Partial<Limits>;
  /** What this server says it is: `major.minor.patch`. */
  readonly version: string;
  readonly compaction: CompactionRetention;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly storeObserver?: StoreObserver;
  /** Told how far the start is. */
  readonly onRecovery?: OnRecovery;
  readonly servicesObserver?: ServicesObserver;
  /** What the watchers of all clients may take of memory. */
  readonly watcherBytes?: SharedBudget;
  /** The storage failed for good, or an invariant is broken: the process must end. */
  readonly onFatal: (error: Error) => void;
}

export interface LoneMemberOptions extends MemberOptions {
  /** Raised at each start: it fences the log, and clients see it as Raft's term. */
  readonly startCount: number;
}

/** A member that serves, until it is disposed: then its storage is closed. */
export class Member implements AsyncDisposable {
  readonly store: Backend;
  readonly cluster: Cluster;
  /** What a transport serves. */
  readonly methods: MethodTable;
  /** Whether the node takes calls, for those who watch it. */
  readonly serving: HealthStatus;
  readonly health: HealthChecks;
  readonly #compaction: Disposable;

  constructor(store: Backend, cluster: Cluster, serving: HealthStatus, options: MemberOptions) {
    const { clock, logger, version, limits, servicesObserver: observer, watcherBytes } = options;
    this.store = store;
    this.cluster = cluster;
    this.serving = serving;
    this.health = new HealthChecks(store, cluster, clock);
    this.methods = etcdServices({
      store,
      cluster,
      version,
      limits,
      clock,
      logger,
      ...(observer === undefined ? {} : { observer }),
      ...(watcherBytes === undefined ? {} : { watcherBytes }),
      health: serving,
    });
    this.#compaction = startAutoCompaction(options.compaction, {
      store,
      leads: () => store.leadership !== undefined,
      clock,
      logger,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.serving.set(false);
    this.#compaction[Symbol.dispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

/** A cluster of one: it leads from the start, and ends with its leadership. What fails leaves nothing open. */
export async function startLoneMember(options: LoneMemberOptions): Promise<Member> {
  const { storage, identity, startCount, clock, random, logger, storeObserver, onRecovery } = options;
  const { clusterId, memberId, name, peerUrls, clientUrls } = identity;
  const serving = new HealthStatus();
  let store: Backend;
  try {
    store = await openBackend({
      ...options.settings,
      storage,
      epoch: epoch(startCount),
      clock,
      random,
      logger,
      memberId,
      ...(storeObserver === undefined ? {} : { observer: storeObserver }),
      ...(onRecovery === undefined ? {} : { onRecovery }),
      onFatal: (error) => {
        serving.set(false);
        options.onFatal(error);
      },
    });
  } catch (error) {
    await storage[Symbol.asyncDispose]();
    throw error;
  }
  const self = { id: memberId, name, peerUrls, clientUrls };
  return new Member(store, new LoneMember({ clusterId, member: self, term: startCount }), serving, options);
}
