import { createHash } from 'node:crypto';
import type { Following } from '@engram/backend';
import { type Clock, drawId, type Logger, type Random, type Revision, revision } from '@engram/core';
import type { Loop } from '@engram/loop';
import {
  type ClusterState,
  clusterIdOf,
  decodeRaftState,
  Election,
  type ElectionDriverOptions,
  goOnAlone,
  type Member as ElectedMember,
  type MemberId,
  memberId,
  memberIdOf,
  memberOf,
  type RaftState,
} from '@engram/election';
import { defaultLimits, logIndex } from '@engram/raft-ts';
import { openSegmentStorage } from '@engram/storage-segment';
import {
  type ClusterRoot,
  defaultSafePoint,
  type FoundingMember,
  LogKeys,
  openRoot,
  openTikvStorage,
  readRaftStates,
  TikvRaftStorage,
  type TikvStorage,
} from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import type { ClusterConfig } from '../cluster/cluster-config.ts';
import type { InitialMember } from '../cluster/initial-cluster.ts';
import { checkDataOfMember, copyFolder } from './data-directory.ts';
import { ConfigError } from '../flags/flag-values.ts';
import type { NodeConfig } from '../config/node-config.ts';
import { discoverMembers, systemNames } from '../cluster/srv-discovery.ts';

export interface ClusterDataParts {
  readonly clock: Clock;
  readonly loop: Loop;
  readonly random: Random;
  readonly logger: Logger;
  /** The store follows an etcd. */
  readonly following?: Following | undefined;
}

/** A member's identity, and its data in TiKV. */
export interface ClusterData {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  /** Where the data of the cluster is: of the TiKV cluster and the prefix. */
  readonly storeId: bigint;
  /** Of the cluster's root; undefined in one that has none. */
  readonly foundingId: bigint | undefined;
  readonly firstRevision: Revision;
  /** The founders of the cluster; undefined if this member was added later. */
  readonly firstMembers: readonly ElectedMember[] | undefined;
  /** All members, as agreed by those that have started. */
  readonly members: readonly ElectedMember[];
  /** The same, as of a moment after the call. */
  readonly readMembers: (signal: AbortSignal) => Promise<readonly ElectedMember[]>;
  readonly storage: TikvStorage;
  readonly raftStorage: TikvRaftStorage;
  /** Checks that PD and TiKV answer this member. */
  readonly probeStorage: (signal: AbortSignal) => Promise<void>;
  /** See `ClusterMemberOptions`. */
  readonly storageEnded: AbortSignal;
  readonly election: ElectionRules;
}

export type ElectionRules = Pick<
  ElectionDriverOptions,
  'tickMs' | 'limits' | 'rules' | 'snapshotEntries' | 'keptEntries' | 'skippedEntries'
>;

const START_TIMEOUT_MS = 30_000;
/** A start that still waits after this time logs a warning. */
const LATE_MS = 2000;
const PROBE_TIMEOUT_MS = 1000;
const SNAPSHOT_ENTRIES = 1000;
const KEPT_ENTRIES = 100;

/**
 * Determines this member's identity and opens its data in TiKV. The first members of a cluster derive their ids from
 * --initial-cluster, or from DNS. A member that was added later finds itself by its peer URLs in the agreed membership.
 * 'removed' if this process was a member and the cluster has removed it. Rejects with ConfigError if it is no member, or if the member's Raft state is lost.
 */
