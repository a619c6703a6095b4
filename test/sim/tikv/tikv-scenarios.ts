import { MemberScenarios } from '../cluster/member-scenarios.ts';
import type { TikvLife } from './tikv-life.ts';
import type { TikvScenarioKind, TikvStep } from './tikv-plan.ts';
import type { TikvNode, TikvWorld } from './tikv-world.ts';

/** A scenario in a cluster on the scripted stores. */
export class TikvScenarioStep extends MemberScenarios<TikvLife, TikvNode> {
  declare protected readonly world: TikvWorld;

  static run(world: TikvWorld, step: TikvStep, kind: TikvScenarioKind): void {
    const able = TikvScenarioStep.able(world, step, kind);
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

  #writeElsewhere(away: TikvLife): void {
    const life = this.world.leaders.find((one) => one !== away && !one.process.paused);
    if (life !== undefined) this.send(life, this.random.pick(['put', 'put', 'put', 'txn', 'compact'] as const));
  }
}
