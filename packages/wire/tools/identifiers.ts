/**
 * The 64-bit fields that name something. Their values are chosen by clients or by chance, so every bit counts and they
 * become bigint; all other 64-bit fields, but for `watchIds`, count something and become number.
 */
export const identifiers: readonly string[] = [
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
];

/**
 * Names that are small numbers unless a client chooses otherwise, and stand in every message of a hot path: they become
 * Int64, a number where that is exact and a bigint where it is not.
 */
export const watchIds: readonly string[] = [
  'etcdserverpb.WatchCreateRequest.watch_id',
  'etcdserverpb.WatchCancelRequest.watch_id',
  'etcdserverpb.WatchResponse.watch_id',
];
