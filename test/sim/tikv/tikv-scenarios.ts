import { MemberScenarios } from '../cluster/member-scenarios.ts';
import type { TikvLife } from './tikv-life.ts';
import type { TikvScenarioKind, TikvStep } from './tikv-plan.ts';
import type { TikvNode, TikvWorld } from './tikv-world.ts';

/** A scenario in a cluster on the scripted stores. */
export class TikvScenarioStep extends MemberScenarios<TikvLife, TikvNode> {
  declare protected readonly world: TikvWorld;

  static run(world: TikvWorld, step: TikvStep, kind: TikvScenarioKind): void {
    const able = TikvScenarioStep.able(world, step, kind) ?? TikvScenarioStep.#lone(world, step, kind);
    if (able !== undefined) new TikvScenarioStep(world, step, ...able)[kind]();
  }

  /**
   * A leader is paused, or loses its network, with writes under way. The others go on without it, until its silence delays no
   * trim any more and they have trimmed. Then it comes back, and clients use it at once.
   */
  'away-behind-trim'(): void {
    this.disturb();
    const { settings, network, nodes } = this.world;
    const away = this.leader;
    const { host } = this.nodeOf(away);
    const write = (): void => this.send(away, this.random.pick(['put', 'put', 'txn', 'delete'] as const));
    for (let left = 3; left > 0; left -= 1) this.after(4 * settings.logDelayMsMax * this.random.fraction(), write);
    let back = (): void => {};
    this.after(4 * settings.logDelayMsMax * this.random.fraction(), () => {
      if (this.random.chance(0.3)) back = this.pause(away);
      else {
        this.world.tell(() => `  m${away.id} has lost its network`);
        away.way.cut();
        for (const other of nodes) {
          if (other.host === host) continue;
          network.cut(host, other.host);
          network.cut(other.host, host);
        }
        write();
        back = () => {
          away.way.heal();
          network.healAll();
        };
      }
    });
    const awayMs = 1.1 * settings.silentMaxMs + 2000 + 4000 * this.random.fraction();
    for (let atMs = 1500; atMs < awayMs; atMs += 150) this.after(atMs, () => this.#writeElsewhere(away));
    this.world.scheduler.after(awayMs, () => {
      this.world.tell(() => `  m${away.id} is back`);
      back();
      for (let left = 6; left > 0; left -= 1)
        this.after(1500 * this.random.fraction(), () =>
          this.send(away, this.random.pick(['look', 'range-all', 'put', 'txn'] as const)),
        );
    });
  }

  /**
   * The leader does not reach storage, and the answer to an append of a follower's writes is lost. The others go on and trim
   * before the leader learns what became of it; the follower has the time to ask it.
   */
  'settle-behind-trim'(): void {
    this.disturb();
    const { troubles, settings } = this.world;
    const away = this.leader;
    for (let left = 4; left > 0; left -= 1)
      this.after(2 * settings.logDelayMsMax * this.random.fraction(), () => this.send(this.follower, 'put'));
    troubles.nextWriteOf(away.id, { kind: 'silence', executed: true }, 'slot');
    this.when(
      () => troubles.hasBeen(away.id),
      1,
      () => {
        this.world.tell(() => `  m${away.id} does not reach storage`);
        away.way.cut();
        const awayMs = Math.min(1.15 * settings.silentMaxMs + 1500, 0.97 * settings.requestTimeoutMs);
        for (let atMs = 1200; atMs < awayMs; atMs += 100) this.after(atMs, () => this.#writeElsewhere(away));
        this.world.scheduler.after(awayMs, () => {
          this.world.tell(() => `  m${away.id} is back`);
          away.way.heal();
        });
      },
    );
  }

  /** A batch of several values is under way, the later ones late, when another member takes over. */
  'seal-between-parts'(): void {
    this.disturb();
    const { troubles } = this.world;
    const away = this.leader;
    const ms = 2000 + 6000 * this.random.fraction();
    troubles.nextWriteOf(away.id, { kind: 'delay', ms }, 'later part');
    for (let left = 3; left > 0; left -= 1) this.send(away, 'crowd');
    this.after(100 * this.random.fraction(), () => {
      if (this.random.chance(0.5)) this.#cutFrom([this.nodeOf(away)], this.world.nodes);
      else this.move(away, this.nodeOf(this.follower));
    });
    for (let atMs = 1200; atMs < ms; atMs += 150) this.after(atMs, () => this.#writeElsewhere(away));
    this.world.scheduler.after(ms + 500, () => this.world.network.healAll());
  }

  /**
   * The power fails, and PD comes back with timestamps of before the last writes, or of before the last takeover. Nobody may lead by
   * them, until they have passed what was written.
   */
  'pd-goes-back'(): void {
    this.disturb();
    const { world, random } = this;
    this.fill(15);
    this.after(1000 + 3000 * random.fraction(), () => {
      for (const node of world.members) world.kill(node);
      const ms = Math.ceil(random.pick([300, 3000, 12_000]) * random.fraction());
      world.tell(() => `  PD goes back by ${ms} ms`);
      world.stores.pd.goBack(ms);
      for (const node of world.members) world.startSoon(node);
    });
  }

  /** The only member, for the scenarios that need no other. */
  static #lone(world: TikvWorld, step: TikvStep, kind: TikvScenarioKind): readonly [TikvLife, TikvLife] | undefined {
    const [only, second] = world.serving;
    if (world.ending || kind !== 'replace-member' || only === undefined || second !== undefined) return undefined;
    world.tell(() => `#${step.id} ${kind}: m${only.id} is alone`);
    return [only, only];
  }

  /** A member is believed dead, and a process on another machine takes its place. The old one is dead, cut off, or lives. */
  'replace-member'(): void {
    this.disturb();
    const old = this.nodeOf(this.random.pick([this.leader, this.follower]));
    const how = this.random.pick(['dead', 'cut-off', 'lives', 'lives'] as const);
    if (old.superseded) return;
    this.world.tell(() => `  ${old.name}: ${how}`);
    if (how === 'dead') this.world.kill(old);
    if (how === 'cut-off') {
      this.#cutFrom([old], this.world.nodes);
      if (this.random.chance(0.5)) old.alive?.way.cut();
    }
    const next = this.world.replace(old);
    if (how === 'cut-off') this.#cutFrom([old], [next]);
    this.world.startSoon(next);
    this.#useBoth([old], next);
  }

  /**
   * A leader and a follower hear each other, and do not hear the rest. There a new process takes the follower's place, so both
   * sides are a majority of members.
   */
  'split-processes'(): void {
    this.disturb();
    const side = [this.leader, this.follower].map((life) => this.nodeOf(life));
    if (side.some(({ superseded }) => superseded)) return;
    const next = this.world.replace(side[1]!);
    this.#cutFrom(side, [...this.world.nodes, next]);
    this.world.startSoon(next);
    this.#useBoth(side, next);
  }

  /** An operator lets a member go on alone, although others may live. They do not see it at first. */
  'force-alone'(): void {
    this.disturb();
    if (!this.world.isSettled) return;
    const survivor = this.nodeOf(this.follower);
    const others = this.world.members.filter((node) => node !== survivor);
    if (this.random.chance(0.7)) this.#cutFrom([survivor], others);
    for (const node of others) if (this.random.chance(0.4)) this.world.kill(node);
    this.world.force(survivor);
    this.#useBoth(others, survivor);
  }

  #cutFrom(side: readonly TikvNode[], rest: readonly TikvNode[]): void {
    const { network } = this.world;
    for (const node of rest) {
      if (side.includes(node)) continue;
      for (const { host } of side) {
        network.cut(host, node.host);
        network.cut(node.host, host);
      }
    }
  }

  /** For a time clients write where another member leads, and read everywhere. Then the network is whole. */
  #useBoth(old: readonly TikvNode[], next: TikvNode): void {
    const { network } = this.world;
    this.send(this.leader, 'grant-crowded');
    const isOld = (life: TikvLife): boolean => old.includes(this.nodeOf(life));
    for (let atMs = 500; atMs < 9000; atMs += 300) {
      this.after(atMs, () => {
        const leader = this.world.leaders.find((life) => !isOld(life)) ?? next.serving;
        if (leader !== undefined && !isOld(leader)) this.send(leader, this.random.pick(['put', 'put', 'txn'] as const));
      });
      this.after(atMs + 300 * this.random.fraction(), () => {
        const { serving } = this.random.pick(old);
        if (serving !== undefined)
          this.send(serving, this.random.pick(['look', 'range-all', 'renew-crowded'] as const));
      });
    }
    this.world.scheduler.after(9000 + 3000 * this.random.fraction(), () => {
      network.healAll();
      for (const { alive } of old) alive?.way.heal();
    });
  }

  #writeElsewhere(away: TikvLife): void {
    const life = this.world.leaders.find((one) => one !== away && !one.process.paused);
    if (life !== undefined) this.send(life, this.random.pick(['put', 'put', 'put', 'txn', 'compact'] as const));
  }
}
