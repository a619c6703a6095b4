import { EMPTY_BYTES, type KeyRange, utf8 } from '@engram/core';
import {
  applyAuthChange,
  type AuthChange,
  type AuthInfo,
  AuthState,
  type AuthOutcome,
  PasswordHash,
  PermissionType,
} from '@engram/auth';

/** `a` is the key; `a,c` the range [a, c); `a,` with an end of one zero byte. */
export function range(text: string): KeyRange {
  const [key, end] = text.split(',');
  return { key: utf8(key!), end: end === undefined ? EMPTY_BYTES : end === '' ? Uint8Array.of(0) : utf8(end) };
}

export const hash = (text: string): PasswordHash => new PasswordHash(utf8(text));

const types = { r: PermissionType.READ, w: PermissionType.WRITE, rw: PermissionType.READWRITE };

export const addUser = (name: string, password = `hash of ${name}`): AuthChange => ({
  kind: 'user-add',
  name,
  noPassword: false,
  password: hash(password),
});
export const grantRole = (user: string, role: string): AuthChange => ({ kind: 'user-grant-role', user, role });
export const revokeRole = (user: string, role: string): AuthChange => ({ kind: 'user-revoke-role', user, role });
export const addRole = (name: string): AuthChange => ({ kind: 'role-add', name });
export const permit = (role: string, type: keyof typeof types, ranges: string): AuthChange => ({
  kind: 'role-grant-permission',
  role,
  permission: { type: types[type], range: range(ranges) },
});
export const forbid = (role: string, ranges: string): AuthChange => ({
  kind: 'role-revoke-permission',
  role,
  range: range(ranges),
});
export const enable: AuthChange = { kind: 'enable' };
export const disable: AuthChange = { kind: 'disable' };

/** The state after changes that must not be refused. */
export function after(state: AuthState, ...changes: readonly AuthChange[]): AuthState {
  return changes.reduce((before, change) => {
    const outcome = applyAuthChange(before, change);
    if (outcome.kind === 'refused') throw new Error(`${change.kind} was refused: ${outcome.code}`);
    return outcome.kind === 'changed' ? outcome.state : before;
  }, state);
}

/** Authentication on, with the user root. */
export const rooted = after(AuthState.first, addUser('root'), grantRole('root', 'root'), enable);

/** With the user alice, whose only role, app, has the permissions: 'r a,c' for READ on [a, c). */
export const withAlice = (...permissions: readonly string[]): AuthState =>
  after(
    rooted,
    addUser('alice'),
    addRole('app'),
    grantRole('alice', 'app'),
    ...permissions.map((text) => {
      const [type, ranges] = text.split(' ');
      return permit('app', type as keyof typeof types, ranges!);
    }),
  );

export const info = (state: AuthState, user: string): AuthInfo => ({ user, authRevision: state.revision });

export const refusal = (outcome: AuthOutcome): string | undefined =>
  outcome.kind === 'refused' ? outcome.code : undefined;
