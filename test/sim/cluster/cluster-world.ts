import { SimCopy, SharedLog, type SimHost } from '@engram/sim';
import { ClusterImages } from './cluster-images.ts';
import { ClusterLife } from './cluster-life.ts';
import { ClusterNode } from './cluster-node.ts';
import type { ClusterPlan } from './cluster-plan.ts';
import type { MemberLifeParts } from './member-life.ts';
import { MembersWorld } from './members-world.ts';

/** A cluster over a model of the log and of the images that its members share. */
export class ClusterWorld extends MembersWorld<ClusterLife, ClusterNode> {
  declare readonly plan: ClusterPlan;
  readonly log = new SharedLog('the log');
  readonly images: ClusterImages;

  constructor(plan: ClusterPlan, told: boolean, line?: (line: string) => void) {
    super(plan, told, line);
    this.images = new ClusterImages(this.log, this.tell);
    this.log.onAppended = (batch, seal) => this.guarded(() => this.durable(batch, seal));
    this.log.onSealed = (seal) => this.sealed(seal);
    this.found();
  }

  override get settings(): ClusterPlan['settings'] {
    return this.plan.settings;
  }

  /** Its faults are those of the members' ways to it. */
  healStorage(): void {}

  loseCopy(node: ClusterNode): void {
    node.disks.copy = new SimCopy();
    this.tell(() => `${node.name} has lost its copy`);
  }

  protected makeNode(id: bigint, host: SimHost, joins: boolean): ClusterNode {
    return new ClusterNode(id, host, joins);
  }

  protected makeLife(node: ClusterNode, parts: MemberLifeParts): ClusterLife {
    const { settings, log, images } = this;
    return new ClusterLife({ ...parts, settings, log, images, disks: node.disks });
  }

  /** A member that needs a trimmed part of the log is started again as well. */
  protected isExcused(_node: ClusterNode, names: readonly string[]): boolean {
    return (
      names.includes('InjectedFault') || names[0] === 'StorageUnavailableError' || names.includes('StorageTrimmedError')
    );
  }
}
