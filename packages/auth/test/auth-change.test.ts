import { describe, expect, test } from 'vitest';
import { EngramError, utf8 } from '@engram/core';
import { applyAuthChange, type AuthChange, AuthState, PasswordHash, permissionsOf, rolesOf } from '@engram/auth';
import {
  addRole,
  addUser,
  after,
  disable,
  enable,
  forbid,
  grantRole,
  hash,
  permit,
  range,
  refusal,
  revokeRole,
  rooted,
  withAlice,
} from './states.ts';

const { first } = AuthState;
const rootless = after(first, addUser('root'));
const off = after(withAlice('rw a,c'), disable);
const on = withAlice('rw a,c');
const deleteUser = (name: string): AuthChange => ({ kind: 'user-delete', name });
const deleteRole = (name: string): AuthChange => ({ kind: 'role-delete', name });
const changePassword = (name: string): AuthChange => ({ kind: 'user-change-password', name, password: hash('new') });
const noPermission: AuthChange = { kind: 'role-grant-permission', role: 'nowhere', permission: undefined };
const noPasswordUser: AuthChange = { kind: 'user-add', name: 'cn', noPassword: true, password: hash('ignored') };

/** What etcd's rpctypes say, code and text. */
const texts = {
  RootUserNotExist: [9, 'etcdserver: root user does not exist'],
  RootRoleNotExist: [9, 'etcdserver: root user does not have root role'],
  UserAlreadyExist: [9, 'etcdserver: user name already exists'],
  UserEmpty: [3, 'etcdserver: user name is empty'],
  UserNotFound: [9, 'etcdserver: user name not found'],
  RoleAlreadyExist: [9, 'etcdserver: role name already exists'],
  RoleNotFound: [9, 'etcdserver: role name not found'],
  RoleEmpty: [3, 'etcdserver: role name is empty'],
  PermissionNotGiven: [3, 'etcdserver: permission not given'],
  RoleNotGranted: [9, 'etcdserver: role is not granted to the user'],
  PermissionNotGranted: [9, 'etcdserver: permission is not granted to the role'],
  InvalidAuthMgmt: [3, 'etcdserver: invalid auth management'],
} as const;

describe('a change is refused', () => {
  const refusals: readonly [keyof typeof texts, string, AuthState, AuthChange][] = [
    ['RootUserNotExist', 'enabling without the user root', first, enable],
    ['RootRoleNotExist', 'enabling where root has not the role root', rootless, enable],
    ['UserEmpty', 'a user without a name', on, addUser('')],
    ['UserAlreadyExist', 'a user that exists', on, addUser('alice')],
    ['InvalidAuthMgmt', 'a user whose name is no text', on, addUser('\ud800')],
    ['InvalidAuthMgmt', 'deleting root while on', on, deleteUser('root')],
    ['UserNotFound', 'deleting an unknown user', on, deleteUser('bob')],
    ['UserNotFound', 'deleting root while off, where it is unknown', first, deleteUser('root')],
    ['UserNotFound', 'a password for an unknown user', on, changePassword('bob')],
    ['UserNotFound', 'a role for an unknown user, before the role is looked at', on, grantRole('bob', 'none')],
    ['RoleNotFound', 'an unknown role for a user', on, grantRole('alice', 'none')],
    ['InvalidAuthMgmt', 'taking root from root while on', on, revokeRole('root', 'root')],
    ['UserNotFound', 'taking a role from an unknown user', on, revokeRole('bob', 'app')],
    ['RoleNotGranted', 'taking a role that the user has not', on, revokeRole('root', 'app')],
    ['RoleNotGranted', 'taking an unknown role', on, revokeRole('alice', 'none')],
    ['RoleEmpty', 'a role without a name', on, addRole('')],
    ['RoleAlreadyExist', 'a role that exists', on, addRole('app')],
    ['InvalidAuthMgmt', 'a role whose name is no text', on, addRole('\udfff')],
    ['InvalidAuthMgmt', 'deleting the role root while on, also where it is not stored', on, deleteRole('root')],
    ['RoleNotFound', 'deleting an unknown role', on, deleteRole('none')],
    ['RoleNotFound', 'deleting the role root while off, where it is not stored', off, deleteRole('root')],
    ['PermissionNotGiven', 'a grant without a permission, before the role is looked at', on, noPermission],
    ['InvalidAuthMgmt', 'a permission without a key, before the role is looked at', on, permit('none', 'r', ',c')],
    ['InvalidAuthMgmt', 'a permission on a reversed range', on, permit('app', 'r', 'c,a')],
    ['InvalidAuthMgmt', 'a permission on an empty range', on, permit('app', 'r', 'c,c')],
    ['RoleNotFound', 'a permission for an unknown role', on, permit('none', 'r', 'a')],
    ['RoleNotFound', 'taking a permission from an unknown role', on, forbid('none', 'a,c')],
    ['PermissionNotGranted', 'taking a part of a permission', on, forbid('app', 'a,b')],
    ['PermissionNotGranted', 'taking the key of a permission', on, forbid('app', 'a')],
  ];

  test.each(refusals)('%s: %s', (code, _, state, change) => {
    const before = state.revision;
    expect(refusal(applyAuthChange(state, change))).toBe(code);
    expect(state.revision).toBe(before);
    const { grpc, message } = new EngramError(code);
    expect([grpc, message]).toEqual(texts[code]);
  });
});

