/** A protocol whose message codecs are generated for the package that uses it. Paths are relative to the repository. */
export interface MessageSet {
  readonly name: string;
  /** The .proto files, as a pattern below proto/. */
  readonly files: string;
  /** Folder of the generated modules. It must contain nothing else. */
  readonly genFolder: string;
  /** `as-written` only removes underscores. `lower-case` also begins names with a small letter (TTL becomes `ttl`). */
  readonly fieldNames: 'as-written' | 'lower-case';
  /** Whether a string that is not UTF-8 is refused, or read with U+FFFD for the invalid bytes. */
  readonly strings: 'string' | 'lenient-string';
  /**
   * 64-bit fields that become bigint, because every bit counts: full names, field names, or ends of field names
   * ('*_ts'). An entry that matches no field is refused.
   */
  readonly bigints: readonly string[];
  /** Full names of fields that `bigints` would match, but that stay numbers. */
  readonly notBigints: readonly string[];
  /**
   * Full names of int64 fields in messages of a hot path that are small unless a client chooses otherwise. They become
   * Int64 of core: a number if that is exact, otherwise a bigint.
   */
  readonly exact: readonly string[];
  /** All other 64-bit fields: `rounded` beyond 2^53, or a `count`, which is refused above 2^53 - 1. */
  readonly integers64: 'rounded' | 'count';
  /** Messages whose names end so are what strangers send: their fields have a bound (REQUEST_FIELDS_MAX). */
  readonly bounded?: string;
  /** The protobuf packages whose messages have a JSON form, each in a module of its own. They have no maps. */
  readonly json?: readonly string[];
  /** The .proto files whose descriptors are kept for clients that ask for them, as a pattern below proto/. Closed under imports. */
  readonly described?: string;
}

/** etcd: its Go servers and clients check strings, and may send any number. */
const etcd: MessageSet = {
  name: 'etcd',
  files: '{etcd/**,grpc/*/v1}/*.proto',
  described: '{etcd,grpc}/**/*.proto',
  genFolder: 'packages/wire/src/gen',
  fieldNames: 'as-written',
  strings: 'string',
  integers64: 'rounded',
  bounded: 'Request',
  json: ['etcdserverpb', 'mvccpb', 'authpb', 'leasepb', 'v3lockpb', 'v3electionpb'],
  // Ids and names whose values are random or chosen by clients.
  bigints: [
    'mvccpb.KeyValue.lease',
    'etcdserverpb.ResponseHeader.cluster_id',
    'etcdserverpb.ResponseHeader.member_id',
    'etcdserverpb.PutRequest.lease',
    'etcdserverpb.Compare.lease',
    'etcdserverpb.LeaseGrantRequest.ID',
    'etcdserverpb.LeaseGrantResponse.ID',
    'etcdserverpb.LeaseRevokeRequest.ID',
    'etcdserverpb.LeaseCheckpoint.ID',
    'etcdserverpb.LeaseKeepAliveRequest.ID',
    'etcdserverpb.LeaseKeepAliveResponse.ID',
    'etcdserverpb.LeaseTimeToLiveRequest.ID',
    'etcdserverpb.LeaseTimeToLiveResponse.ID',
    'etcdserverpb.LeaseStatus.ID',
    'etcdserverpb.Member.ID',
    'etcdserverpb.MemberRemoveRequest.ID',
    'etcdserverpb.MemberUpdateRequest.ID',
    'etcdserverpb.MemberPromoteRequest.ID',
    'etcdserverpb.MoveLeaderRequest.targetID',
    'etcdserverpb.AlarmRequest.memberID',
    'etcdserverpb.AlarmMember.memberID',
    'etcdserverpb.StatusResponse.leader',
    'leasepb.Lease.ID',
    'v3lockpb.LockRequest.lease',
    'v3electionpb.CampaignRequest.lease',
    'v3electionpb.LeaderKey.lease',
  ],
  notBigints: [],
  exact: [
    'etcdserverpb.WatchCreateRequest.watch_id',
    'etcdserverpb.WatchCancelRequest.watch_id',
    'etcdserverpb.WatchResponse.watch_id',
  ],
};

