import { type AuthInfo, type AuthRefusal, refuseUnauthenticated, refuseUnlessRoot } from './auth-info.ts';
import { type AuthState, ROOT } from './auth-state.ts';
import { type Permission, rootPermission } from './permission.ts';

/**
 * What a call needs when authentication is on:
 * - `nothing`: everybody may make it.
 * - `anybody`: everybody, but not with a token that does not count.
 * - `user`: everybody who is authenticated, `refuseUnauthenticated`.
 * - `root`: users with the role root, `refuseUnlessRoot`.
 * - `keys`: by the keys that it touches, `KeyAccess`.
 * - `self`: root, and users about themselves: `refuseUserGet` and `refuseRoleGet`.
 * - `alarm`: by its action, `refuseAlarm`.
 */
export type CallRule = 'nothing' | 'anybody' | 'user' | 'root' | 'keys' | 'self' | 'alarm';

/** Of every call of etcd's services (etcd 3.7: etcdserver/api/v3rpc, v3_server.go, apply/auth.go). */
export const callRules = {
  'KV/Range': 'keys',
  'KV/RangeStream': 'keys',
  'KV/Put': 'keys',
  'KV/DeleteRange': 'keys',
  'KV/Txn': 'keys',
  'KV/Compact': 'root',
  'Watch/Watch': 'keys',
  'Lease/LeaseGrant': 'user',
  'Lease/LeaseRevoke': 'keys',
  'Lease/LeaseKeepAlive': 'keys',
  // By the keys only if the request wants to see them.
  'Lease/LeaseTimeToLive': 'keys',
  'Lease/LeaseLeases': 'keys',
  'Cluster/MemberAdd': 'root',
  'Cluster/MemberRemove': 'root',
  'Cluster/MemberUpdate': 'root',
  'Cluster/MemberList': 'user',
  'Cluster/MemberPromote': 'root',
  'Maintenance/Alarm': 'alarm',
  'Maintenance/Status': 'user',
  'Maintenance/Defragment': 'root',
  'Maintenance/Hash': 'root',
  'Maintenance/HashKV': 'root',
  'Maintenance/Snapshot': 'root',
  'Maintenance/MoveLeader': 'root',
  'Maintenance/Downgrade': 'root',
  'Auth/AuthEnable': 'root',
  'Auth/AuthDisable': 'root',
  'Auth/AuthStatus': 'anybody',
  'Auth/Authenticate': 'nothing',
  'Auth/UserAdd': 'root',
  'Auth/UserGet': 'self',
  'Auth/UserList': 'root',
  'Auth/UserDelete': 'root',
  'Auth/UserChangePassword': 'root',
  'Auth/UserGrantRole': 'root',
  'Auth/UserRevokeRole': 'root',
  'Auth/RoleAdd': 'root',
  'Auth/RoleGet': 'self',
  'Auth/RoleList': 'root',
  'Auth/RoleDelete': 'root',
  'Auth/RoleGrantPermission': 'root',
  'Auth/RoleRevokePermission': 'root',
} as const satisfies Record<string, CallRule>;

/** Of any change of users and roles. While authentication is off, everybody may make one. */
export const refuseChange = refuseUnlessRoot;

/** AlarmRequest.AlarmAction.GET */
const ALARM_GET = 0;

/** To see alarms needs a user, to set or clear one needs root. `action` is the number of AlarmRequest.AlarmAction. */
export function refuseAlarm(state: AuthState, info: AuthInfo, action: number): AuthRefusal | undefined {
  return action === ALARM_GET ? refuseUnauthenticated(state, info) : refuseUnlessRoot(state, info);
}

/** Root may see every user, others themselves. */
export function refuseUserGet(state: AuthState, info: AuthInfo, name: string): AuthRefusal | undefined {
  const refusal = refuseUnlessRoot(state, info);
  return name === info.user ? undefined : refusal;
}

/** Root may see every role, others those that they have. */
export function refuseRoleGet(state: AuthState, info: AuthInfo, role: string): AuthRefusal | undefined {
  const refusal = refuseUnlessRoot(state, info);
  if (refusal === undefined) return undefined;
  return state.users.get(info.user)?.roles.includes(role) === true ? undefined : refusal;
}

/** What UserGet answers, sorted; undefined for an unknown user, which is refused as UserNotFound. */
export const rolesOf = (state: AuthState, name: string): readonly string[] | undefined => state.users.get(name)?.roles;

/** What RoleGet answers; undefined for an unknown role, which is refused as RoleNotFound. */
export function permissionsOf(state: AuthState, name: string): readonly Permission[] | undefined {
  const role = state.roles.get(name);
  if (role === undefined) return undefined;
  return name === ROOT ? [rootPermission] : role.permissions;
}
