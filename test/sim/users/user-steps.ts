import {
  type AuthChange,
  encodeAuthRecord,
  decodeAuthRecord,
  PasswordHash,
  type Permission,
  tokenDigest,
} from '@engram/auth';
import { compareBytes, type ErrorCode, type KeyRange, keyText } from '@engram/core';
import { Prng } from '@engram/sim';
import type { LoggedWrite } from '@engram/sim/model';
import { etcdserverpb } from '@engram/wire';
import { expectThat } from '../judge/finding.ts';
import type { Call } from '../judge/judge.ts';
import { Requests } from '../plan/requests.ts';
import type { Asking } from '../world/lease-requests.ts';
import type { RequestedStep } from '../world/request-steps.ts';
import { type Credential, ROLES, ROOT, USERS } from './credentials.ts';
import { type Desk, hashText } from './desk.ts';
import { claimsOf } from './sim-jwt.ts';
import type { UserKind } from './user-weights.ts';
import { changeUsers, type ModelOutcome } from './users-model.ts';

const NOTHING = new Uint8Array(0);
export const PASSWORDS = ['a', 'b'] as const;

/** One request of a client about users. */
export class UserStep {
  readonly #asking: Asking;
  readonly #desk: Desk;
  readonly #random: Prng;
  readonly #requests: Requests;

  private constructor(asking: Asking, desk: Desk, { id, seed }: RequestedStep) {
    this.#asking = asking;
    this.#desk = desk;
    this.#random = new Prng(seed).fork('users');
    const { settings, history } = asking.world;
    this.#requests = new Requests(this.#random, settings, history, `${id}.`);
  }

  /** Does nothing where clients have no users. */
  static run(asking: Asking, step: RequestedStep, kind: UserKind): void {
    const { desk } = asking.face;
    if (desk !== undefined) new UserStep(asking, desk, step)[kind]();
  }

  /** Of a client that is told what to send. */
  static of(asking: Asking, id: number): UserStep {
    return new UserStep(asking, asking.face.desk!, { id, seed: id });
  }

  'auth-status'(): void {
    const { world, life, name } = this.#asking;
    const { judge, history } = world;
    world.calls.start({
      what: `${name} auth status`,
      life,
      credential: this.#credential,
      need: { kind: 'token' },
      send: async (signal) =>
        etcdserverpb.decodeAuthStatusResponse(await this.#auth('AuthStatus', NOTHING, this.#credential, signal)),
      answered: ({ what, from }, { enabled, authRevision }) =>
        expectThat(
          judge.access.users
            .between(from, history.next)
            .some(({ state }) => state.enabled === enabled && state.revision === Number(authRevision)),
          'answer',
          () => `${what}: ${enabled} at ${authRevision}, and no state explains it`,
        ),
      refused: (call, code) => judge.readRefused(call, 0, code),
      text: ({ enabled, authRevision }) => `${enabled ? 'on' : 'off'} at ${authRevision}`,
    });
  }

  'log-in'(): void {
    const random = this.#random;
    const user = random.chance(0.3) ? ROOT : random.pick(USERS);
    this.logIn(user, random.pick(PASSWORDS));
  }

  logIn(user: string, password: string): void {
    const { world, life, name } = this.#asking;
    const { judge, settings } = world;
    const request = etcdserverpb.encodeAuthenticateRequest({ name: user, password });
    // A member that starts before the answer may find the log-in in what its start reads, and is not told of it.
    const sinceMs = life.process.host.scheduler.nowMs;
    world.calls.start({
      what: `${name} log in ${user} with ${password}`,
      life,
      explains: ({ mark }) => mark?.kind === 'login' && mark.user === user,
      send: async (signal) =>
        etcdserverpb.decodeAuthenticateResponse(await this.#auth('Authenticate', request, this.#credential, signal))
          .token,
      answered: (call, token) => {
        const known =
          settings.users === 'jwt' ? this.#signed(call, user, password, token) : this.#told(call, user, token);
        const state = judge.access.users.at(known.at);
        const mayLogIn = state.enabled && state.users.get(user)?.hash === latin1(hashText(password));
        expectThat(mayLogIn, 'access', () => `${call.what} was answered, and the password was not right`);
        world.credentials.add({
          name: `${user} by token #${this.#asking.name.slice(1)}`,
          kind: settings.users === 'jwt' ? 'jwt' : 'simple',
          user,
          metadata: { token },
          commonName: undefined,
          from: known.next,
          sinceMs,
          revision: known.revision,
        });
      },
      refused: (call, code) => this.#loginRefused(call, user, password, code),
    });
  }

  /** A simple token is in the log. */
  #told(call: Call, user: string, token: string): { at: number; next: number; revision: number } {
    const { judge } = this.#asking.world;
    const digest = tokenDigest(token);
    const write = judge.writes
      .unexplained(call.from)
      .find(({ mark }) => mark?.kind === 'login' && mark.user === user && compareBytes(mark.digest, digest) === 0);
    expectThat(write !== undefined, 'answer', () => `${call.what} was answered, and the log has no such log-in`);
    judge.writes.explain(write);
    judge.tellWrite(write);
    return { at: write.position, next: write.next, revision: 0 };
  }

  /** A signed token says at which revision of the users it was made. */
  #signed(call: Call, user: string, password: string, token: string): { at: number; next: number; revision: number } {
    const { judge, history } = this.#asking.world;
    const { username, revision } = claimsOf(token);
    expectThat(username === user, 'answer', () => `${call.what}: the token is of ${username}`);
    const states = judge.access.users.between(call.from, history.next);
    const since =
      states.find(({ state }) => state.revision === revision && state.enabled) ??
      states.find(({ state }) => state.revision === revision);
    expectThat(since !== undefined, 'answer', () => `${call.what} with ${password}: auth revision ${revision}`);
    return { at: Math.max(since.from, call.from), next: 1, revision };
  }

