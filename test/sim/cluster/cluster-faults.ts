import type { ClusterLife } from './cluster-life.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { ClusterFaultKind, ClusterStep } from './cluster-plan.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { MemberFaults } from './member-faults.ts';

const STALL_MS_MAX = 20_000;

/** One fault in a cluster over a model of the log. */
export class ClusterFaultStep extends MemberFaults<ClusterLife, ClusterNode> {
  static run(world: ClusterWorld, step: ClusterStep, kind: ClusterFaultKind): void {
    if (world.ending) return;
    world.tell(() => `#${step.id} ${kind}`);
    world.disturb();
    new ClusterFaultStep(world, step)[kind]();
  }

  'lost-append'(): void {
    const fault = this.random.pick(['there', 'lost', 'late', 'late'] as const);
    this.world.tell(() => `  the answer of the leader's next append stays away: ${fault}`);
    this.leader.alive?.log.loseAppend(fault);
  }

  'storage-stall'(): void {
    const node = this.random.chance(0.5) ? this.leader : this.node;
    const ms = this.random.pick([20, 500, 5000, STALL_MS_MAX]) * this.random.fraction();
    this.world.tell(() => `  ${node.name}'s way to the log stalls for ${ms.toFixed(0)} ms`);
    node.alive?.log.stall(ms);
  }

  'storage-failure'(): void {
    const operation = this.random.pick(['read', 'seal'] as const);
    const times = this.random.between(1, 3);
    const node = this.node;
    this.world.tell(() => `  ${node.name}'s ${operation} fails ${times} times`);
    node.alive?.log.failNext(operation, times);
  }

  'raft-stall'(): void {
    const ms = this.random.pick([20, 500, 5000]) * this.random.fraction();
    this.node.alive?.raft.stall(ms);
  }

  'raft-failure'(): void {
    this.node.alive?.raft.failNext();
  }

  'values-stall'(): void {
    const operation = this.random.pick(['get-many', 'save-checkpoint', 'load-checkpoint'] as const);
    this.node.alive?.values.stall(operation, this.random.pick([50, 2000]) * this.random.fraction());
  }
}
