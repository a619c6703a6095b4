import type { Clock, Logger, Random, SharedBudget } from '@engram/core';
import { ClusterMember, type Member, type MemberOptions, type PeerService, startLoneMember } from '@engram/member';
import { PeerLinks, type PeerServer, servePeers } from '@engram/peer';
import type { LocalShare } from '@engram/storage';
import type { ClusterConfig } from './cluster-config.ts';
import { openClusterData } from './cluster-data.ts';
import { openData } from './data-directory.ts';
import type { NodeConfig } from './node-config.ts';
import { peerTlsOf } from './peer-tls.ts';

export interface StartParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly observers: Pick<MemberOptions, 'storeObserver' | 'servicesObserver' | 'onRecovery'>;
  readonly watcherBytes: SharedBudget;
  readonly version: string;
  readonly onFatal: (error: Error) => void;
  /** Called when the cluster has removed this member. */
  readonly onRemoved: () => void;
}

/** The ids of this member and its cluster. */
export interface NodeIdentity {
  readonly clusterId: bigint;
  readonly memberId: bigint;
}

export interface StartedMember {
  readonly member: Member;
  readonly identity: NodeIdentity;
  /** Resolves when the member can serve: at once if it is alone, in a cluster after a leader has answered it. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** How much of an image is on the member's disk. Undefined if it keeps no bytes besides TiKV, or shares none. */
  readonly localBytes: () => LocalShare | undefined;
}

/** Starts the configured member. `opened` disposes of it. */
export async function startMember(
  config: NodeConfig,
  parts: StartParts,
  opened: AsyncDisposableStack,
): Promise<StartedMember> {
  if (config.cluster !== undefined) return startInCluster(config, config.cluster, parts, opened);
  const { storage, identity } = await openData(config, parts);
  const { startCount, ...ids } = identity;
  const member = opened.use(await startLoneMember({ ...memberOptions(config, parts, ids), storage, startCount }));
  return { member, identity, ready: async () => {}, localBytes: () => undefined };
}

async function startInCluster(
  config: NodeConfig,
  cluster: ClusterConfig,
  parts: StartParts,
  opened: AsyncDisposableStack,
): Promise<StartedMember> {
  const { clock, logger } = parts;
  const data = await openClusterData(config, cluster, parts, opened);
  const { clusterId, memberId } = data;
  const tls = cluster.peerTls && peerTlsOf(cluster.peerTls, config.dataDir, cluster.listenPeerUrls);
  let service: PeerService | undefined;
  let server: PeerServer | undefined;
  const network = new PeerLinks({
    clusterId,
    memberId,
    tls,
    clock,
    logger,
    service: () => service,
    sendBack: (member, bytes) => server?.send(member, bytes),
  });
  opened.defer(() => network[Symbol.dispose]());
  network.setMembers(data.members);
  const started = await ClusterMember.start({
    ...memberOptions(config, parts, { clusterId, memberId }),
    storage: data.storage,
    raftStorage: data.raftStorage,
    network,
    election: data.election,
    imagePolicy: cluster.imagePolicy,
    token: cluster.token,
    probeStorage: data.probeStorage,
    firstMembers: data.firstMembers,
    firstRevision: data.firstRevision,
    onRemoved: parts.onRemoved,
  });
  // Disposed of in reverse order, so the listener for peers closes last: a leader that hands over still needs it.
  service = started.service;
  network.introduce();
  server = await servePeers({
    clusterId,
    memberId,
    addresses: cluster.listenPeerUrls.map(({ host, port, secure }) => ({
      host: host === 'localhost' ? '127.0.0.1' : host,
      port,
      secure,
    })),
    tls,
    service,
    logger,
  });
  opened.use(server);
  opened.use(started);
  logger.info({ urls: cluster.listenPeerUrls.map(({ text }) => text) }, 'serving peer traffic');
  return {
    member: started.member,
    identity: { clusterId, memberId },
    ready: (signal) => started.ready(signal),
    localBytes: () => data.storage.image?.local,
  };
}

function memberOptions(
  config: NodeConfig,
  { clock, random, logger, observers, watcherBytes, version, onFatal }: StartParts,
  ids: NodeIdentity,
): Omit<MemberOptions, 'storage'> {
  return {
    identity: { ...ids, name: config.name, peerUrls: config.advertisePeerUrls, clientUrls: config.advertiseClientUrls },
    settings: {
      minLeaseTtlSeconds: Math.ceil((1.5 * config.electionTimeoutMs) / 1000),
      quotaBytes: config.quotaBytes ?? 0,
      cacheBytesMax: config.memory.valueCacheBytes,
      waitingBytesMax: config.memory.logQueueBytes,
      txnAnswerBytesMax: config.memory.answerBytes,
      watchBacklogBytesMax: config.memory.watchBacklogBytes,
      requestTimeoutMs: 5000 + 2 * config.electionTimeoutMs,
      watchProgressIntervalMs: config.watchProgressIntervalMs,
    },
    limits: {
      maxRequestBytes: config.maxRequestBytes,
      maxTxnOps: config.maxTxnOps,
      electionTimeoutMs: config.electionTimeoutMs,
    },
    version,
    compaction: config.compaction,
    clock,
    random,
    logger,
    ...observers,
    watcherBytes,
    onFatal,
  };
}
