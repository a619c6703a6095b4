import { utf8 } from '@engram/core';
import { authpb, etcdserverpb, type MethodTable } from '@engram/wire';
import { AuthClient, outcome, refused, type Shape } from './auth-client.ts';

/*
 * The matrix of authorization: every call, by every kind of caller, with every shape of a range. What is expected is said here
 * once more, by a rule as naive as it can be: key by key, over few keys.
 */

/** Everything that is in the store, and one key above it. */
const KEYS = ['a', 'k', 'k1', 'k2', 'l', 'z'];

export const shapes: Readonly<Record<string, Shape>> = {
  'one key': ['k', ''],
  'its prefix': ['k', 'l'],
  'an open end': ['k', '\0'],
  'a reversed range': ['k', 'a'],
  'all keys': ['\0', '\0'],
  'another key': ['z', ''],
};

interface Rights {
  readonly read: readonly Shape[];
  readonly write: readonly Shape[];
}

/** Why a caller is refused by every call that asks who it is; otherwise its rights. */
type Kind = { readonly refusal: string } | { readonly root: true } | (Rights & { readonly root?: false });

const nobody = 'user name is empty';
const invalid = 'invalid auth token';
const denied = 'permission denied';

const one: Shape = ['k', ''];
const prefix: Shape = ['k', 'l'];

const kinds: Readonly<Record<string, Kind>> = {
  'no token': { refusal: nobody },
  'a bad token': { refusal: invalid },
  'a token that has ended': { refusal: invalid },
  'the token of a deleted user': { refusal: invalid },
  'a user with another range': { read: [['x', 'y']], write: [['x', 'y']] },
  'a user with one key': { read: [one], write: [one] },
  'a reader of a prefix': { read: [prefix], write: [] },
  'a writer of a prefix': { read: [], write: [prefix] },
  'a user with a certificate': { read: [one], write: [one] },
  'a user of an open end': { read: [['k', '\0']], write: [['k', '\0']] },
  root: { root: true },
};

const inShape = ([key, end]: Shape, candidate: string): boolean =>
  end === '' ? candidate === key : candidate >= key && (end === '\0' || candidate < end);

/** A range that has no keys needs the right to its first one. */
function holds(rights: readonly Shape[], asked: Shape): boolean {
  const [key, end] = asked;
  const held = (candidate: string): boolean => rights.some((shape) => inShape(shape, candidate));
  if (!held(key)) return false;
  if (end === '\0') return rights.some((shape) => shape[1] === '\0' && shape[0] <= key);
  return KEYS.filter((candidate) => inShape(asked, candidate)).every(held);
}

interface Need {
  readonly read?: Shape;
  readonly write?: Shape;
}

/** The calls whose right depends on keys. */
type KeyCall = (client: AuthClient, shape: Shape) => { readonly call: Promise<unknown>; readonly needs: Need };

const range = ([key, end]: Shape) => ({ key: utf8(key), rangeEnd: utf8(end) });

export const keyCalls: Readonly<Record<string, KeyCall>> = {
  range: (client, shape) => ({ call: client.range(range(shape)), needs: { read: shape } }),
  'range of this node': (client, shape) => ({
    call: client.range({ ...range(shape), serializable: true }),
    needs: { read: shape },
  }),
  'count only': (client, shape) => ({
    call: client.range({ ...range(shape), countOnly: true }),
    needs: { read: shape },
  }),
  'delete range': (client, shape) => ({ call: client.remove(range(shape)), needs: { write: shape } }),
  'delete range with prev_kv': (client, shape) => ({
    call: client.remove({ ...range(shape), prevKv: true }),
    needs: { read: shape, write: shape },
  }),
  put: (client, [key]) => ({ call: client.put(key), needs: { write: [key, ''] } }),
  'put with prev_kv': (client, [key]) => ({
    call: client.put(key, '', { prevKv: true }),
    needs: { read: [key, ''], write: [key, ''] },
  }),
  'transaction that reads': (client, shape) => ({
    call: client.txn({ success: [{ requestRange: range(shape) }] }),
    needs: { read: shape },
  }),
  'transaction whose branch is not taken': (client, shape) => ({
    call: client.txn({ failure: [{ requestDeleteRange: range(shape) }] }),
    needs: { write: shape },
  }),
  'nested transaction whose branch is not taken': (client, shape) => ({
    call: client.txn({ success: [{ requestTxn: { failure: [{ requestDeleteRange: range(shape) }] } }] }),
    needs: { write: shape },
  }),
  compare: (client, shape) => ({
    call: client.txn({ compare: [{ ...range(shape), target: 0, result: 3, version: 7 }] }),
    needs: { read: shape },
  }),
};

