import type { Entry } from './entry.ts';
import type { HardState } from './hard-state.ts';
import type { LogIndex } from './log-index.ts';
import type { Message } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { Snapshot } from './snapshot.ts';

export type Role = 'follower' | 'pre-candidate' | 'candidate' | 'leader';

/** Need not be kept: after a restart every node begins as a follower without a leader. */
export interface SoftState {
  readonly role: Role;
  readonly leader: NodeId | undefined;
}

/** A read that began before `RawNode.readIndex(context)` was called sees all it must in a state applied up to `index`. */
export interface ReadState {
  readonly context: Uint8Array;
  readonly index: LogIndex;
}

/**
 * To be made durable as one unit: all of it or nothing of it is there after a crash. Then its messages may leave, and
 * `RawNode.advance` is due. Until then no other `Persist` is handed out, while everything else goes on.
 */
export interface Persist {
  /** Undefined: as it was. */
  readonly hardState: HardState | undefined;
  /** Takes the place of the whole log and of the application's state, before `entries`. */
  readonly snapshot: Snapshot | undefined;
  /** Take the place of everything in the log from the first one's index on. */
  readonly entries: readonly Entry[];
  /**
   * False: only the commit has moved, and passed no change of the membership that was applied. It may be written with what
   * comes next; a crash may lose it.
   */
  readonly mustSync: boolean;
  /** Not to be sent before the rest is durable: receivers rely on it. */
  readonly messages: readonly Message[];
}

/** What the core wants done. Fields are independent of each other, but for what `Persist` says. */
export interface Ready {
  /** Undefined: as it was. */
  readonly softState: SoftState | undefined;
  /** May leave at once, in this order for each node. Losing them is allowed. */
  readonly messages: readonly Message[];
  readonly persist: Persist | undefined;
  /**
   * To apply, in this order; they are durable on this node. `RawNode.applied` says how far the application is. Bounded by
   * `applyingBytesMax`: who is slow to apply gets no more.
   */
  readonly committedEntries: readonly Entry[];
  readonly readStates: readonly ReadState[];
}
