import type { Prng } from '@engram/sim';
import { everything } from './kv-part.ts';
import { type Answer, type CallOptions, type Judge, type Method, method } from './judge.ts';
import { SIZES } from './maintenance-part.ts';
import type { Fields } from './messages.ts';
import * as ask from './methods.ts';
import { RandomRequests } from './random-requests.ts';
import { StreamPair } from './stream-pair.ts';

const USERS = ['root', 'ann', 'bob', 'cy', 'ü'];
const ROLES = ['root', 'reader', 'writer', 'both'];
const PASSWORDS = ['pass', 'word', ''];
/** bcrypt takes 72 bytes. */
const ODD_PASSWORDS = ['x'.repeat(72), 'x'.repeat(73), 'ü'.repeat(37)];
/** Of root, so that the run can always begin again. */
const ROOT_PASSWORD = 'secret';
/** After so many requests root is there again, and users count. */
const STEPS_EACH_HEAL = 40;

/**
 * Of etcd's checks before it looks at the token. UNKNOWN is bcrypt's, for a password that is too long; UNIMPLEMENTED is that of
 * RangeStream, for an order or a filter that it does not have.
 */
const FAULTS_OF_REQUESTS: ReadonlySet<string> = new Set(['INVALID_ARGUMENT', 'UNKNOWN', 'UNIMPLEMENTED']);

const authEnable = method('Auth/AuthEnable', 'AuthEnableRequest');
const authDisable = method('Auth/AuthDisable', 'AuthDisableRequest');
const userGet = method('Auth/UserGet', 'AuthUserGetRequest');
const userDelete = method('Auth/UserDelete', 'AuthUserDeleteRequest');
const userChangePassword = method('Auth/UserChangePassword', 'AuthUserChangePasswordRequest');
const userGrantRole = method('Auth/UserGrantRole', 'AuthUserGrantRoleRequest');
const userRevokeRole = method('Auth/UserRevokeRole', 'AuthUserRevokeRoleRequest');
const roleAdd = method('Auth/RoleAdd', 'AuthRoleAddRequest');
const roleGet = method('Auth/RoleGet', 'AuthRoleGetRequest');
const roleDelete = method('Auth/RoleDelete', 'AuthRoleDeleteRequest');
const roleGrantPermission = method('Auth/RoleGrantPermission', 'AuthRoleGrantPermissionRequest');
const roleRevokePermission = method('Auth/RoleRevokePermission', 'AuthRoleRevokePermissionRequest');

/**
 * Users, roles and permissions change at random while users with every kind of token read and write. Whatever is refused
 * must be refused by both, in the same words.
 */
export async function usersPart(judge: Judge, prng: Prng, steps: number): Promise<void> {
  await judge.untilStorageVersion();
  const users = new RandomUsers(judge, prng);
  for (let step = 0; step < steps; step += 1) {
    if (step % STEPS_EACH_HEAL === 0) await users.heal();
    await users.step();
  }
  await users.heal();
  await users.compareAll();
}

const headers = (tokens: readonly string[], header: string): readonly Readonly<Record<string, string>>[] =>
  tokens.map((token) => ({ [header]: token }));

class RandomUsers {
  readonly #judge: Judge;
  readonly #prng: Prng;
  readonly #make: RandomRequests;
  /** The newest of each user. They may have ended. */
  readonly #tokens = new Map<string, readonly string[]>();

  constructor(judge: Judge, prng: Prng) {
    this.#judge = judge;
    this.#prng = prng;
    // Whether a caller may use a range that has no keys depends in etcd on the shape of the tree of its permissions.
    this.#make = new RandomRequests(prng, { reversed: false });
  }

  /** Root has its role and a token, and users count. */
  async heal(): Promise<void> {
    await this.#login('root', ROOT_PASSWORD);
    const options = this.#as('root');
    await this.#ask(ask.userAdd, { name: 'root', password: ROOT_PASSWORD }, options);
    await this.#ask(roleAdd, { name: 'root' }, options);
    await this.#ask(userGrantRole, { user: 'root', role: 'root' }, options);
    await this.#ask(authEnable, {}, options);
    await this.#login('root', ROOT_PASSWORD);
  }

  async step(): Promise<void> {
    this.#make.revision = this.#judge.revision;
    const dice = this.#prng.below(100);
    if (dice < 30) await this.#changeUsers(this.#caller());
    else if (dice < 35) await this.#login(this.#user(), this.#password());
    else if (dice < 75) await this.#keys(this.#caller());
    else if (dice < 85) await this.#leases(this.#caller());
    else if (dice < 90) await this.#watch();
    else await this.#maintain(this.#caller());
  }

