// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as etcdserverpb from './etcdserverpb.ts';
import * as authpbJson from './authpb-json.ts';
import * as mvccpbJson from './mvccpb-json.ts';

export const ResponseHeaderJson: JsonMessage = {
  fresh: etcdserverpb.newResponseHeader,
  fields: [
    { proto: 'cluster_id', name: 'clusterId', type: 'uint64-big' },
    { proto: 'member_id', name: 'memberId', type: 'uint64-big' },
    { proto: 'revision', name: 'revision', type: 'int64-number' },
    { proto: 'raft_term', name: 'raftTerm', type: 'uint64-number' },
  ],
};

export const RangeRequestJson: JsonMessage = {
  fresh: etcdserverpb.newRangeRequest,
  fields: [
    { proto: 'key', name: 'key', type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', type: 'bytes' },
    { proto: 'limit', name: 'limit', type: 'int64-number' },
    { proto: 'revision', name: 'revision', type: 'int64-number' },
    { proto: 'sort_order', name: 'sortOrder', type: etcdserverpb.RangeRequestSortOrder },
    { proto: 'sort_target', name: 'sortTarget', type: etcdserverpb.RangeRequestSortTarget },
    { proto: 'serializable', name: 'serializable', type: 'bool' },
    { proto: 'keys_only', name: 'keysOnly', type: 'bool' },
    { proto: 'count_only', name: 'countOnly', type: 'bool' },
    { proto: 'min_mod_revision', name: 'minModRevision', type: 'int64-number' },
    { proto: 'max_mod_revision', name: 'maxModRevision', type: 'int64-number' },
    { proto: 'min_create_revision', name: 'minCreateRevision', type: 'int64-number' },
    { proto: 'max_create_revision', name: 'maxCreateRevision', type: 'int64-number' },
  ],
};

export const RangeResponseJson: JsonMessage = {
  fresh: etcdserverpb.newRangeResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'kvs', name: 'kvs', type: () => mvccpbJson.KeyValueJson, repeated: true },
    { proto: 'more', name: 'more', type: 'bool' },
    { proto: 'count', name: 'count', type: 'int64-number' },
  ],
};

export const PutRequestJson: JsonMessage = {
  fresh: etcdserverpb.newPutRequest,
  fields: [
    { proto: 'key', name: 'key', type: 'bytes' },
    { proto: 'value', name: 'value', type: 'bytes' },
    { proto: 'lease', name: 'lease', type: 'int64-big' },
    { proto: 'prev_kv', name: 'prevKv', type: 'bool' },
    { proto: 'ignore_value', name: 'ignoreValue', type: 'bool' },
    { proto: 'ignore_lease', name: 'ignoreLease', type: 'bool' },
  ],
};

export const PutResponseJson: JsonMessage = {
  fresh: etcdserverpb.newPutResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'prev_kv', name: 'prevKv', type: () => mvccpbJson.KeyValueJson },
  ],
};

export const DeleteRangeRequestJson: JsonMessage = {
  fresh: etcdserverpb.newDeleteRangeRequest,
  fields: [
    { proto: 'key', name: 'key', type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', type: 'bytes' },
    { proto: 'prev_kv', name: 'prevKv', type: 'bool' },
  ],
};

export const DeleteRangeResponseJson: JsonMessage = {
  fresh: etcdserverpb.newDeleteRangeResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'deleted', name: 'deleted', type: 'int64-number' },
    { proto: 'prev_kvs', name: 'prevKvs', type: () => mvccpbJson.KeyValueJson, repeated: true },
  ],
};

export const RequestOpJson: JsonMessage = {
  fresh: etcdserverpb.newRequestOp,
  fields: [
    { proto: 'request_range', name: 'requestRange', type: () => RangeRequestJson, rivals: ['requestPut', 'requestDeleteRange', 'requestTxn'] },
    { proto: 'request_put', name: 'requestPut', type: () => PutRequestJson, rivals: ['requestRange', 'requestDeleteRange', 'requestTxn'] },
    { proto: 'request_delete_range', name: 'requestDeleteRange', type: () => DeleteRangeRequestJson, rivals: ['requestRange', 'requestPut', 'requestTxn'] },
    { proto: 'request_txn', name: 'requestTxn', type: () => TxnRequestJson, rivals: ['requestRange', 'requestPut', 'requestDeleteRange'] },
  ],
};

