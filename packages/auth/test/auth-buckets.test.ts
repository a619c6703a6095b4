import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8 } from '@engram/core';
import { CoderError } from '@engram/coder';
import { type AuthBuckets, AuthState, decodeAuthBuckets, encodeAuthBuckets } from '@engram/auth';
import { changes, plain, play } from './arbitraries.ts';
import { addRole, addUser, after, grantRole, permit, range, rooted } from './states.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const texts = (entries: AuthBuckets['auth']) =>
  entries.map(([key, value]) => [Buffer.from(key).toString(), hex(value)]);
const empty: AuthBuckets = { auth: [], authUsers: [], authRoles: [] };
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

describe("etcd's buckets of users and roles", () => {
  test('have the bytes that etcd writes', () => {
    const state = after(rooted, addUser('bob', 'h'), addRole('r'), grantRole('bob', 'r'), permit('r', 'rw', 'k,l'));
    const buckets = encodeAuthBuckets(state);
    expect(texts(buckets.auth)).toEqual([
      ['authEnabled', '01'],
      ['authRevision', '0000000000000007'],
    ]);
    expect(texts(buckets.authUsers)[0]).toEqual(['bob', '0a03626f62' + '120168' + '1a0172' + '2200']);
    expect(texts(buckets.authRoles)).toEqual([['r', '0a0172' + '1208' + '0802' + '12016b' + '1a016c']]);
  });

  test('give the state that they were made of', () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 40 }), (steps) => {
        const state = play(steps).states.at(-1)!;
        expect(plain(decodeAuthBuckets(encodeAuthBuckets(state)))).toEqual(plain(state));
      }),
    );
  });

  test('of a store that was never changed are those of the first state', () => {
    expect(texts(encodeAuthBuckets(AuthState.first).auth)).toEqual([['authRevision', '0000000000000001']]);
    expect(plain(decodeAuthBuckets(empty))).toEqual(plain(AuthState.first));
    const zero = { ...empty, auth: [[utf8('authRevision'), new Uint8Array(8)] as const] };
    expect(decodeAuthBuckets(zero).revision).toBe(1);
  });

  test('are read in any order, with roles and permissions out of order, and with ranges that etcd once took', () => {
    const state = decodeAuthBuckets({
      auth: [
        [utf8('authRevision'), unhex('0000000000000009')],
        [utf8('authEnabled'), unhex('01')],
      ],
      // z: roles b, a, b. The options are absent, as in old databases. root: without a password.
      authUsers: [
        [utf8('z'), unhex('0a017a' + '120168' + '1a0162' + '1a0161' + '1a0162')],
        [utf8('root'), unhex('0a04726f6f74' + '1a04726f6f74' + '22020801')],
      ],
      // b: WRITE on [x, y), READ on the reversed [y, x).
      authRoles: [[utf8('b'), unhex('0a0162' + '1206' + '120179' + '1a0178' + '1208' + '0801' + '120178' + '1a0179')]],
    });
    expect(state.enabled).toBe(true);
    expect(state.revision).toBe(9);
    expect(state.users.names()).toEqual(['root', 'z']);
    expect(state.users.get('z')).toMatchObject({ roles: ['a', 'b'], noPassword: false });
    expect(state.users.get('root')).toMatchObject({ roles: ['root'], noPassword: true });
    const rights = state.rightsOf('z');
    if (rights === undefined || rights.root) throw new Error('z is no root');
    expect(rights.write.holds(range('x,y'))).toBe(true);
    expect(rights.read.size).toBe(0);
  });

  test.each([
    ['a user that is no message', { authUsers: [['bob', '0aff']] }],
    ['a user of another name', { authUsers: [['bob', '0a03626f63']] }],
    ['a user without a name', { authUsers: [['', '']] }],
    ['a role whose name is not UTF-8', { authRoles: [['\xff', '0a01ff']] }],
    ['a revision of 4 bytes', { auth: [['authRevision', '00000001']] }],
    ['a revision above 2^53', { auth: [['authRevision', '0020000000000000']] }],
  ] as const)('with %s are refused', (_, parts) => {
    const entries = Object.entries(parts).map(([name, rows]) => [
      name,
      (rows as readonly (readonly [string, string])[]).map(([key, value]) => [
        Buffer.from(key, 'latin1'),
        unhex(value),
      ]),
    ]);
    expect(() => decodeAuthBuckets({ ...empty, ...Object.fromEntries(entries) })).toThrow(CoderError);
  });
});
