import type { Caller } from '@engram/backend';
import { Prng } from '@engram/sim';
import type { RequestKind } from '../plan/plan.ts';
import { CROWDED, RequestStep, type ScenarioRequestKind } from '../world/request-steps.ts';
import { stopNode } from './cluster-faults.ts';
import { imageMoments } from './cluster-images.ts';
import type { ClusterLife } from './cluster-life.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { ClusterScenarioKind, ClusterStep } from './cluster-plan.ts';
import type { ClusterWorld } from './cluster-world.ts';

type Kind = RequestKind | ScenarioRequestKind;

const anybody: Caller = { signal: new AbortController().signal, user: '', authRevision: 0, timeoutMs: undefined };

/**
 * Several requests and faults in an order that chance alone rarely brings about. It begins where a member leads and
 * another one serves; otherwise it is nothing.
 */
export class ClusterScenarioStep {
  readonly #world: ClusterWorld;
  readonly #random: Prng;
  readonly #step: ClusterStep;
  readonly #leader: ClusterLife;
  readonly #follower: ClusterLife;
  #requests = 0;

  private constructor(world: ClusterWorld, step: ClusterStep, leader: ClusterLife, follower: ClusterLife) {
    this.#world = world;
    this.#step = step;
    this.#leader = leader;
    this.#follower = follower;
    this.#random = new Prng(step.seed);
  }

  static run(world: ClusterWorld, step: ClusterStep, kind: ClusterScenarioKind): void {
    if (world.ending) return;
    const able = world.serving.filter(({ process }) => !process.paused);
    const leader = able.find(({ leads }) => leads);
    const others = able.filter((life) => life !== leader);
    if (leader === undefined || others.length === 0) return;
    const follower = new Prng(step.seed).fork('follower').pick(others);
    world.tell(() => `#${step.id} ${kind}: m${leader.id} leads, m${follower.id} follows`);
    new ClusterScenarioStep(world, step, leader, follower)[kind]();
  }

  /** Reads at a follower, one round after the other, and each time that a write was answered one more. */
  'read-what-was-told'(): void {
    const { networkDelayMsMax } = this.#world.settings;
    for (let left = 40; left > 0; left -= 1)
      this.#after(this.#random.fraction() * 8 * networkDelayMsMax, () => this.#send(this.#follower, 'range-all'));
    this.#writeAndRead(12);
  }

