import { Backend, CurrentLeadership, type Replica, recoverReplica } from '@engram/backend';
import { EngramError, withDeadline } from '@engram/core';
import { ElectionDriver, memberId } from '@engram/election';
import { HealthStatus } from '@engram/etcd-api';
import { Loop } from '@engram/loop';
import { RetryQueue } from '@engram/retry-queue';
import { AppliedPositions } from './applied-positions.ts';
import { everyMemberKnowsAuth } from './auth-capability.ts';
import { ClusterHealth } from './cluster-health.ts';
import type { ClusterMemberOptions } from './cluster-member-options.ts';
import { ClusterOfMembers } from './cluster-of-members.ts';
import { CommittedFeed, FeedingLog, feedOptions } from './committed-feed.ts';
import { ElectionOutcomes } from './election-outcomes.ts';
import { Follower } from './follower.ts';
import { GivenMembers } from './given-members.ts';
import { defaultImagePolicy, ImageKeeper, type ImageKeeperOptions } from './image-keeper.ts';
import { KnownLeader } from './known-leader.ts';
import { LeaderCalls } from './leader-calls.ts';
import { LeadershipProof } from './leadership-proof.ts';
import { LoopbackPeers } from './loopback-peers.ts';
import { Member } from './member.ts';
import { PeerGate } from './peer-gate.ts';
import { ReadIndex } from './read-index.ts';
import { RemoteLeader } from './remote-leader.ts';
import { ReplicaReadiness } from './replica-readiness.ts';
import { isSuperseded } from './succession.ts';
import { TakeoverRefusals } from './takeover-refusals.ts';
import { TransitionDriver, TransitionInputs } from './transition-driver.ts';

/** What a member of a cluster is made of, as far as it is needed after the start. */
export interface Composition {
  readonly member: Member;
  readonly gate: PeerGate;
  readonly feed: CommittedFeed;
  readonly replica: Replica;
  readonly outcomes: ElectionOutcomes;
  readonly health: ClusterHealth;
  readonly driver: ElectionDriver;
  readonly transitions: TransitionDriver;
  readonly images: ImageKeeper | undefined;
  readonly applied: AppliedPositions;
  readonly known: KnownLeader;
  /** Its signal ends what waits when the member stops. */
  readonly closing: AbortController;
}

/**
 * Builds a member, each part after those that it needs:
 * the copy of the store (recovered from storage alone), the election (over the copy), the ways to the leader (over both), the
 * store that may lead (its log asks the leader where an append got lost), and what watches and serves it.
 * Two things close a circle, and hold what comes before the circle is closed: `TransitionInputs` and `LoopbackPeers`.
 */
export async function compose(options: ClusterMemberOptions): Promise<Composition> {
  const closing = new AbortController();
  try {
    return await composeParts(options, closing);
  } catch (error) {
    // Who started it closes the storage next. That is no second reason, and must not be told in place of this one.
    closing.abort(error);
    throw error;
  }
}