export const ResponseOpJson: JsonMessage = {
  fresh: etcdserverpb.newResponseOp,
  fields: [
    { proto: 'response_range', name: 'responseRange', type: () => RangeResponseJson, rivals: ['responsePut', 'responseDeleteRange', 'responseTxn'] },
    { proto: 'response_put', name: 'responsePut', type: () => PutResponseJson, rivals: ['responseRange', 'responseDeleteRange', 'responseTxn'] },
    { proto: 'response_delete_range', name: 'responseDeleteRange', type: () => DeleteRangeResponseJson, rivals: ['responseRange', 'responsePut', 'responseTxn'] },
    { proto: 'response_txn', name: 'responseTxn', type: () => TxnResponseJson, rivals: ['responseRange', 'responsePut', 'responseDeleteRange'] },
  ],
};

export const CompareJson: JsonMessage = {
  fresh: etcdserverpb.newCompare,
  fields: [
    { proto: 'result', name: 'result', type: etcdserverpb.CompareCompareResult },
    { proto: 'target', name: 'target', type: etcdserverpb.CompareCompareTarget },
    { proto: 'key', name: 'key', type: 'bytes' },
    { proto: 'version', name: 'version', type: 'int64-number', rivals: ['createRevision', 'modRevision', 'value', 'lease'] },
    { proto: 'create_revision', name: 'createRevision', type: 'int64-number', rivals: ['version', 'modRevision', 'value', 'lease'] },
    { proto: 'mod_revision', name: 'modRevision', type: 'int64-number', rivals: ['version', 'createRevision', 'value', 'lease'] },
    { proto: 'value', name: 'value', type: 'bytes', rivals: ['version', 'createRevision', 'modRevision', 'lease'] },
    { proto: 'lease', name: 'lease', type: 'int64-big', rivals: ['version', 'createRevision', 'modRevision', 'value'] },
    { proto: 'range_end', name: 'rangeEnd', type: 'bytes' },
  ],
};

export const TxnRequestJson: JsonMessage = {
  fresh: etcdserverpb.newTxnRequest,
  fields: [
    { proto: 'compare', name: 'compare', type: () => CompareJson, repeated: true },
    { proto: 'success', name: 'success', type: () => RequestOpJson, repeated: true },
    { proto: 'failure', name: 'failure', type: () => RequestOpJson, repeated: true },
  ],
};

export const TxnResponseJson: JsonMessage = {
  fresh: etcdserverpb.newTxnResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'succeeded', name: 'succeeded', type: 'bool' },
    { proto: 'responses', name: 'responses', type: () => ResponseOpJson, repeated: true },
  ],
};

export const CompactionRequestJson: JsonMessage = {
  fresh: etcdserverpb.newCompactionRequest,
  fields: [
    { proto: 'revision', name: 'revision', type: 'int64-number' },
    { proto: 'physical', name: 'physical', type: 'bool' },
  ],
};

export const CompactionResponseJson: JsonMessage = {
  fresh: etcdserverpb.newCompactionResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const HashRequestJson: JsonMessage = {
  fresh: etcdserverpb.newHashRequest,
  fields: [
  ],
};

export const HashKVRequestJson: JsonMessage = {
  fresh: etcdserverpb.newHashKVRequest,
  fields: [
    { proto: 'revision', name: 'revision', type: 'int64-number' },
  ],
};

export const HashKVResponseJson: JsonMessage = {
  fresh: etcdserverpb.newHashKVResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'hash', name: 'hash', type: 'uint32' },
    { proto: 'compact_revision', name: 'compactRevision', type: 'int64-number' },
    { proto: 'hash_revision', name: 'hashRevision', type: 'int64-number' },
  ],
};

