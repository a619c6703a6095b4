import { PermissionType } from '@engram/auth';
import { EMPTY_BYTES, type KeyRange, leaseId, type PutOp, putOp, keyBytes } from '@engram/core';
import { Prng } from '@engram/sim';
import { keyAt, Requests } from '../plan/requests.ts';
import type { Clients } from '../world/clients.ts';
import { CROWDED, type RequestedStep, RequestStep, type ScenarioRequestKind } from '../world/request-steps.ts';
import type { Served } from '../world/served.ts';
import { certificateOf, type Credential, nobody, ROLES, ROOT, USERS } from './credentials.ts';
import { hashText } from './desk.ts';
import { PASSWORDS, UserStep, type Wanted, wanted } from './user-steps.ts';
import type { UserScenarioKind } from './user-weights.ts';
import type { UsersState } from './users-model.ts';

export interface UserScenarioOptions {
  readonly world: Clients;
  readonly step: RequestedStep;
  /** Where users and roles are changed. */
  readonly leader: Served;
  /** Where other clients ask meanwhile: another member, or the same node. */
  readonly asked: Served;
  /** Does nothing if the run is ending by then. */
  readonly after: (ms: number, work: () => void) => void;
  /** Reads that the leader begins from now on take so long at least. Undefined: they take what they take. */
  readonly stallReads?: (ms: number) => void;
}

/** A right to write that somebody has who is not root. */
interface HeldRight {
  readonly user: string;
  readonly key: string;
  readonly range: KeyRange;
  /** What takes it away, and what gives it back. */
  readonly loss: Wanted;
  readonly back: Wanted;
}

const root = certificateOf(ROOT);
/** Requests of one kind that are sent at a time. */
const TOGETHER = 6;
const LOOKS_MAX = 200;
/** When a right comes back that was taken away, for the scenarios after this one. */
const BACK_MS = 500;

/** Requests and changes of users in an order that rarely occurs by chance. Does nothing where clients have no users. */
export class UserScenario {
  readonly #options: UserScenarioOptions;
  readonly #random: Prng;
  #requests = 0;

  private constructor(options: UserScenarioOptions) {
    this.#options = options;
    this.#random = new Prng(options.step.seed).fork('users');
  }

  static run(options: UserScenarioOptions, kind: UserScenarioKind): void {
    if (options.leader.face?.desk !== undefined) new UserScenario(options)[kind]();
  }

