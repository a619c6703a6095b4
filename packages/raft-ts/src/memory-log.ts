import { assert } from '@engram/core';
import { type Entry, limitBytes } from './entry.ts';
import { type HardState, NEW_HARD_STATE } from './hard-state.ts';
import { indexAfter, indexBefore, type LogIndex, maxIndex } from './log-index.ts';
import type { LogStorage } from './log-storage.ts';
import type { Persist } from './ready.ts';
import type { Snapshot } from './snapshot.ts';
import type { Term } from './term.ts';

/**
 * A whole log in memory, for a group that lives in one process, or for a small log with a durable copy elsewhere. In the
 * latter case save a `Persist` to the durable copy first, then here.
 */
export class MemoryLog implements LogStorage {
  #hardState: HardState;
  #snapshot: Snapshot;
  /** The place before `#entries[0]`. Its index is not above the snapshot's. */
  #base: { readonly index: LogIndex; readonly term: Term };
  #entries: Entry[];

  /** `entries` begin behind `snapshot`. */
  constructor(snapshot: Snapshot, entries: readonly Entry[] = [], hardState = NEW_HARD_STATE) {
    this.#snapshot = snapshot;
    this.#base = { index: snapshot.index, term: snapshot.term };
    this.#entries = [];
    this.#hardState = hardState;
    this.#append(entries);
  }

  get hardState(): HardState {
    // An installed snapshot is committed, even if the older hard state has a lower commit.
    const { term, vote, commit } = this.#hardState;
    return { term, vote, commit: maxIndex(commit, this.#snapshot.index) };
  }

  firstIndex(): LogIndex {
    return indexAfter(this.#base.index);
  }

  lastIndex(): LogIndex {
    return indexAfter(this.#base.index, this.#entries.length);
  }

  term(index: LogIndex): Term | undefined {
    if (index === this.#base.index) return this.#base.term;
    return this.#entries[index - this.#base.index - 1]?.term;
  }

  entries(from: LogIndex, to: LogIndex, bytesMax: number): readonly Entry[] {
    assert(from >= this.firstIndex() && to <= this.lastIndex() + 1, 'entries outside of the log');
    const start = from - this.firstIndex();
    return limitBytes(this.#entries.slice(start, start + to - from), bytesMax);
  }

  snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Takes over the whole `Persist`, in one step. */
  save(persist: Persist): void {
    if (persist.snapshot !== undefined) {
      const { index, term } = persist.snapshot;
      this.#snapshot = persist.snapshot;
      this.#base = { index, term };
      this.#entries = [];
    }
    this.#append(persist.entries);
    if (persist.hardState !== undefined) this.#hardState = persist.hardState;
  }

  /** `snapshot` has the application's state as of `snapshot.index`, which it has applied. Entries stay until `compact`. */
  setSnapshot(snapshot: Snapshot): void {
    assert(snapshot.index >= this.#snapshot.index, 'a snapshot older than the one before');
    assert(this.term(snapshot.index) === snapshot.term, 'a snapshot of another log');
    this.#snapshot = snapshot;
  }

  /** Drops the entries up to `through`, at most the snapshot's index. Slow nodes need no snapshot while entries are kept. */
  compact(through: LogIndex): void {
    assert(through <= this.#snapshot.index, 'no snapshot stands for these entries');
    if (through <= this.#base.index) return;
    const term = this.term(through);
    assert(term !== undefined, 'compacted behind the end');
    this.#entries = this.#entries.slice(through - this.#base.index);
    this.#base = { index: through, term };
  }

  #append(entries: readonly Entry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    assert(first.index >= this.firstIndex() && first.index <= this.lastIndex() + 1, 'a gap in the log');
    this.#entries.length = indexBefore(first.index) - this.#base.index;
    for (const entry of entries) this.#entries.push(entry);
  }
}
