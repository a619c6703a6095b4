import { type Caller, nodeItself } from '@engram/backend';
import { isEngramError } from '@engram/core';
import type { ClusterChanges } from '@engram/etcd-api';
import { Prng } from '@engram/sim';
import { Finding } from '../judge/finding.ts';
import { type RequestedStep, RequestStep } from '../world/request-steps.ts';
import type { ClusterRequestKind } from './cluster-plan.ts';
import type { MemberLife } from './member-life.ts';
import type { MembersWorld } from './members-world.ts';

type OwnKind = 'move-watch' | 'move-leader' | 'add-member' | 'promote-member' | 'remove-member';
const isOwnKind = (kind: ClusterRequestKind): kind is OwnKind => kind in ClusterRequestStep.prototype;

const anybody: Caller = {
  signal: new AbortController().signal,
  user: '',
  authRevision: 0,
  timeoutMs: undefined,
};

/** One request of a client at any node that serves. */
export class ClusterRequestStep {
  readonly #world: MembersWorld;
  readonly #random: Prng;
  readonly #step: RequestedStep;

  private constructor(world: MembersWorld, step: RequestedStep) {
    this.#world = world;
    this.#step = step;
    this.#random = new Prng(step.seed).fork('where');
  }

  static run(world: MembersWorld, step: RequestedStep, kind: ClusterRequestKind): void {
    const request = new ClusterRequestStep(world, step);
    if (isOwnKind(kind)) request[kind]();
    else {
      const life = request.#life;
      if (life !== undefined) world.tell(() => `at m${life.id}:`);
      RequestStep.run(world, life, step, kind);
    }
  }

  /** A serving member; often one that leads, or still believes so. */
  get #life(): MemberLife | undefined {
    const { serving } = this.#world;
    const leaders = serving.filter(({ leads }) => leads);
    const among = leaders.length > 0 && this.#random.chance(0.3) ? leaders : serving;
    return among.length === 0 ? undefined : this.#random.pick(among);
  }

  /** Rights to change the membership are not judged here. */
  get #caller(): Caller {
    return this.#world.settings.users === 'none' ? anybody : nodeItself;
  }

  /** A client ends its stream and continues at another node. */
  'move-watch'(): void {
    const { watchClients } = this.#world;
    if (watchClients.length === 0) return;
    const client = this.#random.pick(watchClients);
    if (client.life === undefined) return;
    this.#world.tell(() => `${client.name} moves`);
    this.#world.moveAway(client);
  }

  'move-leader'(): void {
    const life = this.#world.serving.find(({ leads }) => leads);
    const target = this.#random.pick(this.#world.nodes);
    this.#change(life, `move the leadership to ${target.name}`, (changes) =>
      changes.moveLeader(target.id, this.#caller),
    );
  }

  /** Adds a learner, one at a time. It is started when a member lists it: see `MembersWorld.startAdded`. */
  'add-member'(): void {
    const { members, settings } = this.#world;
    if (members.length > settings.members) return;
    const url = `http://127.0.0.1:${3000 + this.#step.id}`;
    this.#change(this.#life, 'add a learner', async (changes) => {
      const { added } = await changes.add([url], true, this.#caller);
      this.#world.listed.added(added.id);
      this.#list();
    });
  }

  'promote-member'(): void {
    const target = this.#random.pick(this.#world.members);
    this.#change(this.#life, `promote ${target.name}`, (changes) => changes.promote(target.id, this.#caller));
  }

  /** Removes a member. At least as many stay as the cluster began with. */
  'remove-member'(): void {
    const { members, settings } = this.#world;
    if (members.length <= settings.members) return;
    const target = this.#random.pick(members);
    this.#world.removals.add(target.id);
    this.#change(this.#life, `remove ${target.name}`, async (changes) => {
      await changes.remove(target.id, this.#caller);
      this.#world.listed.removed(target.id);
      this.#list();
    });
  }

  /**
   * Asks any member for a linearizable list of the members, which shows every change that a client was told of before. At once: a
   * member may have said that it has the entry, and still be saving it.
   */
  #list(): void {
    const life = this.#life;
    if (life === undefined) return;
    const name = `#${this.#step.id} m${life.id}: list the members`;
    this.#world.tell(() => name);
    life.process.after(0, () => {
      const member = life.member?.member;
      if (member === undefined) return;
      const { listed, removals } = this.#world;
      const { expected } = listed;
      const list = async (): Promise<void> => {
        await member.store.readIndex(this.#caller);
        await member.cluster.membersCaughtUp(this.#caller);
        const { members } = member.cluster;
        this.#world.tell(() => `${name}: ${members.map(({ id }) => id).join(' ')}`);
        if (this.#listsAreJudged) listed.judge(members, expected, removals);
      };
      list().catch((error: unknown) => {
        this.#world.tell(() => `${name}: ${String(error)}`);
        if (!isEngramError(error)) this.#world.fail(error);
      });
    });
  }

  /**
   * A leader of the version before, and one that lies, need not say what it has committed. Who lets a member go on alone removes
   * the others without a call.
   */
  get #listsAreJudged(): boolean {
    const { settings, liar, nodes } = this.#world;
    return settings.membersBefore === 0 && liar === undefined && !nodes.some(({ superseded }) => superseded);
  }

  /** Sends a change of the membership. It may be refused as etcd refuses it, succeed, or have an unknown outcome. */
  #change(life: MemberLife | undefined, what: string, make: (changes: ClusterChanges) => Promise<unknown>): void {
    if (life === undefined) return;
    const name = `#${this.#step.id} m${life.id}: ${what}`;
    this.#world.tell(() => name);
    this.#world.disturb();
    life.process.after(0, () => {
      const changes = life.member?.member.cluster.changes;
      if (changes === undefined) return;
      make(changes).then(
        () => {
          this.#world.tell(() => `${name}: done`);
          this.#world.startAdded();
        },
        (error: unknown) => {
          this.#world.tell(() => `${name}: ${String(error)}`);
          if (!isEngramError(error)) this.#world.fail(new Finding('error', `${name} failed with ${String(error)}`));
        },
      );
    });
  }
}
