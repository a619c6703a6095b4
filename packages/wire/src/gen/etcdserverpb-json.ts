// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as etcdserverpb from './etcdserverpb.ts';
import * as authpbJson from './authpb-json.ts';
import * as mvccpbJson from './mvccpb-json.ts';

export const ResponseHeaderJson: JsonMessage = {
  fresh: etcdserverpb.newResponseHeader,
  fields: [
    { proto: 'cluster_id', name: 'clusterId', number: 1, type: 'uint64-big' },
    { proto: 'member_id', name: 'memberId', number: 2, type: 'uint64-big' },
    { proto: 'revision', name: 'revision', number: 3, type: 'int64-number' },
    { proto: 'raft_term', name: 'raftTerm', number: 4, type: 'uint64-number' },
  ],
};

export const RangeRequestJson: JsonMessage = {
  fresh: etcdserverpb.newRangeRequest,
  fields: [
    { proto: 'key', name: 'key', number: 1, type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', number: 2, type: 'bytes' },
    { proto: 'limit', name: 'limit', number: 3, type: 'int64-number' },
    { proto: 'revision', name: 'revision', number: 4, type: 'int64-number' },
    { proto: 'sort_order', name: 'sortOrder', number: 5, type: etcdserverpb.RangeRequestSortOrder },
    { proto: 'sort_target', name: 'sortTarget', number: 6, type: etcdserverpb.RangeRequestSortTarget },
    { proto: 'serializable', name: 'serializable', number: 7, type: 'bool' },
    { proto: 'keys_only', name: 'keysOnly', number: 8, type: 'bool' },
    { proto: 'count_only', name: 'countOnly', number: 9, type: 'bool' },
    { proto: 'min_mod_revision', name: 'minModRevision', number: 10, type: 'int64-number' },
    { proto: 'max_mod_revision', name: 'maxModRevision', number: 11, type: 'int64-number' },
    { proto: 'min_create_revision', name: 'minCreateRevision', number: 12, type: 'int64-number' },
    { proto: 'max_create_revision', name: 'maxCreateRevision', number: 13, type: 'int64-number' },
  ],
};

export const RangeResponseJson: JsonMessage = {
  fresh: etcdserverpb.newRangeResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'kvs', name: 'kvs', number: 2, type: () => mvccpbJson.KeyValueJson, repeated: true },
    { proto: 'more', name: 'more', number: 3, type: 'bool' },
    { proto: 'count', name: 'count', number: 4, type: 'int64-number' },
  ],
};

export const PutRequestJson: JsonMessage = {
  fresh: etcdserverpb.newPutRequest,
  fields: [
    { proto: 'key', name: 'key', number: 1, type: 'bytes' },
    { proto: 'value', name: 'value', number: 2, type: 'bytes' },
    { proto: 'lease', name: 'lease', number: 3, type: 'int64-big' },
    { proto: 'prev_kv', name: 'prevKv', number: 4, type: 'bool' },
    { proto: 'ignore_value', name: 'ignoreValue', number: 5, type: 'bool' },
    { proto: 'ignore_lease', name: 'ignoreLease', number: 6, type: 'bool' },
  ],
};

export const PutResponseJson: JsonMessage = {
  fresh: etcdserverpb.newPutResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'prev_kv', name: 'prevKv', number: 2, type: () => mvccpbJson.KeyValueJson },
  ],
};

export const DeleteRangeRequestJson: JsonMessage = {
  fresh: etcdserverpb.newDeleteRangeRequest,
  fields: [
    { proto: 'key', name: 'key', number: 1, type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', number: 2, type: 'bytes' },
    { proto: 'prev_kv', name: 'prevKv', number: 3, type: 'bool' },
  ],
};

export const DeleteRangeResponseJson: JsonMessage = {
  fresh: etcdserverpb.newDeleteRangeResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'deleted', name: 'deleted', number: 2, type: 'int64-number' },
    { proto: 'prev_kvs', name: 'prevKvs', number: 3, type: () => mvccpbJson.KeyValueJson, repeated: true },
  ],
};

export const RequestOpJson: JsonMessage = {
  fresh: etcdserverpb.newRequestOp,
  fields: [
    { proto: 'request_range', name: 'requestRange', number: 1, type: () => RangeRequestJson, rivals: ['requestPut', 'requestDeleteRange', 'requestTxn'] },
    { proto: 'request_put', name: 'requestPut', number: 2, type: () => PutRequestJson, rivals: ['requestRange', 'requestDeleteRange', 'requestTxn'] },
    { proto: 'request_delete_range', name: 'requestDeleteRange', number: 3, type: () => DeleteRangeRequestJson, rivals: ['requestRange', 'requestPut', 'requestTxn'] },
    { proto: 'request_txn', name: 'requestTxn', number: 4, type: () => TxnRequestJson, rivals: ['requestRange', 'requestPut', 'requestDeleteRange'] },
  ],
};

