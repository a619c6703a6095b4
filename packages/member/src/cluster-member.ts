import { type Backend, nodeItself, openReplica } from '@engram/backend';
import { EngramError, type Epoch, epoch, isEngramError, type LogPosition, type Seal } from '@engram/core';
import {
  type ClusterState,
  ElectionDriver,
  type ElectionOwner,
  type Member as ElectedMember,
  memberId,
  type Witness,
} from '@engram/election';
import { HealthStatus } from '@engram/etcd-api';
import { RetryQueue } from '@engram/retry-queue';
import { StorageDivergedError, StorageFencedError, StorageUnavailableError } from '@engram/storage';
import { AppliedPositions } from './applied-positions.ts';
import { ClusterOfMembers } from './cluster-of-members.ts';
import type { ClusterMemberOptions } from './cluster-member-options.ts';
import { CommittedFeed, FeedingLog, feedOptions } from './committed-feed.ts';
import { CorruptionCheck } from './corruption-check.ts';
import { Follower } from './follower.ts';
import { GivenMembers } from './given-members.ts';
import { defaultImagePolicy, ImageKeeper } from './image-keeper.ts';
import { KnownLeader } from './known-leader.ts';
import { LeaderCalls } from './leader-calls.ts';
import { Member } from './member.ts';
import { PeerGate } from './peer-gate.ts';
import type { Peers, PeerService } from './peers.ts';
import { ReadIndex } from './read-index.ts';
import { RemoteLeader } from './remote-leader.ts';
import { ReplicaReadiness } from './replica-readiness.ts';
import { SealChecks } from './seal-checks.ts';
import { StorageWatch } from './storage-watch.ts';

/** How long a leader that stops waits for a successor. */
const HAND_OVER_MS = 2000;
/** Bound on the question to another member whether it leads. */
const SUPERSEDED_MS = 1000;

/**
 * One of several members over one log. Raft elects the member that tries to lead; the seal in the log decides which member
 * leads. A leadership begins when this member has sealed the log and read it to its end. It ends when Raft or the log says
 * so. A member that does not lead follows the leader. Transitions run one at a time.
 */
export class ClusterMember implements AsyncDisposable {
  readonly member: Member;
  /** The transport calls it on behalf of the other members. */
  readonly service: PeerService;
  readonly #parts: Parts;

  private constructor(member: Member, parts: Parts) {
    this.member = member;
    this.#parts = parts;
    this.service = parts.gate;
  }

  /** Rebuilds the replica from storage, and takes part in the cluster from then on. */
  static async start(options: ClusterMemberOptions): Promise<ClusterMember> {
    const parts = await Parts.open(options);
    const serving = new HealthStatus();
    const member = new Member(parts.backend, parts.cluster, serving, options);
    return new ClusterMember(member, parts);
  }

  /**
   * Resolves when this member can serve: a leader has answered it, and the member list has its name and its client URLs.
   * A member without them counts as not started (etcd: ReadyNotify).
   */
  async ready(signal: AbortSignal): Promise<void> {
    await this.#answered(signal);
    await this.#parts.listed(signal);
  }

