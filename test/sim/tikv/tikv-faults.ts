import type { Fault } from '@engram/tikv-client/testing';
import { MemberFaults } from '../cluster/member-faults.ts';
import type { TikvLife } from './tikv-life.ts';
import type { TikvFaultKind, TikvStep } from './tikv-plan.ts';
import { regionErrors } from './tikv-troubles.ts';
import type { TikvNode, TikvWorld } from './tikv-world.ts';

/** One fault in a cluster on the scripted stores. */
export class TikvFaultStep extends MemberFaults<TikvLife, TikvNode> {
  declare protected readonly world: TikvWorld;

  static run(world: TikvWorld, step: TikvStep, kind: TikvFaultKind): void {
    if (world.ending) return;
    world.tell(() => `#${step.id} ${kind}`);
    world.disturb();
    new TikvFaultStep(world, step)[kind]();
  }

  /** Often the machine's way to storage is cut with the ways to the others. */
  protected override cutOff(node: TikvNode): void {
    super.cutOff(node);
    if (this.random.chance(0.7)) this.#cutStorage(node);
  }

  'cut-storage'(): void {
    this.#cutStorage(this.random.chance(0.5) ? this.leader : this.node);
  }

  #cutStorage(node: TikvNode): void {
    const life = node.alive;
    if (life === undefined) return;
    const ms = this.#longMs();
    this.world.tell(() => `  ${node.name} does not reach storage for ${ms.toFixed(0)} ms`);
    life.way.cut();
    this.world.scheduler.after(ms, () => life.way.heal());
  }

  /** The answer of the leader's next write stays away, or is another one. */
  'lost-write'(): void {
    const fault = this.random.pick<Fault>([
      { kind: 'lose' },
      { kind: 'lose' },
      { kind: 'refuse' },
      { kind: 'silence', executed: true },
      { kind: 'silence', executed: false },
      { kind: 'twice' },
      { kind: 'region-error', error: { message: 'stale command', staleCommand: {} }, executed: true },
      { kind: 'region-error', error: { message: 'undetermined', undeterminedResult: { message: '' } }, executed: true },
    ]);
    this.#nextWrite(fault);
  }

  /** The leader's next write is executed late, even if nobody waits for it any more. */
  'late-write'(): void {
    this.#nextWrite({ kind: 'delay', ms: this.random.chance(0.5) ? 3000 * this.random.fraction() : this.#longMs() });
  }

  #nextWrite(fault: Fault): void {
    const life = this.random.chance(0.8) ? this.leader.alive : this.node.alive;
    if (life === undefined) return;
    this.world.tell(() => `  m${life.id}'s next write: ${fault.kind}`);
    this.world.troubles.nextWriteOf(life.id, fault);
  }

  'storage-stall'(): void {
    const life = this.random.chance(0.5) ? this.leader.alive : this.node.alive;
    const ms = this.random.pick([20, 500, 5000]) * this.random.fraction();
    if (this.random.chance(0.5)) life?.way.stall(ms);
    else life?.way.stallAnswers(ms);
  }

  'storage-reset'(): void {
    this.node.alive?.way.reset();
  }

  'region-split'(): void {
    const { regions } = this.world.stores;
    for (let left = this.random.between(1, 3); left > 0; left -= 1) regions.split(this.world.troubles.someKey());
  }

  'region-merge'(): void {
    const { regions } = this.world.stores;
    const all = regions.all();
    if (all.length < 2) return;
    regions.mergeWithNext(all[this.random.below(all.length - 1)]!.start);
  }

  /** A region is led by another store, or its replica there is a new one. */
  'region-move'(): void {
    const { regions, stores } = this.world.stores;
    const { start, leaderId } = this.random.pick(regions.all());
    const store = this.random.pick([...stores.keys()]);
    if (this.random.chance(0.3)) regions.movePeer(start, store, store);
    else if (this.random.chance(0.7)) regions.transferLeader(start, store);
    else {
      regions.transferLeader(start, 0);
      const back = regions
        .all()
        .find((region) => region.start === start)!
        .peers.find(({ id }) => id === leaderId);
      this.world.scheduler.after(2000 * this.random.fraction(), () =>
        regions.transferLeader(start, back?.storeId ?? store),
      );
    }
  }

  'region-error'(): void {
    const error = this.random.pick(regionErrors);
    for (let left = this.random.between(1, 4); left > 0; left -= 1)
      this.world.troubles.next({ kind: 'region-error', error }, () => true);
  }

  'store-lost'(): void {
    const { stores, troubles, scheduler } = this.world;
    const store = this.random.pick([...stores.stores.keys()]);
    const how = this.random.pick(['dead', 'silent'] as const);
    this.world.tell(() => `  store ${store} is ${how}`);
    troubles.lose(store, how, this.random.pick([300, 3000, 10_000]) * this.random.fraction());
    scheduler.after(this.#longMs(), () => troubles.revive(store));
  }

  'store-busy'(): void {
    const all = [...this.world.stores.stores.keys()];
    const busy = all.filter(() => this.random.chance(0.5));
    this.world.troubles.beBusy(busy, this.random.pick([100, 2000, 6000]) * this.random.fraction());
  }

  'decline-one-phase'(): void {
    const { mvcc } = this.world.stores;
    mvcc.declinesOnePhase = true;
    this.world.scheduler.after(this.random.pick([20, 2000]) * this.random.fraction(), () => {
      mvcc.declinesOnePhase = false;
    });
  }

  /** PD elects a leader, or does not answer at all. */
  'pd-outage'(): void {
    const { pd, pdAddresses, paused } = this.world.stores;
    const silent = this.random.chance(0.3);
    this.world.tell(() => `  PD ${silent ? 'does not answer' : 'has no leader'}`);
    pd.leader = -1;
    if (silent) for (const address of pdAddresses) paused.add(address);
    this.world.scheduler.after(this.random.pick([500, 5000, 12_000]) * this.random.fraction(), () => {
      for (const address of pdAddresses) paused.delete(address);
      pd.leader = this.random.below(pdAddresses.length);
    });
  }

  'pd-clock'(): void {
    const { pd } = this.world.stores;
    pd.clockOffsetMs += this.random.pick([-3_600_000, -5000, -100, 100, 5000]) * this.random.fraction();
    pd.clockOffsetMs = Math.floor(pd.clockOffsetMs);
  }

  /** PD does not hear of changes of the regions for a time. */
  'pd-view'(): void {
    const { regions } = this.world.stores;
    regions.freezePd();
    this.world.scheduler.after(3000 * this.random.fraction(), () => regions.followPd());
  }

  /** Storage changes a byte of an image that is being written. Only reading it back shows that. */
  'damaged-piece'(): void {
    this.world.troubles.damagePiece();
  }

  /** Often longer than a member may be silent before a trim ignores it. */
  #longMs(): number {
    return this.random.pick([500, 3000, 2 * this.world.settings.silentMaxMs]) * this.random.fraction();
  }
}