export const ResponseOpJson: JsonMessage = {
  fresh: etcdserverpb.newResponseOp,
  fields: [
    { proto: 'response_range', name: 'responseRange', number: 1, type: () => RangeResponseJson, rivals: ['responsePut', 'responseDeleteRange', 'responseTxn'] },
    { proto: 'response_put', name: 'responsePut', number: 2, type: () => PutResponseJson, rivals: ['responseRange', 'responseDeleteRange', 'responseTxn'] },
    { proto: 'response_delete_range', name: 'responseDeleteRange', number: 3, type: () => DeleteRangeResponseJson, rivals: ['responseRange', 'responsePut', 'responseTxn'] },
    { proto: 'response_txn', name: 'responseTxn', number: 4, type: () => TxnResponseJson, rivals: ['responseRange', 'responsePut', 'responseDeleteRange'] },
  ],
};

export const CompareJson: JsonMessage = {
  fresh: etcdserverpb.newCompare,
  fields: [
    { proto: 'result', name: 'result', number: 1, type: etcdserverpb.CompareCompareResult },
    { proto: 'target', name: 'target', number: 2, type: etcdserverpb.CompareCompareTarget },
    { proto: 'key', name: 'key', number: 3, type: 'bytes' },
    { proto: 'version', name: 'version', number: 4, type: 'int64-number', rivals: ['createRevision', 'modRevision', 'value', 'lease'] },
    { proto: 'create_revision', name: 'createRevision', number: 5, type: 'int64-number', rivals: ['version', 'modRevision', 'value', 'lease'] },
    { proto: 'mod_revision', name: 'modRevision', number: 6, type: 'int64-number', rivals: ['version', 'createRevision', 'value', 'lease'] },
    { proto: 'value', name: 'value', number: 7, type: 'bytes', rivals: ['version', 'createRevision', 'modRevision', 'lease'] },
    { proto: 'lease', name: 'lease', number: 8, type: 'int64-big', rivals: ['version', 'createRevision', 'modRevision', 'value'] },
    { proto: 'range_end', name: 'rangeEnd', number: 64, type: 'bytes' },
  ],
};

export const TxnRequestJson: JsonMessage = {
  fresh: etcdserverpb.newTxnRequest,
  fields: [
    { proto: 'compare', name: 'compare', number: 1, type: () => CompareJson, repeated: true },
    { proto: 'success', name: 'success', number: 2, type: () => RequestOpJson, repeated: true },
    { proto: 'failure', name: 'failure', number: 3, type: () => RequestOpJson, repeated: true },
  ],
};

export const TxnResponseJson: JsonMessage = {
  fresh: etcdserverpb.newTxnResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'succeeded', name: 'succeeded', number: 2, type: 'bool' },
    { proto: 'responses', name: 'responses', number: 3, type: () => ResponseOpJson, repeated: true },
  ],
};

export const CompactionRequestJson: JsonMessage = {
  fresh: etcdserverpb.newCompactionRequest,
  fields: [
    { proto: 'revision', name: 'revision', number: 1, type: 'int64-number' },
    { proto: 'physical', name: 'physical', number: 2, type: 'bool' },
  ],
};

export const CompactionResponseJson: JsonMessage = {
  fresh: etcdserverpb.newCompactionResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
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
    { proto: 'revision', name: 'revision', number: 1, type: 'int64-number' },
  ],
};

export const HashKVResponseJson: JsonMessage = {
  fresh: etcdserverpb.newHashKVResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'hash', name: 'hash', number: 2, type: 'uint32' },
    { proto: 'compact_revision', name: 'compactRevision', number: 3, type: 'int64-number' },
    { proto: 'hash_revision', name: 'hashRevision', number: 4, type: 'int64-number' },
  ],
};

export const HashResponseJson: JsonMessage = {
  fresh: etcdserverpb.newHashResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'hash', name: 'hash', number: 2, type: 'uint32' },
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
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'remaining_bytes', name: 'remainingBytes', number: 2, type: 'uint64-number' },
    { proto: 'blob', name: 'blob', number: 3, type: 'bytes' },
    { proto: 'version', name: 'version', number: 4, type: 'string' },
  ],
};