/** PD and TiKV: their libraries do not check strings, and their timestamps use 64 bits. */
const tikv: MessageSet = {
  name: 'tikv',
  files: 'tikv/*.proto',
  genFolder: 'packages/tikv-client/src/proto/gen',
  fieldNames: 'lower-case',
  strings: 'lenient-string',
  integers64: 'count',
  bigints: [
    '*_ts',
    'version',
    'start_version',
    'commit_version',
    'max_version',
    'lock_version',
    'cluster_id',
    'member_id',
    'safe_point',
    'new_safe_point',
    'last_heartbeat',
    'start_timestamp',
    'min_safe_point',
    'txn_safe_point',
    'gc_safe_point',
    'target',
    'TTL',
    'txn_size',
    'txn',
    'status',
    'resolved_locks',
    'committed_locks',
    'gc_fence',
    'trace_control_flags',
    'feedback_seq_no',
    'old_gc_safe_point',
    'new_gc_safe_point',
    'old_txn_safe_point',
    'new_txn_safe_point',
    'sender_id',
    'tikv_send_time_ns',
    'client_send_time_ns',
    'ttl_seconds',
    'txn_source',
  ],
  exact: [],
  notBigints: ['metapb.RegionEpoch.version', 'errorpb.BucketVersionNotMatch.version'],
};

/** The messages and the stored state of a Raft group. Only ids use all 64 bits. */
const raft: MessageSet = {
  name: 'raft',
  files: 'raft/*.proto',
  genFolder: 'packages/raft-ts/src/codec/gen',
  fieldNames: 'lower-case',
  strings: 'string',
  integers64: 'count',
  bigints: ['from', 'to', 'node', 'vote', 'voters', 'learners', 'target'],
  notBigints: [],
  exact: [],
};

/** Requests between members of a cluster. Ids use all 64 bits. Clients choose revisions, so they may have any value. */
const peer: MessageSet = {
  name: 'peer',
  files: 'peer/peer.proto',
  genFolder: 'packages/member/src/gen',
  fieldNames: 'lower-case',
  strings: 'string',
  integers64: 'rounded',
  bigints: ['member', 'id', 'ids'],
  notBigints: [],
  exact: [],
};

/** The messages and stored state of the election between members of a cluster. */
const election: MessageSet = {
  name: 'election',
  files: 'election/*.proto',
  genFolder: 'packages/election/src/codec/gen',
  fieldNames: 'lower-case',
  strings: 'string',
  integers64: 'count',
  bigints: [
    'electionpb.Member.id',
    'holder',
    'cluster_id',
    'member',
    'electionpb.ClusterState.removed',
    'electionpb.RemovedMember.id',
    'electionpb.PeerMessage.removed',
    'electionpb.Leaving.from',
    'electionpb.Leaving.to',
  ],
  notBigints: [],
  exact: [],
};

/** The frames that carry the messages of `peer` between two members. */
const link: MessageSet = {
  ...peer,
  name: 'link',
  files: 'peer/link.proto',
  genFolder: 'packages/peer/src/gen',
  bigints: ['cluster', 'linkpb.Hello.from', 'linkpb.Hello.to', 'linkpb.Hello.store', 'linkpb.Hello.founding'],
};

/** Profiles of the process, as pprof reads them. */
const pprof: MessageSet = {
  name: 'pprof',
  files: 'pprof/*.proto',
  genFolder: 'packages/telemetry/src/profiles/gen',
  fieldNames: 'as-written',
  strings: 'string',
  integers64: 'count',
  bigints: ['perftools.profiles.Profile.time_nanos'],
  notBigints: [],
  exact: [],
};

export const messageSets: readonly MessageSet[] = [etcd, tikv, raft, election, peer, link, pprof];

export function messageSet(name: string): MessageSet {
  const found = messageSets.find((set) => set.name === name);
  if (found === undefined) throw new Error(`no message set ${name}`);
  return found;
}
