import {
  type AuthChange,
  checkPassword,
  hashPassword,
  PasswordHash,
  type PasswordHasher,
  type Permission,
  permissionsOf,
  refuseChange,
  refuseRoleGet,
  refuseUserGet,
  rolesOf,
  simpleToken,
  simpleTokenPrefix,
  tokenDigest,
} from '@engram/auth';
import { type Caller, permitRoot } from '@engram/backend';
import { EngramError, type ErrorCode, isEngramError, Limiter } from '@engram/core';
import { type CallContext, etcdserverpb, type Init, type Message, type Method } from '@engram/wire';
import type { CallAdmission } from '../call-admission.ts';
import { checkRequestSize } from '../request-size.ts';
import { RpcCaller } from '../rpc-caller.ts';
import type { ServiceParts } from '../service-parts.ts';
import type { AuthSettings } from './authenticator.ts';
import { type HashClient, HashPlaces } from './hash-places.ts';

const SERVICE = '/etcdserverpb.Auth';
/** Hashes that are made at a time, and that may wait: each takes tens of milliseconds of a processor, and anybody may ask for one. */
const HASHES_MAX = 2;
const HASHES_WAITING_MAX = 100;
/** Log-ins are tried again where users or roles change meanwhile. */
const TRIES_MAX = 10;

/**
 * The service Auth (etcd: etcdserver/v3_server.go, auth/store.go). Changes are the leader's, who judges the caller. What is shown
 * is this node's, after it has caught up. Without settings there are no users, and none can be made.
 */
export function authMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const service = new AuthService(parts);
  type Handle = (request: Uint8Array, caller: RpcCaller) => Promise<Message>;
  const method = (name: string, handle: Handle): readonly [string, Method] => [
    `${SERVICE}/${name}`,
    admission.unary((request: Uint8Array, call: CallContext) => handle(request, new RpcCaller(call))),
  ];
  const shown = [
    method('AuthStatus', (_, caller) => service.status(caller)),
    method('UserList', (_, caller) => service.users(caller)),
    method('RoleList', (_, caller) => service.roles(caller)),
  ];
  const { settings } = parts.auth;
  if (settings === undefined) return [...shown, method('Authenticate', (_, caller) => service.refuseLogins(caller))];
  const passwords = new Passwords(settings);
  return [
    ...shown,
    method('Authenticate', (request, caller) => service.authenticate(request, caller, settings, passwords)),
    method('AuthEnable', (_, caller) => service.enable(caller)),
    method('AuthDisable', (_, caller) => service.disable(caller)),
    method('UserAdd', (request, caller) => service.addUser(request, caller, passwords)),
    method('UserGet', (request, caller) => service.user(request, caller)),
    method('UserDelete', (request, caller) => service.deleteUser(request, caller)),
    method('UserChangePassword', (request, caller) => service.changePassword(request, caller, passwords)),
    method('UserGrantRole', (request, caller) => service.grantRole(request, caller)),
    method('UserRevokeRole', (request, caller) => service.revokeRole(request, caller)),
    method('RoleAdd', (request, caller) => service.addRole(request, caller)),
    method('RoleGet', (request, caller) => service.role(request, caller)),
    method('RoleDelete', (request, caller) => service.deleteRole(request, caller)),
    method('RoleGrantPermission', (request, caller) => service.grantPermission(request, caller)),
    method('RoleRevokePermission', (request, caller) => service.revokePermission(request, caller)),
  ];
}

/** Makes and compares hashes, a few at a time. */
class Passwords {
  readonly #hasher: AuthSettings['hasher'];
  readonly #limiter = new Limiter(HASHES_MAX);
  readonly #places = new HashPlaces(HASHES_WAITING_MAX);

  constructor({ hasher }: AuthSettings) {
    this.#hasher = hasher;
  }