const nothing = new Uint8Array(0);
const encode = etcdserverpb;

/** Calls of root, and calls of every user; what they change, if root makes them, is nothing that the others notice. */
export const rootCalls: Readonly<Record<string, Uint8Array>> = {
  'KV/Compact': encode.encodeCompactionRequest({ revision: 1 }),
  'Maintenance/Defragment': nothing,
  'Maintenance/Hash': nothing,
  'Maintenance/HashKV': nothing,
  'Maintenance/MoveLeader': nothing,
  'Maintenance/Downgrade': encode.encodeDowngradeRequest({ action: 2 }),
  'Maintenance/Alarm': encode.encodeAlarmRequest({ action: 2, alarm: 1, memberID: 7n }),
  'Cluster/MemberAdd': nothing,
  'Cluster/MemberRemove': nothing,
  'Cluster/MemberUpdate': nothing,
  'Cluster/MemberPromote': nothing,
  'Auth/AuthEnable': nothing,
  'Auth/UserAdd': encode.encodeAuthUserAddRequest({ name: 'root', password: 'x' }),
  'Auth/UserGet': encode.encodeAuthUserGetRequest({ name: 'root' }),
  'Auth/UserList': nothing,
  'Auth/UserDelete': encode.encodeAuthUserDeleteRequest({ name: 'none' }),
  'Auth/UserChangePassword': encode.encodeAuthUserChangePasswordRequest({ name: 'none', password: 'x' }),
  'Auth/UserGrantRole': encode.encodeAuthUserGrantRoleRequest({ user: 'root', role: 'root' }),
  'Auth/UserRevokeRole': encode.encodeAuthUserRevokeRoleRequest({ name: 'root', role: 'root' }),
  'Auth/RoleAdd': encode.encodeAuthRoleAddRequest({ name: '' }),
  'Auth/RoleGet': encode.encodeAuthRoleGetRequest({ role: 'root' }),
  'Auth/RoleList': nothing,
  'Auth/RoleDelete': encode.encodeAuthRoleDeleteRequest({ role: 'none' }),
  'Auth/RoleGrantPermission': encode.encodeAuthRoleGrantPermissionRequest({
    name: 'none',
    perm: { permType: authpb.PermissionType.READ, key: utf8('k') },
  }),
  'Auth/RoleRevokePermission': encode.encodeAuthRoleRevokePermissionRequest({ role: 'none', key: utf8('k') }),
};

export const userCalls: Readonly<Record<string, Uint8Array>> = {
  'Cluster/MemberList': nothing,
  'Maintenance/Status': nothing,
  'Maintenance/Alarm': nothing,
  'Lease/LeaseTimeToLive': encode.encodeLeaseTimeToLiveRequest({ ID: 99n }),
};

/** For everybody, also with a token that is none. */
export const openCalls: readonly string[] = ['Auth/AuthStatus'];

export interface Callers {
  /** A client of each kind at a member. */
  readonly at: (methods: MethodTable) => Readonly<Record<string, AuthClient>>;
  readonly root: (methods: MethodTable) => AuthClient;
}

export interface CallerParts {
  readonly methods: MethodTable;
  /** Lets the work end, where time must pass for it. */
  readonly run: <Value>(work: Promise<Value>) => Promise<Value>;
  /** Lets tokens end that are not used. */
  readonly endTokens: () => Promise<void> | void;
}

