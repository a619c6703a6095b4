import type { SimProcess } from '@engram/sim';
import type { Face } from './face.ts';

/** One life of a node, as clients see it. */
export interface Served {
  readonly process: SimProcess;
  /** Undefined if the node does not serve yet, or is dead. */
  readonly face: Face | undefined;
  /** True if the node takes no new requests and will end. */
  readonly stopping: boolean;
  /** True if reads of its storage may fail by a fault. */
  readonly failingReads: boolean;
  /** True if a read may have exceeded the time limit of the watches' history reads. */
  readonly slowReads?: boolean;
  /** True if an image was published without waiting for the node. */
  readonly forgotten?: boolean;
}