  /** What root sees of users, roles and keys. */
  async compareAll(): Promise<void> {
    const options = this.#as('root');
    await this.#ask(ask.authStatus, {}, options);
    await this.#ask(ask.userList, {}, options);
    await this.#ask(ask.roleList, {}, options);
    for (const name of USERS) await this.#ask(userGet, { name }, options);
    for (const role of ROLES) await this.#ask(roleGet, { role }, options);
    await this.#ask(authDisable, {}, options);
    await everything(this.#judge);
  }

  async #changeUsers(options: CallOptions): Promise<void> {
    const [name, role] = [this.#user(), this.#role()];
    const perm = { permType: this.#prng.pick([0, 0, 1, 1, 2, 2, 3, -1]), key: this.#make.key(), rangeEnd: this.#end() };
    const asked: readonly (() => Promise<unknown>)[] = [
      () => this.#ask(ask.authStatus, {}, options),
      () => this.#ask(ask.userList, {}, options),
      () => this.#ask(ask.roleList, {}, options),
      () => this.#ask(userGet, { name }, options),
      () => this.#ask(roleGet, { role }, options),
      () => this.#ask(ask.userAdd, this.#newUser(name), options),
      () => this.#ask(ask.userAdd, this.#newUser(name), options),
      () => this.#deleteUser(name, options),
      () => this.#changePassword(name, options),
      () => this.#ask(userGrantRole, { user: name, role }, options),
      () => this.#ask(userGrantRole, { user: name, role }, options),
      () => this.#ask(userGrantRole, { user: name, role }, options),
      () => this.#ask(userRevokeRole, { name, role }, options),
      () => this.#ask(roleAdd, { name: role }, options),
      () => this.#ask(roleAdd, { name: role }, options),
      () => this.#ask(roleGrantPermission, { name: role, perm }, options),
      () => this.#ask(roleGrantPermission, { name: role, perm }, options),
      () => this.#ask(roleGrantPermission, { name: role, perm }, options),
      () => this.#ask(roleGrantPermission, { name: role, perm: this.#rarely(0.1) ? undefined : perm }, options),
      () => this.#ask(roleRevokePermission, { role, key: perm.key, rangeEnd: perm.rangeEnd }, options),
      () => this.#ask(roleDelete, { role }, this.#rarely(0.4) ? options : this.#as('ann')),
      () => this.#ask(this.#rarely(0.2) ? authDisable : authEnable, {}, options),
    ];
    await this.#prng.pick(asked)();
  }

  #newUser(name: string): Fields {
    const noPassword = this.#rarely(0.1);
    const password = name === 'root' ? ROOT_PASSWORD : this.#password();
    return { name, password, options: noPassword || this.#rarely(0.1) ? { noPassword } : undefined };
  }

  async #deleteUser(name: string, options: CallOptions): Promise<void> {
    await this.#ask(userDelete, { name }, options);
  }

  async #changePassword(name: string, options: CallOptions): Promise<void> {
    const password = name === 'root' ? ROOT_PASSWORD : this.#password();
    await this.#ask(userChangePassword, { name, password }, options);
  }

  async #keys(options: CallOptions): Promise<void> {
    const judge = this.#judge;
    const dice = this.#prng.below(20);
    if (dice < 6) await this.#ask(ask.range, this.#make.range(), options);
    else if (dice < 11) await this.#ask(ask.put, this.#make.put(), options);
    else if (dice < 14) await this.#ask(ask.deleteRange, this.#make.deleteRange(), options);
    else if (dice < 18) await this.#ask(ask.txn, this.#make.txn(), options);
    else if (dice < 19) await this.#ask(ask.rangeStream, this.#make.rangeStream(), { ...options, settle: ask.merged });
    else await judge.compact(this.#make.compact(), this.#tolerant(options));
  }

  async #leases(options: CallOptions): Promise<void> {
    const ID = this.#make.leaseId();
    const settle = ask.remaining(this.#judge.stores);
    const dice = this.#prng.below(6);
    if (dice < 2) await this.#ask(ask.leaseGrant, { ID, TTL: BigInt(1_000 + this.#prng.below(9_000)) }, options);
    else if (dice < 3) await this.#ask(ask.leaseRevoke, { ID }, options);
    else if (dice < 4) await this.#ask(ask.leaseKeepAlive, { ID }, options);
    else if (dice < 5) await this.#ask(ask.leaseTimeToLive, { ID, keys: this.#rarely(0.7) }, { ...options, settle });
    else await this.#ask(ask.leaseLeases, {}, { ...options, settle: ask.leasesById });
  }

