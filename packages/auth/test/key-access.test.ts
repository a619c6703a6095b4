import { describe, expect, test } from 'vitest';
import { EMPTY_BYTES, EngramError, leaseId, type Op, putOp, rangeOp, type Txn, utf8 } from '@engram/core';
import { finish, StepPace, unhurried } from '@engram/loop';
import { type AuthInfo, type AuthState, KeyAccess, nobody } from '@engram/auth';
import {
  addRole,
  addUser,
  after,
  disable,
  forbid,
  grantRole,
  info,
  permit,
  range,
  revokeRole,
  rooted,
  withAlice,
} from './states.ts';

const none = () => [];
const lease = leaseId(7n);
const access = (state: AuthState, who: AuthInfo = info(state, 'alice')) => new KeyAccess(state, who);
const get = (text: string): Op => rangeOp(range(text));
const put = (key: string, over = {}): Op => putOp(utf8(key), EMPTY_BYTES, over);
const remove = (text: string, prevKv = false): Op => ({ kind: 'delete-range', range: range(text), prevKv });
const compare = (text: string): Txn['compares'][number] => ({
  range: range(text),
  result: 0,
  target: 0,
  number: 0,
  lease: leaseId(0n),
  value: EMPTY_BYTES,
});
const txn = (parts: Partial<Txn>): Txn => ({ compares: [], success: [], failure: [], ...parts });
const nest = (parts: Partial<Txn>): Op => ({ kind: 'txn', txn: txn(parts) });
const DENIED = 'PermissionDenied';

describe('who asks', () => {
  const state = withAlice('rw k');
  const old = { user: 'alice', authRevision: state.revision - 1 };

  test.each([
    ['nobody', nobody, 'UserEmpty', 3, 'etcdserver: user name is empty'],
    ['an old auth revision', old, 'AuthOldRevision', 3, 'etcdserver: revision of auth store is old'],
    ['a user that was deleted', info(state, 'bob'), DENIED, 7, 'etcdserver: permission denied'],
    ['an old auth revision of root', { ...old, user: 'root' }, 'AuthOldRevision', 3, undefined],
    ['an old auth revision of a deleted user', { ...old, user: 'bob' }, 'AuthOldRevision', 3, undefined],
    ['a certificate without a name', info(state, ''), DENIED, 7, undefined],
  ] as const)('is looked at before the keys: %s', (_, who, code, grpc, text) => {
    for (const key of ['k', 'other']) {
      expect(access(state, who).read(range(key))).toBe(code);
      expect(access(state, who).write(range(key))).toBe(code);
      expect(access(state, who).watch(range(key))).toBe(code);
      expect(access(state, who).txn(txn({ failure: [get(key)] }), none)).toBe(code);
    }
    const error = new EngramError(code);
    expect(error.grpc).toBe(grpc);
    if (text !== undefined) expect(error.message).toBe(text);
  });

  test('does not matter while authentication is off', () => {
    const off = after(state, disable);
    for (const who of [nobody, old, info(off, 'bob'), info(off, 'alice')]) {
      expect(access(off, who).write(range('\0,'))).toBeUndefined();
      expect(access(off, who).txn(txn({ success: [put('x', { lease })] }), () => [utf8('z')])).toBeUndefined();
      expect(access(off, who).useLease([utf8('z')])).toBeUndefined();
    }
  });

  test('may do everything with the role root, whatever the user is called', () => {
    const admin = after(state, addUser('admin'), grantRole('admin', 'root'));
    for (const user of ['root', 'admin']) {
      const all = access(admin, info(admin, user));
      expect(all.read(range('\0,'))).toBeUndefined();
      expect(all.deleteRange({ range: range('\0,'), prevKv: true })).toBeUndefined();
      expect(all.put({ key: utf8('x'), lease, prevKv: true }, () => [utf8('z')])).toBeUndefined();
    }
    const named = after(rooted, addUser('rootling'), addRole('rootling'), grantRole('rootling', 'rootling'));
    expect(access(named, info(named, 'rootling')).read(range('x'))).toBe(DENIED);
  });

  test('may have a newer auth revision than this node', () => {
    expect(access(state, { user: 'alice', authRevision: state.revision + 1 }).read(range('k'))).toBeUndefined();
  });
});

