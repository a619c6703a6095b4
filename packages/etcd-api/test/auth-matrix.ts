import { utf8 } from '@engram/core';
import { authpb, etcdserverpb, type MethodTable, type RpcStatus } from '@engram/wire';
import { AuthClient, refused, type Shape } from './auth-client.ts';

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
export type Kind = { readonly refusal: string } | { readonly root: true } | (Rights & { readonly root?: false });

const nobody = '3 etcdserver: user name is empty';
const invalid = '16 etcdserver: invalid auth token';
export const denied = '7 etcdserver: permission denied';

const one: Shape = ['k', ''];
const prefix: Shape = ['k', 'l'];

export const kinds: Readonly<Record<string, Kind>> = {
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

export interface Need {
  readonly read?: Shape;
  readonly write?: Shape;
  readonly writeToo?: Shape;
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
  'put to the lease of another key, in a branch that is not taken': (client, [key]) => ({
    call: client.txn({ failure: [{ requestPut: { key: utf8(key), lease: LEASE_OF_Z } }] }),
    needs: { write: [key, ''], writeToo: ['z', ''] },
  }),
};

/** Leases with one key each. */
export const LEASE_OF_Z = 52n;
const LEASE_OF_K = 50n;
/** The first of those that are granted to be revoked, and of those that callers grant. */
const REVOKED_FROM = 1000n;
const GRANTED_FROM = 2000n;

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
  'Lease/LeaseTimeToLive': encode.encodeLeaseTimeToLiveRequest({ ID: LEASE_OF_Z }),
};

/** Calls whose right depends on the keys of leases. */
const leaseCalls: Readonly<Record<string, { readonly request: Uint8Array; readonly needs: Need }>> = {
  'Lease/LeaseTimeToLive': {
    request: encode.encodeLeaseTimeToLiveRequest({ ID: LEASE_OF_K, keys: true }),
    needs: { read: ['k', ''] },
  },
  'Lease/LeaseLeases': { request: nothing, needs: { read: ['k', '\0'] } },
};

/** Streams, which have a test of their own, and what is asked while nobody has logged in. */
export const otherCalls: readonly string[] = [
  'KV/RangeStream',
  'Watch/Watch',
  'Lease/LeaseKeepAlive',
  'Maintenance/Snapshot',
  'Auth/Authenticate',
  'Auth/AuthDisable',
];

/** For everybody, but not with a token that does not count. */
export const openCalls: readonly string[] = ['Auth/AuthStatus'];

/** Every call of the matrix, but for the streams. */
export const matrixCalls: readonly string[] = [
  ...['KV/Range', 'KV/Put', 'KV/DeleteRange', 'KV/Txn', 'Lease/LeaseGrant', 'Lease/LeaseRevoke', 'Lease/LeaseLeases'],
  ...Object.keys(rootCalls),
  ...Object.keys(userCalls),
  ...openCalls,
];

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
  await run(anybody.grant(LEASE_OF_K, 1_000_000));
  await run(anybody.put('k', 'k', { lease: LEASE_OF_K }));
  await run(anybody.grant(LEASE_OF_Z, 1_000_000));
  await run(anybody.put('z', 'z', { lease: LEASE_OF_Z }));
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

export interface MatrixOptions {
  readonly clients: Readonly<Record<string, AuthClient>>;
  readonly run: CallerParts['run'];
  /** Changes when anything does that a client may see. */
  readonly state: () => Promise<string>;
  /** Kinds of callers that are another one here. */
  readonly kindOf?: (name: string) => string;
}

/** The status of a call that is refused: its code and its text. */
export async function statusOfCall(call: Promise<unknown>): Promise<string> {
  const status = await refused(call);
  return status === undefined ? 'ok' : `${status.code} ${status.message}`;
}