describe('a request that asks for what is so already', () => {
  test.each([
    ['enabling twice', on, enable],
    ['disabling twice', off, disable],
    ['granting a role twice', on, grantRole('alice', 'app')],
    ['granting root twice', on, grantRole('root', 'root')],
  ] as const)('changes nothing: %s', (_, state, change) => {
    expect(applyAuthChange(state, change).kind).toBe('unchanged');
  });
});

describe('the auth revision', () => {
  test('is 1 at first, and rises by one with every change but enabling', () => {
    expect(first.revision).toBe(1);
    const steps: readonly [AuthChange, number][] = [
      [addUser('root'), 2],
      [grantRole('root', 'root'), 3],
      [enable, 3],
      [addRole('app'), 4],
      [permit('app', 'r', 'a'), 5],
      [permit('app', 'r', 'a'), 6],
      [forbid('app', 'a'), 7],
      [addUser('alice'), 8],
      [grantRole('alice', 'app'), 9],
      [revokeRole('alice', 'app'), 10],
      [changePassword('alice'), 11],
      [deleteUser('alice'), 12],
      [deleteRole('app'), 13],
      [disable, 14],
      [enable, 14],
    ];
    let state = first;
    for (const [change, revision] of steps) {
      const outcome = applyAuthChange(state, change);
      if (outcome.kind !== 'changed') throw new Error(`${change.kind}: ${outcome.kind}`);
      state = outcome.state;
      expect([change.kind, state.revision]).toEqual([change.kind, revision]);
    }
  });
});

