import { MemoryRaftDisk } from '@engram/election';
import { SimCopy } from '@engram/sim';
import type { ClusterLife } from './cluster-life.ts';
import { MemberNode } from './member-node.ts';

/** State of a node that survives its process. */
export interface NodeDisks {
  /** On the node's own disk, which may be lost. */
  copy: SimCopy;
  /** On shared storage. */
  readonly raft: MemoryRaftDisk;
}

/** A machine of a cluster over a model of the shared log. */
export class ClusterNode extends MemberNode<ClusterLife> {
  readonly disks: NodeDisks = { copy: new SimCopy(), raft: new MemoryRaftDisk() };
}