export const WatchRequestJson: JsonMessage = {
  fresh: etcdserverpb.newWatchRequest,
  fields: [
    { proto: 'create_request', name: 'createRequest', number: 1, type: () => WatchCreateRequestJson, rivals: ['cancelRequest', 'progressRequest'] },
    { proto: 'cancel_request', name: 'cancelRequest', number: 2, type: () => WatchCancelRequestJson, rivals: ['createRequest', 'progressRequest'] },
    { proto: 'progress_request', name: 'progressRequest', number: 3, type: () => WatchProgressRequestJson, rivals: ['createRequest', 'cancelRequest'] },
  ],
};

export const WatchCreateRequestJson: JsonMessage = {
  fresh: etcdserverpb.newWatchCreateRequest,
  fields: [
    { proto: 'key', name: 'key', number: 1, type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', number: 2, type: 'bytes' },
    { proto: 'start_revision', name: 'startRevision', number: 3, type: 'int64-number' },
    { proto: 'progress_notify', name: 'progressNotify', number: 4, type: 'bool' },
    { proto: 'filters', name: 'filters', number: 5, type: etcdserverpb.WatchCreateRequestFilterType, repeated: true },
    { proto: 'prev_kv', name: 'prevKv', number: 6, type: 'bool' },
    { proto: 'watch_id', name: 'watchId', number: 7, type: 'int64-exact' },
    { proto: 'fragment', name: 'fragment', number: 8, type: 'bool' },
  ],
};

export const WatchCancelRequestJson: JsonMessage = {
  fresh: etcdserverpb.newWatchCancelRequest,
  fields: [
    { proto: 'watch_id', name: 'watchId', number: 1, type: 'int64-exact' },
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
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'watch_id', name: 'watchId', number: 2, type: 'int64-exact' },
    { proto: 'created', name: 'created', number: 3, type: 'bool' },
    { proto: 'canceled', name: 'canceled', number: 4, type: 'bool' },
    { proto: 'compact_revision', name: 'compactRevision', number: 5, type: 'int64-number' },
    { proto: 'cancel_reason', name: 'cancelReason', number: 6, type: 'string' },
    { proto: 'fragment', name: 'fragment', number: 7, type: 'bool' },
    { proto: 'events', name: 'events', number: 11, type: () => mvccpbJson.EventJson, repeated: true },
  ],
};

export const LeaseGrantRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseGrantRequest,
  fields: [
    { proto: 'TTL', name: 'TTL', number: 1, type: 'int64-number' },
    { proto: 'ID', name: 'ID', number: 2, type: 'int64-big' },
  ],
};

export const LeaseGrantResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseGrantResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'ID', name: 'ID', number: 2, type: 'int64-big' },
    { proto: 'TTL', name: 'TTL', number: 3, type: 'int64-number' },
    { proto: 'error', name: 'error', number: 4, type: 'string' },
  ],
};

export const LeaseRevokeRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseRevokeRequest,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'int64-big' },
  ],
};

export const LeaseRevokeResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseRevokeResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const LeaseCheckpointJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseCheckpoint,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'int64-big' },
    { proto: 'remaining_TTL', name: 'remainingTTL', number: 2, type: 'int64-number' },
  ],
};

export const LeaseCheckpointRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseCheckpointRequest,
  fields: [
    { proto: 'checkpoints', name: 'checkpoints', number: 1, type: () => LeaseCheckpointJson, repeated: true },
  ],
};

export const LeaseCheckpointResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseCheckpointResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const LeaseKeepAliveRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseKeepAliveRequest,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'int64-big' },
  ],
};

export const LeaseKeepAliveResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseKeepAliveResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'ID', name: 'ID', number: 2, type: 'int64-big' },
    { proto: 'TTL', name: 'TTL', number: 3, type: 'int64-number' },
  ],
};

export const LeaseTimeToLiveRequestJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseTimeToLiveRequest,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'int64-big' },
    { proto: 'keys', name: 'keys', number: 2, type: 'bool' },
  ],
};

export const LeaseTimeToLiveResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseTimeToLiveResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'ID', name: 'ID', number: 2, type: 'int64-big' },
    { proto: 'TTL', name: 'TTL', number: 3, type: 'int64-number' },
    { proto: 'grantedTTL', name: 'grantedTTL', number: 4, type: 'int64-number' },
    { proto: 'keys', name: 'keys', number: 5, type: 'bytes', repeated: true },
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
    { proto: 'ID', name: 'ID', number: 1, type: 'int64-big' },
  ],
};

export const LeaseLeasesResponseJson: JsonMessage = {
  fresh: etcdserverpb.newLeaseLeasesResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'leases', name: 'leases', number: 2, type: () => LeaseStatusJson, repeated: true },
  ],
};

