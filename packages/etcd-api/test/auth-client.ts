import type { PasswordHasher } from '@engram/auth';
import { utf8 } from '@engram/core';
import type { AuthSettings } from '@engram/etcd-api';
import { Prng } from '@engram/sim';
import {
  authpb,
  type CallHead,
  etcdserverpb,
  gatherMessage,
  type Init,
  type MethodTable,
  type RpcStatus,
  statusOf,
} from '@engram/wire';
import { FakeCall, type Metadata } from './fake-call.ts';

/** Hashes that show the password, and counts of what was asked for. */
export class FakeHasher implements PasswordHasher {
  hashed = 0;
  compared = 0;
  /** What happens while a password is compared. */
  whileComparing: () => Promise<void> = async () => {};

  async hash(password: string): Promise<Uint8Array> {
    this.hashed += 1;
    return utf8(`hash of ${password}`);
  }

  async matches(hash: Uint8Array, password: string): Promise<boolean> {
    this.compared += 1;
    await this.whileComparing();
    return Buffer.from(hash).toString() === `hash of ${password}`;
  }
}

export const fakeAuth = (over: Partial<AuthSettings> = {}): AuthSettings => ({
  hasher: new FakeHasher(),
  random: new Prng(7),
  tokens: { kind: 'simple' },
  clientCertAuth: false,
  ...over,
});

const { READ, WRITE, READWRITE } = authpb.PermissionType;
const types = { r: READ, w: WRITE, rw: READWRITE } as const;

export type Shape = readonly [key: string, end: string];

/** A client of one member that may have a token, or a certificate. */
export class AuthClient {
  readonly methods: MethodTable;
  readonly metadata: Metadata;
  readonly commonName: string | undefined;
  /** One for all calls, as on one connection. */
  readonly #head: CallHead = { admitted: undefined };

  constructor(methods: MethodTable, metadata: Metadata = {}, commonName?: string) {
    this.methods = methods;
    this.metadata = metadata;
    this.commonName = commonName;
  }

  with(token: string): AuthClient {
    return new AuthClient(this.methods, { ...this.metadata, token });
  }