describe('the right to one key', () => {
  const one = access(withAlice('rw k'));

  test.each([
    ['the key', 'k', undefined],
    ['another key', 'l', DENIED],
    ['an end of one zero byte: every key from it on', 'k,', DENIED],
    ['its prefix', 'k,l', DENIED],
    ['a reversed range that begins at it, and has no keys', 'k,a', undefined],
    ['a reversed range that begins elsewhere', 'z,k', DENIED],
    ['an empty range at it', 'k,k', undefined],
    ['a range of nothing but the key', 'k,k\0', undefined],
    ['all keys', '\0,', DENIED],
    ['an empty key', '', DENIED],
    ['an empty key with an end', ',z', DENIED],
  ])('permits by what the request says: %s', (_, text, expected) => {
    const asked = range(text);
    expect(one.read(asked)).toBe(expected);
    expect(one.write(asked)).toBe(expected);
    expect(one.deleteRange({ range: asked, prevKv: false })).toBe(expected);
    expect(one.txn(txn({ compares: [compare(text)] }), none)).toBe(expected);
    expect(one.txn(txn({ success: [get(text)] }), none)).toBe(expected);
    expect(one.txn(txn({ failure: [nest({ failure: [remove(text)] })] }), none)).toBe(expected);
    expect(one.watch(asked)).toBe(expected);
  });

  test('is not one to a watch without a key, which begins at the smallest', () => {
    expect(one.watch(range(',k'))).toBe(DENIED);
    expect(one.watch(range(','))).toBe(DENIED);
    const all = access(withAlice('r \0,'));
    expect(all.watch(range(','))).toBeUndefined();
    expect(all.watch(range(''))).toBeUndefined();
    expect(all.read(range(','))).toBe(DENIED);
  });
});

describe('permissions of a user', () => {
  test('that touch are one, also of several roles', () => {
    const two = access(
      after(withAlice('r a,c'), addRole('more'), grantRole('alice', 'more'), permit('more', 'rw', 'c,e')),
    );
    expect(two.read(range('a,e'))).toBeUndefined();
    expect(two.read(range('a,f'))).toBe(DENIED);
    expect(two.write(range('a,e'))).toBe(DENIED);
    expect(two.write(range('c,e'))).toBeUndefined();
  });

  test('of WRITE alone permit neither prev_kv nor a read in a nested transaction', () => {
    const writer = access(withAlice('w k', 'w a,c'));
    expect(writer.put({ key: utf8('k'), lease: leaseId(0n), prevKv: false }, none)).toBeUndefined();
    expect(writer.put({ key: utf8('k'), lease: leaseId(0n), prevKv: true }, none)).toBe(DENIED);
    expect(writer.deleteRange({ range: range('a,c'), prevKv: false })).toBeUndefined();
    expect(writer.deleteRange({ range: range('a,c'), prevKv: true })).toBe(DENIED);
    expect(writer.txn(txn({ success: [put('k', { prevKv: true })] }), none)).toBe(DENIED);
    expect(writer.txn(txn({ success: [nest({ success: [get('k')] })] }), none)).toBe(DENIED);
    expect(writer.txn(txn({ success: [nest({ success: [put('k')] })] }), none)).toBeUndefined();
  });

  test('of READ alone permit no write', () => {
    const reader = access(withAlice('r k'));
    expect(reader.read(range('k'))).toBeUndefined();
    expect(reader.write(range('k'))).toBe(DENIED);
    expect(reader.txn(txn({ compares: [compare('k')], failure: [remove('k')] }), none)).toBe(DENIED);
  });

  test('of an unknown type permit nothing', () => {
    const odd = after(withAlice(), {
      kind: 'role-grant-permission',
      role: 'app',
      permission: { type: 7, range: range('k') },
    });
    expect(access(odd).read(range('k'))).toBe(DENIED);
    expect(access(odd).write(range('k'))).toBe(DENIED);
  });

  test.each([
    ['in the branch of success', { success: [get('x')] }],
    ['in the branch of failure', { failure: [get('x')] }],
    ['behind what is permitted', { success: [get('k'), put('k'), remove('x')] }],
    ['in a compare', { compares: [compare('k'), compare('x')] }],
    ['in a nested compare', { failure: [nest({ compares: [compare('x')] })] }],
    ['in a nested branch', { success: [nest({ failure: [nest({ success: [put('x')] })] })] }],
  ])('are looked at everywhere in a transaction: %s', (_, parts) => {
    expect(access(withAlice('rw k')).txn(txn(parts), none)).toBe(DENIED);
  });

  test('count at once when they are granted and taken away, for every user with the role and no other', () => {
    let state = after(withAlice('r k'), addUser('bob'), grantRole('bob', 'app'), addUser('eve'), addRole('eves'));
    state = after(state, grantRole('eve', 'eves'), permit('eves', 'r', 'e'));
    const may = (user: string, key: string) => access(state, info(state, user)).read(range(key)) === undefined;
    expect([may('alice', 'k'), may('bob', 'k'), may('eve', 'e'), may('eve', 'k')]).toEqual([true, true, true, false]);
    const before = state;
    state = after(state, forbid('app', 'k'), permit('app', 'r', 'n'));
    expect([may('alice', 'k'), may('bob', 'k'), may('alice', 'n'), may('eve', 'e')]).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(before.rightsOf('eve')).toBe(state.rightsOf('eve'));
    state = after(state, revokeRole('alice', 'app'));
    expect([may('alice', 'n'), may('bob', 'n')]).toEqual([false, true]);
    state = after(state, { kind: 'role-delete', name: 'app' });
    expect(may('bob', 'n')).toBe(false);
    state = after(state, addRole('app'), permit('app', 'r', 'n'));
    expect([may('alice', 'n'), may('bob', 'n')]).toEqual([false, false]);
    state = after(state, { kind: 'user-delete', name: 'eve' });
    expect(may('eve', 'e')).toBe(false);
    state = after(state, addUser('eve'));
    expect(may('eve', 'e')).toBe(false);
    state = after(state, grantRole('eve', 'root'));
    expect(may('eve', 'x')).toBe(true);
    expect(access(before, info(before, 'bob')).read(range('k'))).toBeUndefined();
  });
});