export const MemberJson: JsonMessage = {
  fresh: etcdserverpb.newMember,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'uint64-big' },
    { proto: 'name', name: 'name', number: 2, type: 'string' },
    { proto: 'peerURLs', name: 'peerURLs', number: 3, type: 'string', repeated: true },
    { proto: 'clientURLs', name: 'clientURLs', number: 4, type: 'string', repeated: true },
    { proto: 'isLearner', name: 'isLearner', number: 5, type: 'bool' },
  ],
};

export const MemberAddRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberAddRequest,
  fields: [
    { proto: 'peerURLs', name: 'peerURLs', number: 1, type: 'string', repeated: true },
    { proto: 'isLearner', name: 'isLearner', number: 2, type: 'bool' },
  ],
};

export const MemberAddResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberAddResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'member', name: 'member', number: 2, type: () => MemberJson },
    { proto: 'members', name: 'members', number: 3, type: () => MemberJson, repeated: true },
  ],
};

export const MemberRemoveRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberRemoveRequest,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'uint64-big' },
  ],
};

export const MemberRemoveResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberRemoveResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'members', name: 'members', number: 2, type: () => MemberJson, repeated: true },
  ],
};

export const MemberUpdateRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberUpdateRequest,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'uint64-big' },
    { proto: 'peerURLs', name: 'peerURLs', number: 2, type: 'string', repeated: true },
  ],
};

export const MemberUpdateResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberUpdateResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'members', name: 'members', number: 2, type: () => MemberJson, repeated: true },
  ],
};

export const MemberListRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberListRequest,
  fields: [
    { proto: 'linearizable', name: 'linearizable', number: 1, type: 'bool' },
  ],
};

export const MemberListResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberListResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'members', name: 'members', number: 2, type: () => MemberJson, repeated: true },
  ],
};

export const MemberPromoteRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMemberPromoteRequest,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'uint64-big' },
  ],
};

export const MemberPromoteResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMemberPromoteResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'members', name: 'members', number: 2, type: () => MemberJson, repeated: true },
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
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const MoveLeaderRequestJson: JsonMessage = {
  fresh: etcdserverpb.newMoveLeaderRequest,
  fields: [
    { proto: 'targetID', name: 'targetID', number: 1, type: 'uint64-big' },
  ],
};

export const MoveLeaderResponseJson: JsonMessage = {
  fresh: etcdserverpb.newMoveLeaderResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AlarmRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAlarmRequest,
  fields: [
    { proto: 'action', name: 'action', number: 1, type: etcdserverpb.AlarmRequestAlarmAction },
    { proto: 'memberID', name: 'memberID', number: 2, type: 'uint64-big' },
    { proto: 'alarm', name: 'alarm', number: 3, type: etcdserverpb.AlarmType },
  ],
};

export const AlarmMemberJson: JsonMessage = {
  fresh: etcdserverpb.newAlarmMember,
  fields: [
    { proto: 'memberID', name: 'memberID', number: 1, type: 'uint64-big' },
    { proto: 'alarm', name: 'alarm', number: 2, type: etcdserverpb.AlarmType },
  ],
};

export const AlarmResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAlarmResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'alarms', name: 'alarms', number: 2, type: () => AlarmMemberJson, repeated: true },
  ],
};

export const DowngradeRequestJson: JsonMessage = {
  fresh: etcdserverpb.newDowngradeRequest,
  fields: [
    { proto: 'action', name: 'action', number: 1, type: etcdserverpb.DowngradeRequestDowngradeAction },
    { proto: 'version', name: 'version', number: 2, type: 'string' },
  ],
};

export const DowngradeResponseJson: JsonMessage = {
  fresh: etcdserverpb.newDowngradeResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'version', name: 'version', number: 2, type: 'string' },
  ],
};

export const DowngradeVersionTestRequestJson: JsonMessage = {
  fresh: etcdserverpb.newDowngradeVersionTestRequest,
  fields: [
    { proto: 'ver', name: 'ver', number: 1, type: 'string' },
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
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'version', name: 'version', number: 2, type: 'string' },
    { proto: 'dbSize', name: 'dbSize', number: 3, type: 'int64-number' },
    { proto: 'leader', name: 'leader', number: 4, type: 'uint64-big' },
    { proto: 'raftIndex', name: 'raftIndex', number: 5, type: 'uint64-number' },
    { proto: 'raftTerm', name: 'raftTerm', number: 6, type: 'uint64-number' },
    { proto: 'raftAppliedIndex', name: 'raftAppliedIndex', number: 7, type: 'uint64-number' },
    { proto: 'errors', name: 'errors', number: 8, type: 'string', repeated: true },
    { proto: 'dbSizeInUse', name: 'dbSizeInUse', number: 9, type: 'int64-number' },
    { proto: 'isLearner', name: 'isLearner', number: 10, type: 'bool' },
    { proto: 'storageVersion', name: 'storageVersion', number: 11, type: 'string' },
    { proto: 'dbSizeQuota', name: 'dbSizeQuota', number: 12, type: 'int64-number' },
    { proto: 'downgradeInfo', name: 'downgradeInfo', number: 13, type: () => DowngradeInfoJson },
  ],
};