export async function openClusterData(
  config: NodeConfig,
  cluster: ClusterConfig,
  parts: ClusterDataParts,
  opened: AsyncDisposableStack,
): Promise<ClusterData | 'removed'> {
  const { clock, loop, random, logger } = parts;
  checkDataOfMember(config.dataDir);
  const client = opened.use(await connectToTikv(cluster, parts));
  const keys = new LogKeys(cluster.prefix);
  const founders = foundersOf(await namedMembers(config, cluster, logger), cluster.token);
  const found = config.newCluster
    ? {
        clusterId: clusterIdOf(founders.map(({ id }) => id)),
        members: founders,
        revisionOrigin: cluster.revisionOrigin,
        foundingId: drawId(random),
      }
    : undefined;
  const root = await openRoot({ client, keys, found, timeoutMs: START_TIMEOUT_MS });
  checkFollowing(root, parts.following, cluster.prefix);
  const election = electionRules(config, cluster);
  const firstMembers = root.members.map(
    ({ id, peerUrls }): ElectedMember => ({
      id: memberId(id),
      name: '',
      peerUrls: [...peerUrls].sort(),
      clientUrls: [],
      isLearner: false,
    }),
  );
  const states = await raftStates(client, keys);
  const agreed = newestState(root.clusterId, states, election, random);
  const survivor = cluster.forceNewCluster ? survivorAmong(config, agreed, cluster.prefix) : undefined;
  const members = survivor === undefined ? (agreed?.members ?? firstMembers) : [survivor];
  if (survivor === undefined && agreed !== undefined) {
    const known = [...states].flatMap(([id, state]) => clusterOf(root.clusterId, id, state, election, random).members);
    if (wasRemoved(config.advertisePeerUrls, agreed, [...firstMembers, ...known])) return 'removed';
  }
  const self = survivor?.id ?? whoAmI(config, members, cluster.prefix);
  const hasStarted = agreed?.members.some(({ id, name }) => id === self && name !== '') === true;
  if (survivor === undefined && hasStarted && !states.has(memberId(self))) {
    throw new ConfigError(
      `member ${self.toString(16)} has taken part in this cluster, and its Raft state is missing in TiKV: it could vote twice. Remove it from the cluster, and add it anew`,
    );
  }
  const closing = new AbortController();
  opened.defer(() => closing.abort(new Error('the node stops')));
  const { signal } = closing;
  const raftStorageOf = (id: MemberId): TikvRaftStorage =>
    new TikvRaftStorage({ client, keys, memberId: id, clock, random, logger, signal });
  if (survivor !== undefined && !isAlone(agreed, survivor)) {
    const removed = await goOnAlone({
      self: survivor,
      known: states.keys(),
      storageOf: raftStorageOf,
      agreedBy: (all) => newestState(root.clusterId, all, election, random)!,
    });
    logger.warn(
      { member: self.toString(16), removed: removed.map((id) => id.toString(16)) },
      'goes on as a cluster of one: the other members were removed, and their Raft states taken over',
    );
  }
  const raftStorage = raftStorageOf(memberId(self));
  const storage = await openTikvStorage({
    client,
    prefix: cluster.prefix,
    root,
    member: self,
    segmentBytes: cluster.logSegmentBytes,
    silentMaxMs: cluster.memberSilentMaxMs,
    safePoint: { ...defaultSafePoint, ...cluster.safePoint },
    imageBytesPerSecond: cluster.imagePolicy.bytesPerSecond,
    clock,
    loop,
    random,
    logger,
    local:
      cluster.localValues === 'memory'
        ? { kind: 'memory', bytesMax: config.memory.localValuesBytes }
        : {
            kind: 'disk',
            path: copyFolder(config.dataDir),
            queueBytesMax: config.memory.copyQueueBytes,
            cacheBytesMax: config.memory.copyCacheBytes,
            openStorage: (path) => openSegmentStorage({ path, clock, loop, random, logger, durability: 'none' }),
          },
  });
  const isFounder = firstMembers.some(({ id }) => id === self);
  return {
    clusterId: root.clusterId,
    memberId: self,
    storeId: storeIdOf(client.status.clusterId, cluster.prefix),
    foundingId: root.foundingId,
    firstRevision: revision(root.firstRevision),
    firstMembers: isFounder ? firstMembers : undefined,
    members,
    readMembers: async () =>
      newestState(root.clusterId, await raftStates(client, keys), election, random)?.members ?? firstMembers,
    storage,
    raftStorage,
    probeStorage: async (signal) => {
      const txn = await client.begin({ signal, timeoutMs: PROBE_TIMEOUT_MS });
      await txn.get(keys.root, { signal, timeoutMs: PROBE_TIMEOUT_MS });
    },
    storageEnded: client.ended,
    election,
  };
}

