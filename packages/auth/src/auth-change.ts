import { assert, type ErrorCode, type KeyRange, unreachable } from '@engram/core';
import { type AuthState, type Role, ROOT, type User } from './auth-state.ts';
import { compareNames } from './name-table.ts';
import { PasswordHash } from './password-hash.ts';
import { isGrantable, type Permission, withoutPermission, withPermission } from './permission.ts';

/** A change of users, roles, or of whether they count: what a call of etcd's service Auth asks for. */
export type AuthChange =
  | { readonly kind: 'enable' }
  | { readonly kind: 'disable' }
  | {
      readonly kind: 'user-add';
      readonly name: string;
      /** Not kept if `noPassword`. */
      readonly password: PasswordHash;
      readonly noPassword: boolean;
    }
  | { readonly kind: 'user-delete'; readonly name: string }
  /** A user without a password stays one: the hash is not kept. */
  | { readonly kind: 'user-change-password'; readonly name: string; readonly password: PasswordHash }
  | { readonly kind: 'user-grant-role'; readonly user: string; readonly role: string }
  | { readonly kind: 'user-revoke-role'; readonly user: string; readonly role: string }
  | { readonly kind: 'role-add'; readonly name: string }
  | { readonly kind: 'role-delete'; readonly name: string }
  /** `permission` is undefined if the request has none. */
  | {
      readonly kind: 'role-grant-permission';
      readonly role: string;
      readonly permission: Permission | undefined;
    }
  | { readonly kind: 'role-revoke-permission'; readonly role: string; readonly range: KeyRange };

/** Why a change is refused: codes of core's table, with etcd's gRPC codes and texts. */
export type ChangeRefusal = Extract<
  ErrorCode,
  | 'RootUserNotExist'
  | 'RootRoleNotExist'
  | 'UserAlreadyExist'
  | 'UserEmpty'
  | 'UserNotFound'
  | 'RoleAlreadyExist'
  | 'RoleNotFound'
  | 'RoleEmpty'
  | 'RoleNotGranted'
  | 'PermissionNotGiven'
  | 'PermissionNotGranted'
  | 'InvalidAuthMgmt'
>;

/** Which simple tokens end with a change: those of a user, or all. */
export type EndedTokens =
  | { readonly of: 'nobody' }
  | { readonly of: 'user'; readonly user: string }
  | { readonly of: 'everybody' };

export type AuthOutcome =
  | { readonly kind: 'changed'; readonly state: AuthState; readonly ended: EndedTokens }
  /** The request succeeds, and there is nothing to change: it is so already. Needs no record. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly code: ChangeRefusal };

const UNCHANGED: AuthOutcome = { kind: 'unchanged' };
const refused = (code: ChangeRefusal): AuthOutcome => ({ kind: 'refused', code });

/**
 * What a change makes of a state, by the rules of etcd 3.7 (server/auth/store.go), in its order of checks. Who asks is
 * not looked at: `refuseChange` does that. Names and bytes of the change are copied where they are kept.
 */
export function applyAuthChange(state: AuthState, change: AuthChange): AuthOutcome {
  switch (change.kind) {
    case 'enable':
      return enable(state);
    case 'disable':
      if (!state.enabled) return UNCHANGED;
      return changed(state, { enabled: false }, { ended: { of: 'everybody' } });
    case 'user-add':
      return addUser(state, change.name, change.noPassword ? PasswordHash.none : change.password, change.noPassword);
    case 'user-delete':
      return deleteUser(state, change.name);
    case 'user-change-password':
      return changePassword(state, change.name, change.password);
    case 'user-grant-role':
      return grantRole(state, change.user, change.role);
    case 'user-revoke-role':
      return revokeRole(state, change.user, change.role);
    case 'role-add':
      return addRole(state, change.name);
    case 'role-delete':
      return deleteRole(state, change.name);
    case 'role-grant-permission':
      return grantPermission(state, change.role, change.permission);
    case 'role-revoke-permission':
      return revokePermission(state, change.role, change.range);
    default:
      return unreachable(change);
  }
}

function changed(
  state: AuthState,
  parts: Parameters<AuthState['next']>[0],
  { ended = { of: 'nobody' }, isChanged }: { ended?: EndedTokens; isChanged?: (user: User) => boolean } = {},
): AuthOutcome {
  assert(state.revision < Number.MAX_SAFE_INTEGER, 'the auth revision has no successor');
  return { kind: 'changed', state: state.next({ revision: state.revision + 1, ...parts }, isChanged), ended };
}