  /**
   * For one call. What has not begun when its client has gone is never made: clients that give up and try again would wait behind
   * their own earlier calls.
   */
  of({ call, signal }: RpcCaller): PasswordHasher {
    const limited = <Result>(work: () => Promise<Result>): Promise<Result> => this.#limited(work, call, signal);
    return {
      hash: (password) => limited(() => this.#hasher.hash(password)),
      matches: (hash, password) => limited(() => this.#hasher.matches(hash, password)),
    };
  }

  async #limited<Result>(work: () => Promise<Result>, client: HashClient, signal: AbortSignal): Promise<Result> {
    if (!this.#places.enter(client)) throw new EngramError('TooManyRequests');
    try {
      return await this.#limiter.run(work, signal);
    } finally {
      this.#places.leave(client);
    }
  }
}

class AuthService {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  async status(caller: Caller): Promise<Message> {
    const { enabled, revision: authRevision } = await this.#newest(caller);
    return etcdserverpb.encodeAuthStatusResponse({ header: this.#header(), enabled, authRevision });
  }

  async refuseLogins(caller: Caller): Promise<Message> {
    await this.#newest(caller);
    throw new EngramError('AuthNotEnabled');
  }

  /** The password is compared here, and the log-in decided by the leader, on the same users and roles. */
  async authenticate(
    request: Uint8Array,
    caller: RpcCaller,
    { tokens, random }: AuthSettings,
    passwords: Passwords,
  ): Promise<Message> {
    const { name, password } = etcdserverpb.decodeAuthenticateRequest(request);
    for (let tries = 1; ; tries += 1) {
      const state = await this.#newest(caller);
      const checked = await checkPassword(state, name, password, passwords.of(caller));
      if ('code' in checked) throw new EngramError(checked.code);
      const { provider } = this.#parts.auth;
      if (tokens.kind === 'none' || provider === undefined) throw new EngramError('InvalidAuthToken');
      if (provider.kind === 'jwt') {
        const signed = await provider.tokens.sign(name, checked.revision);
        if ('code' in signed) throw new EngramError(signed.code);
        return this.#tokenAnswer(signed.token);
      }
      const prefix = simpleTokenPrefix(random);
      try {
        const login = { user: name, authRevision: checked.revision, digest: tokenDigest(prefix) };
        await this.#parts.store.logIn(login, caller);
      } catch (error) {
        if (isEngramError(error, 'AuthOldRevision') && tries < TRIES_MAX) continue;
        throw error;
      }
      return this.#tokenAnswer(simpleToken(prefix, this.#parts.store.status().logPosition));
    }
  }

  #tokenAnswer(token: string): Message {
    return etcdserverpb.encodeAuthenticateResponse({ header: this.#header(), token });
  }

  async enable(caller: Caller): Promise<Message> {
    await this.#change({ kind: 'enable' }, caller);
    return etcdserverpb.encodeAuthEnableResponse({ header: this.#header() });
  }

  async disable(caller: Caller): Promise<Message> {
    await this.#change({ kind: 'disable' }, caller);
    return etcdserverpb.encodeAuthDisableResponse({ header: this.#header() });
  }

  async users(caller: Caller): Promise<Message> {
    const state = await this.#newest(caller);
    permitRoot(state, caller);
    return etcdserverpb.encodeAuthUserListResponse({ header: this.#header(), users: state.users.names() });
  }

  async roles(caller: Caller): Promise<Message> {
    const state = await this.#newest(caller);
    permitRoot(state, caller);
    return etcdserverpb.encodeAuthRoleListResponse({ header: this.#header(), roles: state.roles.names() });
  }

  async user(request: Uint8Array, caller: Caller): Promise<Message> {
    const { name } = etcdserverpb.decodeAuthUserGetRequest(request);
    const state = await this.#newest(caller);
    refuseIf(refuseUserGet(state, caller, name));
    const roles = rolesOf(state, name);
    if (roles === undefined) throw new EngramError('UserNotFound');
    return etcdserverpb.encodeAuthUserGetResponse({ header: this.#header(), roles: [...roles] });
  }

  async role(request: Uint8Array, caller: Caller): Promise<Message> {
    const { role } = etcdserverpb.decodeAuthRoleGetRequest(request);
    const state = await this.#newest(caller);
    refuseIf(refuseRoleGet(state, caller, role));
    const permissions = permissionsOf(state, role);
    if (permissions === undefined) throw new EngramError('RoleNotFound');
    const perm = permissions.map(({ type, range }) => ({ permType: type, key: range.key, rangeEnd: range.end }));
    return etcdserverpb.encodeAuthRoleGetResponse({ header: this.#header(), perm });
  }

  async addUser(request: Uint8Array, caller: RpcCaller, passwords: Passwords): Promise<Message> {
    this.#checkSize(request);
    const { name, password, options } = etcdserverpb.decodeAuthUserAddRequest(request);
    const noPassword = options?.noPassword === true;
    const hash = noPassword ? PasswordHash.none : await this.#hashOf(password, passwords, caller);
    await this.#change({ kind: 'user-add', name, noPassword, password: hash }, caller);
    return etcdserverpb.encodeAuthUserAddResponse({ header: this.#header() });
  }

  async deleteUser(request: Uint8Array, caller: Caller): Promise<Message> {
    const { name } = etcdserverpb.decodeAuthUserDeleteRequest(request);
    await this.#change({ kind: 'user-delete', name }, caller);
    return etcdserverpb.encodeAuthUserDeleteResponse({ header: this.#header() });
  }

  async changePassword(request: Uint8Array, caller: RpcCaller, passwords: Passwords): Promise<Message> {
    this.#checkSize(request);
    const { name, password } = etcdserverpb.decodeAuthUserChangePasswordRequest(request);
    // An empty password is none, other than that of a new user: nobody logs in with it (etcd server/etcdserver/v3_server.go).
    const hash = password === '' ? PasswordHash.none : await this.#hashOf(password, passwords, caller);
    await this.#change({ kind: 'user-change-password', name, password: hash }, caller);
    return etcdserverpb.encodeAuthUserChangePasswordResponse({ header: this.#header() });
  }

  async grantRole(request: Uint8Array, caller: Caller): Promise<Message> {
    const { user, role } = etcdserverpb.decodeAuthUserGrantRoleRequest(request);
    await this.#change({ kind: 'user-grant-role', user, role }, caller);
    return etcdserverpb.encodeAuthUserGrantRoleResponse({ header: this.#header() });
  }

  async revokeRole(request: Uint8Array, caller: Caller): Promise<Message> {
    const { name, role } = etcdserverpb.decodeAuthUserRevokeRoleRequest(request);
    await this.#change({ kind: 'user-revoke-role', user: name, role }, caller);
    return etcdserverpb.encodeAuthUserRevokeRoleResponse({ header: this.#header() });
  }

  async addRole(request: Uint8Array, caller: Caller): Promise<Message> {
    this.#checkSize(request);
    const { name } = etcdserverpb.decodeAuthRoleAddRequest(request);
    await this.#change({ kind: 'role-add', name }, caller);
    return etcdserverpb.encodeAuthRoleAddResponse({ header: this.#header() });
  }

  async deleteRole(request: Uint8Array, caller: Caller): Promise<Message> {
    const { role } = etcdserverpb.decodeAuthRoleDeleteRequest(request);
    await this.#change({ kind: 'role-delete', name: role }, caller);
    return etcdserverpb.encodeAuthRoleDeleteResponse({ header: this.#header() });
  }

  async grantPermission(request: Uint8Array, caller: Caller): Promise<Message> {
    this.#checkSize(request);
    const { name, perm } = etcdserverpb.decodeAuthRoleGrantPermissionRequest(request);
    if (perm === undefined) {
      // A change of nothing has no record that a leader could be asked for.
      permitRoot(await this.#newest(caller), caller);
      throw new EngramError('PermissionNotGiven');
    }
    const permission: Permission = { type: perm.permType, range: { key: perm.key, end: perm.rangeEnd } };
    await this.#change({ kind: 'role-grant-permission', role: name, permission }, caller);
    return etcdserverpb.encodeAuthRoleGrantPermissionResponse({ header: this.#header() });
  }

  async revokePermission(request: Uint8Array, caller: Caller): Promise<Message> {
    const { role, key, rangeEnd } = etcdserverpb.decodeAuthRoleRevokePermissionRequest(request);
    await this.#change({ kind: 'role-revoke-permission', role, range: { key, end: rangeEnd } }, caller);
    return etcdserverpb.encodeAuthRoleRevokePermissionResponse({ header: this.#header() });
  }

  /** Who may not change users makes no work for the hashes: without a token and a password, anybody could. */
  async #hashOf(password: string, passwords: Passwords, caller: RpcCaller): Promise<PasswordHash> {
    const hasher = passwords.of(caller);
    const hash = async (text: string): Promise<Uint8Array> => {
      // A node that lags may not know yet that its caller is root. The leader judges again.
      if (refuseChange(this.#parts.auth.view.state, caller) !== undefined)
        permitRoot(await this.#newest(caller), caller);
      return await hasher.hash(text);
    };
    const hashed = await hashPassword(password, { ...hasher, hash });
    if ('code' in hashed) throw new EngramError(hashed.code);
    return hashed.password;
  }

  #change(change: AuthChange, caller: Caller): Promise<void> {
    return this.#parts.store.changeAuth(change, caller);
  }

  /** Users and roles as of now: every change that was answered before has taken effect here. */
  async #newest(caller: Caller): Promise<ServiceParts['auth']['view']['state']> {
    await this.#parts.store.readIndex(caller);
    return this.#parts.auth.view.state;
  }

  #checkSize(request: Uint8Array): void {
    checkRequestSize(request, this.#parts.limits.maxRequestBytes);
  }

  #header(): Init<etcdserverpb.ResponseHeader> {
    return this.#parts.header();
  }
}

function refuseIf(code: ErrorCode | undefined): void {
  if (code !== undefined) throw new EngramError(code);
}
