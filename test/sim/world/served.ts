import type { SimProcess } from '@engram/sim';
import type { Face } from './face.ts';

/** One life of a node, as clients see it. */
export interface Served {
  readonly process: SimProcess;
  /** Undefined: it does not serve yet, or is dead. */
  readonly face: Face | undefined;
  /** It takes nothing new, and will end. */
  readonly stopping: boolean;
  /** Reads of its storage were told to fail. */
  readonly failingReads: boolean;
  /** A read may have taken longer than the history of watches waits. */
  readonly slowReads?: boolean;
  /** An image was published without waiting for it. */
  readonly forgotten?: boolean;
}
