import { describe, expect, test } from 'vitest';
import { EngramError, utf8 } from '@engram/core';
import {
  type AuthChange,
  AuthState,
  checkPassword,
  hashPassword,
  type PasswordHasher,
  refuseLogin,
} from '@engram/auth';
import { after, disable, hash, withAlice } from './states.ts';

/** Hashes by writing a mark in front. */
const hasher: PasswordHasher = {
  hash: async (password) => utf8(`#${password}`),
  matches: async (hashed, password) => Buffer.from(hashed).toString() === `#${password}`,
};

const withPassword: AuthChange = { kind: 'user-change-password', name: 'alice', password: hash('#secret') };
const state = after(
  withAlice(),
  withPassword,
  { kind: 'user-add', name: 'cn', noPassword: true, password: hash('') },
  { kind: 'user-add', name: 'locked', noPassword: false, password: hash('') },
);

describe('a log-in', () => {
  test.each([
    [
      'an unknown user',
      'bob',
      'secret',
      'AuthFailed',
      3,
      'etcdserver: authentication failed, invalid user ID or password',
    ],
    [
      'a wrong password',
      'alice',
      'wrong',
      'AuthFailed',
      3,
      'etcdserver: authentication failed, invalid user ID or password',
    ],
    ['a user whose hash is empty', 'locked', '', 'AuthFailed', 3, undefined],
    [
      'a user without a password',
      'cn',
      'secret',
      'NoPasswordUser',
      2,
      'auth: authentication failed, password was given for no password user',
    ],
  ] as const)('is refused for %s', async (_, user, password, code, grpc, text) => {
    expect(await checkPassword(state, user, password, hasher)).toEqual({ code });
    const error = new EngramError(code);
    expect(error.grpc).toBe(grpc);
    if (text !== undefined) expect(error.message).toBe(text);
  });

  test('is refused while authentication is off, whoever asks', async () => {
    const off = after(state, disable);
    expect(await checkPassword(off, 'alice', 'secret', hasher)).toEqual({ code: 'AuthNotEnabled' });
    expect(refuseLogin(off, 'alice')).toBe('AuthNotEnabled');
    const error = new EngramError('AuthNotEnabled');
    expect([error.grpc, error.message]).toEqual([9, 'etcdserver: authentication is not enabled']);
  });

  test('with an empty hash is refused without asking the library', async () => {
    const agreeing: PasswordHasher = { ...hasher, matches: async () => true };
    expect(await checkPassword(state, 'locked', '', agreeing)).toEqual({ code: 'AuthFailed' });
  });

  test('with the right password says at which auth revision it was right', async () => {
    expect(await checkPassword(state, 'alice', 'secret', hasher)).toEqual({ revision: state.revision });
  });

  test('is decided on the state of that moment', () => {
    expect(refuseLogin(state, 'alice')).toBeUndefined();
    expect(refuseLogin(state, 'cn')).toBe('AuthFailed');
    expect(refuseLogin(after(state, { kind: 'user-delete', name: 'alice' }), 'alice')).toBe('AuthFailed');
    expect(refuseLogin(AuthState.first, 'alice')).toBe('AuthNotEnabled');
  });
});

describe('a new password', () => {
  test('is hashed, also an empty one', async () => {
    for (const password of ['', 'secret', 'x'.repeat(72)]) {
      const hashed = await hashPassword(password, hasher);
      if (!('password' in hashed)) throw new Error(hashed.code);
      expect(hashed.password.reveal()).toEqual(utf8(`#${password}`));
    }
  });

  test('of more than 72 bytes is refused', async () => {
    for (const password of ['x'.repeat(73), 'é'.repeat(37)]) {
      expect(await hashPassword(password, hasher)).toEqual({ code: 'PasswordTooLong' });
    }
    const error = new EngramError('PasswordTooLong');
    expect([error.grpc, error.message]).toEqual([2, 'bcrypt: password length exceeds 72 bytes']);
    expect(new EngramError('VerifyOnlyKey').message).toBe('auth: token signing attempted with verify-only key');
  });
});