export async function runMatrix({ clients, run, state, kindOf }: MatrixOptions): Promise<MatrixReport> {
  const wrong: string[] = [];
  let calls = 0;
  const expectOutcome = async (what: string, call: Promise<unknown>, expected: string): Promise<void> => {
    calls += 1;
    const found = await run(statusOfCall(call));
    if (found !== expected) wrong.push(`${what}: ${found}, not ${expected}`);
  };
  let lease = 0n;
  for (const [name, client] of Object.entries(clients)) {
    const kind = kinds[kindOf?.(name) ?? name]!;
    const isRoot = 'root' in kind && kind.root === true;
    const expectNeeds = async (what: string, call: Promise<unknown>, needs: Need, before: string): Promise<void> => {
      const permitted = isRoot || (!('refusal' in kind) && permits(kind as Rights, needs));
      await expectOutcome(`${name}: ${what}`, call, permitted ? 'ok' : 'refusal' in kind ? kind.refusal : denied);
      if (!permitted && (await state()) !== before) wrong.push(`${name}: ${what} has changed something`);
    };
    for (const [what, make] of Object.entries(keyCalls)) {
      for (const [shapeName, shape] of Object.entries(shapes)) {
        if (isRoot && what.startsWith('delete')) continue; // the others go on with the keys
        const before = await state();
        const { call, needs } = make(client, shape);
        await expectNeeds(`${what} of ${shapeName}`, call, needs, before);
      }
    }
    // A permitted call may have taken the keys.
    await run(clients['root']!.put('k', 'k', { lease: LEASE_OF_K }));
    await run(clients['root']!.put('z', 'z', { lease: LEASE_OF_Z }));
    for (const [method, { request, needs }] of Object.entries(leaseCalls)) {
      const before = await state();
      await expectNeeds(method, client.call(`/etcdserverpb.${method}`, request), needs, before);
    }
    lease += 1n;
    await run(clients['root']!.grant(REVOKED_FROM + lease));
    await run(clients['root']!.put('k1', 'k', { lease: REVOKED_FROM + lease }));
    const before = await state();
    await expectNeeds('revoke', client.revoke(REVOKED_FROM + lease), { write: ['k1', ''] }, before);
    const unchanged = await state();
    const granted = 'refusal' in kind ? kind.refusal : 'ok';
    await expectOutcome(`${name}: grant`, client.grant(GRANTED_FROM + lease), granted);
    if (granted !== 'ok' && (await state()) !== unchanged) wrong.push(`${name}: grant has changed something`);
    for (const [method, request] of Object.entries(rootCalls)) {
      const earlier = await state();
      calls += 1;
      const found = await run(statusOfCall(client.call(`/etcdserverpb.${method}`, request)));
      const expected = 'refusal' in kind ? kind.refusal : isRoot ? undefined : denied;
      if (expected !== undefined && found !== expected) wrong.push(`${name}: ${method}: ${found}, not ${expected}`);
      if (isRoot && [denied, nobody, invalid].includes(found)) wrong.push(`root: ${method}: ${found}`);
      if (!isRoot && (await state()) !== earlier) wrong.push(`${name}: ${method} has changed something`);
    }
    for (const [method, request] of Object.entries(userCalls)) {
      const call = client.call(`/etcdserverpb.${method}`, request);
      await expectOutcome(`${name}: ${method}`, call, 'refusal' in kind ? kind.refusal : 'ok');
    }
    for (const method of openCalls)
      await expectOutcome(
        `${name}: ${method}`,
        client.call(`/etcdserverpb.${method}`, nothing),
        'refusal' in kind && kind.refusal === invalid ? invalid : 'ok',
      );
  }
  return { wrong, calls };
}

/** What a call of a stream has sent after its first request, and how it has ended, if it has. */
export interface StreamOutcome {
  readonly sent: readonly Uint8Array[];
  readonly status: RpcStatus | undefined;
}

export interface StreamMatrixOptions extends Pick<MatrixOptions, 'clients' | 'kindOf'> {
  /** Asks as this client, and takes what comes within a while. */
  readonly ask: (client: string, path: string, request: Uint8Array) => Promise<StreamOutcome>;
  /** Paths that cannot be asked here. */
  readonly without?: readonly string[];
}