  #loginRefused({ what, from }: Call, user: string, password: string, code: ErrorCode): void {
    const { judge, history } = this.#asking.world;
    if (code === 'TooManyRequests') return;
    const states = judge.access.users.between(from, history.next);
    const explained =
      // Each of several tries met another change.
      (code === 'AuthOldRevision' && states.length > TRIES) ||
      states.some(({ state }) => {
        if (code === 'AuthNotEnabled') return !state.enabled;
        const found = state.users.get(user);
        if (code === 'NoPasswordUser') return found !== undefined && found.hash === undefined;
        return code === 'AuthFailed' && found?.hash !== latin1(hashText(password));
      });
    expectThat(explained, 'refusal', () => `${what} was refused with ${code}, and no state explains it`);
  }

  'change-users'(): void {
    this.change(this.#drawChange(), this.#asking.world.credentials.pickManager(this.#random));
  }

  change(wanted: Wanted, credential: Credential): void {
    const { world, life, name } = this.#asking;
    const { judge } = world;
    const { method, request, change } = wanted;
    const record = bytesOf(change);
    const isIt = ({ mark }: LoggedWrite): boolean =>
      mark?.kind === 'auth' && compareBytes(bytesOf(decodeAuthRecord(mark.change).change), record) === 0;
    let write: LoggedWrite | undefined;
    // A record that the log has already is of another call, which may have had no answer.
    const begun = world.history.next;
    world.calls.start({
      what: `${name} ${textOf(change)}`,
      life,
      credential,
      need: { kind: 'root' },
      eitherWay: 'UserNotFound',
      explains: isIt,
      decidedAt: () => write?.position,
      send: (signal) => this.#auth(method, request, credential, signal),
      answered: (call, _, permitted) => {
        const written = judge.writes.unexplained(Math.max(call.from, begun)).filter(isIt);
        // One of them may be of a call with the same change that has no answer yet, or had none, and of another caller.
        write = written.find(permitted) ?? written[0];
        if (write === undefined) this.#outcome(call, change, 'unchanged');
        else {
          judge.writes.explain(write);
          judge.tellWrite(write);
        }
      },
      refused: (call, code) => {
        if (code === 'TooManyRequests') return;
        if (code === 'NoSpace' || code === 'Corrupt') judge.refusedByAlarm(call, code);
        // Before the first change all members are asked whether they know users.
        else if (code === 'UserNotFound' && this.#isUnknown(call, credential)) return;
        else if (code === 'NotCapable' && judge.access.users.at(call.from).revision === 1) return;
        else this.#outcome(call, change, code);
      },
    });
  }

  /** Checks that the change has this outcome in some state of the call's window. */
  #outcome({ what, from }: Call, change: AuthChange, expected: string): void {
    const { judge, history } = this.#asking.world;
    const outcomes = judge.access.users
      .between(from, history.next)
      .map(({ state }) => nameOf(changeUsers(state, change)));
    expectThat(
      outcomes.includes(expected),
      'refusal',
      () => `${what}: ${expected}, and could be ${outcomes.join(', ')}`,
    );
  }

  /** Whether the caller is an unknown user in some state of the call's window. */
  #isUnknown({ from }: Call, { user }: Credential): boolean {
    const { judge, history } = this.#asking.world;
    return judge.access.users.between(from, history.next).some(({ state }) => state.enabled && !state.users.has(user));
  }

  #drawChange(): Wanted {
    const random = this.#random;
    const user = random.chance(0.05) ? ROOT : random.pick(USERS);
    const role = random.pick(ROLES);
    const kind = random.below(40);
    if (kind < 2) return wanted.enable();
    if (kind < 3) return wanted.disable();
    if (kind < 7) return wanted.addUser(user, random.pick(PASSWORDS), random.chance(0.1));
    if (kind < 10) return wanted.deleteUser(user);
    if (kind < 13) return wanted.changePassword(user, random.pick(PASSWORDS));
    if (kind < 19) return wanted.grantRole(user, random.chance(0.1) ? ROOT : role);
    if (kind < 22) return wanted.revokeRole(user, random.chance(0.1) ? ROOT : role);
    if (kind < 24) return wanted.addRole(role);
    if (kind < 25) return wanted.deleteRole(role);
    if (kind < 34) return wanted.permit(role, { type: random.pick([0, 1, 2, 2]), range: this.#requests.range() });
    const held = this.#asking.world.judge.access.users.newest.roles.get(role) ?? [];
    const range = held.length === 0 ? this.#requests.range() : random.pick(held).granted;
    return wanted.forbid(role, range);
  }

  get #credential(): Credential {
    return this.#asking.credential!;
  }

  #auth(method: string, request: Uint8Array, credential: Credential, signal: AbortSignal): Promise<Uint8Array> {
    return this.#desk.auth(method, request, credential, signal);
  }
}

