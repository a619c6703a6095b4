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
    this.#change(this.#life, 'add a learner', (changes) => changes.add([url], true, this.#caller));
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
    this.#change(this.#life, `remove ${target.name}`, (changes) => changes.remove(target.id, this.#caller));
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