/** As `StreamMatrixOptions.ask`, of methods without a socket. `settle` lets time pass until what was asked is answered. */
export const streaming =
  (clients: MatrixOptions['clients'], settle: () => Promise<void>): StreamMatrixOptions['ask'] =>
  async (name, path, request) => {
    const client = clients[name]!;
    const isServerStream = client.methods.get(path)?.kind === 'server-stream';
    const call = isServerStream ? client.serverStream(path, request) : client.bidi(path);
    if (!isServerStream) call.request(request);
    await settle();
    const outcome = { sent: [...call.sent], status: call.status };
    call.cancel();
    return outcome;
  };

/** The same of the streams. */
export async function runStreamMatrix({
  clients,
  kindOf,
  ask,
  without = [],
}: StreamMatrixOptions): Promise<MatrixReport> {
  const wrong: string[] = [];
  let calls = 0;
  for (const name of Object.keys(clients)) {
    const kind = kinds[kindOf?.(name) ?? name]!;
    const isRoot = 'root' in kind && kind.root === true;
    const judge = (what: string, found: string, leaked: number, needs: Need | 'root'): void => {
      calls += 1;
      const permitted = isRoot || (!('refusal' in kind) && needs !== 'root' && permits(kind as Rights, needs));
      const expected = permitted ? 'ok' : 'refusal' in kind ? kind.refusal : denied;
      if (found !== expected) wrong.push(`${name}: ${what}: ${found}, not ${expected}`);
      if (!permitted && leaked > 0) wrong.push(`${name}: ${what} has sent something`);
    };
    const expectStream = async (
      path: string,
      request: Uint8Array,
      what: string,
      needs: Need | 'root',
    ): Promise<void> => {
      if (without.includes(path)) return;
      const { sent, status } = await ask(name, `/etcdserverpb.${path}`, request);
      judge(`${path}${what}`, textOfStatus(sent.length > 0 ? { code: 0, message: '' } : status), sent.length, needs);
    };
    for (const [shapeName, shape] of Object.entries(shapes)) {
      const ofShape = ` of ${shapeName}`;
      await expectStream('KV/RangeStream', encode.encodeRangeRequest(range(shape)), ofShape, { read: shape });
      const create = encode.encodeWatchRequest({ createRequest: { ...range(shape), startRevision: 1 } });
      const { sent } = await ask(name, '/etcdserverpb.Watch/Watch', create);
      const [created, ...events] = sent.map((bytes) => encode.decodeWatchResponse(bytes));
      const { canceled = true, cancelReason = '' } = created ?? {};
      // etcd refuses an empty range only if its client may read it.
      const isEmpty = cancelReason === 'mvcc: watcher range is empty';
      judge(`watch${ofShape}`, canceled && !isEmpty ? watchStatus(cancelReason) : 'ok', events.length, { read: shape });
    }
    const renewal = encode.encodeLeaseKeepAliveRequest({ ID: LEASE_OF_K });
    await expectStream('Lease/LeaseKeepAlive', renewal, '', { write: one });
    await expectStream('Maintenance/Snapshot', nothing, '', 'root');
  }
  return { wrong, calls };
}

export function textOfStatus(status: { readonly code: number; readonly message: string } | undefined): string {
  if (status === undefined) return 'nothing';
  return status.code === 0 ? 'ok' : `${status.code} ${status.message}`;
}

/** The text of a watch response names the code. */
function watchStatus(reason: string): string {
  const codes: Readonly<Record<string, number>> = { InvalidArgument: 3, PermissionDenied: 7, Unauthenticated: 16 };
  const [, code = '', text = ''] = /^rpc error: code = (\w+) desc = (.*)$/.exec(reason) ?? [];
  return `${codes[code]} ${text}`;
}

/** Whether a caller of this kind may do what needs this. */
export const mayDo = (kind: Kind, needs: Need): boolean =>
  !('refusal' in kind) && (kind.root === true || permits(kind, needs));

const permits = ({ read, write }: Rights, needs: Need): boolean =>
  (needs.read === undefined || holds(read, needs.read)) &&
  (needs.write === undefined || holds(write, needs.write)) &&
  (needs.writeToo === undefined || holds(write, needs.writeToo));