/** A member that does not know that its store follows an etcd would let clients write. Throws ConfigError. */
export function checkFollowing(
  { follows }: Pick<ClusterRoot, 'follows'>,
  following: Following | undefined,
  prefix: string,
): void {
  const place = `the store at the prefix ${JSON.stringify(prefix)}`;
  if (follows !== undefined && following === undefined) {
    throw new ConfigError(
      `${place} follows the etcd at ${follows.from.join()}, and takes no writes: start its members with engram migrate, until engram cut-over has ended that`,
    );
  }
  if (follows === undefined && following !== undefined) {
    throw new ConfigError(`${place} follows no etcd any more: start its members without the command migrate`);
  }
}

/** The members that a cluster is founded with: those of --initial-cluster, or from DNS. */
export async function namedMembers(
  config: NodeConfig,
  { initialMembers }: ClusterConfig,
  logger: Logger,
): Promise<readonly InitialMember[]> {
  if (!('domain' in initialMembers)) return initialMembers;
  return await discoverMembers(initialMembers, config, systemNames(), logger);
}

/** Clusters with equal URLs and tokens have equal ids. Their data tells them apart. Never 0. */
function storeIdOf(tikvClusterId: bigint, prefix: string): bigint {
  const digest = createHash('sha256').update(`${tikvClusterId}/${prefix}`).digest();
  return digest.readBigUInt64BE() | 1n;
}

/** The members that a cluster is founded with. Their ids follow from their URLs and the token. */
export const foundersOf = (
  named: readonly InitialMember[],
  token: string,
): readonly (FoundingMember & { readonly id: MemberId })[] =>
  named.map(({ name, peerUrls }) => ({
    id: memberIdOf(peerUrls, token),
    name,
    peerUrls: [...peerUrls].sort(),
  }));

/** The caller owns the client. Rejects with the client's errors where PD does not answer for START_TIMEOUT_MS. */
export async function connectToTikv(
  cluster: Pick<ClusterConfig, 'pdEndpoints' | 'tikvTls'>,
  { clock, random, logger }: Pick<ClusterDataParts, 'clock' | 'random' | 'logger'>,
): Promise<TikvClient> {
  const late = clock.after(LATE_MS, () =>
    logger.warn(
      { 'pd-endpoints': cluster.pdEndpoints, 'given-up-after-ms': START_TIMEOUT_MS },
      'PD does not answer yet',
    ),
  );
  try {
    return await TikvClient.connect({
      pdAddresses: cluster.pdEndpoints,
      tls: cluster.tikvTls,
      timeoutMs: START_TIMEOUT_MS,
      clock,
      random,
      logger,
      requestSource: 'engram',
    });
  } finally {
    late.cancel();
  }
}

function electionRules({ electionTimeoutMs }: NodeConfig, cluster: ClusterConfig): ElectionRules {
  const { heartbeatMs, preVote, strictReconfig, learnersMax } = cluster;
  const electionTicks = Math.max(2, Math.floor(electionTimeoutMs / heartbeatMs));
  return {
    tickMs: heartbeatMs,
    limits: { ...defaultLimits, electionTicks, heartbeatTicks: 1, preVote },
    rules: { strict: strictReconfig, learnersMax },
    snapshotEntries: SNAPSHOT_ENTRIES,
    keptEntries: KEPT_ENTRIES,
    skippedEntries: new Set(cluster.skippedEntries.map(logIndex)),
  };
}