export const DowngradeInfoJson: JsonMessage = {
  fresh: etcdserverpb.newDowngradeInfo,
  fields: [
    { proto: 'enabled', name: 'enabled', number: 1, type: 'bool' },
    { proto: 'targetVersion', name: 'targetVersion', number: 2, type: 'string' },
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
    { proto: 'name', name: 'name', number: 1, type: 'string' },
    { proto: 'password', name: 'password', number: 2, type: 'string' },
  ],
};

export const AuthUserAddRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserAddRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'string' },
    { proto: 'password', name: 'password', number: 2, type: 'string' },
    { proto: 'options', name: 'options', number: 3, type: () => authpbJson.UserAddOptionsJson },
    { proto: 'hashedPassword', name: 'hashedPassword', number: 4, type: 'string' },
  ],
};

export const AuthUserGetRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserGetRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'string' },
  ],
};

export const AuthUserDeleteRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserDeleteRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'string' },
  ],
};

export const AuthUserChangePasswordRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserChangePasswordRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'string' },
    { proto: 'password', name: 'password', number: 2, type: 'string' },
    { proto: 'hashedPassword', name: 'hashedPassword', number: 3, type: 'string' },
  ],
};

export const AuthUserGrantRoleRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserGrantRoleRequest,
  fields: [
    { proto: 'user', name: 'user', number: 1, type: 'string' },
    { proto: 'role', name: 'role', number: 2, type: 'string' },
  ],
};

export const AuthUserRevokeRoleRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserRevokeRoleRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'string' },
    { proto: 'role', name: 'role', number: 2, type: 'string' },
  ],
};

export const AuthRoleAddRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleAddRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'string' },
  ],
};

export const AuthRoleGetRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleGetRequest,
  fields: [
    { proto: 'role', name: 'role', number: 1, type: 'string' },
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
    { proto: 'role', name: 'role', number: 1, type: 'string' },
  ],
};

export const AuthRoleGrantPermissionRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleGrantPermissionRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'string' },
    { proto: 'perm', name: 'perm', number: 2, type: () => authpbJson.PermissionJson },
  ],
};

export const AuthRoleRevokePermissionRequestJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleRevokePermissionRequest,
  fields: [
    { proto: 'role', name: 'role', number: 1, type: 'string' },
    { proto: 'key', name: 'key', number: 2, type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', number: 3, type: 'bytes' },
  ],
};

export const AuthEnableResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthEnableResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthDisableResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthDisableResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthStatusResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthStatusResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'enabled', name: 'enabled', number: 2, type: 'bool' },
    { proto: 'authRevision', name: 'authRevision', number: 3, type: 'uint64-number' },
  ],
};

export const AuthenticateResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthenticateResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'token', name: 'token', number: 2, type: 'string' },
  ],
};

export const AuthUserAddResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserAddResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthUserGetResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserGetResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'roles', name: 'roles', number: 2, type: 'string', repeated: true },
  ],
};

export const AuthUserDeleteResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserDeleteResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthUserChangePasswordResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserChangePasswordResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthUserGrantRoleResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserGrantRoleResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthUserRevokeRoleResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserRevokeRoleResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthRoleAddResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleAddResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthRoleGetResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleGetResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'perm', name: 'perm', number: 2, type: () => authpbJson.PermissionJson, repeated: true },
  ],
};

export const AuthRoleListResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleListResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'roles', name: 'roles', number: 2, type: 'string', repeated: true },
  ],
};

export const AuthUserListResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthUserListResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
    { proto: 'users', name: 'users', number: 2, type: 'string', repeated: true },
  ],
};

export const AuthRoleDeleteResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleDeleteResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthRoleGrantPermissionResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleGrantPermissionResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const AuthRoleRevokePermissionResponseJson: JsonMessage = {
  fresh: etcdserverpb.newAuthRoleRevokePermissionResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => ResponseHeaderJson },
  ],
};

export const RangeStreamResponseJson: JsonMessage = {
  fresh: etcdserverpb.newRangeStreamResponse,
  fields: [
    { proto: 'range_response', name: 'rangeResponse', number: 1, type: () => RangeResponseJson },
  ],
};