export const HashResponseJson: JsonMessage = {
  fresh: etcdserverpb.newHashResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'hash', name: 'hash', type: 'uint32' },
  ],
};

export const SnapshotRequestJson: JsonMessage = {
  fresh: etcdserverpb.newSnapshotRequest,
  fields: [
  ],
};

export const SnapshotResponseJson: JsonMessage = {
  fresh: etcdserverpb.newSnapshotResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'remaining_bytes', name: 'remainingBytes', type: 'uint64-number' },
    { proto: 'blob', name: 'blob', type: 'bytes' },
    { proto: 'version', name: 'version', type: 'string' },
  ],
};

export const WatchRequestJson: JsonMessage = {
  fresh: etcdserverpb.newWatchRequest,
  fields: [
    { proto: 'create_request', name: 'createRequest', type: () => WatchCreateRequestJson, rivals: ['cancelRequest', 'progressRequest'] },
    { proto: 'cancel_request', name: 'cancelRequest', type: () => WatchCancelRequestJson, rivals: ['createRequest', 'progressRequest'] },
    { proto: 'progress_request', name: 'progressRequest', type: () => WatchProgressRequestJson, rivals: ['createRequest', 'cancelRequest'] },
  ],
};

export const WatchCreateRequestJson: JsonMessage = {
  fresh: etcdserverpb.newWatchCreateRequest,
  fields: [
    { proto: 'key', name: 'key', type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', type: 'bytes' },
    { proto: 'start_revision', name: 'startRevision', type: 'int64-number' },
    { proto: 'progress_notify', name: 'progressNotify', type: 'bool' },
    { proto: 'filters', name: 'filters', type: etcdserverpb.WatchCreateRequestFilterType, repeated: true },
    { proto: 'prev_kv', name: 'prevKv', type: 'bool' },
    { proto: 'watch_id', name: 'watchId', type: 'int64-exact' },
    { proto: 'fragment', name: 'fragment', type: 'bool' },
  ],
};

export const WatchCancelRequestJson: JsonMessage = {
  fresh: etcdserverpb.newWatchCancelRequest,
  fields: [
    { proto: 'watch_id', name: 'watchId', type: 'int64-exact' },
  ],
};

export const WatchProgressRequestJson: JsonMessage = {
  fresh: etcdserverpb.newWatchProgressRequest,
  fields: [
  ],
};

export const WatchResponseJson: JsonMessage = {
  fresh: etcdserverpb.newWatchResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'watch_id', name: 'watchId', type: 'int64-exact' },
    { proto: 'created', name: 'created', type: 'bool' },
    { proto: 'canceled', name: 'canceled', type: 'bool' },
    { proto: 'compact_revision', name: 'compactRevision', type: 'int64-number' },
    { proto: 'cancel_reason', name: 'cancelReason', type: 'string' },
    { proto: 'fragment', name: 'fragment', type: 'bool' },
    { proto: 'events', name: 'events', type: () => mvccpbJson.EventJson, repeated: true },
  ],
};

export const LeaseGrantRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseGrantRequest,
  fields: [
    { proto: 'TTL', name: 'TTL', type: 'int64-number' },
    { proto: 'ID', name: 'ID', type: 'int64-big' },
  ],
};

export const LeaseGrantResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseGrantResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'ID', name: 'ID', type: 'int64-big' },
    { proto: 'TTL', name: 'TTL', type: 'int64-number' },
    { proto: 'error', name: 'error', type: 'string' },
  ],
};

export const LeaseRevokeRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseRevokeRequest,
  fields: [
    { proto: 'ID', name: 'ID', type: 'int64-big' },
  ],
};

export const LeaseRevokeResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseRevokeResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const LeaseCheckpointJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseCheckpoint,
  fields: [
    { proto: 'ID', name: 'ID', type: 'int64-big' },
    { proto: 'remaining_TTL', name: 'remainingTTL', type: 'int64-number' },
  ],
};