/** Of a log-in: see package etcd-api. */
const TRIES = 10;

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

const bytesOf = (change: AuthChange): Uint8Array => encodeAuthRecord({ revision: 1, change });

const nameOf = (outcome: ModelOutcome): string => (outcome.kind === 'refused' ? outcome.code : outcome.kind);

function textOf({ kind, ...change }: AuthChange): string {
  const parts = Object.values(change).map((value: unknown) => {
    if (typeof value !== 'object' || value === null || value instanceof PasswordHash) return String(value);
    const { range = value as KeyRange, type = '' } = value as Partial<Permission>;
    return `${type} ${JSON.stringify(keyText(range.key))}..${JSON.stringify(keyText(range.end))}`;
  });
  return [kind, ...parts].join(' ');
}

/** A change, and the request for it. */
export interface Wanted {
  readonly method: string;
  readonly request: Uint8Array;
  readonly change: AuthChange;
}

const passwordOf = (password: string): PasswordHash => new PasswordHash(Buffer.from(hashText(password)));

export const wanted = {
  enable: (): Wanted => ({ method: 'AuthEnable', request: NOTHING, change: { kind: 'enable' } }),
  disable: (): Wanted => ({ method: 'AuthDisable', request: NOTHING, change: { kind: 'disable' } }),
  addUser: (name: string, password: string, noPassword = false): Wanted => ({
    method: 'UserAdd',
    request: etcdserverpb.encodeAuthUserAddRequest({ name, password, options: { noPassword } }),
    change: { kind: 'user-add', name, noPassword, password: passwordOf(password) },
  }),
  deleteUser: (name: string): Wanted => ({
    method: 'UserDelete',
    request: etcdserverpb.encodeAuthUserDeleteRequest({ name }),
    change: { kind: 'user-delete', name },
  }),
  changePassword: (name: string, password: string): Wanted => ({
    method: 'UserChangePassword',
    request: etcdserverpb.encodeAuthUserChangePasswordRequest({ name, password }),
    change: { kind: 'user-change-password', name, password: passwordOf(password) },
  }),
  grantRole: (user: string, role: string): Wanted => ({
    method: 'UserGrantRole',
    request: etcdserverpb.encodeAuthUserGrantRoleRequest({ user, role }),
    change: { kind: 'user-grant-role', user, role },
  }),
  revokeRole: (user: string, role: string): Wanted => ({
    method: 'UserRevokeRole',
    request: etcdserverpb.encodeAuthUserRevokeRoleRequest({ name: user, role }),
    change: { kind: 'user-revoke-role', user, role },
  }),
  addRole: (name: string): Wanted => ({
    method: 'RoleAdd',
    request: etcdserverpb.encodeAuthRoleAddRequest({ name }),
    change: { kind: 'role-add', name },
  }),
  deleteRole: (role: string): Wanted => ({
    method: 'RoleDelete',
    request: etcdserverpb.encodeAuthRoleDeleteRequest({ role }),
    change: { kind: 'role-delete', name: role },
  }),
  permit: (role: string, permission: Permission): Wanted => ({
    method: 'RoleGrantPermission',
    request: etcdserverpb.encodeAuthRoleGrantPermissionRequest({
      name: role,
      perm: { permType: permission.type, key: permission.range.key, rangeEnd: permission.range.end },
    }),
    change: { kind: 'role-grant-permission', role, permission },
  }),
  forbid: (role: string, range: KeyRange): Wanted => ({
    method: 'RoleRevokePermission',
    request: etcdserverpb.encodeAuthRoleRevokePermissionRequest({ role, key: range.key, rangeEnd: range.end }),
    change: { kind: 'role-revoke-permission', role, range },
  }),
};