test('rights that were made in slices are those that a check looks up', () => {
  const state = after(
    withAlice('rw a,c', 'r x'),
    addRole('more'),
    grantRole('alice', 'more'),
    permit('more', 'r', 'y'),
  );
  const pace = new StepPace(0);
  const work = state.prepareRights('alice', pace);
  let step = work.next();
  let slices = 0;
  for (; step.done !== true; step = work.next()) {
    slices += 1;
    pace.begin();
  }
  expect(slices).toBeGreaterThan(2);
  expect(state.rightsOf('alice')).toBe(step.value);
  expect(access(state).write(range('b'))).toBeUndefined();
  expect(access(state).write(range('x'))).toBe(DENIED);
  expect(finish(state.prepareRights('bob', unhurried))).toBeUndefined();
});

describe('leases', () => {
  const state = withAlice('rw k', 'r m');
  const alice = access(state);
  const keysOf = (...keys: readonly string[]) => keys.map(utf8);

  test('are put to, revoked and kept alive only by who may write all of their keys', () => {
    for (const [keys, expected] of [
      [[], undefined],
      [['k'], undefined],
      [['k', 'm'], DENIED],
      [['x', 'k'], DENIED],
    ] as const) {
      expect(alice.put({ key: utf8('k'), lease, prevKv: false }, () => keysOf(...keys))).toBe(expected);
      expect(alice.txn(txn({ failure: [nest({ success: [put('k', { lease })] })] }), () => keysOf(...keys))).toBe(
        expected,
      );
      expect(alice.useLease(keysOf(...keys))).toBe(expected);
    }
  });

  test('are shown with their keys to who may read them all', () => {
    expect(alice.showLeases(keysOf('k', 'm'))).toBeUndefined();
    expect(alice.showLeases(keysOf('k', 'x'))).toBe(DENIED);
  });

  test('are not asked for by a put without one', () => {
    const asks = () => {
      throw new Error('asked for keys');
    };
    expect(alice.put({ key: utf8('k'), lease: leaseId(0n), prevKv: true }, asks)).toBeUndefined();
    expect(
      access(state, info(state, 'root')).put({ key: utf8('x'), lease: leaseId(0n), prevKv: false }, asks),
    ).toBeUndefined();
  });

  test('without keys are free to every user, and to nobody without a token', () => {
    expect(access(state, info(state, 'bob')).useLease([])).toBeUndefined();
    expect(access(state, nobody).useLease([])).toBe('UserEmpty');
    expect(access(state, nobody).showLeases([])).toBe('UserEmpty');
    expect(access(state, nobody).useLease(keysOf('k'))).toBe('UserEmpty');
  });

  test('are used by root with an old auth revision too, by others not', () => {
    const old = state.revision - 1;
    expect(access(state, { user: 'root', authRevision: old }).useLease(keysOf('x'))).toBeUndefined();
    expect(access(state, { user: 'alice', authRevision: old }).useLease(keysOf('k'))).toBe('AuthOldRevision');
  });
});