export const LeaseCheckpointRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseCheckpointRequest,
  fields: [
    { proto: 'checkpoints', name: 'checkpoints', type: () => LeaseCheckpointJson, repeated: true },
  ],
};

export const LeaseCheckpointResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseCheckpointResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const LeaseKeepAliveRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseKeepAliveRequest,
  fields: [
    { proto: 'ID', name: 'ID', type: 'int64-big' },
  ],
};

export const LeaseKeepAliveResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseKeepAliveResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'ID', name: 'ID', type: 'int64-big' },
    { proto: 'TTL', name: 'TTL', type: 'int64-number' },
  ],
};

export const LeaseTimeToLiveRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseTimeToLiveRequest,
  fields: [
    { proto: 'ID', name: 'ID', type: 'int64-big' },
    { proto: 'keys', name: 'keys', type: 'bool' },
  ],
};

export const LeaseTimeToLiveResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseTimeToLiveResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'ID', name: 'ID', type: 'int64-big' },
    { proto: 'TTL', name: 'TTL', type: 'int64-number' },
    { proto: 'grantedTTL', name: 'grantedTTL', type: 'int64-number' },
    { proto: 'keys', name: 'keys', type: 'bytes', repeated: true },
  ],
};

export const LeaseLeasesRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseLeasesRequest,
  fields: [
  ],
};

export const LeaseStatusJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseStatus,
  fields: [
    { proto: 'ID', name: 'ID', type: 'int64-big' },
  ],
};

export const LeaseLeasesResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseLeasesResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'leases', name: 'leases', type: () => LeaseStatusJson, repeated: true },
  ],
};

export const MemberJson: JsonMessage = {
  fresh: etcdserverpb.newMember,
  fields: [
    { proto: 'ID', name: 'ID', type: 'uint64-big' },
    { proto: 'name', name: 'name', type: 'string' },
    { proto: 'peerURLs', name: 'peerURLs', type: 'string', repeated: true },
    { proto: 'clientURLs', name: 'clientURLs', type: 'string', repeated: true },
    { proto: 'isLearner', name: 'isLearner', type: 'bool' },
  ],
};

export const MemberAddRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberAddRequest,
  fields: [
    { proto: 'peerURLs', name: 'peerURLs', type: 'string', repeated: true },
    { proto: 'isLearner', name: 'isLearner', type: 'bool' },
  ],
};

export const MemberAddResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberAddResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'member', name: 'member', type: () => MemberJson },
    { proto: 'members', name: 'members', type: () => MemberJson, repeated: true },
  ],
};

export const MemberRemoveRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberRemoveRequest,
  fields: [
    { proto: 'ID', name: 'ID', type: 'uint64-big' },
  ],
};

export const MemberRemoveResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberRemoveResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'members', name: 'members', type: () => MemberJson, repeated: true },
  ],
};

export const MemberUpdateRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberUpdateRequest,
  fields: [
    { proto: 'ID', name: 'ID', type: 'uint64-big' },
    { proto: 'peerURLs', name: 'peerURLs', type: 'string', repeated: true },
  ],
};

export const MemberUpdateResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberUpdateResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'members', name: 'members', type: () => MemberJson, repeated: true },
  ],
};

export const MemberListRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberListRequest,
  fields: [
    { proto: 'linearizable', name: 'linearizable', type: 'bool' },
  ],
};

export const MemberListResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberListResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'members', name: 'members', type: () => MemberJson, repeated: true },
  ],
};

export const MemberPromoteRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberPromoteRequest,
  fields: [
    { proto: 'ID', name: 'ID', type: 'uint64-big' },
  ],
};

export const MemberPromoteResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberPromoteResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'members', name: 'members', type: () => MemberJson, repeated: true },
  ],
};

export const DefragmentRequestJson: JsonMessage = {
  fresh: etcdserverpb.newDefragmentRequest,
  fields: [
  ],
};

