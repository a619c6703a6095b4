import { assert } from '@engram/core';
import type { Inflights } from './inflights.ts';
import { indexAfter, indexBefore, type LogIndex, maxIndex, minIndex, NO_INDEX } from './log-index.ts';

/**
 * `probe`: the leader does not know where the logs agree. It sends one append in each heartbeat interval to find out.
 * `replicate`: the leader knows it. Appends follow each other without waiting, up to the window.
 * `snapshot`: the follower needs entries that the log has dropped. No append is sent until it has the snapshot.
 */
export type ProgressState = 'probe' | 'replicate' | 'snapshot';

/**
 * What a leader knows of one follower.
 *
 * Invariants: match < next. Entries between `match` and `next` are on their way. In `snapshot`, `next` is one behind the
 * snapshot's index.
 */
export class Progress {
  #state: ProgressState = 'probe';
  #match = NO_INDEX;
  #next: LogIndex;
  /** The highest commit that is on its way to the follower. */
  #sentCommit = NO_INDEX;
  #paused = false;
  readonly #inflights: Inflights;
  /** The follower has answered since the leader last counted its quorum. */
  recentlyActive = false;

  constructor(next: LogIndex, inflights: Inflights) {
    this.#next = next;
    this.#inflights = inflights;
  }

  get state(): ProgressState {
    return this.#state;
  }

  /** Up to this index the follower's log agrees with the leader's, and the follower has persisted it. */
  get match(): LogIndex {
    return this.#match;
  }

  /** The next entry to send. */
  get next(): LogIndex {
    return this.#next;
  }

  get inflightCount(): number {
    return this.#inflights.count;
  }

  get windowFull(): boolean {
    return this.#inflights.full;
  }

  /** No append may be sent now. In `probe` and `replicate`, an answer to a heartbeat allows one again. */
  get paused(): boolean {
    return this.#state === 'snapshot' || this.#paused;
  }

  becomeProbe(): void {
    // If a snapshot has arrived, the search starts behind it.
    const next = this.#state === 'snapshot' ? this.#next : NO_INDEX;
    this.#enter('probe', maxIndex(indexAfter(this.#match), next));
  }

  becomeReplicate(): void {
    this.#enter('replicate', indexAfter(this.#match));
  }

  becomeSnapshot(index: LogIndex): void {
    this.#enter('snapshot', indexAfter(index));
    this.#sentCommit = index;
  }

  /** The follower did not get the snapshot, so the search starts behind `match` again. */
  snapshotFailed(): void {
    assert(this.#state === 'snapshot', 'no snapshot was sent');
    this.#enter('probe', indexAfter(this.#match));
  }

  sentEntries(count: number, bytes: number): void {
    assert(this.#state !== 'snapshot', 'an append while a snapshot is on its way');
    if (this.#state === 'probe') {
      if (count > 0) this.#paused = true;
      return;
    }
    if (count > 0) {
      this.#next = indexAfter(this.#next, count);
      this.#inflights.add(indexBefore(this.#next), bytes);
    }
    // With a full window even an empty append is a probe: one for each answered heartbeat.
    this.#paused = this.#inflights.full;
  }

  sentCommit(commit: LogIndex): void {
    this.#sentCommit = commit;
  }

  /** Whether an empty append with this commit would tell the follower something new. */
  needsCommit(commit: LogIndex): boolean {
    return commit > this.#sentCommit && this.#sentCommit < this.#next - 1;
  }

  /** Allows the next append only after the answer to a heartbeat. Called when the transport has reported on a snapshot. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
  }

  /** The follower has persisted the leader's log up to `index`. False if the leader knew that already. */
  acknowledged(index: LogIndex): boolean {
    if (index <= this.#match) return false;
    this.#match = index;
    this.#next = maxIndex(this.#next, indexAfter(index));
    this.#paused = false;
    if (this.#state === 'replicate') this.#inflights.freeThrough(index);
    return true;
  }

  /**
   * The follower's log does not agree at `rejected`; it may agree at `guess`. False if the answer is to an older append
   * and tells nothing.
   */
  rejected(rejected: LogIndex, guess: LogIndex): boolean {
    if (this.#state === 'replicate') {
      if (rejected <= this.#match) return false;
      this.becomeProbe();
      return true;
    }
    if (this.#state === 'snapshot' || indexBefore(this.#next) !== rejected) return false;
    this.#next = maxIndex(minIndex(rejected, indexAfter(guess)), indexAfter(this.#match));
    this.#sentCommit = minIndex(this.#sentCommit, indexBefore(this.#next));
    this.#paused = false;
    return true;
  }

  #enter(state: ProgressState, next: LogIndex): void {
    this.#state = state;
    this.#next = next;
    this.#paused = false;
    this.#inflights.clear();
    this.#sentCommit = minIndex(this.#sentCommit, indexBefore(next));
  }
}