  #writeAndRead(left: number): void {
    if (left === 0) return;
    const { judge } = this.#world;
    const before = judge.acknowledged;
    this.#send(this.#leader, 'put');
    const told = (): boolean => judge.acknowledged > before;
    this.#when(told, 0.2, () => {
      this.#send(this.#follower, 'range-all');
      this.#writeAndRead(left - 1);
    });
  }

  /** A leader is paused until another one has ended a lease; then clients renew it at the one that does not know it yet. */
  'renew-at-ousted'(): void {
    const { history } = this.#world;
    this.#send(this.#leader, 'grant-crowded');
    this.#when(
      () => history.leaseAt(CROWDED, history.next) !== undefined,
      5,
      () => {
        this.#disturb();
        const granted = history.leaseAt(CROWDED, history.next);
        const goOn = this.#pause(this.#leader);
        const revoke = (): void => {
          const other = this.#other(this.#leader);
          if (other !== undefined) this.#send(other, 'revoke-crowded');
        };
        this.#after(2500, revoke);
        this.#after(4000, revoke);
        this.#when(
          () => history.leaseAt(CROWDED, history.next) !== granted,
          50,
          () => {
            // Whoever revoked it has been answered by then.
            this.#after(300, () => {
              for (let left = 6; left > 0; left -= 1) this.#send(this.#leader, 'renew-crowded');
              goOn();
            });
          },
          goOn,
        );
      },
    );
  }

  /** The answer of the leader's append stays away, and a member that starts finds the batch in the log. */
  'start-behind-append'(): void {
    this.#disturb();
    this.#leader.log.loseAppend('there');
    this.#send(this.#leader, 'put');
    const node = this.#nodeOf(this.#follower);
    this.#world.kill(node);
    this.#after(20 * this.#random.fraction(), () => this.#world.start(node));
    this.#readInTurns(60, this.#world.settings.logTimeoutMs / 30, () => [node.serving, this.#leader]);
  }

  /** The leader reads what a write supersedes, for a watcher, and meanwhile others show the write. */
  'apply-behind-others'(): void {
    this.#send(this.#leader, 'watch-everything');
    this.#after(50, () => {
      this.#disturb();
      this.#leader.values.stall('get-many', this.#random.pick([100, 500]));
      for (let left = 3; left > 0; left -= 1) this.#send(this.#leader, 'lock');
      this.#readInTurns(40, 5, () => [this.#follower, this.#leader]);
    });
  }

  /** The leader changes, and comes back, while a member's writes are under way whose answers are lost. */
  'lead-again'(): void {
    this.#disturb();
    const { network, settings } = this.#world;
    const leader = this.#nodeOf(this.#leader);
    const follower = this.#nodeOf(this.#follower);
    const other = this.#world.nodes.find((node) => node !== leader && node !== follower && node.serving !== undefined);
    if (other === undefined) return;
    const wayMs = settings.networkDelayMsMax + settings.logDelayMsMax;
    for (let left = 6; left > 0; left -= 1)
      this.#after(2 * wayMs * this.#random.fraction(), () => this.#send(this.#follower, 'put'));
    this.#after(2 * wayMs * this.#random.fraction(), () => {
      for (const { host } of this.#world.nodes) {
        network.cut(host, follower.host);
        if (this.#random.chance(0.5)) network.cut(follower.host, host);
      }
      this.#move(this.#leader, other);
      this.#when(
        () => other.alive?.leads === true,
        5,
        () => {
          this.#move(other.alive!, leader);
          this.#when(
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

  /** A member is elected and is paused as soon as it has sealed the log; when it goes on, another one has been elected. */
  'lose-takeover'(): void {
    this.#disturb();
    const elected = this.#follower;
    this.#world.onNextSeal(elected.id, () => {
      if (this.#world.ending) return;
      const goOn = this.#pause(elected);
      this.#world.scheduler.after(2000 + 4000 * this.#random.fraction(), goOn);
    });
    this.#move(this.#leader, this.#nodeOf(elected));
  }

  /** A leader stops while a follower passes requests on to it. */
  'stop-asked'(): void {
    this.#disturb();
    for (let left = 20; left > 0; left -= 1)
      this.#after(40 * this.#random.fraction(), () =>
        this.#send(this.#follower, this.#random.pick(['range-all', 'put', 'look-at-crowded'] as const)),
      );
    this.#after(20 * this.#random.fraction(), () => {
      const node = this.#nodeOf(this.#leader);
      if (node.serving === this.#leader && !this.#leader.process.paused) stopNode(this.#world, node, this.#leader);
    });
  }

  /** A leader that hears of no other, since its way in is cut, is asked what has changed meanwhile. */
  'look-at-ousted'(): void {
    this.#disturb();
    const { history, judge, network, nodes } = this.#world;
    const leader = this.#nodeOf(this.#leader);
    for (const { host } of nodes) network.cut(host, leader.host);
    const resume = this.#pause(this.#leader);
    const goOn = (): void => {
      resume();
      this.#after(500, () => network.healAll());
    };
    const before = history.next;
    const write = (): void => {
      const other = this.#other(this.#leader);
      if (other !== undefined) this.#send(other, 'put');
    };
    for (const ms of [2500, 4000, 5500]) this.#after(ms, write);
    this.#when(
      () => judge.acknowledged > before,
      50,
      () => {
        for (let left = 4; left > 0; left -= 1) this.#send(this.#leader, 'look');
        goOn();
      },
      goOn,
    );
  }

  /** What a follower has passed on stands still on a connection that ends; what it sends again over the next one overtakes it. */
  'overtaken-copy'(): void {
    this.#disturb();
    const { network } = this.#world;
    const [leader, follower] = [this.#nodeOf(this.#leader), this.#nodeOf(this.#follower)];
    network.cut(follower.host, leader.host);
    for (let left = 3; left > 0; left -= 1)
      this.#after(10 * this.#random.fraction(), () => this.#send(this.#follower, 'put'));
    this.#after(10 + 30 * this.#random.fraction(), () => this.#reset(this.#follower, leader));
    this.#after(60 + 30 * this.#random.fraction(), () => network.heal(follower.host, leader.host));
    for (let at = 0; at < 20; at += 1) this.#after(120 + 10 * at, () => this.#send(this.#follower, 'put'));
  }

  /** The leader changes and comes back, and a follower that is not told has writes of before under way. */
  'lead-unheard'(): void {
    this.#disturb();
    const { network, settings, nodes } = this.#world;
    const [leader, follower] = [this.#nodeOf(this.#leader), this.#nodeOf(this.#follower)];
    const other = nodes.find((node) => node !== leader && node !== follower && node.serving !== undefined);
    if (other === undefined) return;
    const wayMs = settings.networkDelayMsMax + settings.logDelayMsMax;
    for (const { host } of nodes) network.mute(host, follower.host);
    for (let left = 6; left > 0; left -= 1)
      this.#after(2 * wayMs * this.#random.fraction(), () => this.#send(this.#follower, 'put'));
    const told = (): void => network.healAll();
    this.#after(2 * wayMs * this.#random.fraction(), () => {
      this.#reset(this.#follower, leader);
      this.#move(this.#leader, other);
      const leads = (node: ClusterNode) => (): boolean => node.alive?.leads === true;
      const again = (): void => {
        this.#move(other.alive!, leader);
        this.#when(leads(leader), 5, () => this.#after(400, told), told);
      };
      this.#when(leads(other), 5, again, told);
    });
  }

  /** A member whose takeover hears late from the log hands over before it is done. */
  'move-from-takeover'(): void {
    this.#disturb();
    const elected = this.#follower;
    const { logTimeoutMs } = this.#world.settings;
    this.#world.onNextSeal(elected.id, () => {
      if (this.#world.ending) return;
      elected.log.stallAnswers(0.9 * logTimeoutMs * this.#random.fraction());
      this.#move(elected, this.#nodeOf(this.#leader));
    });
    this.#move(this.#leader, this.#nodeOf(elected));
  }

  /** A leader is gone, or paused until another one leads, at any question of a round or a trim; then it comes back. */
  'end-in-round'(): void {
    this.#disturb();
    const { images, scheduler } = this.#world;
    const due = this.#random.pick(imageMoments);
    let left = this.#random.pick([0, 0, 2]);
    images.onMoment = (member, moment) => {
      if (moment !== due) return;
      left -= 1;
      if (left >= 0) return;
      images.onMoment = undefined;
      const node = this.#world.nodeOf(member);
      if (this.#world.ending || node.alive === undefined) return;
      this.#world.tell(() => `  m${member} ends in a round, at ${moment}`);
      if (this.#random.chance(0.5)) {
        scheduler.after(6000 * this.#random.fraction(), this.#pause(node.alive));
        return;
      }
      this.#world.kill(node);
      if (this.#random.chance(0.5)) this.#world.loseCopy(node);
      scheduler.after(3000 * this.#random.fraction(), () => this.#world.startSoon(node));
    };
    this.#fill(30);
  }

  /** A member that has lost what it had by itself comes back when the log no longer begins where it ended. */
  'join-behind-trim'(): void {
    this.#disturb();
    const { images } = this.#world;
    const node = this.#nodeOf(this.#follower);
    const { trimmed } = images;
    this.#world.kill(node);
    this.#world.loseCopy(node);
    this.#fill(30);
    const start = (): void => this.#world.startSoon(node);
    this.#when(() => images.trimmed > trimmed, 50, start, start);
  }

  /** All members are gone with what they had, and start anew. */
  'start-all-blank'(): void {
    this.#disturb();
    this.#fill(10);
    this.#after(3000 * this.#random.fraction(), () => {
      for (const node of this.#world.members) {
        this.#world.kill(node);
        this.#world.loseCopy(node);
        this.#world.startSoon(node);
      }
    });
  }

  /** So many writes at the leader of that time. */
  #fill(writes: number): void {
    for (let at = 0; at < writes; at += 1)
      this.#after(100 * at, () => {
        const life = this.#world.leaders[0] ?? this.#leader;
        this.#send(life, this.#random.pick(['put', 'put', 'txn', 'delete', 'compact'] as const));
      });
  }

  #disturb(): void {
    this.#world.disturb();
  }

  /** First one, then the other, and again: what the first was shown the second must show. */
  #readInTurns(left: number, gapMs: number, whom: () => readonly (ClusterLife | undefined)[], at = 0): void {
    if (left === 0) return;
    const asked = whom()[at % 2];
    if (asked !== undefined) this.#send(asked, 'range-all');
    this.#after(gapMs, () => this.#readInTurns(left - 1, gapMs, whom, at + 1));
  }

  #send(life: ClusterLife, kind: Kind): void {
    if (this.#world.ending || !life.process.alive) return;
    this.#requests += 1;
    this.#world.tell(() => `at m${life.id}:`);
    // A name of its own: values tell who wrote them.
    const step = { id: this.#step.id + this.#requests / 1000, seed: this.#random.uint32() };
    RequestStep.run(this.#world, life, step, kind);
  }

  #move(from: ClusterLife, to: ClusterNode): void {
    this.#world.tell(() => `  m${from.id} is to hand over to ${to.name}`);
    from.process.after(0, () => {
      from.member?.member.cluster.changes.moveLeader(to.id, anybody).catch(() => undefined);
    });
  }

  /** The network ends the connection that this member has made to that one. */
  #reset(from: ClusterLife, to: ClusterNode): void {
    this.#world.tell(() => `  the connection from m${from.id} to ${to.name} ends`);
    from.process.after(0, () => from.links.reset(to.id));
  }

  /** Returns what lets it go on. */
  #pause({ process, id }: ClusterLife): () => void {
    if (!process.alive || process.paused) return () => {};
    this.#world.tell(() => `  m${id} is paused`);
    process.pause();
    return () => {
      if (!process.alive || !process.paused) return;
      this.#world.tell(() => `  m${id} goes on`);
      process.resume(this.#random.chance(0.7) ? this.#random : undefined);
    };
  }

  #other(life: ClusterLife): ClusterLife | undefined {
    return this.#world.serving.find((one) => one !== life && !one.process.paused);
  }

  #nodeOf(life: ClusterLife): ClusterNode {
    return this.#world.nodeOf(life.id);
  }

  /** Nothing where the run comes to its end by then. */
  #after(ms: number, work: () => void): void {
    this.#world.scheduler.after(ms, () => {
      if (!this.#world.ending) this.#world.guarded(work);
    });
  }

  /** As soon as it is so, if it is soon; looked at every `everyMs`. */
  #when(isSo: () => boolean, everyMs: number, then: () => void, otherwise = (): void => {}, looks = 200): void {
    this.#after(everyMs, () => {
      if (isSo()) then();
      else if (looks === 0) otherwise();
      else this.#when(isSo, everyMs, then, otherwise, looks - 1);
    });
  }
}
