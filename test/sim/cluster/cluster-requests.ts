import { isEngramError } from '@engram/core';
import { Prng } from '@engram/sim';
import { Finding } from '../judge/finding.ts';
import { RequestStep } from '../world/request-steps.ts';
import type { ClusterLife } from './cluster-life.ts';
import type { ClusterFaultKind, ClusterStep, ClusterStepKind } from './cluster-plan.ts';
import type { ClusterWorld } from './cluster-world.ts';

type RequestKind = Exclude<ClusterStepKind, ClusterFaultKind>;
const never = new AbortController().signal;

/** One request of a client at any node that serves. */
export class ClusterRequestStep {
  readonly #world: ClusterWorld;
  readonly #random: Prng;
  readonly #step: ClusterStep;

  private constructor(world: ClusterWorld, step: ClusterStep) {
    this.#world = world;
    this.#step = step;
    this.#random = new Prng(step.seed).fork('where');
  }

  static run(world: ClusterWorld, step: ClusterStep, kind: RequestKind): void {
    const request = new ClusterRequestStep(world, step);
    if (kind === 'move-watch' || kind === 'move-leader') request[kind]();
    else {
      const life = request.#life;
      if (life !== undefined) world.tell(() => `at m${life.id}:`);
      RequestStep.run(world, life, step, kind);
    }
  }

  /** Often one that leads, or thinks that it does. */
  get #life(): ClusterLife | undefined {
    const { serving } = this.#world;
    const leaders = serving.filter(({ leads }) => leads);
    const among = leaders.length > 0 && this.#random.chance(0.3) ? leaders : serving;
    return among.length === 0 ? undefined : this.#random.pick(among);
  }

  /** A client ends its stream and goes on at another node. */
  'move-watch'(): void {
    const { watchClients } = this.#world;
    if (watchClients.length === 0) return;
    const client = this.#random.pick(watchClients);
    if (client.life === undefined) return;
    this.#world.tell(() => `${client.name} moves`);
    this.#world.moveAway(client);
  }

  /** Whatever becomes of it: it is refused as etcd refuses it, or somebody leads. */
  'move-leader'(): void {
    const life = this.#world.serving.find(({ leads }) => leads);
    const target = this.#random.pick(this.#world.nodes);
    if (life === undefined) return;
    const name = `#${this.#step.id} move the leadership from m${life.id} to ${target.name}`;
    this.#world.tell(() => name);
    this.#world.disturb();
    life.process.after(0, () => {
      const moved = life.member?.member.cluster.changes.moveLeader(target.id, {
        signal: never,
        user: '',
        authRevision: 0,
        timeoutMs: undefined,
      });
      moved?.then(
        () => this.#world.tell(() => `${name}: done`),
        (error: unknown) => {
          this.#world.tell(() => `${name}: ${String(error)}`);
          if (!isEngramError(error)) this.#world.fail(new Finding('error', `${name} failed with ${String(error)}`));
        },
      );
    });
  }
}
