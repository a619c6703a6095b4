import {
  ALARM_CORRUPT,
  type Backend,
  type BackendSettings,
  type NodeStats,
  type NodeStore,
  nodeItself,
  type OnRecovery,
  openBackend,
  Scrub,
  type ScrubOptions,
  type StoreObserver,
} from '@engram/backend';
import { type Clock, epoch, type Logger, type Random, type SharedBudget, type Tracer } from '@engram/core';
import {
  type AuthSettings,
  type Cluster,
  etcdServices,
  HealthStatus,
  type Limits,
  LoneMember,
  ServiceCounts,
} from '@engram/etcd-api';
import type { Storage } from '@engram/storage';
import type { MethodTable } from '@engram/wire';
import { type CompactionRetention, startAutoCompaction } from './auto-compaction.ts';
import { HealthChecks } from './health-checks.ts';

/** The identity of this member, for the life of its data. */
export interface MemberIdentity {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
}

/** The options of a lone member and of a member of a cluster. */
export interface MemberOptions {
  /** The member owns it from the call on. */
  readonly storage: Storage;
  readonly identity: MemberIdentity;
  readonly settings: BackendSettings;
  readonly limits: Partial<Limits>;
  /** The version that this server reports: `major.minor.patch`. */
  readonly version: string;
  readonly compaction: CompactionRetention;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly storeObserver?: StoreObserver;
  /** Called with the progress of the start. */
  readonly onRecovery?: OnRecovery;
  /** Records the calls that other members forward; by default none. Those of clients are recorded by `CallTracing`. */
  readonly tracer?: Tracer | undefined;
  /** How users log in. If absent, there are none, and none can be made. */
  readonly auth?: AuthSettings | undefined;
  /** The memory that the watchers of all clients may take together. */
  readonly watcherBytes?: SharedBudget;
  /** The storage failed for good, or an invariant is broken: the process must end. */
  readonly onFatal: (error: Error) => void;
}

interface LoneMemberOptions extends MemberOptions {
  /** Raised at each start: it fences the log, and clients see it as Raft's term. */
  readonly startCount: number;
  /** How fast what storage holds is read back, and how long nothing is read between two passes. Undefined: it is not. */
  readonly scrub?: Pick<ScrubOptions, 'bytesPerSecond' | 'pauseMs'> | undefined;
}

/** A store with what it says of itself. */
export interface ServedStore extends NodeStore, AsyncDisposable {
  readonly stats: NodeStats;
}

/** A member that serves until it is disposed. Disposing it closes its storage. */
export class Member implements AsyncDisposable {
  /** What clients use. */
  readonly store: NodeStore;
  readonly stats: NodeStats;
  readonly cluster: Cluster;
  /** The methods that a transport serves. */
  readonly methods: MethodTable;
  /** What the services have counted. */
  readonly counts = new ServiceCounts();
  /** Whether the node takes calls, for the health service. */
  readonly serving: HealthStatus;
  readonly health: HealthChecks;
  /** Only of a lone member, until it is disposed. */
  scrub: Scrub | undefined;
  readonly #backend: ServedStore;
  readonly #compaction: Disposable;

  constructor(backend: ServedStore, cluster: Cluster, serving: HealthStatus, options: MemberOptions) {
    const { clock, logger, version, limits, watcherBytes } = options;
    const store: NodeStore = backend;
    this.#backend = backend;
    this.store = store;
    this.stats = backend.stats;
    this.cluster = cluster;
    this.serving = serving;
    this.health = new HealthChecks(store, cluster, clock);
    this.methods = etcdServices({
      store,
      cluster,
      version,
      limits,
      clock,
      loop: options.settings.loop,
      logger,
      counts: this.counts,
      ...(watcherBytes === undefined ? {} : { watcherBytes }),
      auth: options.auth,
      health: serving,
    });
    this.#compaction = startAutoCompaction(options.compaction, {
      store,
      leads: () => this.stats.leadsIn !== undefined && options.settings.following?.active !== true,
      clock,
      logger,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.serving.set(false);
    this.#compaction[Symbol.dispose]();
    await this.scrub?.[Symbol.asyncDispose]();
    await this.#backend[Symbol.asyncDispose]();
  }
}

/** A cluster of one member. It leads from the start, and ends with its leadership. A failed start closes the storage. */
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
  const member = new Member(store, new LoneMember({ clusterId, member: self, term: startCount }), serving, options);
  if (options.scrub !== undefined) member.scrub = startScrub(store, options, options.scrub);
  return member;
}

/**
 * Damage in what the next start reads raises the alarm CORRUPT: that start would lose what is written from now on. A damaged
 * version raises none (decision 17).
 */
function startScrub(
  store: Backend,
  { storage, identity, clock, logger }: LoneMemberOptions,
  pace: Pick<ScrubOptions, 'bytesPerSecond' | 'pauseMs'>,
): Scrub {
  const alarm = { memberId: identity.memberId, alarm: ALARM_CORRUPT };
  const onReplayDamage = (): void => {
    store.activateAlarm(alarm, nodeItself).catch((error: unknown) => {
      logger.error({ err: error }, 'the alarm CORRUPT could not be raised');
    });
  };
  return new Scrub({ ...pace, replica: store.replica, storage, onReplayDamage, clock, logger });
}