  async #maintain(options: CallOptions): Promise<void> {
    const { revision, compactions } = this.#judge;
    const asked: readonly (() => Promise<unknown>)[] = [
      () => this.#ask(ask.statusOf, {}, { ...options, ignore: SIZES }),
      () => this.#ask(ask.alarm, { action: 0 }, options),
      () => this.#ask(ask.alarm, { action: 2, memberID: 7n, alarm: 1 }, options),
      () => this.#ask(ask.defragment, {}, options),
      () => this.#ask(ask.hash, {}, { ...options, ignore: ['hash'] }),
      // See kv-part: of revisions that were compacted to, etcd keeps another hash.
      async () =>
        compactions.has(revision) ||
        (await this.#ask(ask.hashKv, { revision: BigInt(revision) }, { ...options, ignore: ['hash'] })),
      () => this.#ask(ask.moveLeader, { targetID: 1n }, options),
      () => this.#ask(ask.downgrade, { action: 0, version: '3.6' }, options),
      () => this.#ask(ask.memberList, { linearizable: this.#rarely(0.5) }, { ...options, ignore: ['members'] }),
    ];
    await this.#prng.pick(asked)();
  }

  /** The first answer to a new watcher, or the end of its stream. */
  async #watch(): Promise<void> {
    const { metadata } = this.#caller();
    const request = ['etcdserverpb.WatchRequest', 'etcdserverpb.WatchResponse'] as const;
    const pair = new StreamPair(this.#judge, '/etcdserverpb.Watch/Watch', ...request, metadata);
    pair.send({ createRequest: this.#make.span(this.#make.key(), this.#end()) });
    await pair.until('an answer', (store) => pair.messages(store).length > 0 || pair.ended(store) !== undefined);
    const [etcd, store] = [0, 1].map((at) => [pair.messages(at).slice(0, 1), pair.ended(at)]);
    this.#judge.equal(`a watch: ${pair.sent[0]}`, etcd, store);
    pair.close();
  }

  async #login(name: string, password: string): Promise<void> {
    const tokens: (string | undefined)[] = [];
    const settle = (answers: readonly [Answer, Answer]): readonly [Answer, Answer] => {
      const [etcd, store] = answers.map((answer) => {
        const token = answer.messages[0]?.['token'];
        tokens.push(typeof token === 'string' ? token : undefined);
        return { ...answer, messages: answer.messages.map((message) => ({ ...message, token: token !== undefined })) };
      });
      return [etcd!, store!];
    };
    await this.#ask(ask.authenticate, { name, password }, { settle });
    const given = tokens.filter((token) => token !== undefined);
    if (given.length === tokens.length) this.#tokens.set(name, given);
  }

  async #ask(asked: Method, request: Fields, options: CallOptions): Promise<void> {
    await this.#judge.call(asked, request, this.#tolerant(options));
  }

  /** Whoever makes a call with two faults is told by the store that its token does not count, and by etcd what else is wrong. */
  #tolerant({ settle = (answers) => answers, ...options }: CallOptions): CallOptions {
    return {
      ...options,
      settle: (answers) => {
        const [etcd, store] = settle(answers);
        const isLater = store.code === 'UNAUTHENTICATED' && FAULTS_OF_REQUESTS.has(etcd.code);
        return [etcd, isLater ? etcd : store];
      },
    };
  }

  #caller(): CallOptions {
    const dice = this.#prng.below(100);
    if (dice < 40) return this.#as('root');
    if (dice < 85) return this.#as(this.#prng.pick(USERS));
    if (dice < 92) return {};
    const bad = this.#prng.pick(['', 'bad', 'bad.7', 'a.b.c', ' ', 'x'.repeat(300)]);
    return { metadata: headers([bad, bad], this.#header()) };
  }

  #as(name: string): CallOptions {
    const values = this.#tokens.get(name);
    if (values === undefined) return {};
    const header = this.#header();
    const bearer = this.#rarely(0.2);
    return { metadata: headers(bearer ? values.map((value) => `Bearer ${value}`) : values, header) };
  }

  #header(): 'token' | 'authorization' {
    return this.#rarely(0.3) ? 'authorization' : 'token';
  }

  #user(): string {
    return this.#rarely(0.05) ? this.#prng.pick(['', 'nobody']) : this.#prng.pick(USERS);
  }

  #role(): string {
    return this.#rarely(0.05) ? this.#prng.pick(['', 'none']) : this.#prng.pick(ROLES);
  }

  #password(): string {
    return this.#rarely(0.05) ? this.#prng.pick(ODD_PASSWORDS) : this.#prng.pick(PASSWORDS);
  }

  #end(): string {
    return this.#rarely(0.4) ? '' : this.#make.rangeEnd();
  }

  #rarely(probability: number): boolean {
    return this.#prng.chance(probability);
  }
}