  async #answered(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.member.store.readIndex({ ...nodeItself, signal });
        return;
      } catch (error) {
        if (!isEngramError(error) || error.code === 'Stopped') throw error;
      }
    }
    signal.throwIfAborted();
  }

  /** Compares this member's data with the others', before it serves: see `CorruptionCheck.checkSelf`. */
  async checkData(): Promise<void> {
    if (this.#parts.backend.replica.next > 1) await this.#parts.corruption.checkSelf();
  }

  /** The memory of the batches that this member keeps for its followers. */
  get feedBytes(): number {
    return this.#parts.feed.bytes;
  }

  /** A leader first hands over, if a successor takes over within `HAND_OVER_MS`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.member.serving.set(false);
    await this.#parts.close();
    await this.member[Symbol.asyncDispose]();
  }
}

/** The parts of a member of a cluster, and the transitions between leading and following. */
class Parts implements ElectionOwner {
  readonly feed: CommittedFeed;
  readonly known: KnownLeader;
  readonly #options: ClusterMemberOptions;
  readonly #retry: RetryQueue;
  readonly #closing = new AbortController();
  backend!: Backend;
  calls!: LeaderCalls;
  gate!: PeerGate;
  cluster!: ClusterOfMembers;
  driver!: ElectionDriver;
  corruption!: CorruptionCheck;
  #remote!: RemoteLeader;
  #applied!: AppliedPositions;
  #reads!: ReadIndex;
  #follower!: Follower;
  #images: ImageKeeper | undefined;
  /** Of the newest leadership. */
  #sealChecks: { readonly epoch: Epoch; readonly checks: SealChecks } | undefined;
  #transition: Promise<void> = Promise.resolve();
  #storageWatch: StorageWatch | undefined;
  readonly #listed = Promise.withResolvers<void>();

  private constructor(options: ClusterMemberOptions) {
    this.#options = options;
    const { feedBytesMax } = options;
    this.feed = new CommittedFeed(feedBytesMax === undefined ? undefined : feedOptions(feedBytesMax));
    this.known = new KnownLeader(options.clock);
    const { storage, clock, logger } = options;
    const { signal } = this.#closing;
    const isSuperseded = (seal: Seal): Promise<boolean> => this.#isSuperseded(seal);
    this.#retry = new RetryQueue({ log: storage.log, clock, logger, signal, isSuperseded });
  }

  static async open(options: ClusterMemberOptions): Promise<Parts> {
    const parts = new Parts(options);
    await parts.#open();
    return parts;
  }

  async #open(): Promise<void> {
    const { storage, identity, clock, random, logger, settings, network } = this.#options;
    const { storeObserver, onRecovery, firstRevision } = this.#options;
    const { name, clientUrls, memberId: self } = identity;
    this.backend = await openReplica({
      ...settings,
      storage: {
        log: new FeedingLog(this.#retry, this.feed),
        values: storage.values,
        [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
      },
      clock,
      random,
      logger,
      memberId: self,
      firstRevision,
      ...(storeObserver === undefined ? {} : { observer: storeObserver }),
      ...(onRecovery === undefined ? {} : { onRecovery }),
      cluster: this.#backendCluster(),
      onDeposed: (end) => {
        if (end.kind === 'uncertain') this.#fatal(new Error('nobody knows what the log holds', { cause: end.cause }));
        else this.#enqueue(() => this.#deposed());
      },
      onFatal: (error) => this.#fatal(error),
    });
    const { replica } = this.backend;
    const timeoutMs = this.#timeoutMs;
    this.#applied = new AppliedPositions(replica, clock);
    replica.onApplied = () => this.#applied.advanced();
    // While a call waits for a leader, this member may become the leader.
    const peers: Peers = {
      call: (to, request, signal) =>
        to === self
          ? this.calls.call(request, { member: self, signal: signal ?? nodeItself.signal })
          : network.call(to, request, signal),
      follow: (to, from, signal) => network.follow(to, from, signal),
    };
    const epochNow = (): Epoch => this.driver.epoch;
    const shared = { memberId: self, epoch: epochNow, peers, leader: this.known, replica, clock };
    this.#remote = new RemoteLeader({ ...shared, applied: this.#applied, random, timeoutMs });
    this.#reads = new ReadIndex({
      clock,
      timeoutMs,
      leads: () => this.backend.leadership !== undefined,
      confirm: (signal) => this.#confirm(signal),
      remote: this.#remote,
      recovered: replica.next,
    });
    this.calls = new LeaderCalls({
      backend: this.backend,
      clock,
      logger,
      confirm: (signal, witness) => this.#confirm(signal, witness),
      confirmedWithinMs: settings.confirmedWithinMs,
      changeMembers: (change, signal) => this.cluster.passedOn(change, signal),
      hashKv: (asked, signal) => this.corruption.answer(asked, signal),
    });
    this.#follower = new Follower({
      ...shared,
      endOf: (leader, signal) => this.#remote.endOf(leader, signal),
      storage,
      logger,
      onFatal: (error) => this.#fatal(error),
    });
    const readiness = new ReplicaReadiness({ peers, replica, clock });
    const given = new GivenMembers({
      introduction: this.#options.introduction,
      intervalMs: this.#options.election.tickMs * this.#options.election.limits.electionTicks,
      election: () =>
        this.driver && { cluster: this.driver.view.cluster, leaderlessTimeouts: this.driver.leaderlessTimeouts },
      onRead: (members) => this.#connectTo(members),
      clock,
      logger,
    });
    this.#closing.signal.addEventListener('abort', () => given[Symbol.dispose](), { once: true });
    this.driver = await ElectionDriver.open(
      {
        ...this.#options.election,
        self: memberId(identity.memberId),
        clusterId: identity.clusterId,
        firstMembers: this.#options.firstMembers,
        isReplicaReady: (learner) => readiness.isReady(learner),
        isGivenMember: (id) => given.has(id),
      },
      { clock, random, logger, storage: this.#options.raftStorage, network, owner: this },
    );
    this.cluster = new ClusterOfMembers({
      driver: this.driver,
      remote: this.#remote,
      known: this.known,
      reads: this.#reads,
      readiness,
      clock,
      storageMs: () => this.#storageMs,
      token: this.#options.token,
      timeoutMs,
    });
    this.gate = new PeerGate({ driver: this.driver, calls: this.calls, feed: this.feed, clock, logger });
    this.clusterChanged(this.driver.view.cluster);
    this.driver.publish(name, clientUrls);
    this.#follower.start();
    this.#storageWatch = new StorageWatch({
      probeStorage: this.#options.probeStorage,
      leads: () => this.backend.leadership !== undefined,
      underWayMs: () => this.#storageMs,
      stalledMs: () => this.cluster.stalledMs,
      onHealth: (healthy) => this.driver.setStorageHealth(healthy),
      confirm: () => this.#confirm(this.#closing.signal),
      clock,
      logger,
    });
    this.#images = this.#keepImages();
    this.corruption = new CorruptionCheck({
      self,
      others: () => this.cluster.members.map(({ id }) => id).filter((id) => id !== self),
      store: this.backend,
      peers,
      leads: () => this.backend.leadership !== undefined,
      intervals: this.#options.corruptionChecks ?? { newestMs: 0, compactedMs: 0 },
      onDiffers: (why) => void this.#giveUp(why),
      clock,
      logger,
    });
  }

  /** Undefined if the members share only the log. */
  #keepImages(): ImageKeeper | undefined {
    const { storage, clock, logger, imagePolicy: policy = defaultImagePolicy } = this.#options;
    const { image } = storage;
    if (image === undefined) return undefined;
    const leads = (): boolean => this.backend.leadership !== undefined;
    const onFatal = (error: Error): void => this.#fatal(error);
    const nameOf = (id: bigint): string | undefined =>
      this.driver.view.cluster.members.find((one) => one.id === id)?.name;
    return new ImageKeeper({ replica: this.backend.replica, image, leads, nameOf, policy, clock, logger, onFatal });
  }

  get #timeoutMs(): number {
    return this.#options.settings.requestTimeoutMs ?? 7000;
  }

  #backendCluster() {
    const parts = this;
    return {
      get leader() {
        return parts.#remote;
      },
      readIndex: () => this.#reads.wait(),
      confirm: (signal: AbortSignal) => this.#confirm(signal),
    };
  }

  // `ElectionOwner`: the election calls these. They must not throw. Transitions take long, so they are enqueued.

  lead(inEpoch: Epoch): void {
    this.#enqueue(() => this.#takeOver(inEpoch));
  }

  stepDown(inEpoch: Epoch): void {
    this.#sealChecks?.checks.end();
    this.#enqueue(async () => {
      await this.#follow();
      this.driver.resigned(inEpoch);
    });
  }

  follow(leader: bigint, inEpoch: Epoch): void {
    this.known.set({ memberId: leader, epoch: inEpoch });
  }

  noLeader(): void {
    this.known.set(undefined);
  }

  clusterChanged({ members }: ClusterState): void {
    // A joining member has an empty list until the leader has sent one. Until then it keeps its first connections.
    if (members.length > 0) this.#connectTo(members);
    const { memberId: self, name, clientUrls } = this.#options.identity;
    const entry = members.find(({ id }) => id === self);
    if (entry?.name === name && entry.clientUrls.join() === clientUrls.join()) this.#listed.resolve();
  }

  /** A list that the network fails to take is logged: all members have it, and would end with it at each start. */
  #connectTo(members: readonly ElectedMember[]): void {
    const { network, logger } = this.#options;
    try {
      network.setMembers(members);
    } catch (error) {
      logger.error({ error }, 'cannot connect to the members of the list');
    }
  }

  /** Resolves when the member list shows this member's name and client URLs. Rejects with the signal's reason. */
  async listed(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([this.#listed.promise, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  removed(): void {
    this.#options.logger.warn({}, 'this member was removed from the cluster');
    this.#options.onRemoved();
  }

  failed(error: unknown): void {
    this.#fatal(error instanceof Error ? error : new Error('the election has failed', { cause: error }));
  }

  /** Seals the log, reads it to its end, and leads: see `Backend.lead`. */
  async #takeOver(inEpoch: Epoch): Promise<void> {
    const { logger, clock } = this.#options;
    const startMs = clock.nowMs();
    await this.#follower.stop();
    try {
      await this.backend.lead(inEpoch);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      const passes = error instanceof StorageFencedError || error instanceof StorageUnavailableError;
      if (!passes && !isEngramError(error)) throw error;
      logger.warn({ epoch: inEpoch, error: String(error) }, 'could not take over');
      this.#follower.start();
      this.driver.resigned(inEpoch);
      return;
    }
    this.calls.reset();
    const position: LogPosition = this.backend.replica.next;
    // Meanwhile this member may have lost the leadership, and `known` may have the new leader.
    const { leader, self, term } = this.driver.view;
    if (leader === self && epoch(term) === inEpoch) this.known.set({ memberId: self, epoch: inEpoch });
    this.driver.announce(inEpoch, { segment: 0, position });
    logger.info({ epoch: inEpoch, position, 'took-ms': Math.round(clock.nowMs() - startMs) }, 'leads');
  }

  /** True if a quorum confirms that another member leads in a later epoch. That member sealed the log before it led. */
  async #isSuperseded({ epoch: mine }: Seal): Promise<boolean> {
    const { current } = this.known;
    const { clock, identity } = this.#options;
    if (current === undefined || current.epoch <= mine || current.memberId === identity.memberId) return false;
    const late = new AbortController();
    const timer = clock.after(SUPERSEDED_MS, () => late.abort(new EngramError('Timeout')));
    try {
      const { signal } = this.#closing;
      return await this.#remote.leadsAfter(mine, current, AbortSignal.any([late.signal, signal]));
    } catch {
      return false; // no answer in time
    } finally {
      timer.cancel();
    }
  }

  /** The log has refused this member, because it is sealed with a later epoch. */
  async #deposed(): Promise<void> {
    const inEpoch = this.known.current?.epoch;
    await this.#follow();
    if (inEpoch !== undefined) this.driver.resigned(inEpoch);
  }

  /** A later seal holds the log. This member has heard neither of it nor of the member that sealed. */
  async #superseded(inEpoch: Epoch): Promise<void> {
    if (this.backend.leadership?.epoch !== inEpoch) return;
    this.#options.logger.warn({ epoch: inEpoch }, 'a later leader holds the log: this member leads no more');
    await this.#follow();
    this.driver.resigned(inEpoch);
  }

  #checksOf(inEpoch: Epoch): SealChecks {
    if (this.#sealChecks?.epoch !== inEpoch) {
      const { storage, clock, identity } = this.#options;
      const seal = { epoch: inEpoch, holder: identity.memberId };
      const checks = new SealChecks({ log: storage.log, seal, clock, timeoutMs: this.#timeoutMs });
      this.#sealChecks = { epoch: inEpoch, checks };
    }
    return this.#sealChecks.checks;
  }

  async #follow(): Promise<void> {
    this.feed.end();
    this.#sealChecks?.checks.end();
    await this.backend.stepDown();
    if (!this.#closing.signal.aborted) this.#follower.start();
  }

  #enqueue(transition: () => Promise<void>): void {
    this.#transition = this.#transition.then(transition).catch((error: unknown) => {
      this.#fatal(error instanceof Error ? error : new Error('a transition has failed', { cause: error }));
    });
  }

  /**
   * Resolves when a quorum has confirmed that this member leads in the epoch of its store, when the log has confirmed that it is
   * held by that epoch's seal, and when this member has applied everything that it had committed by then. Other members may
   * already have applied and shown those writes.
   *
   * The log's answer is the proof: who leads next seals before it acknowledges anything, so nothing was acknowledged elsewhere
   * before this call. The quorum alone does not prove it, because two processes may take themselves for one member. Both are
   * asked at the same time.
   */
  async #confirm(signal: AbortSignal, witness?: Witness): Promise<void> {
    const leadership = this.backend.leadership;
    if (leadership === undefined) throw new EngramError('NotLeader');
    const held = this.#checksOf(leadership.epoch).held();
    held.catch(() => {}); // the quorum may refuse first
    const confirmed = await this.driver.confirmLeadership(signal, witness);
    if (!(await held)) {
      this.#enqueue(() => this.#superseded(leadership.epoch));
      throw new EngramError('LeaderChanged');
    }
    await this.#applied.reach(this.backend.replica.next, this.#timeoutMs);
    if (confirmed !== leadership.epoch || this.backend.leadership !== leadership)
      throw new EngramError('LeaderChanged');
  }

  get #storageMs(): number {
    if (this.backend.leadership === undefined) return 0;
    return Math.max(this.#retry.appendMs, this.#sealChecks?.checks.underWayMs ?? 0);
  }

  /** This member's data is not that of the others. It ends, and starts again without its copy. */
  async #giveUp(why: string): Promise<void> {
    const error = await this.#options.storage.values.giveUp?.(why);
    this.#fatal(error ?? new StorageDivergedError(why));
  }

  #fatal(error: Error): void {
    if (!this.#closing.signal.aborted) this.#options.onFatal(error);
  }

  async close(): Promise<void> {
    const { clock, logger } = this.#options;
    if (this.driver.view.leader === this.driver.view.self) {
      const late = new AbortController();
      const timer = clock.after(HAND_OVER_MS, () => late.abort(new Error('nobody took over in time')));
      await this.driver.handOver(late.signal).catch((error: unknown) => {
        logger.info({ error: String(error) }, 'stops without a successor');
      });
      timer.cancel();
    }
    this.#closing.abort(new EngramError('Stopped'));
    this.#storageWatch?.close();
    this.corruption[Symbol.dispose]();
    this.#sealChecks?.checks.end();
    await this.#images?.[Symbol.asyncDispose]();
    await this.#transition;
    await this.#follower.stop();
    this.#applied.close();
    this.known.close();
    await this.driver[Symbol.asyncDispose]();
  }
}