  async call(path: string, request: Uint8Array): Promise<Uint8Array> {
    const method = this.methods.get(path);
    if (method?.kind !== 'unary') throw new Error(`${path} is no unary method`);
    return gatherMessage(await method.handle(request, new FakeCall(this.metadata, this.commonName, this.#head)));
  }

  bidi(path: string): FakeCall {
    const method = this.methods.get(path);
    if (method?.kind !== 'bidi') throw new Error(`${path} is no bidi method`);
    return FakeCall.bidi(method, this.metadata, this.commonName, this.#head);
  }

  serverStream(path: string, request: Uint8Array): FakeCall {
    const method = this.methods.get(path);
    if (method?.kind !== 'server-stream') throw new Error(`${path} is no server stream`);
    return FakeCall.serverStream(method, request, this.metadata, this.commonName, this.#head);
  }

  async authenticate(name: string, password: string = name): Promise<string> {
    const request = etcdserverpb.encodeAuthenticateRequest({ name, password });
    return etcdserverpb.decodeAuthenticateResponse(await this.auth('Authenticate', request)).token;
  }

  auth(method: string, request: Uint8Array = new Uint8Array(0)): Promise<Uint8Array> {
    return this.call(`/etcdserverpb.Auth/${method}`, request);
  }

  enable(): Promise<Uint8Array> {
    return this.auth('AuthEnable');
  }

  disable(): Promise<Uint8Array> {
    return this.auth('AuthDisable');
  }

  async authStatus(): Promise<etcdserverpb.AuthStatusResponse> {
    return etcdserverpb.decodeAuthStatusResponse(await this.auth('AuthStatus'));
  }

  addUser(name: string, password: string = name, noPassword = false): Promise<Uint8Array> {
    return this.auth('UserAdd', etcdserverpb.encodeAuthUserAddRequest({ name, password, options: { noPassword } }));
  }

  deleteUser(name: string): Promise<Uint8Array> {
    return this.auth('UserDelete', etcdserverpb.encodeAuthUserDeleteRequest({ name }));
  }

  changePassword(name: string, password: string): Promise<Uint8Array> {
    return this.auth('UserChangePassword', etcdserverpb.encodeAuthUserChangePasswordRequest({ name, password }));
  }

  grantRole(user: string, role: string): Promise<Uint8Array> {
    return this.auth('UserGrantRole', etcdserverpb.encodeAuthUserGrantRoleRequest({ user, role }));
  }

  revokeRole(name: string, role: string): Promise<Uint8Array> {
    return this.auth('UserRevokeRole', etcdserverpb.encodeAuthUserRevokeRoleRequest({ name, role }));
  }

  addRole(name: string): Promise<Uint8Array> {
    return this.auth('RoleAdd', etcdserverpb.encodeAuthRoleAddRequest({ name }));
  }

  deleteRole(role: string): Promise<Uint8Array> {
    return this.auth('RoleDelete', etcdserverpb.encodeAuthRoleDeleteRequest({ role }));
  }

  permit(name: string, type: keyof typeof types, [key, end]: Shape): Promise<Uint8Array> {
    const perm = { permType: types[type], key: utf8(key), rangeEnd: utf8(end) };
    return this.auth('RoleGrantPermission', etcdserverpb.encodeAuthRoleGrantPermissionRequest({ name, perm }));
  }

  forbid(role: string, [key, end]: Shape): Promise<Uint8Array> {
    const request = { role, key: utf8(key), rangeEnd: utf8(end) };
    return this.auth('RoleRevokePermission', etcdserverpb.encodeAuthRoleRevokePermissionRequest(request));
  }

  async userRoles(name: string): Promise<readonly string[]> {
    const bytes = await this.auth('UserGet', etcdserverpb.encodeAuthUserGetRequest({ name }));
    return etcdserverpb.decodeAuthUserGetResponse(bytes).roles;
  }

  /** A user with a role of the same name and its own permissions. The password is the name. */
  async addUserWith(name: string, ...permissions: readonly (readonly [keyof typeof types, Shape])[]): Promise<void> {
    await this.addUser(name);
    await this.addRole(name);
    for (const [type, shape] of permissions) await this.permit(name, type, shape);
    await this.grantRole(name, name);
  }

  /** Root, with the password `root`, and authentication on. Returns the client with root's token. */
  async enableWithRoot(): Promise<AuthClient> {
    await this.addUser('root');
    await this.grantRole('root', 'root');
    await this.enable();
    return this.with(await this.authenticate('root'));
  }

  async range(request: Init<etcdserverpb.RangeRequest>): Promise<etcdserverpb.RangeResponse> {
    const bytes = await this.call('/etcdserverpb.KV/Range', etcdserverpb.encodeRangeRequest(request));
    return etcdserverpb.decodeRangeResponse(bytes);
  }

  async get(key: string, serializable = false): Promise<string | undefined> {
    const [kv] = (await this.range({ key: utf8(key), serializable })).kvs;
    return kv && Buffer.from(kv.value).toString();
  }

  async put(key: string, value = '', over: Init<etcdserverpb.PutRequest> = {}): Promise<etcdserverpb.PutResponse> {
    const request = etcdserverpb.encodePutRequest({ key: utf8(key), value: utf8(value), ...over });
    return etcdserverpb.decodePutResponse(await this.call('/etcdserverpb.KV/Put', request));
  }

  async remove(request: Init<etcdserverpb.DeleteRangeRequest>): Promise<etcdserverpb.DeleteRangeResponse> {
    const bytes = await this.call('/etcdserverpb.KV/DeleteRange', etcdserverpb.encodeDeleteRangeRequest(request));
    return etcdserverpb.decodeDeleteRangeResponse(bytes);
  }

  async txn(request: Init<etcdserverpb.TxnRequest>): Promise<etcdserverpb.TxnResponse> {
    const bytes = await this.call('/etcdserverpb.KV/Txn', etcdserverpb.encodeTxnRequest(request));
    return etcdserverpb.decodeTxnResponse(bytes);
  }

  async grant(ID: bigint, TTL = 60): Promise<etcdserverpb.LeaseGrantResponse> {
    const bytes = await this.call('/etcdserverpb.Lease/LeaseGrant', etcdserverpb.encodeLeaseGrantRequest({ TTL, ID }));
    return etcdserverpb.decodeLeaseGrantResponse(bytes);
  }

  revoke(ID: bigint): Promise<Uint8Array> {
    return this.call('/etcdserverpb.Lease/LeaseRevoke', etcdserverpb.encodeLeaseRevokeRequest({ ID }));
  }

  async timeToLive(ID: bigint, keys: boolean): Promise<etcdserverpb.LeaseTimeToLiveResponse> {
    const request = etcdserverpb.encodeLeaseTimeToLiveRequest({ ID, keys });
    const bytes = await this.call('/etcdserverpb.Lease/LeaseTimeToLive', request);
    return etcdserverpb.decodeLeaseTimeToLiveResponse(bytes);
  }

  async leases(): Promise<etcdserverpb.LeaseLeasesResponse> {
    return etcdserverpb.decodeLeaseLeasesResponse(
      await this.call('/etcdserverpb.Lease/LeaseLeases', new Uint8Array(0)),
    );
  }
}

/** The text with which the call is refused, or `ok`. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  const refusal = await refused(call);
  return refusal === undefined ? 'ok' : refusal.message.replace(/^etcdserver: /, '');
}

export async function refused(call: Promise<unknown>): Promise<RpcStatus | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return statusOf(error);
  }
}
