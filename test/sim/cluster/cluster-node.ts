import { MemoryRaftDisk } from '@engram/election';
import { LocalCopy, type SimHost } from '@engram/sim';
import type { ClusterLife } from './cluster-life.ts';

/** What a node finds again at its next start. */
export interface NodeDisks {
  /** By itself: it may be lost. */
  copy: LocalCopy;
  /** On shared storage. */
  readonly raft: MemoryRaftDisk;
}

/** A machine of the cluster, through all lives of its member. */
export class ClusterNode {
  readonly id: bigint;
  readonly host: SimHost;
  readonly disks: NodeDisks = { copy: new LocalCopy(), raft: new MemoryRaftDisk() };
  life: ClusterLife | undefined;
  /** Its member came later than the first ones. */
  readonly joins: boolean;
  /** Its member was removed: it is started no more. */
  removed = false;
  /** It was taken for removed before it had joined: whoever lists it after all starts it again. */
  forgotten = false;
  /** Somebody will start it. */
  starting = false;

  constructor(id: bigint, host: SimHost, joins: boolean) {
    this.id = id;
    this.host = host;
    this.joins = joins;
  }

  get name(): string {
    return this.host.name;
  }

  /** The life that is there, also while it is paused or not serving yet. */
  get alive(): ClusterLife | undefined {
    return this.life?.process.alive === true ? this.life : undefined;
  }

  /** The life that takes requests. */
  get serving(): ClusterLife | undefined {
    const life = this.alive;
    return life?.face === undefined || life.stopping ? undefined : life;
  }
}