/** The states of the members that have started. */
async function raftStates(client: TikvClient, keys: LogKeys): Promise<ReadonlyMap<MemberId, RaftState>> {
  const states = new Map<MemberId, RaftState>();
  for (const [id, bytes] of await readRaftStates(client, keys, START_TIMEOUT_MS)) {
    if (bytes.length > 0) states.set(memberId(id), decodeRaftState(bytes));
  }
  return states;
}

function electionOf(
  clusterId: bigint,
  self: MemberId,
  state: RaftState,
  election: ElectionRules,
  random: Random,
): Election {
  return new Election({ ...election, self, clusterId, random }, state);
}

/** What this member has agreed to. */
const clusterOf = (...of: Parameters<typeof electionOf>): ClusterState => electionOf(...of).view.cluster;

/** What the most advanced member has agreed to. Undefined if no member has started. */
function newestState(
  clusterId: bigint,
  states: ReadonlyMap<MemberId, RaftState>,
  election: ElectionRules,
  random: Random,
): ClusterState | undefined {
  let newest: { readonly index: number; readonly cluster: ClusterState } | undefined;
  for (const [self, state] of states) {
    const { appliedIndex: index, cluster } = electionOf(clusterId, self, state, election, random).view;
    if (newest === undefined || index > newest.index) newest = { index, cluster };
  }
  return newest?.cluster;
}

/** The member that this process is, by its peer URLs or its name: its host may be a new one. Its URLs are those of this process. */
function survivorAmong(
  { name, advertisePeerUrls }: NodeConfig,
  agreed: ClusterState | undefined,
  prefix: string,
): ElectedMember {
  const peerUrls = [...advertisePeerUrls].sort();
  const members = agreed?.members ?? [];
  const self = memberAt(members, peerUrls) ?? members.find((member) => member.name === name);
  if (self !== undefined) return { ...self, peerUrls, isLearner: false };
  throw new ConfigError(
    `--force-new-cluster: no member of the cluster at the prefix ${JSON.stringify(prefix)} has started that is called ${name} or is at ${peerUrls.join()}`,
  );
}

/** Whether the cluster has only this member, at these URLs: nothing is to be forced any more. */
function isAlone(agreed: ClusterState | undefined, survivor: ElectedMember): boolean {
  const self = agreed?.members.length === 1 ? memberOf(agreed, survivor.id) : undefined;
  return self?.peerUrls.join() === survivor.peerUrls.join();
}

function memberAt<Member extends Pick<ElectedMember, 'peerUrls'>>(
  members: readonly Member[],
  peerUrls: readonly string[],
): Member | undefined {
  const text = (urls: readonly string[]): string => [...urls].sort().join();
  return members.find((member) => text(member.peerUrls) === text(peerUrls));
}

/**
 * Whether the member at these URLs was removed and did not come back: nobody in the agreed list has them, and a member that the
 * list has as removed had them when it was removed. Where a state of an earlier version does not say which URLs it had, `known`
 * may: the members of whom any state tells.
 */
export function wasRemoved(
  peerUrls: readonly string[],
  { members, removed, removedUrls }: Pick<ClusterState, 'members' | 'removed' | 'removedUrls'>,
  known: readonly ElectedMember[],
): boolean {
  if (memberAt(members, peerUrls) !== undefined) return false;
  const said = removed.map((id) => ({ id, peerUrls: removedUrls.get(id) ?? [] }));
  const ids = new Set(removed);
  return memberAt([...said, ...known.filter(({ id }) => ids.has(id))], peerUrls) !== undefined;
}

function whoAmI({ name, advertisePeerUrls }: NodeConfig, members: readonly ElectedMember[], prefix: string): bigint {
  const self = memberAt(members, advertisePeerUrls);
  if (self !== undefined) return self.id;
  const known = members.map(({ id, peerUrls }) => `${id.toString(16)} at ${peerUrls.join()}`).join('; ');
  throw new ConfigError(
    `${name} at ${[...advertisePeerUrls].sort().join()} is no member of the cluster at the prefix ${JSON.stringify(prefix)}, whose members are: ${known}`,
  );
}