describe('a change', () => {
  const ended = (state: AuthState, change: AuthChange) => {
    const outcome = applyAuthChange(state, change);
    return outcome.kind === 'changed' ? outcome.ended : outcome.kind;
  };

  test('ends the tokens of a user that is deleted or has another password, and all when disabled', () => {
    expect(ended(on, deleteUser('alice'))).toEqual({ of: 'user', user: 'alice' });
    expect(ended(on, changePassword('alice'))).toEqual({ of: 'user', user: 'alice' });
    expect(ended(on, disable)).toEqual({ of: 'everybody' });
    for (const change of [revokeRole('alice', 'app'), deleteRole('app'), permit('app', 'r', 'x'), addUser('bob')]) {
      expect(ended(on, change)).toEqual({ of: 'nobody' });
    }
    expect(ended(off, enable)).toEqual({ of: 'nobody' });
  });

  test('leaves the state that it was applied to as it was', () => {
    const before = withAlice('r a');
    after(
      before,
      permit('app', 'w', 'a'),
      addRole('z'),
      grantRole('alice', 'z'),
      deleteUser('alice'),
      deleteRole('app'),
    );
    expect(rolesOf(before, 'alice')).toEqual(['app']);
    expect(permissionsOf(before, 'app')).toEqual([{ type: 0, range: range('a') }]);
    expect(before.users.names()).toEqual(['alice', 'root']);
  });

  test('may take everything from root while off', () => {
    const none = after(off, revokeRole('root', 'root'), deleteUser('root'));
    expect(none.users.names()).toEqual(['alice']);
    expect(refusal(applyAuthChange(none, enable))).toBe('RootUserNotExist');
    const withRole = after(off, addRole('root'), deleteRole('root'));
    expect(rolesOf(withRole, 'root')).toEqual([]);
    expect(refusal(applyAuthChange(withRole, enable))).toBe('RootRoleNotExist');
  });

  test('grants the role root without such a role, and others only if they exist', () => {
    expect(rolesOf(after(first, addUser('u'), grantRole('u', 'root')), 'u')).toEqual(['root']);
  });

  test('keeps roles and names in the order of their bytes', () => {
    const roles = ['b', '\u{1f600}', 'a', '\u{ff5e}'];
    const state = after(
      rooted,
      ...roles.map(addRole),
      addUser('\u{1f600}'),
      addUser('\u{ff5e}'),
      ...roles.map((role) => grantRole('\u{ff5e}', role)),
    );
    expect(rolesOf(state, '\u{ff5e}')).toEqual(['a', 'b', '\u{ff5e}', '\u{1f600}']);
    expect(state.roles.names()).toEqual(['a', 'b', '\u{ff5e}', '\u{1f600}']);
    expect(state.users.names()).toEqual(['root', '\u{ff5e}', '\u{1f600}']);
  });

  test('takes a deleted role from every user, and only that one', () => {
    const state = after(on, addRole('other'), addUser('bob'), grantRole('bob', 'app'), grantRole('bob', 'other'));
    const without = after(state, deleteRole('app'));
    expect(rolesOf(without, 'alice')).toEqual([]);
    expect(rolesOf(without, 'bob')).toEqual(['other']);
    expect(rolesOf(without, 'root')).toEqual(['root']);
  });

  test('gives a range one permission: the last grant counts, whatever else its key has', () => {
    const state = after(rooted, addRole('app'), permit('app', 'r', 'a,b'), permit('app', 'rw', 'a,c'));
    expect(permissionsOf(after(state, permit('app', 'r', 'a,c')), 'app')).toEqual([
      { type: 0, range: range('a,b') },
      { type: 0, range: range('a,c') },
    ]);
  });

  test('keeps permissions in the order of their keys', () => {
    const state = after(
      rooted,
      addRole('app'),
      permit('app', 'r', 'b'),
      permit('app', 'w', 'c'),
      permit('app', 'rw', 'a,'),
    );
    expect(permissionsOf(state, 'app')).toEqual([
      { type: 2, range: range('a,') },
      { type: 0, range: range('b') },
      { type: 1, range: range('c') },
    ]);
    expect(permissionsOf(after(state, forbid('app', 'b')), 'app')).toHaveLength(2);
  });

  test('copies the bytes that it keeps', () => {
    const key = utf8('a');
    const password = utf8('h');
    const kept = new PasswordHash(password);
    const state = after(rooted, addRole('app'), {
      kind: 'role-grant-permission',
      role: 'app',
      permission: { type: 0, range: { key, end: new Uint8Array(0) } },
    });
    key[0] = 0;
    password[0] = 0;
    expect(permissionsOf(state, 'app')).toEqual([{ type: 0, range: range('a') }]);
    expect(kept.reveal()).toEqual(utf8('h'));
  });

  test('gives a user without a password none, also later', () => {
    const state = after(rooted, noPasswordUser);
    expect(state.users.get('cn')).toMatchObject({ noPassword: true });
    expect(state.users.get('cn')?.password.reveal()).toEqual(new Uint8Array(0));
    const later = after(state, changePassword('cn'));
    expect(later.users.get('cn')?.password.reveal()).toEqual(new Uint8Array(0));
    expect(later.revision).toBe(state.revision + 1);
  });

  test('keeps roles when the password changes, and the password when roles change', () => {
    const changed = after(on, changePassword('alice'));
    expect(changed.users.get('alice')?.password.reveal()).toEqual(utf8('new'));
    expect(rolesOf(changed, 'alice')).toEqual(['app']);
    const revoked = after(changed, revokeRole('alice', 'app'));
    expect(revoked.users.get('alice')?.password.reveal()).toEqual(utf8('new'));
  });
});
