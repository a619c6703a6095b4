import type { Entry } from './entry.ts';
import type { HardState } from './hard-state.ts';
import type { LogIndex } from './log-index.ts';
import type { Message } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { Snapshot } from './snapshot.ts';

export type Role = 'follower' | 'pre-candidate' | 'candidate' | 'leader';

/** State that need not be persisted: after a restart every node begins as a follower without a leader. */
export interface SoftState {
  readonly role: Role;
  readonly leader: NodeId | undefined;
}

/** A state applied up to `index` is recent enough for reads that began before `RawNode.readIndex(context)` was called. */
export interface ReadState {
  readonly context: Uint8Array;
  readonly index: LogIndex;
}

/**
 * To be made durable as one unit: after a crash, all of it or nothing of it is there. Once it is durable, its messages may
 * leave, and the owner calls `RawNode.advance`. Until then no other `Persist` is handed out; everything else goes on.
 */
export interface Persist {
  /** Undefined if unchanged. */
  readonly hardState: HardState | undefined;
  /** Replaces the whole log and the application's state, before `entries` are added. */
  readonly snapshot: Snapshot | undefined;
  /** Replace everything in the log from the index of the first entry on. */
  readonly entries: readonly Entry[];
  /**
   * False: only the commit has moved, and no applied change of the membership rests on it. It may be written together with
   * the next `Persist`; a crash may lose it.
   */
  readonly mustSync: boolean;
  /** Must not be sent before the rest is durable, because receivers rely on it. */
  readonly messages: readonly Message[];
}

/** The work that the core asks of its owner. Fields are independent of each other, except as `Persist` says. */
export interface Ready {
  /** Undefined if unchanged. */
  readonly softState: SoftState | undefined;
  /** May leave at once, in this order for each node. Losing them is allowed. */
  readonly messages: readonly Message[];
  readonly persist: Persist | undefined;
  /**
   * Entries to apply, in this order. They are durable on this node. The application reports its progress by
   * `RawNode.applied`. Bounded by `applyingBytesMax`: an application that applies slowly gets no more entries.
   */
  readonly committedEntries: readonly Entry[];
  readonly readStates: readonly ReadState[];
}
