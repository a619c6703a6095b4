import { assert } from '@engram/core';
import {
  type Entry,
  type HardState,
  type LogIndex,
  logIndex,
  MemoryLog,
  type Message,
  type Persist,
  RawNode,
  type ReadState,
  type Snapshot,
} from '@engram/raft-ts';
import { snapshotOf } from './membership/bootstrap.ts';
import type { ClusterState } from './cluster/cluster-state.ts';
import type { ElectionOptions } from './options.ts';
import type { RaftBatch, RaftState } from './raft-state.ts';

export interface RaftMemberHooks {
  send(messages: readonly Message[]): void;
  /** Makes the batch durable, then sends the messages and has `saved` called. */
  save(batch: RaftBatch, messages: readonly Message[]): void;
  apply(entry: Entry): void;
  /** The snapshot replaces everything that was applied. */
  restore(snapshot: Snapshot): void;
  read(state: ReadState): void;
}

/**
 * Raft's node with its log in memory. It saves no more often than it must: a new commit, and a snapshot that shortens the
 * log, are written with the next save. The commit of a change of the membership is written at once, because a member that
 * joins looks for itself in the saved states of the others.
 */
export class RaftMember {
  readonly node: RawNode;
  readonly #log: MemoryLog;
  readonly #hooks: RaftMemberHooks;
  readonly #snapshotEntries: number;
  readonly #keptEntries: number;
  #saving: Persist | undefined;
  /** The hard state, if it has changed since the last save. */
  #unsavedHardState: HardState | undefined;
  #membershipMoved = false;
  #unsavedSnapshot: Snapshot | undefined;
  #applied: LogIndex;

  constructor(options: ElectionOptions, { hardState, snapshot, entries }: RaftState, hooks: RaftMemberHooks) {
    this.#log = new MemoryLog(snapshot, entries, hardState);
    this.#hooks = hooks;
    this.#applied = snapshot.index;
    this.#snapshotEntries = options.snapshotEntries;
    this.#keptEntries = options.keptEntries;
    this.node = new RawNode({ ...options.limits, id: options.self, random: options.random }, this.#log, {
      hardState: this.#log.hardState,
      conf: snapshot.conf,
      applied: snapshot.index,
    });
  }

  /** Does the work that the node has ready. False if there is none. */
  drain(): boolean {
    let moved = false;
    while (this.node.hasReady) {
      moved = true;
      const { messages, persist, committedEntries, readStates } = this.node.ready();
      if (messages.length > 0) this.#hooks.send(messages);
      this.#membershipMoved ||= committedEntries.some(({ kind }) => kind === 'conf-change');
      if (persist !== undefined) this.#persist(persist);
      for (const entry of committedEntries) {
        this.#hooks.apply(entry);
        this.#applied = entry.index;
        this.node.applied(entry.index);
      }
      for (const state of readStates) this.#hooks.read(state);
    }
    return moved;
  }

  /** The batch that was handed out last is durable. */
  saved(): void {
    const persist = this.#saving;
    assert(persist !== undefined, 'saved, but nothing was under way');
    this.#saving = undefined;
    this.#take(persist);
    if (persist.snapshot !== undefined) {
      this.#applied = persist.snapshot.index;
      this.#hooks.restore(persist.snapshot);
    }
    this.node.advance();
  }

  /** Replaces the log by a snapshot of `state`, the applied state, if the log has grown by `snapshotEntries`. */
  compact(state: ClusterState): void {
    const applied = this.#applied;
    if (applied - this.#log.snapshot().index < this.#snapshotEntries) return;
    const term = this.#log.term(applied);
    assert(term !== undefined, 'what was applied is not in the log');
    const snapshot = snapshotOf(state, { index: applied, term });
    this.#log.setSnapshot(snapshot);
    this.#log.compact(keptFrom(applied, this.#keptEntries));
    this.#unsavedSnapshot = snapshot;
  }

  #persist(persist: Persist): void {
    const { hardState, snapshot, entries, mustSync, messages } = persist;
    this.#unsavedHardState = hardState ?? this.#unsavedHardState;
    if (!mustSync && !this.#membershipMoved) {
      this.#take(persist);
      this.node.advance();
      return;
    }
    this.#saving = persist;
    this.#membershipMoved = false;
    const batch = { hardState: this.#unsavedHardState, snapshot: snapshot ?? this.#unsavedSnapshot, entries };
    this.#unsavedHardState = undefined;
    this.#unsavedSnapshot = undefined;
    this.#hooks.save(batch, messages);
  }

  #take(persist: Persist): void {
    this.#log.save(persist);
  }
}

const keptFrom = (applied: LogIndex, kept: number): LogIndex => logIndex(Math.max(0, applied - kept));