export const DefragmentResponseJson: JsonMessage = {
  fresh: etcdserverpb.newDefragmentResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const MoveLeaderRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMoveLeaderRequest,
  fields: [
    { proto: 'targetID', name: 'targetID', type: 'uint64-big' },
  ],
};

export const MoveLeaderResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMoveLeaderResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AlarmRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAlarmRequest,
  fields: [
    { proto: 'action', name: 'action', type: etcdserverpb.AlarmRequestAlarmAction },
    { proto: 'memberID', name: 'memberID', type: 'uint64-big' },
    { proto: 'alarm', name: 'alarm', type: etcdserverpb.AlarmType },
  ],
};

export const AlarmMemberJson: JsonMessage = {
  fresh: etcdserverpb.newAlarmMember,
  fields: [
    { proto: 'memberID', name: 'memberID', type: 'uint64-big' },
    { proto: 'alarm', name: 'alarm', type: etcdserverpb.AlarmType },
  ],
};

export const AlarmResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAlarmResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'alarms', name: 'alarms', type: () => AlarmMemberJson, repeated: true },
  ],
};

export const DowngradeRequestJson: JsonMessage = {
  fresh: etcdserverpb.newDowngradeRequest,
  fields: [
    { proto: 'action', name: 'action', type: etcdserverpb.DowngradeRequestDowngradeAction },
    { proto: 'version', name: 'version', type: 'string' },
  ],
};

export const DowngradeResponseJson: JsonMessage = {
  fresh: etcdserverpb.newDowngradeResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'version', name: 'version', type: 'string' },
  ],
};

export const DowngradeVersionTestRequestJson: JsonMessage = {
  fresh: etcdserverpb.newDowngradeVersionTestRequest,
  fields: [
    { proto: 'ver', name: 'ver', type: 'string' },
  ],
};

export const StatusRequestJson: JsonMessage = {
  fresh: etcdserverpb.newStatusRequest,
  fields: [
  ],
};

export const StatusResponseJson: JsonMessage = {
  fresh: etcdserverpb.newStatusResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'version', name: 'version', type: 'string' },
    { proto: 'dbSize', name: 'dbSize', type: 'int64-number' },
    { proto: 'leader', name: 'leader', type: 'uint64-big' },
    { proto: 'raftIndex', name: 'raftIndex', type: 'uint64-number' },
    { proto: 'raftTerm', name: 'raftTerm', type: 'uint64-number' },
    { proto: 'raftAppliedIndex', name: 'raftAppliedIndex', type: 'uint64-number' },
    { proto: 'errors', name: 'errors', type: 'string', repeated: true },
    { proto: 'dbSizeInUse', name: 'dbSizeInUse', type: 'int64-number' },
    { proto: 'isLearner', name: 'isLearner', type: 'bool' },
    { proto: 'storageVersion', name: 'storageVersion', type: 'string' },
    { proto: 'dbSizeQuota', name: 'dbSizeQuota', type: 'int64-number' },
    { proto: 'downgradeInfo', name: 'downgradeInfo', type: () => DowngradeInfoJson },
  ],
};

export const DowngradeInfoJson: JsonMessage = {
  fresh: etcdserverpb.newDowngradeInfo,
  fields: [
    { proto: 'enabled', name: 'enabled', type: 'bool' },
    { proto: 'targetVersion', name: 'targetVersion', type: 'string' },
  ],
};

export const AuthEnableRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthEnableRequest,
  fields: [
  ],
};

export const AuthDisableRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthDisableRequest,
  fields: [
  ],
};

export const AuthStatusRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthStatusRequest,
  fields: [
  ],
};

export const AuthenticateRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthenticateRequest,
  fields: [
    { proto: 'name', name: 'name', type: 'string' },
    { proto: 'password', name: 'password', type: 'string' },
  ],
};

