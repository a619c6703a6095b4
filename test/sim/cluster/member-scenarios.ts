import type { Caller } from '@engram/backend';
import { Prng } from '@engram/sim';
import type { RequestKind } from '../plan/plan.ts';
import { UserScenario } from '../users/user-scenarios.ts';
import type { UserScenarioKind } from '../users/user-weights.ts';
import { CROWDED, type RequestedStep, RequestStep, type ScenarioRequestKind } from '../world/request-steps.ts';
import { stopNode } from './member-faults.ts';
import type { MemberLife } from './member-life.ts';
import type { MemberNode } from './member-node.ts';
import type { MembersWorld } from './members-world.ts';

type Kind = RequestKind | ScenarioRequestKind;

const anybody: Caller = { signal: new AbortController().signal, user: '', authRevision: 0, timeoutMs: undefined };

/**
 * Several requests and faults in an order that rarely occurs by chance. A scenario needs a member that leads and
 * another one that serves; otherwise it does nothing.
 */
export class MemberScenarios<Life extends MemberLife, Node extends MemberNode<Life>> {
  protected readonly world: MembersWorld<Life, Node>;
  protected readonly random: Prng;
  protected readonly step: RequestedStep;
  protected readonly leader: Life;
  protected readonly follower: Life;
  #requests = 0;

  protected constructor(world: MembersWorld<Life, Node>, step: RequestedStep, leader: Life, follower: Life) {
    this.world = world;
    this.step = step;
    this.leader = leader;
    this.follower = follower;
    this.random = new Prng(step.seed);
  }

  /** The member that leads and another one, both of which run. Undefined if there are no such members, or the run is ending. */
  protected static able<Life extends MemberLife, Node extends MemberNode<Life>>(
    world: MembersWorld<Life, Node>,
    step: RequestedStep,
    kind: string,
  ): readonly [leader: Life, follower: Life] | undefined {
    if (world.ending) return undefined;
    const able = world.serving.filter(({ process }) => !process.paused);
    const leader = able.find(({ leads }) => leads);
    const others = able.filter((life) => life !== leader);
    if (leader === undefined || others.length === 0) return undefined;
    const follower = new Prng(step.seed).fork('follower').pick(others);
    world.tell(() => `#${step.id} ${kind}: m${leader.id} leads, m${follower.id} follows`);
    return [leader, follower];
  }

  /** Reads at a follower at random times, and once more after each answered write. */
  'read-what-was-told'(): void {
    const { networkDelayMsMax } = this.world.settings;
    for (let left = 40; left > 0; left -= 1)
      this.after(this.random.fraction() * 8 * networkDelayMsMax, () => this.send(this.follower, 'range-all'));
    this.#writeAndRead(12);
  }