  /** A user gets another password while log-ins with the one of now are compared. */
  'log-in-beside-new-password'(): void {
    const user = this.#random.pick(USERS);
    const held = this.#users.users.get(user)?.hash;
    const old = PASSWORDS.find((password) => held === Buffer.from(hashText(password)).toString('latin1'));
    if (old === undefined) return;
    const { leader, asked } = this.#options;
    const next = PASSWORDS.find((password) => password !== old)!;
    this.#change(wanted.changePassword(user, next));
    for (let left = TOGETHER; left > 0; left -= 1)
      this.#options.after(20 * this.#random.fraction(), () =>
        this.#ask(this.#random.pick([leader, asked]), nobody, (step) => step.logIn(user, old)),
      );
  }

  /** Clients put keys that are theirs to a lease that has keys of others. */
  'share-a-lease'(): void {
    this.#crowd(() => {
      for (let left = TOGETHER; left > 0; left -= 1) {
        const right = this.#right();
        if (right !== undefined) this.#put(this.#options.asked, right, CROWDED);
      }
    });
  }

  /** Several clients renew a lease with many keys in one turn of their member. */
  'renew-together'(): void {
    this.#crowd(() => {
      for (const user of this.#random.shuffled([ROOT, ...USERS, ...USERS]))
        this.#send(this.#options.asked, 'renew-crowded', certificateOf(user));
    });
  }

  /** A right is taken away, and clients use it before their member hears of that, or before it has taken effect. */
  'write-behind-change'(): void {
    const right = this.#right();
    if (right === undefined) return;
    const { leader, asked, after } = this.#options;
    this.#change(right.loss);
    after(BACK_MS, () => this.#change(right.back));
    const withinMs = this.#random.pick([0, 2, 20]);
    for (let left = TOGETHER; left > 0; left -= 1)
      after(withinMs * this.#random.fraction(), () => this.#put(this.#random.pick([leader, asked, asked]), right));
  }

  /** Writes keep values that the leader must read first, and the right to them is taken away meanwhile. */
  'change-behind-waiting'(): void {
    const right = this.#right();
    if (right === undefined) return;
    const { world, leader, after, stallReads } = this.#options;
    const live = world.history.liveIn(right.range, world.history.revision);
    if (live.length === 0) return;
    const withinMs = this.#random.pick([1, 5, 20]);
    stallReads?.(withinMs);
    for (let left = TOGETHER; left > 0; left -= 1) {
      const key = keyBytes(this.#random.pick(live).key);
      const kept = putOp(key, EMPTY_BYTES, { ignoreValue: true });
      after((withinMs / 2) * this.#random.fraction(), () => this.#putOf(leader, right.user, () => kept));
    }
    after(withinMs * this.#random.fraction(), () => this.#change(right.loss));
    after(BACK_MS, () => this.#change(right.back));
  }

  /** Authentication is turned on, and clients without a right read at a member that may not know it yet. */
  'enable-unheard'(): void {
    if (!this.#users.enabled) {
      this.#enable();
      return;
    }
    this.#change(wanted.disable());
    this.#when(
      () => !this.#users.enabled,
      () => this.#enable(),
    );
  }

  #enable(): void {
    const { judge } = this.#options.world;
    const before = judge.acknowledged;
    this.#change(wanted.enable());
    this.#when(
      () => this.#users.enabled && judge.acknowledged > before,
      () => this.#read(2 * TOGETHER),
      0.2,
    );
  }

  /** The next read comes before the answer of the last. */
  #read(left: number): void {
    if (left === 0) return;
    this.#send(this.#options.asked, this.#random.pick(['range-all', 'range-all', 'look'] as const), nobody);
    this.#options.after(this.#random.pick([0, 0.5, 5]) * this.#random.fraction(), () => this.#read(left - 1));
  }

  /** Gives one lease many keys. */
  #crowd(then: () => void): void {
    const { world, leader } = this.#options;
    const { history } = world;
    const isGranted = (): boolean => history.leaseAt(CROWDED, history.next) !== undefined;
    if (!isGranted()) this.#send(leader, 'grant-crowded', root);
    this.#when(isGranted, () => {
      const before = history.revision;
      this.#send(leader, 'crowd', root);
      this.#when(() => history.revision > before, then);
    });
  }

  get #users(): UsersState {
    return this.#options.world.judge.access.users.newest;
  }

  #right(): HeldRight | undefined {
    const { users, roles } = this.#users;
    const rights: HeldRight[] = [];
    for (const user of USERS) {
      const has = users.get(user)?.roles;
      if (has === undefined || has.has(ROOT)) continue;
      for (const role of ROLES) {
        if (!has.has(role)) continue;
        for (const { read, write, granted, span } of roles.get(role) ?? []) {
          if (!write) continue;
          const key = span.start === '\0' ? keyAt(this.#random.below(this.#options.world.settings.keys)) : span.start;
          const permission = { type: read ? PermissionType.READWRITE : PermissionType.WRITE, range: granted };
          rights.push(
            { user, key, range: granted, loss: wanted.forbid(role, granted), back: wanted.permit(role, permission) },
            { user, key, range: granted, loss: wanted.revokeRole(user, role), back: wanted.grantRole(user, role) },
          );
        }
      }
    }
    return rights.length === 0 ? undefined : this.#random.pick(rights);
  }

  #change(change: Wanted): void {
    this.#ask(this.#options.leader, root, (step) => step.change(change, root));
  }

  #ask(life: Served, credential: Credential, ask: (step: UserStep) => void): void {
    const { face } = life;
    if (face?.desk === undefined || life.stopping || !life.process.alive) return;
    const { id } = this.#next(credential);
    const asking = { world: this.#options.world, life, face: face.as(credential), name: `#${id}`, credential };
    ask(UserStep.of(asking, id));
  }

  #send(life: Served, kind: ScenarioRequestKind, credential: Credential): void {
    if (life.process.alive) RequestStep.run(this.#options.world, life, this.#next(credential), kind);
  }

  #put(life: Served, { user, key }: HeldRight, lease = 0n): void {
    const { settings, history } = this.#options.world;
    this.#putOf(life, user, ({ id }) => {
      const drawn = new Requests(this.#random, settings, history, `${id}.`).put(key);
      return { ...drawn, lease: leaseId(lease), prevKv: false, ignoreLease: false };
    });
  }

  #putOf(life: Served, user: string, draw: (step: RequestedStep) => PutOp): void {
    if (!life.process.alive) return;
    const step = this.#next(certificateOf(user));
    RequestStep.txn(this.#options.world, life, step, { compares: [], success: [draw(step)], failure: [] });
  }

  /** A step with an id of its own, because values contain the id of their step. */
  #next(credential: Credential): RequestedStep {
    this.#requests += 1;
    return { id: this.#options.step.id + this.#requests / 1000, seed: this.#random.uint32(), credential };
  }

  /** Calls `then` once `isSo` is true, unless it stays false for all looks. */
  #when(isSo: () => boolean, then: () => void, everyMs = 1, looks = LOOKS_MAX): void {
    this.#options.after(everyMs, () => {
      if (isSo()) then();
      else if (looks > 0) this.#when(isSo, then, everyMs, looks - 1);
    });
  }
}
