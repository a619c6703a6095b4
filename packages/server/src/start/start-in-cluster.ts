import { ClusterMember, type PeerService } from '@engram/member';
import { PeerLinks, type PeerServer, servePeers } from '@engram/peer';
import type { TikvStorage } from '@engram/storage-tikv';
import { type BoundedResource, ClientLog } from '@engram/telemetry';
import type { ClusterConfig } from '../cluster/cluster-config.ts';
import { openClusterData } from './cluster-data.ts';
import { ConfigError } from '../flags/flag-values.ts';
import type { NodeConfig } from '../config/node-config.ts';
import { peerTlsOf } from './peer-tls.ts';
import { memberOptions, type StartedMember, type StartParts } from './started-member.ts';

/** The part of the feed that may be queued for one follower. */
const FEED_OF_FOLLOWER = 8;

/** The memory that the member takes for the bytes of the store. */
function localResources(
  storage: TikvStorage,
  { memory }: NodeConfig,
  { localValues }: ClusterConfig,
): readonly BoundedResource[] {
  const cached = (): number => storage.cachedBytes;
  if (localValues === 'memory') return [{ resource: 'local_values_bytes', used: cached, max: memory.localValuesBytes }];
  return [
    { resource: 'copy_cache_bytes', used: cached, max: memory.copyCacheBytes },
    { resource: 'copy_queue_bytes', used: () => storage.queuedBytes, max: memory.copyQueueBytes },
  ];
}

/** Starts a member of a cluster on TiKV. `opened` disposes of it. */
export async function startInCluster(
  config: NodeConfig,
  cluster: ClusterConfig,
  parts: StartParts,
  opened: AsyncDisposableStack,
): Promise<StartedMember> {
  const { clock, logger } = parts;
  const data = await openClusterData(config, cluster, parts, opened);
  if (data === 'removed') {
    parts.onRemoved();
    throw new ConfigError('the member was removed from the cluster while it was down');
  }
  const { clusterId, memberId, storeId, foundingId } = data;
  const tls = cluster.peerTls && peerTlsOf(cluster.peerTls, config.dataDir, cluster.listenPeerUrls);
  let service: PeerService | undefined;
  let server: PeerServer | undefined;
  const network = new PeerLinks({
    clusterId,
    memberId,
    storeId,
    foundingId,
    tls,
    clock,
    loop: parts.loop,
    logger,
    service: () => service,
    sendBack: (member, bytes) => server?.send(member, bytes) === true,
    onRoundTrip: parts.onPeerRoundTrip,
    onMembers: () => server?.review(),
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
    corruptionChecks: {
      newestMs: cluster.corruptCheckMs,
      compactedMs: config.featureGates.get('CompactHashCheck') === true ? cluster.compactHashCheckMs : 0,
    },
    feedBytesMax: config.memory.followerFeedBytes,
    token: cluster.token,
    probeStorage: data.probeStorage,
    storageEnded: data.storageEnded,
    firstMembers: data.firstMembers,
    ...(data.firstMembers === undefined
      ? { introduction: { members: data.members, read: data.readMembers } }
      : undefined),
    firstRevision: data.firstRevision,
    onRemoved: parts.onRemoved,
  });
  // Disposed of in reverse order, so the listener for peers closes last: a leader that hands over still needs it.
  service = started.service;
  network.introduce();
  server = servePeers({
    clusterId,
    memberId,
    storeId,
    foundingId,
    ports: cluster.listenPeerUrls.map((url) => ({ port: parts.ports.of(url), secure: url.secure })),
    tls,
    service,
    traffic: network.traffic,
    queuedBytesMax: Math.ceil(config.memory.followerFeedBytes / FEED_OF_FOLLOWER),
    clock,
    loop: parts.loop,
    logger: new ClientLog(logger, clock), // strangers come to this port as well
  });
  opened.use(server);
  opened.use(started);
  // Before any client is served.
  if (config.featureGates.get('InitialCorruptCheck') === true) await started.checkData();
  logger.info({ urls: cluster.listenPeerUrls.map(({ text }) => text) }, 'serving peer traffic');
  return {
    member: started.member,
    identity: { clusterId, memberId },
    ready: (signal) => started.ready(signal),
    localBytes: () => data.storage.image?.local,
    logHolders: () => (started.member.stats.leadsIn === undefined ? [] : (data.storage.image?.holders ?? [])),
    peers: network.traffic,
    resources: [
      { resource: 'follower_feed_bytes', used: () => started.feedBytes, max: config.memory.followerFeedBytes },
      ...localResources(data.storage, config, cluster),
    ],
  };
}
