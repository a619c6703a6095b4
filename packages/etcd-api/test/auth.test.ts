import { afterEach, beforeEach, expect, test } from 'vitest';
import { etcdserverpb } from '@engram/wire';
import { Api, failure, member } from './api.ts';

/* A store without users answers about users as etcd does with authentication off. */

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const path = (method: string): string => `/etcdserverpb.Auth/${method}`;
const nothing = new Uint8Array(0);
const header = {
  clusterId: member.clusterId,
  memberId: member.memberId,
  revision: 1,
  raftTerm: member.raftTerm,
};

test('edge 96: Authenticate is refused, so that clients with a name go on without a token', async () => {
  const request = etcdserverpb.encodeAuthenticateRequest({ name: 'root', password: 'x' });
  expect(await failure(api.call(path('Authenticate'), request))).toEqual({
    code: 9,
    message: 'etcdserver: authentication is not enabled',
  });
});

test('authentication is off, at its first revision', async () => {
  const answer = etcdserverpb.decodeAuthStatusResponse(await api.call(path('AuthStatus'), nothing));
  expect(answer).toEqual({ header, enabled: false, authRevision: 1 });
});

test('there are no users and no roles', async () => {
  const users = etcdserverpb.decodeAuthUserListResponse(await api.call(path('UserList'), nothing));
  const roles = etcdserverpb.decodeAuthRoleListResponse(await api.call(path('RoleList'), nothing));
  expect([users, roles]).toEqual([
    { header, users: [] },
    { header, roles: [] },
  ]);
});
