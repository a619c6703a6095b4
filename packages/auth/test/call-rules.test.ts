import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EngramError } from '@engram/core';
import {
  callRules,
  nobody,
  permissionsOf,
  refuseAlarm,
  refuseChange,
  refuseMovedRevision,
  refuseRoleGet,
  refuseUnauthenticated,
  refuseUnlessRoot,
  refuseUserGet,
  rolesOf,
} from '@engram/auth';
import { addRole, after, disable, info, range, withAlice } from './states.ts';

const state = after(withAlice('r k'), addRole('root'), addRole('other'));
const off = after(state, disable);
const root = info(state, 'root');
const alice = info(state, 'alice');
const deleted = info(state, 'bob');

test("every call of etcd's services has a rule, and no other", () => {
  const proto = readFileSync(join(import.meta.dirname, '../../../proto/etcd/api/etcdserverpb/rpc.proto'), 'utf8');
  const calls = [...proto.matchAll(/^service (\w+) \{([\s\S]*?)^\}/gm)].flatMap(([, service, body]) =>
    [...body!.matchAll(/\brpc (\w+)\(/g)].map(([, call]) => `${service}/${call}`),
  );
  expect(calls.length).toBeGreaterThan(40);
  expect(Object.keys(callRules).sort()).toEqual(calls.sort());
});

describe('calls for root', () => {
  test.each([
    [nobody, 'UserEmpty', 3, 'etcdserver: user name is empty'],
    [info(state, ''), 'UserEmpty', 3, 'etcdserver: user name is empty'],
    [deleted, 'UserNotFound', 9, 'etcdserver: user name not found'],
    [alice, 'PermissionDenied', 7, 'etcdserver: permission denied'],
  ] as const)('refuse %j as %s', (who, code, grpc, text) => {
    expect(refuseUnlessRoot(state, who)).toBe(code);
    expect(refuseChange(state, who)).toBe(code);
    const { grpc: status, message } = new EngramError(code);
    expect([status, message]).toEqual([grpc, text]);
    expect(refuseUnlessRoot(off, who)).toBeUndefined();
  });

  test('look at the roles that count now, not at the auth revision', () => {
    expect(refuseUnlessRoot(state, root)).toBeUndefined();
    expect(refuseUnlessRoot(state, { ...root, authRevision: 1 })).toBeUndefined();
  });
});

test('calls for users refuse only who is not authenticated', () => {
  expect(refuseUnauthenticated(state, nobody)).toBe('UserEmpty');
  for (const who of [root, alice, deleted, { ...alice, authRevision: 1 }]) {
    expect(refuseUnauthenticated(state, who)).toBeUndefined();
  }
  expect(refuseUnauthenticated(off, nobody)).toBeUndefined();
});

test('alarms are seen by users, and set and cleared by root', () => {
  expect(refuseAlarm(state, alice, 0)).toBeUndefined();
  expect(refuseAlarm(state, nobody, 0)).toBe('UserEmpty');
  for (const action of [1, 2, 9]) {
    expect(refuseAlarm(state, alice, action)).toBe('PermissionDenied');
    expect(refuseAlarm(state, root, action)).toBeUndefined();
  }
});

test('a user may see itself, and root every user', () => {
  expect(refuseUserGet(state, alice, 'alice')).toBeUndefined();
  expect(refuseUserGet(state, alice, 'root')).toBe('PermissionDenied');
  expect(refuseUserGet(state, alice, 'nowhere')).toBe('PermissionDenied');
  expect(refuseUserGet(state, nobody, 'alice')).toBe('UserEmpty');
  expect(refuseUserGet(state, deleted, 'alice')).toBe('UserNotFound');
  expect(refuseUserGet(state, root, 'nowhere')).toBeUndefined();
  expect(rolesOf(state, 'alice')).toEqual(['app']);
  expect(rolesOf(state, 'nowhere')).toBeUndefined();
});

test('a user may see the roles that it has, and root every role', () => {
  expect(refuseRoleGet(state, alice, 'app')).toBeUndefined();
  expect(refuseRoleGet(state, alice, 'root')).toBe('PermissionDenied');
  expect(refuseRoleGet(state, alice, 'nowhere')).toBe('PermissionDenied');
  expect(refuseRoleGet(state, nobody, 'app')).toBe('UserEmpty');
  expect(refuseRoleGet(state, deleted, 'app')).toBe('UserNotFound');
  expect(refuseRoleGet(state, root, 'nowhere')).toBeUndefined();
  expect(refuseRoleGet(off, nobody, 'app')).toBeUndefined();
  expect(permissionsOf(state, 'app')).toEqual([{ type: 0, range: range('k') }]);
  expect(permissionsOf(state, 'nowhere')).toBeUndefined();
});

test('the role root permits everything, and is shown so where it is stored', () => {
  expect(permissionsOf(state, 'root')).toEqual([{ type: 2, range: range(',') }]);
  expect(permissionsOf(withAlice(), 'root')).toBeUndefined();
});

test('a read that waited is refused if users or roles changed meanwhile', () => {
  expect(refuseMovedRevision(state, alice)).toBeUndefined();
  expect(refuseMovedRevision(after(state, addRole('new')), alice)).toBe('AuthOldRevision');
  expect(refuseMovedRevision(state, nobody)).toBeUndefined();
});