export const AuthUserAddRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserAddRequest,
  fields: [
    { proto: 'name', name: 'name', type: 'string' },
    { proto: 'password', name: 'password', type: 'string' },
    { proto: 'options', name: 'options', type: () => authpbJson.UserAddOptionsJson },
    { proto: 'hashedPassword', name: 'hashedPassword', type: 'string' },
  ],
};

export const AuthUserGetRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserGetRequest,
  fields: [
    { proto: 'name', name: 'name', type: 'string' },
  ],
};

export const AuthUserDeleteRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserDeleteRequest,
  fields: [
    { proto: 'name', name: 'name', type: 'string' },
  ],
};

export const AuthUserChangePasswordRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserChangePasswordRequest,
  fields: [
    { proto: 'name', name: 'name', type: 'string' },
    { proto: 'password', name: 'password', type: 'string' },
    { proto: 'hashedPassword', name: 'hashedPassword', type: 'string' },
  ],
};

export const AuthUserGrantRoleRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserGrantRoleRequest,
  fields: [
    { proto: 'user', name: 'user', type: 'string' },
    { proto: 'role', name: 'role', type: 'string' },
  ],
};

export const AuthUserRevokeRoleRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserRevokeRoleRequest,
  fields: [
    { proto: 'name', name: 'name', type: 'string' },
    { proto: 'role', name: 'role', type: 'string' },
  ],
};

export const AuthRoleAddRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleAddRequest,
  fields: [
    { proto: 'name', name: 'name', type: 'string' },
  ],
};

export const AuthRoleGetRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleGetRequest,
  fields: [
    { proto: 'role', name: 'role', type: 'string' },
  ],
};

export const AuthUserListRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserListRequest,
  fields: [
  ],
};

export const AuthRoleListRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleListRequest,
  fields: [
  ],
};

export const AuthRoleDeleteRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleDeleteRequest,
  fields: [
    { proto: 'role', name: 'role', type: 'string' },
  ],
};

export const AuthRoleGrantPermissionRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleGrantPermissionRequest,
  fields: [
    { proto: 'name', name: 'name', type: 'string' },
    { proto: 'perm', name: 'perm', type: () => authpbJson.PermissionJson },
  ],
};

export const AuthRoleRevokePermissionRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleRevokePermissionRequest,
  fields: [
    { proto: 'role', name: 'role', type: 'string' },
    { proto: 'key', name: 'key', type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', type: 'bytes' },
  ],
};

export const AuthEnableResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthEnableResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthDisableResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthDisableResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthStatusResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthStatusResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'enabled', name: 'enabled', type: 'bool' },
    { proto: 'authRevision', name: 'authRevision', type: 'uint64-number' },
  ],
};

export const AuthenticateResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthenticateResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'token', name: 'token', type: 'string' },
  ],
};

export const AuthUserAddResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserAddResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthUserGetResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserGetResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'roles', name: 'roles', type: 'string', repeated: true },
  ],
};

export const AuthUserDeleteResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserDeleteResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthUserChangePasswordResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserChangePasswordResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthUserGrantRoleResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserGrantRoleResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthUserRevokeRoleResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserRevokeRoleResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthRoleAddResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleAddResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthRoleGetResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleGetResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'perm', name: 'perm', type: () => authpbJson.PermissionJson, repeated: true },
  ],
};

export const AuthRoleListResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleListResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'roles', name: 'roles', type: 'string', repeated: true },
  ],
};

export const AuthUserListResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserListResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
    { proto: 'users', name: 'users', type: 'string', repeated: true },
  ],
};

export const AuthRoleDeleteResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleDeleteResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthRoleGrantPermissionResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleGrantPermissionResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const AuthRoleRevokePermissionResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleRevokePermissionResponse,
  fields: [
    { proto: 'header', name: 'header', type: () => ResponseHeaderJson },
  ],
};

export const RangeStreamResponseJson: JsonMessage = {
  fresh: etcdserverpb.newRangeStreamResponse,
  fields: [
    { proto: 'range_response', name: 'rangeResponse', type: () => RangeResponseJson },
  ],
};