async function composeParts(options: ClusterMemberOptions, closing: AbortController): Promise<Composition> {
  const { storage, identity, clock, random, logger, settings, network } = options;
  const { storeObserver, onRecovery, firstRevision, feedBytesMax } = options;
  const { memberId: self, clusterId, name, clientUrls } = identity;
  const timeoutMs = settings.requestTimeoutMs ?? 7000;
  const { signal } = closing;
  const onFatal = (error: Error): void => {
    if (!signal.aborted) options.onFatal(error);
  };

  // Nothing else would end a follower: it asks storage for little, and repeats what fails.
  const onStorageEnded = (): void =>
    onFatal(new Error('storage will not serve this process again', { cause: options.storageEnded?.reason }));
  if (options.storageEnded?.aborted === true) onStorageEnded();
  options.storageEnded?.addEventListener('abort', onStorageEnded, { signal });

  const { loop = new Loop({ clock }) } = settings;
  const storeOptions = {
    ...settings,
    clock,
    loop,
    random,
    logger,
    memberId: self,
    firstRevision,
    ...(storeObserver === undefined ? {} : { observer: storeObserver }),
    ...(onRecovery === undefined ? {} : { onRecovery }),
    onFatal,
  };
  const replica = await recoverReplica({ ...storeOptions, storage });
  const applied = new AppliedPositions(replica, clock);
  replica.onApplied = () => applied.advanced();

  const inputs = new TransitionInputs();
  const known = new KnownLeader(clock);
  const peers = new LoopbackPeers(self, network);
  const readiness = new ReplicaReadiness({ peers, replica, clock });
  const { onRemoved, firstMembers } = options;
  const outcomes = new ElectionOutcomes({ identity, inputs, known, network, logger, onRemoved, onFatal });
  const given = new GivenMembers({
    introduction: options.introduction,
    intervalMs: options.election.tickMs * options.election.limits.electionTicks,
    onRead: (members) => outcomes.connectTo(members),
    clock,
    logger,
  });
  const driver = await ElectionDriver.open(
    {
      ...options.election,
      self: memberId(self),
      clusterId,
      firstMembers,
      isReplicaReady: (learner) => readiness.isReady(learner),
      isGivenMember: (id) => given.has(id),
    },
    { clock, random, logger, storage: options.raftStorage, network, owner: outcomes },
  );
  given.watch(driver);
  signal.addEventListener('abort', () => given[Symbol.dispose](), { once: true });

  const shared = { memberId: self, epoch: () => driver.epoch, peers, leader: known, replica, clock };
  const remote = new RemoteLeader({
    ...shared,
    applied,
    random,
    timeoutMs,
    confirmedWithinMs: settings.confirmedWithinMs,
  });
  const succession = { memberId: self, known, remote, clock, signal };
  const retry = new RetryQueue({
    log: storage.log,
    clock,
    logger,
    signal,
    isSuperseded: (seal) => isSuperseded(seal, succession),
  });

  const current = new CurrentLeadership();
  const leads = (): boolean => current.leadership !== undefined;
  const proof = new LeadershipProof({
    memberId: self,
    current,
    driver,
    log: storage.log,
    replica,
    applied,
    clock,
    timeoutMs,
    onSuperseded: (epoch) => inputs.put({ kind: 'superseded', epoch }),
  });
  const confirm: LeadershipProof['confirm'] = (asking, witness) => proof.confirm(asking, witness);
  const commitIndex = (): number => driver.view.commitIndex;
  const reads = new ReadIndex({ clock, loop, timeoutMs, leads, confirm, commitIndex, remote, recovered: replica.next });
  const feed = new CommittedFeed(feedBytesMax === undefined ? undefined : feedOptions(feedBytesMax));
  const backend = new Backend(
    {
      ...storeOptions,
      storage: {
        log: new FeedingLog(retry, feed),
        values: storage.values,
        [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
      },
      current,
      cluster: {
        leader: remote,
        readIndex: () => reads.wait(),
        confirm,
        everyMemberKnowsAuth: () =>
          everyMemberKnowsAuth({ memberId: self, members: () => driver.view.cluster.members, peers, clock }),
      },
      onDeposed: (end, epoch) => {
        if (end.kind === 'uncertain') onFatal(new Error('nobody knows what the log holds', { cause: end.cause }));
        else inputs.put({ kind: 'fenced', epoch });
      },
    },
    replica,
  );

  const storageMs = (): number => (leads() ? Math.max(retry.appendMs, proof.underWayMs) : 0);
  const refusals = new TakeoverRefusals(logger);
  const { token, probeStorage, corruptionChecks } = options;
  const cluster = new ClusterOfMembers({
    driver,
    remote,
    known,
    reads,
    readiness,
    clock,
    storageMs,
    refusals,
    token,
    timeoutMs,
  });
  const { values } = storage;
  const watched = { backend, cluster, driver, peers, proof, values, probeStorage, corruptionChecks, storageMs };
  const health = new ClusterHealth({ ...watched, clock, logger, signal, onFatal });
  const calls = new LeaderCalls({
    backend,
    clock,
    logger,
    confirm,
    commitIndex,
    confirmedWithinMs: settings.confirmedWithinMs,
    inlineBytesMax: options.inlineBytesMax,
    tracer: options.tracer,
    changeMembers: (change, asking) => cluster.forwarded(change, asking),
    hashKv: (asked, from, asking) => health.corruption.answer(asked, from, asking),
  });
  peers.serve(calls);
  const gate = new PeerGate({ driver, calls, feed, clock, logger });

  outcomes.clusterChanged(driver.view.cluster);
  driver.publish(name, clientUrls);
  const endOf: RemoteLeader['endOf'] = (leader, asking) => remote.endOf(leader, asking);
  const nameOf = (id: bigint): string | undefined => driver.view.cluster.members.find((one) => one.id === id)?.name;
  const onRefused = (leader: bigint): void => network.refusedBatch?.(leader);
  const follower = new Follower({ ...shared, endOf, onRefused, nameOf, storage, logger, onFatal });
  const moved = { backend, driver, follower, feed, calls, proof, known, refusals };
  const transitions = new TransitionDriver({ ...moved, inputs, clock, logger, onFatal });
  const images = keepImages(options, { replica, leads, nameOf, onFatal });
  const member = new Member(backend, cluster, new HealthStatus(), options);
  return { member, gate, feed, replica, outcomes, health, driver, transitions, images, applied, known, closing };
}

/** Undefined if the members share only the log. */
function keepImages(
  { storage, clock, logger, imagePolicy: policy = defaultImagePolicy }: ClusterMemberOptions,
  parts: Pick<ImageKeeperOptions, 'leads' | 'nameOf' | 'onFatal' | 'replica'>,
): ImageKeeper | undefined {
  const { image } = storage;
  if (image === undefined) return undefined;
  return new ImageKeeper({ ...parts, image, policy, clock, logger });
}

/** How long a leader that stops waits for a successor. */
const HAND_OVER_MS = 2000;

/** Ends all parts but the member itself. A leader first hands over, if a successor takes over within `HAND_OVER_MS`. */
export async function decompose(
  { driver, closing, health, transitions, images, applied, known }: Composition,
  { clock, logger }: ClusterMemberOptions,
): Promise<void> {
  if (driver.view.leader === driver.view.self) {
    const late = (): Error => new Error('nobody took over in time');
    await withDeadline(clock, HAND_OVER_MS, late, (signal) => driver.handOver(signal)).catch((error: unknown) => {
      logger.info({ error: String(error) }, 'stops without a successor');
    });
  }
  closing.abort(new EngramError('Stopped'));
  health[Symbol.dispose]();
  const settled = transitions.close();
  await images?.[Symbol.asyncDispose]();
  await settled;
  applied.close();
  known.close();
  await driver[Symbol.asyncDispose]();
}
