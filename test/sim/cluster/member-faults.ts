import { Prng } from '@engram/sim';
import { Finding } from '../judge/finding.ts';
import type { RequestKind } from '../plan/plan.ts';
import { type RequestedStep, RequestStep } from '../world/request-steps.ts';
import type { MemberLife } from './member-life.ts';
import type { MemberNode } from './member-node.ts';
import type { MembersWorld } from './members-world.ts';

/** A member that is asked to stop must stop within this time, whatever faults occur meanwhile. */
const STOP_MS_MAX = 60_000;

/** The faults of processes, machines and the network between them, whatever the members share. */
export class MemberFaults<Life extends MemberLife, Node extends MemberNode<Life>> {
  protected readonly world: MembersWorld<Life, Node>;
  protected readonly random: Prng;
  protected readonly step: RequestedStep;

  protected constructor(world: MembersWorld<Life, Node>, step: RequestedStep) {
    this.world = world;
    this.step = step;
    this.random = new Prng(step.seed);
  }

  crash(): void {
    this.crashNode(this.node);
  }

  'crash-leader'(): void {
    this.crashNode(this.leader);
  }

  protected crashNode(node: Node): void {
    this.world.kill(node);
    const ms = this.random.pick([0, 1000, 10_000]) * this.random.fraction();
    this.world.scheduler.after(ms, () => this.world.startSoon(node));
  }

  /** SIGTERM: the member hands over and stops. */
  stop(): void {
    const node = this.node;
    const life = node.serving;
    if (life === undefined || life.process.paused) return;
    stopNode(this.world, node, life);
  }

  /** The member stops or crashes, and comes back with the other version. The leader is as often the first as the last. */
  'change-version'(): void {
    if (this.world.settings.membersBefore === 0) return;
    const { members } = this.world;
    const old = members.filter(({ before }) => before);
    const node = old.length > 0 && this.random.chance(0.8) ? this.random.pick(old) : this.random.pick(members);
    const life = node.serving;
    const crashes = this.random.chance(0.3);
    if (life === undefined ? node.alive !== undefined : life.process.paused) return;
    node.before = !node.before;
    this.world.tell(() => `  ${node.name} is to have the version ${node.before ? 'before' : 'of now'}`);
    if (life === undefined || crashes) this.crashNode(node);
    else stopNode(this.world, node, life);
  }

  pause(): void {
    this.pauseNode(this.node);
  }

  'pause-leader'(): void {
    this.pauseNode(this.leader);
  }

  /**
   * Pauses the leader until another member may have taken over and written. Then clients send requests to the ousted
   * leader, which does not know it yet, and it resumes.
   */
  'oust-leader'(): void {
    const world = this.world;
    const leader = this.leader;
    const life = leader.serving;
    if (life === undefined || life.process.paused) return;
    const ms = this.random.between(2500, 6000);
    this.pauseNode(leader, ms);
    const ask = (at: number, kinds: readonly RequestKind[], whom: () => Life | undefined): void => {
      const kind = this.random.pick(kinds);
      // An id of its own, although the request is no step of the plan, because values contain the id of their step.
      const request = { id: this.step.id + at / 100, seed: this.random.uint32() };
      world.scheduler.after(Math.max(0, ms - (20 - at) * 50), () =>
        world.guarded(() => {
          if (world.ending) return;
          const asked = whom();
          if (asked !== undefined) world.tell(() => `at m${asked.id}:`);
          RequestStep.run(world, asked, request, kind);
        }),
      );
    };
    const others = (): Life | undefined => {
      const serving = world.serving.filter((one) => one !== life && !one.process.paused);
      return serving.length === 0 ? undefined : this.random.pick(serving);
    };
    for (let at = 1; at <= 8; at += 1)
      ask(at, ['put', 'put', 'txn', 'delete', 'lease-grant', 'lease-revoke', 'compact'], others);
    for (let at = 12; at <= 19; at += 1)
      ask(at, ['range', 'txn', 'txn', 'keep-alive', 'lease-grant', 'lease-revoke', 'lease-ttl', 'compact'], () => life);
  }