  #writeAndRead(left: number): void {
    if (left === 0) return;
    const { judge } = this.world;
    const before = judge.acknowledged;
    this.send(this.leader, 'put');
    const told = (): boolean => judge.acknowledged > before;
    this.when(told, 0.2, () => {
      this.send(this.follower, 'range-all');
      this.#writeAndRead(left - 1);
    });
  }

  /**
   * Pauses a leader until another one has ended a lease. Then clients renew the lease at the first, which does not know
   * this yet.
   */
  'renew-at-ousted'(): void {
    const { history } = this.world;
    this.send(this.leader, 'grant-crowded');
    this.when(
      () => history.leaseAt(CROWDED, history.next) !== undefined,
      5,
      () => {
        this.disturb();
        const granted = history.leaseAt(CROWDED, history.next);
        const goOn = this.pause(this.leader);
        const revoke = (): void => {
          const other = this.other(this.leader);
          if (other !== undefined) this.send(other, 'revoke-crowded');
        };
        this.after(2500, revoke);
        this.after(4000, revoke);
        this.when(
          () => history.leaseAt(CROWDED, history.next) !== granted,
          50,
          () => {
            // By then the client that revoked the lease has its answer.
            this.after(300, () => {
              for (let left = 6; left > 0; left -= 1) this.send(this.leader, 'renew-crowded');
              goOn();
            });
          },
          goOn,
        );
      },
    );
  }

  /** The leadership moves and returns while writes of a follower are under way, whose answers are lost. */
  'lead-again'(): void {
    this.disturb();
    const { network, nodes } = this.world;
    const { leader, follower, other, wayMs } = this.trio;
    if (other === undefined) return;
    for (let left = 6; left > 0; left -= 1)
      this.after(2 * wayMs * this.random.fraction(), () => this.send(this.follower, 'put'));
    this.after(2 * wayMs * this.random.fraction(), () => {
      for (const { host } of nodes) {
        network.cut(host, follower.host);
        if (this.random.chance(0.5)) network.cut(follower.host, host);
      }
      this.move(this.leader, other);
      this.when(
        () => other.alive?.leads === true,
        5,
        () => {
          this.move(other.alive!, leader);
          this.when(
            () => leader.alive?.leads === true,
            5,
            () => network.healAll(),
            () => network.healAll(),
          );
        },
        () => network.healAll(),
      );
    });
  }

  /**
   * A member is elected and is paused as soon as it has sealed the log. When it resumes, another one has been elected.
   */
  'lose-takeover'(): void {
    this.disturb();
    const elected = this.follower;
    this.world.onNextSeal(elected.id, () => {
      if (this.world.ending) return;
      const goOn = this.pause(elected);
      this.world.scheduler.after(2000 + 4000 * this.random.fraction(), goOn);
    });
    this.move(this.leader, this.nodeOf(elected));
  }

  /** A leader stops while a follower passes requests on to it. */
  'stop-asked'(): void {
    this.disturb();
    for (let left = 20; left > 0; left -= 1)
      this.after(40 * this.random.fraction(), () =>
        this.send(this.follower, this.random.pick(['range-all', 'put', 'look-at-crowded'] as const)),
      );
    this.after(20 * this.random.fraction(), () => {
      const node = this.nodeOf(this.leader);
      if (node.serving === this.leader && !this.leader.process.paused) stopNode(this.world, node, this.leader);
    });
  }

  /**
   * Nothing arrives at a leader from the other members. After a change by another leader, clients read at the first.
   */
  'look-at-ousted'(): void {
    this.disturb();
    const { network, nodes } = this.world;
    const leader = this.nodeOf(this.leader);
    for (const { host } of nodes) network.cut(host, leader.host);
    this.#lookWhenOusted(this.leader, this.pause(this.leader));
  }

  /**
   * A leader and one follower hear each other, and nobody else hears them. After a change by another leader, clients read
   * at the follower. In a group of three there is no other leader.
   */
  'look-beside-ousted'(): void {
    this.disturb();
    const { network, nodes } = this.world;
    const pair = [this.leader, this.follower].map((life) => this.nodeOf(life));
    for (const node of nodes) {
      if (pair.includes(node)) continue;
      for (const { host } of pair) {
        network.cut(host, node.host);
        network.cut(node.host, host);
      }
    }
    const resumes = [this.pause(this.leader), this.pause(this.follower)];
    this.#lookWhenOusted(this.follower, () => {
      for (const resume of resumes) resume();
    });
  }

  /** Once other members have changed something, clients look at `life`, and `resume` is called. */
  #lookWhenOusted(life: Life, resume: () => void): void {
    const { history, judge, network } = this.world;
    const goOn = (): void => {
      resume();
      this.after(500, () => network.healAll());
    };
    const before = history.next;
    const write = (): void => {
      const other = this.other(life);
      if (other !== undefined) this.send(other, 'put');
    };
    for (const ms of [2500, 4000, 5500]) this.after(ms, write);
    this.when(
      () => judge.acknowledged > before,
      50,
      () => {
        for (let left = 4; left > 0; left -= 1) this.send(life, 'look');
        goOn();
      },
      goOn,
    );
  }

  /**
   * Requests that a follower has forwarded are delayed on a connection that ends. The copies on the next connection
   * overtake them.
   */
  'overtaken-copy'(): void {
    this.disturb();
    const { network } = this.world;
    const [leader, follower] = [this.nodeOf(this.leader), this.nodeOf(this.follower)];
    network.cut(follower.host, leader.host);
    for (let left = 3; left > 0; left -= 1)
      this.after(10 * this.random.fraction(), () => this.send(this.follower, 'put'));
    this.after(10 + 30 * this.random.fraction(), () => this.reset(this.follower, leader));
    this.after(60 + 30 * this.random.fraction(), () => network.heal(follower.host, leader.host));
    for (let at = 0; at < 20; at += 1) this.after(120 + 10 * at, () => this.send(this.follower, 'put'));
  }

  /** The leadership moves and returns. A follower that does not hear of it has earlier writes under way. */
  'lead-unheard'(): void {
    this.disturb();
    const { network, nodes } = this.world;
    const { leader, follower, other, wayMs } = this.trio;
    if (other === undefined) return;
    for (const { host } of nodes) network.mute(host, follower.host);
    for (let left = 6; left > 0; left -= 1)
      this.after(2 * wayMs * this.random.fraction(), () => this.send(this.follower, 'put'));
    const told = (): void => network.healAll();
    this.after(2 * wayMs * this.random.fraction(), () => {
      this.reset(this.follower, leader);
      this.move(this.leader, other);
      const leads = (node: Node) => (): boolean => node.alive?.leads === true;
      const again = (): void => {
        this.move(other.alive!, leader);
        this.when(leads(leader), 5, () => this.after(400, told), told);
      };
      this.when(leads(other), 5, again, told);
    });
  }

  /**
   * Transactions that a follower has forwarded read the past. Their answers are lost, and the past is compacted before the
   * follower learns of another leader and answers them from its copy.
   */
  'recall-behind-compaction'(): void {
    this.disturb();
    const { network, nodes } = this.world;
    const { leader, follower, other, wayMs } = this.trio;
    if (other === undefined) return;
    for (let left = 4; left > 0; left -= 1) this.send(this.leader, 'put');
    this.after(2 * wayMs, () => {
      for (const { host } of nodes) network.cut(host, follower.host);
      for (let left = 3; left > 0; left -= 1) this.send(this.follower, 'read-old');
    });
    this.after(6 * wayMs, () => this.send(this.leader, 'compact-before-newest'));
    this.after(10 * wayMs, () => {
      this.reset(this.follower, leader);
      this.move(this.leader, other);
      const told = (): void => network.healAll();
      this.when(() => other.alive?.leads === true, 5, told, told);
    });
  }

  /** All members crash, lose their local copies, and start again. */
  'start-all-blank'(): void {
    this.disturb();
    this.fill(10);
    this.after(3000 * this.random.fraction(), () => {
      for (const node of this.world.members) {
        this.world.kill(node);
        this.world.loseCopy(node);
        this.world.startSoon(node);
      }
    });
  }

  /** Users are changed at the leader, and clients ask at the follower meanwhile. */
  ofUsers(kind: UserScenarioKind): void {
    const { world, step, leader, follower: asked } = this;
    const after = (ms: number, work: () => void): void => this.after(ms, work);
    UserScenario.run({ world, step, leader, asked, after }, kind);
  }

  /** Sends `writes` writes, each to the current leader. */
  protected fill(writes: number): void {
    for (let at = 0; at < writes; at += 1)
      this.after(100 * at, () => {
        const life = this.world.leaders[0] ?? this.leader;
        this.send(life, this.random.pick(['put', 'put', 'txn', 'delete', 'compact'] as const));
      });
  }

  /** Leader, follower and another member that serves, if there is one; and how long a write takes to the log, at most. */
  protected get trio() {
    const { settings, nodes } = this.world;
    const [leader, follower] = [this.nodeOf(this.leader), this.nodeOf(this.follower)];
    const other = nodes.find((node) => node !== leader && node !== follower && node.serving !== undefined);
    return { leader, follower, other, wayMs: settings.networkDelayMsMax + settings.logDelayMsMax };
  }

  protected disturb(): void {
    this.world.disturb();
  }

  /** Reads at two members in turns. Each must show what the other one has shown. */
  protected readInTurns(left: number, gapMs: number, whom: () => readonly (Life | undefined)[], at = 0): void {
    if (left === 0) return;
    const asked = whom()[at % 2];
    if (asked !== undefined) this.send(asked, 'range-all');
    this.after(gapMs, () => this.readInTurns(left - 1, gapMs, whom, at + 1));
  }

  protected send(life: Life, kind: Kind): void {
    if (this.world.ending || !life.process.alive) return;
    this.#requests += 1;
    this.world.tell(() => `at m${life.id}:`);
    // An id of its own, because values contain the id of their step.
    const step = { id: this.step.id + this.#requests / 1000, seed: this.random.uint32() };
    RequestStep.run(this.world, life, step, kind);
  }

  protected move(from: Life, to: Node): void {
    this.world.tell(() => `  m${from.id} is to hand over to ${to.name}`);
    from.process.after(0, () => {
      from.member?.member.cluster.changes.moveLeader(to.id, anybody).catch(() => undefined);
    });
  }

  /** The network ends the connection that `from` has made to `to`. */
  protected reset(from: Life, to: Node): void {
    this.world.tell(() => `  the connection from m${from.id} to ${to.name} ends`);
    from.process.after(0, () => from.links.reset(to.id));
  }

  /** Returns a function that resumes the process. */
  protected pause({ process, id }: Life): () => void {
    if (!process.alive || process.paused) return () => {};
    this.world.tell(() => `  m${id} is paused`);
    process.pause();
    return () => {
      if (!process.alive || !process.paused) return;
      this.world.tell(() => `  m${id} goes on`);
      process.resume(this.random.chance(0.7) ? this.random : undefined);
    };
  }

  protected other(life: Life): Life | undefined {
    return this.world.serving.find((one) => one !== life && !one.process.paused);
  }

  protected nodeOf(life: Life): Node {
    return this.world.nodeOfLife(life);
  }

  /** Runs `work` after `ms`, unless the run is ending by then. */
  protected after(ms: number, work: () => void): void {
    this.world.scheduler.after(ms, () => {
      if (!this.world.ending) this.world.guarded(work);
    });
  }

  /**
   * Calls `then` once `isSo` is true, which is checked every `everyMs`. Calls `otherwise` if it stays false for all
   * `looks`.
   */
  protected when(
    isSo: () => boolean,
    everyMs: number,
    then: () => void,
    otherwise = (): void => {},
    looks = 200,
  ): void {
    this.after(everyMs, () => {
      if (isSo()) then();
      else if (looks === 0) otherwise();
      else this.when(isSo, everyMs, then, otherwise, looks - 1);
    });
  }
}
