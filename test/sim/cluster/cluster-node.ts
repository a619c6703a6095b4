import { MemoryRaftDisk } from '@engram/election';
import { LocalCopy, type SimHost } from '@engram/sim';
import type { ClusterLife } from './cluster-life.ts';

/** State of a node that survives its process. */
export interface NodeDisks {
  /** On the node's own disk, which may be lost. */
  copy: LocalCopy;
  /** On shared storage. */
  readonly raft: MemoryRaftDisk;
}

/** A machine of the cluster, over all lives of its member. */
export class ClusterNode {
  readonly id: bigint;
  readonly host: SimHost;
  readonly disks: NodeDisks = { copy: new LocalCopy(), raft: new MemoryRaftDisk() };
  life: ClusterLife | undefined;
  /** True if its member is not one of the first members. */
  readonly joins: boolean;
  /** True once its member was removed. The node is not started again. */
  removed = false;
  /** True if the node was taken for removed before it had joined. It is started again if a member lists it later. */
  takenForRemoved = false;
  /** True while the node stays dead, whatever would start it. */
  lost = false;
  /** True if a start is scheduled. */
  starting = false;

  constructor(id: bigint, host: SimHost, joins: boolean) {
    this.id = id;
    this.host = host;
    this.joins = joins;
  }

  get name(): string {
    return this.host.name;
  }

  /** The current life, even if it is paused or does not serve yet. */
  get alive(): ClusterLife | undefined {
    return this.life?.process.alive === true ? this.life : undefined;
  }

  /** The life that takes requests. */
  get serving(): ClusterLife | undefined {
    const life = this.alive;
    return life?.face === undefined || life.stopping ? undefined : life;
  }
}