  /** SIGSTOP, and SIGCONT some time later. */
  protected pauseNode(node: Node, ms = this.random.pick([500, 3000, 6000, 15_000]) * this.random.fraction()): void {
    const life = node.alive;
    if (life === undefined || life.process.paused) return;
    this.world.tell(() => `  ${node.name} is paused for ${ms.toFixed(0)} ms`);
    life.process.pause();
    // Some clients of the paused node move to another node.
    for (const client of this.world.watchClients)
      if (client.life === life && this.random.chance(0.5)) this.world.moveAway(client);
    this.world.scheduler.after(ms, () => {
      if (!life.process.alive) return;
      this.world.tell(() => `  ${node.name} goes on`);
      life.process.resume(this.random.chance(0.7) ? this.random : undefined);
    });
  }

  'cut-way'(): void {
    const [from, to] = this.random.shuffled(this.world.nodes);
    if (from === undefined || to === undefined) return;
    this.world.tell(() => `  nothing from ${from.name} arrives at ${to.name}`);
    this.world.network.cut(from.host, to.host);
    this.healLater(() => this.world.network.heal(from.host, to.host));
  }

  'cut-off'(): void {
    this.cutOff(this.node);
  }

  'cut-off-leader'(): void {
    this.cutOff(this.leader);
  }

  protected cutOff(node: Node): void {
    const { network, nodes } = this.world;
    const directions = this.random.pick(['both', 'both', 'from', 'to'] as const);
    this.world.tell(() => `  ${node.name} is cut off (${directions})`);
    for (const { host } of nodes) {
      if (host === node.host) continue;
      if (directions !== 'to') network.cut(node.host, host);
      if (directions !== 'from') network.cut(host, node.host);
    }
    this.healLater(() => {
      for (const { host } of nodes) {
        network.heal(node.host, host);
        network.heal(host, node.host);
      }
    });
  }

  heal(): void {
    this.world.network.healAll();
  }

  protected healLater(heal: () => void): void {
    const ms = this.random.pick([100, 3000, 20_000]) * this.random.fraction();
    this.world.scheduler.after(ms, heal);
  }

  /** The network ends a connection. Messages under way may have arrived. */
  'reset-connection'(): void {
    const [from, to] = this.random.shuffled(this.world.nodes);
    const life = from?.alive;
    if (life !== undefined && to !== undefined) life.process.after(0, () => life.links.reset(to.id));
  }

  'wall-jump'(): void {
    this.node.host.jumpWall(this.random.pick([-1, 1]) * this.random.pick([1, 1000, 86_400_000]));
  }

  /** The member crashes and loses its local copy. */
  'lost-copy'(): void {
    const node = this.node;
    this.crashNode(node);
    this.world.loseCopy(node);
  }

  protected get node(): Node {
    return this.random.pick(this.world.nodes);
  }

  /** A member that leads; a random node if there is none. */
  protected get leader(): Node {
    const { nodes } = this.world;
    return nodes.find(({ alive }) => alive?.leads === true) ?? this.node;
  }
}

/** Stops the member as with SIGTERM, and starts it again. */
export function stopNode<Life extends MemberLife, Node extends MemberNode<Life>>(
  world: MembersWorld<Life, Node>,
  node: Node,
  life: Life,
): void {
  for (const client of world.watchClients) if (client.life === life) world.moveAway(client);
  let stopped = false;
  world.tell(() => `${node.name} is asked to stop`);
  life.stop().then(
    () => {
      stopped = true;
      world.tell(() => `${node.name} has stopped`);
      world.kill(node);
      if (!world.ending) world.startSoon(node);
    },
    (error: unknown) => world.fail(new Finding('broken', `the stop failed: ${String(error)}`, { cause: error })),
  );
  world.scheduler.after(STOP_MS_MAX, () => {
    if (life.process.alive && !stopped) world.fail(new Finding('hang', `${node.name} has not stopped`));
  });
}