/** Makes the users, roles and keys of the matrix, turns authentication on, and logs everybody in. */
export async function prepareCallers({ methods, run, endTokens }: CallerParts): Promise<Callers> {
  const anybody = new AuthClient(methods);
  for (const key of KEYS) await run(anybody.put(key, key));
  const users: Record<string, string> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    if ('refusal' in kind || kind.root === true) continue;
    users[name] = name.replaceAll(' ', '-');
    const both = [
      ...kind.read.map((shape) => ['r', shape] as const),
      ...kind.write.map((shape) => ['w', shape] as const),
    ];
    const same = kind.read.length === 1 && kind.write.length === 1;
    await run(anybody.addUserWith(users[name]!, ...(same ? [['rw', kind.read[0]!] as const] : both)));
  }
  await run(anybody.addUserWith('ended', ['rw', prefix]));
  await run(anybody.addUserWith('deleted', ['rw', prefix]));
  await run(anybody.addUser('root'));
  await run(anybody.grantRole('root', 'root'));
  await run(anybody.enable());
  const ended = await run(anybody.authenticate('ended'));
  await endTokens();
  const deleted = await run(anybody.authenticate('deleted'));
  const rootToken = await run(anybody.authenticate('root'));
  await run(anybody.with(rootToken).deleteUser('deleted'));
  const tokens: Record<string, string> = {
    'a bad token': 'abcdefghijklmnop.1',
    'a token that has ended': ended,
    'the token of a deleted user': deleted,
    root: rootToken,
  };
  for (const [name, user] of Object.entries(users)) {
    if (name !== 'a user with a certificate') tokens[name] = await run(anybody.authenticate(user));
  }
  const clientOf = (at: MethodTable, name: string): AuthClient => {
    if (name === 'a user with a certificate') return new AuthClient(at, {}, users[name]);
    const token = tokens[name];
    return new AuthClient(at, token === undefined ? {} : { token });
  };
  return {
    at: (there) => Object.fromEntries(Object.keys(kinds).map((name) => [name, clientOf(there, name)])),
    root: (there) => clientOf(there, 'root'),
  };
}

/** What comes out otherwise than it must, one line each; and how many calls were made. */
export interface MatrixReport {
  readonly wrong: readonly string[];
  readonly calls: number;
}

/** `state` changes when anything does that a client may see. */
export async function runMatrix(
  clients: Readonly<Record<string, AuthClient>>,
  run: CallerParts['run'],
  state: () => Promise<string>,
): Promise<MatrixReport> {
  const wrong: string[] = [];
  let calls = 0;
  const expectOutcome = async (what: string, call: Promise<unknown>, expected: string): Promise<void> => {
    calls += 1;
    const found = await run(outcome(call));
    if (found !== expected) wrong.push(`${what}: ${found}, not ${expected}`);
  };
  for (const [name, client] of Object.entries(clients)) {
    const kind = kinds[name]!;
    const isRoot = 'root' in kind && kind.root === true;
    for (const [what, make] of Object.entries(keyCalls)) {
      for (const [shapeName, shape] of Object.entries(shapes)) {
        if (isRoot && what.startsWith('delete')) continue; // the others go on with the keys
        const before = await state();
        const { call, needs } = make(client, shape);
        const permitted = isRoot || (!('refusal' in kind) && permits(kind as Rights, needs));
        await expectOutcome(
          `${name}: ${what} of ${shapeName}`,
          call,
          permitted ? 'ok' : 'refusal' in kind ? kind.refusal : denied,
        );
        if (!permitted && (await state()) !== before)
          wrong.push(`${name}: ${what} of ${shapeName} has changed something`);
      }
    }
    for (const [method, request] of Object.entries(rootCalls)) {
      const call = client.call(`/etcdserverpb.${method}`, request);
      calls += 1;
      const refusal = (await run(refused(call)))?.message.replace(/^etcdserver: /, '') ?? 'ok';
      const expected = 'refusal' in kind ? kind.refusal : isRoot ? undefined : denied;
      if (expected !== undefined && refusal !== expected) wrong.push(`${name}: ${method}: ${refusal}, not ${expected}`);
      if (isRoot && [denied, nobody, invalid].includes(refusal)) wrong.push(`root: ${method}: ${refusal}`);
    }
    for (const [method, request] of Object.entries(userCalls)) {
      const call = client.call(`/etcdserverpb.${method}`, request);
      await expectOutcome(`${name}: ${method}`, call, 'refusal' in kind ? kind.refusal : 'ok');
    }
    for (const method of openCalls)
      await expectOutcome(`${name}: ${method}`, client.call(`/etcdserverpb.${method}`, nothing), 'ok');
  }
  return { wrong, calls };
}

const permits = ({ read, write }: Rights, needs: Need): boolean =>
  (needs.read === undefined || holds(read, needs.read)) && (needs.write === undefined || holds(write, needs.write));
