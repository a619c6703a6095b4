import { assert } from '@engram/core';
import type { JsonMessage } from '@engram/protobuf';
import { etcdserverpbJson, v3electionpbJson, v3lockpbJson } from '@engram/wire';

/** A call of a method by a path of HTTP. All are POST. */
export interface Route {
  readonly path: string;
  /** The method's path in the table of methods. */
  readonly method: string;
  readonly request: JsonMessage;
  readonly response: JsonMessage;
}

/** The HTTP annotations of etcd's services (api/etcdserverpb/rpc.proto of 3.7, v3lock.proto, v3election.proto). */
const annotations: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'etcdserverpb.KV': {
    Range: ['/v3/kv/range'],
    Put: ['/v3/kv/put'],
    DeleteRange: ['/v3/kv/deleterange'],
    Txn: ['/v3/kv/txn'],
    Compact: ['/v3/kv/compaction'],
  },
  'etcdserverpb.Watch': { Watch: ['/v3/watch'] },
  'etcdserverpb.Lease': {
    LeaseGrant: ['/v3/lease/grant'],
    LeaseRevoke: ['/v3/lease/revoke', '/v3/kv/lease/revoke'],
    LeaseKeepAlive: ['/v3/lease/keepalive'],
    LeaseTimeToLive: ['/v3/lease/timetolive', '/v3/kv/lease/timetolive'],
    LeaseLeases: ['/v3/lease/leases', '/v3/kv/lease/leases'],
  },
  'etcdserverpb.Cluster': {
    MemberAdd: ['/v3/cluster/member/add'],
    MemberRemove: ['/v3/cluster/member/remove'],
    MemberUpdate: ['/v3/cluster/member/update'],
    MemberList: ['/v3/cluster/member/list'],
    MemberPromote: ['/v3/cluster/member/promote'],
  },
  'etcdserverpb.Maintenance': {
    Alarm: ['/v3/maintenance/alarm'],
    Status: ['/v3/maintenance/status'],
    Defragment: ['/v3/maintenance/defragment'],
    Hash: ['/v3/maintenance/hash'],
    HashKV: ['/v3/maintenance/hashkv'],
    Snapshot: ['/v3/maintenance/snapshot'],
    MoveLeader: ['/v3/maintenance/transfer-leadership'],
    Downgrade: ['/v3/maintenance/downgrade'],
  },
  'etcdserverpb.Auth': {
    AuthEnable: ['/v3/auth/enable'],
    AuthDisable: ['/v3/auth/disable'],
    AuthStatus: ['/v3/auth/status'],
    Authenticate: ['/v3/auth/authenticate'],
    UserAdd: ['/v3/auth/user/add'],
    UserGet: ['/v3/auth/user/get'],
    UserList: ['/v3/auth/user/list'],
    UserDelete: ['/v3/auth/user/delete'],
    UserChangePassword: ['/v3/auth/user/changepw'],
    UserGrantRole: ['/v3/auth/user/grant'],
    UserRevokeRole: ['/v3/auth/user/revoke'],
    RoleAdd: ['/v3/auth/role/add'],
    RoleGet: ['/v3/auth/role/get'],
    RoleList: ['/v3/auth/role/list'],
    RoleDelete: ['/v3/auth/role/delete'],
    RoleGrantPermission: ['/v3/auth/role/grant'],
    RoleRevokePermission: ['/v3/auth/role/revoke'],
  },
  'v3lockpb.Lock': { Lock: ['/v3/lock/lock'], Unlock: ['/v3/lock/unlock'] },
  'v3electionpb.Election': {
    Campaign: ['/v3/election/campaign'],
    Proclaim: ['/v3/election/proclaim'],
    Leader: ['/v3/election/leader'],
    Observe: ['/v3/election/observe'],
    Resign: ['/v3/election/resign'],
  },
};

/** The messages of methods that are not called as their method, with Request and Response behind it. */
const otherMessages: Readonly<Record<string, readonly [request: string, response: string]>> = {
  'etcdserverpb.KV/Compact': ['CompactionRequest', 'CompactionResponse'],
  'etcdserverpb.Auth/Authenticate': ['AuthenticateRequest', 'AuthenticateResponse'],
  'etcdserverpb.Auth/AuthEnable': ['AuthEnableRequest', 'AuthEnableResponse'],
  'etcdserverpb.Auth/AuthDisable': ['AuthDisableRequest', 'AuthDisableResponse'],
  'etcdserverpb.Auth/AuthStatus': ['AuthStatusRequest', 'AuthStatusResponse'],
  'v3electionpb.Election/Observe': ['LeaderRequest', 'LeaderResponse'],
};

const tables: Readonly<Record<string, Readonly<Record<string, JsonMessage>>>> = {
  etcdserverpb: etcdserverpbJson,
  v3lockpb: v3lockpbJson,
  v3electionpb: v3electionpbJson,
};

/** Every path of the gateway. */
export const routes: readonly Route[] = Object.entries(annotations).flatMap(([service, methods]) =>
  Object.entries(methods).flatMap(([name, paths]) => {
    const prefix = service === 'etcdserverpb.Auth' ? 'Auth' : '';
    const [request, response] = otherMessages[`${service}/${name}`] ?? [
      `${prefix}${name}Request`,
      `${prefix}${name}Response`,
    ];
    const [proto = ''] = service.split('.');
    const messages = { request: tableOf(proto, request), response: tableOf(proto, response) };
    return paths.map((path) => ({ path, method: `/${service}/${name}`, ...messages }));
  }),
);

function tableOf(proto: string, message: string): JsonMessage {
  const table = tables[proto]?.[`${message}Json`];
  assert(table !== undefined, `no message ${proto}.${message}`);
  return table;
}