/** The only change that leaves the revision as it is. */
function enable(state: AuthState): AuthOutcome {
  if (state.enabled) return UNCHANGED;
  const root = state.users.get(ROOT);
  if (root === undefined) return refused('RootUserNotExist');
  if (!root.roles.includes(ROOT)) return refused('RootRoleNotExist');
  return changed(state, { enabled: true, revision: state.revision });
}

function addUser(state: AuthState, name: string, password: PasswordHash, noPassword: boolean): AuthOutcome {
  if (name === '') return refused('UserEmpty');
  // protobuf's strings are well formed. Another name would be a different one after the round trip of its record.
  if (!name.isWellFormed()) return refused('InvalidAuthMgmt');
  if (state.users.get(name) !== undefined) return refused('UserAlreadyExist');
  return changed(state, { users: state.users.with({ name, password, noPassword, roles: [] }) });
}

function deleteUser(state: AuthState, name: string): AuthOutcome {
  if (state.enabled && name === ROOT) return refused('InvalidAuthMgmt');
  if (state.users.get(name) === undefined) return refused('UserNotFound');
  return changed(
    state,
    { users: state.users.without(name) },
    { ended: { of: 'user', user: name }, isChanged: (user) => user.name === name },
  );
}

function changePassword(state: AuthState, name: string, password: PasswordHash): AuthOutcome {
  const user = state.users.get(name);
  if (user === undefined) return refused('UserNotFound');
  const users = state.users.with({ ...user, password: user.noPassword ? PasswordHash.none : password });
  return changed(state, { users }, { ended: { of: 'user', user: name } });
}

function grantRole(state: AuthState, name: string, role: string): AuthOutcome {
  const user = state.users.get(name);
  if (user === undefined) return refused('UserNotFound');
  // The role root permits everything and needs not be stored.
  if (role !== ROOT && state.roles.get(role) === undefined) return refused('RoleNotFound');
  if (user.roles.includes(role)) return UNCHANGED;
  return withRoles(state, user, [...user.roles, role].sort(compareNames));
}

function revokeRole(state: AuthState, name: string, role: string): AuthOutcome {
  if (state.enabled && name === ROOT && role === ROOT) return refused('InvalidAuthMgmt');
  const user = state.users.get(name);
  if (user === undefined) return refused('UserNotFound');
  if (!user.roles.includes(role)) return refused('RoleNotGranted');
  return withRoles(
    state,
    user,
    user.roles.filter((held) => held !== role),
  );
}

function withRoles(state: AuthState, user: User, roles: readonly string[]): AuthOutcome {
  return changed(
    state,
    { users: state.users.with({ ...user, roles }) },
    { isChanged: ({ name }) => name === user.name },
  );
}

function addRole(state: AuthState, name: string): AuthOutcome {
  if (name === '') return refused('RoleEmpty');
  if (!name.isWellFormed()) return refused('InvalidAuthMgmt');
  if (state.roles.get(name) !== undefined) return refused('RoleAlreadyExist');
  return withRole(state, { name, permissions: [] });
}

/** Users lose the role with it. */
function deleteRole(state: AuthState, name: string): AuthOutcome {
  if (state.enabled && name === ROOT) return refused('InvalidAuthMgmt');
  if (state.roles.get(name) === undefined) return refused('RoleNotFound');
  let { users } = state;
  for (const user of users.rows) {
    if (!user.roles.includes(name)) continue;
    users = users.with({ ...user, roles: user.roles.filter((held) => held !== name) });
  }
  return changed(
    state,
    { users, roles: state.roles.without(name) },
    { isChanged: (user) => user.roles.includes(name) },
  );
}

function grantPermission(state: AuthState, name: string, permission: Permission | undefined): AuthOutcome {
  if (permission === undefined) return refused('PermissionNotGiven');
  if (!isGrantable(permission.range)) return refused('InvalidAuthMgmt');
  const role = state.roles.get(name);
  if (role === undefined) return refused('RoleNotFound');
  return withRole(state, { name, permissions: withPermission(role.permissions, permission) });
}

function revokePermission(state: AuthState, name: string, range: KeyRange): AuthOutcome {
  const role = state.roles.get(name);
  if (role === undefined) return refused('RoleNotFound');
  const permissions = withoutPermission(role.permissions, range);
  if (permissions === undefined) return refused('PermissionNotGranted');
  return withRole(state, { name, permissions });
}

function withRole(state: AuthState, role: Role): AuthOutcome {
  return changed(state, { roles: state.roles.with(role) }, { isChanged: (user) => user.roles.includes(role.name) });
}
