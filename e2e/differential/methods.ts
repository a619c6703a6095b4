import { type Answer, listOf, method } from './judge.ts';
import type { Decoded, DecodedMessage } from './messages.ts';

export const range = method('KV/Range', 'RangeRequest');
export const rangeStream = method('KV/RangeStream', 'RangeRequest', 'RangeStreamResponse');
export const put = method('KV/Put', 'PutRequest');
export const deleteRange = method('KV/DeleteRange', 'DeleteRangeRequest');
export const txn = method('KV/Txn', 'TxnRequest');
export const leaseGrant = method('Lease/LeaseGrant', 'LeaseGrantRequest');
export const leaseRevoke = method('Lease/LeaseRevoke', 'LeaseRevokeRequest');
export const leaseKeepAlive = method('Lease/LeaseKeepAlive', 'LeaseKeepAliveRequest');
export const leaseTimeToLive = method('Lease/LeaseTimeToLive', 'LeaseTimeToLiveRequest');
export const leaseLeases = method('Lease/LeaseLeases', 'LeaseLeasesRequest');
export const statusOf = method('Maintenance/Status', 'StatusRequest');
export const alarm = method('Maintenance/Alarm', 'AlarmRequest');
export const defragment = method('Maintenance/Defragment', 'DefragmentRequest');
export const hash = method('Maintenance/Hash', 'HashRequest');
export const hashKv = method('Maintenance/HashKV', 'HashKVRequest');
export const snapshot = method('Maintenance/Snapshot', 'SnapshotRequest');
export const moveLeader = method('Maintenance/MoveLeader', 'MoveLeaderRequest');
export const downgrade = method('Maintenance/Downgrade', 'DowngradeRequest');
export const authStatus = method('Auth/AuthStatus', 'AuthStatusRequest');
export const authenticate = method('Auth/Authenticate', 'AuthenticateRequest');
export const userAdd = method('Auth/UserAdd', 'AuthUserAddRequest');
export const userList = method('Auth/UserList', 'AuthUserListRequest');
export const roleList = method('Auth/RoleList', 'AuthRoleListRequest');
export const memberList = method('Cluster/MemberList', 'MemberListRequest');

type Settle = (answers: readonly [Answer, Answer]) => readonly [Answer, Answer];
const each =
  (change: (answer: Answer) => Answer): Settle =>
  ([etcd, store]) => [change(etcd), change(store)];

/** Joins the messages of a streamed range: the server chooses how to divide it. */
export const merged: Settle = each((answer) => {
  const parts = answer.messages.map(({ rangeResponse }) => rangeResponse as DecodedMessage);
  const kvs = parts.flatMap((part) => listOf(part?.['kvs']));
  return { ...answer, messages: parts.length === 0 ? [] : [Object.assign({}, ...parts, { kvs })] };
});

/** Orders leases by id. The stores order them by expiry, which may be equal. */
export const leasesById: Settle = each((answer) => sortField(answer, 'leases'));

/** Accepted difference of remaining seconds, beside that of the starts: a restart gives leases their whole time again. */
const CLOSE_S = 5;

/** Sorts keys, and accepts remaining seconds that differ by up to CLOSE_S more than the ends of the last starts. */
export const remaining =
  ({ startedApartMs }: { readonly startedApartMs: number }): Settle =>
  (answers) => {
    const closeS = BigInt(CLOSE_S + Math.ceil(startedApartMs / 1000));
    const [etcd, store] = answers.map((answer) => sortField(answer, 'keys')) as [Answer, Answer];
    const [left, right] = [etcd.messages[0]?.['TTL'], store.messages[0]?.['TTL']];
    if (typeof left !== 'bigint' || typeof right !== 'bigint') return [etcd, store];
    const close = left - right <= closeS && right - left <= closeS && left > 0n && right > 0n;
    const messages = store.messages.map((message) => ({ ...message, TTL: close ? left : right }));
    return [etcd, { ...store, messages }];
  };

function sortField(answer: Answer, name: string): Answer {
  const messages = answer.messages.map((message) => {
    const list = message[name];
    if (!Array.isArray(list)) return message;
    const text = (value: Decoded): string =>
      typeof value === 'object' ? String(Object.values(value)[0]) : String(value);
    return { ...message, [name]: list.toSorted((left, right) => (text(left) < text(right) ? -1 : 1)) };
  });
  return { ...answer, messages };
}
