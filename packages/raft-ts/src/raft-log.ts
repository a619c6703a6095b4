import { assert } from '@engram/core';
import { type Entry, limitBytes, totalBytes } from './entry.ts';
import { indexAfter, indexBefore, type LogIndex, logIndex, maxIndex, minIndex } from './log-index.ts';
import type { LogStorage } from './log-storage.ts';
import type { EntryId } from './entry-id.ts';
import { RaftError } from './raft-error.ts';
import type { Snapshot } from './snapshot.ts';
import { NO_TERM, type Term } from './term.ts';

/**
 * The log as the core sees it: the entries in storage, then the entries that are not persisted yet (unstable). An unstable
 * entry replaces the entries that storage has at its index and behind.
 *
 * Invariants: applied <= applying <= committed <= lastIndex, and applying < unstable: only entries that are persisted here
 * are handed out for applying. Entries up to `committed` are never replaced.
 */
export class RaftLog {
  readonly #storage: LogStorage;
  readonly #applyingBytesMax: number;
  /** The unstable entries: from `#offset` on. */
  #unstable: Entry[] = [];
  #offset: LogIndex;
  /** Unstable entries before it are in the `Persist` under way. */
  #handedOut: LogIndex;
  #snapshot: Snapshot | undefined;
  #snapshotHandedOut = false;
  #committed: LogIndex;
  #applying: LogIndex;
  #applied: LogIndex;
  /** The batches that were handed out and are not applied. */
  #applyingBatches: { readonly last: LogIndex; readonly bytes: number }[] = [];
  #applyingBytes = 0;
  /** Storage is fetching committed entries. They are not asked for again before `loaded`. */
  #loading = false;

  /** `committed` and `applied` as they were persisted. Entries that the snapshot contains count as both. */
  constructor(storage: LogStorage, applyingBytesMax: number, committed: LogIndex, applied: LogIndex) {
    this.#storage = storage;
    this.#applyingBytesMax = applyingBytesMax;
    this.#offset = indexAfter(storage.lastIndex());
    this.#handedOut = this.#offset;
    const base = indexBefore(storage.firstIndex());
    this.#committed = maxIndex(committed, base);
    this.#applied = maxIndex(applied, base);
    this.#applying = this.#applied;
    if (this.#committed > storage.lastIndex()) {
      throw new RaftError('log-lost', `committed up to ${committed}, but the log ends at ${storage.lastIndex()}`);
    }
    assert(this.#applied <= this.#committed, 'applied what is not committed');
  }

  get committed(): LogIndex {
    return this.#committed;
  }

  /** The last entry that is known to be committed. */
  get committedId(): EntryId {
    const term = this.term(this.#committed);
    assert(term !== undefined, 'a committed entry is neither in the log nor before it');
    return { index: this.#committed, term };
  }

  get applied(): LogIndex {
    return this.#applied;
  }

  get firstIndex(): LogIndex {
    return this.#snapshot === undefined ? this.#storage.firstIndex() : indexAfter(this.#snapshot.index);
  }

  get lastIndex(): LogIndex {
    return logIndex(this.#offset + this.#unstable.length - 1);
  }

  get lastTerm(): Term {
    const last = this.term(this.lastIndex);
    assert(last !== undefined, 'the log has no end');
    return last;
  }

  /** The last index that is persisted here. Must not be called while the log awaits a snapshot. */
  get stableIndex(): LogIndex {
    assert(this.#snapshot === undefined, 'a snapshot is not installed yet');
    return indexBefore(this.#offset);
  }

  /** A snapshot is accepted and not installed yet: the persisted entries no longer belong to this log. */
  get awaitsSnapshot(): boolean {
    return this.#snapshot !== undefined;
  }

  /** Undefined if the entry was dropped, or is not in the log yet. */
  term(index: LogIndex): Term | undefined {
    if (index >= this.#offset) return this.#unstable[index - this.#offset]?.term;
    if (this.#snapshot !== undefined) return index === this.#snapshot.index ? this.#snapshot.term : undefined;
    return this.#storage.term(index);
  }

  matches(index: LogIndex, term: Term): boolean {
    return this.term(index) === term;
  }

  /** Whether a log with this end is at least as complete as this one. Only then its node may lead (Raft paper, 5.4.1). */
  isUpToDate(lastIndex: LogIndex, lastTerm: Term): boolean {
    const ownTerm = this.lastTerm;
    return lastTerm > ownTerm || (lastTerm === ownTerm && lastIndex >= this.lastIndex);
  }

  /**
   * The highest place up to `index` where this log may agree with a log that has `term` at `index`. Terms never go down
   * along a log, so entries of a higher term can't be in both.
   */
  guessAgreement(index: LogIndex, term: Term): EntryId {
    let at = index;
    for (;;) {
      const own = this.term(at);
      if (own === undefined) return { index: at, term: NO_TERM };
      if (own <= term) return { index: at, term: own };
      at = indexBefore(at);
    }
  }

  /** Adds entries behind the end. Only the leader of their term calls it. */
  append(entries: readonly Entry[]): void {
    assert(entries[0]?.index === this.lastIndex + 1, 'appended behind a gap');
    for (const entry of entries) this.#unstable.push(entry);
  }

  /**
   * Merges the leader's entries, which begin behind a place where the logs agree. Entries that this log already has stay,
   * and so do all entries behind them, because the message may be an old one. Only a conflict cuts the log.
   */
  merge(entries: readonly Entry[]): void {
    const first = entries.findIndex((entry) => !this.matches(entry.index, entry.term));
    if (first === -1) return;
    const added = first === 0 ? entries : entries.slice(first);
    const from = added[0]!.index;
    assert(from > this.#committed, 'an entry conflicts with a committed one');
    assert(from <= this.lastIndex + 1, 'merged behind a gap');
    this.#unstable.length = Math.max(0, from - this.#offset);
    this.#offset = minIndex(this.#offset, from);
    this.#handedOut = minIndex(this.#handedOut, from);
    for (const entry of added) this.#unstable.push(entry);
  }

  /** Everything up to `index`, which is in the log, is committed. A lower index than before changes nothing. */
  commitTo(index: LogIndex): void {
    if (index <= this.#committed) return;
    assert(index <= this.lastIndex, 'committed behind the end of the log');
    this.#committed = index;
  }

  /** Replaces the whole log by a snapshot, which is committed. */
  restore(snapshot: Snapshot): void {
    assert(snapshot.index > this.#committed, 'a snapshot of what is committed already');
    this.#snapshot = snapshot;
    this.#snapshotHandedOut = false;
    this.#committed = snapshot.index;
    this.#unstable = [];
    this.#offset = indexAfter(snapshot.index);
    this.#handedOut = this.#offset;
  }

  /**
   * Entries from `from` on, up to `bytesMax`, at least one if there is any. `compacted`: they were dropped, so a snapshot is
   * needed. `loading`: storage is fetching them.
   */
  entries(from: LogIndex, bytesMax: number): readonly Entry[] | 'compacted' | 'loading' {
    return this.#slice(from, indexAfter(this.lastIndex), bytesMax);
  }

  /** Whether `matching` holds for an entry that is committed and not applied. `loading` if that is not known now. */
  someUnapplied(matching: (entry: Entry) => boolean): boolean | 'loading' {
    const end = indexAfter(this.#committed);
    let from = indexAfter(this.#applied);
    while (from < end) {
      const page = this.#slice(from, end, this.#applyingBytesMax);
      if (page === 'compacted' || page === 'loading') return 'loading';
      if (page.some(matching)) return true;
      from = indexAfter(from, page.length);
    }
    return false;
  }

  get hasUnpersisted(): boolean {
    return (this.#snapshot !== undefined && !this.#snapshotHandedOut) || this.#handedOut <= this.lastIndex;
  }

  /** Takes the snapshot and entries to persist that were not handed out. `persisted` must follow before the next call. */
  takeUnpersisted(): { readonly snapshot: Snapshot | undefined; readonly entries: readonly Entry[] } {
    const snapshot = this.#snapshotHandedOut ? undefined : this.#snapshot;
    const entries = this.#unstable.slice(this.#handedOut - this.#offset);
    this.#snapshotHandedOut = this.#snapshot !== undefined;
    this.#handedOut = indexAfter(this.lastIndex);
    return { snapshot, entries };
  }

  /**
   * Storage has the snapshot and entries taken last. Entries that were replaced since then do not count: `merge` and
   * `restore` have reset `#handedOut`, and the entries taken next replace storage's copy.
   */
  persisted(): void {
    const snapshot = this.#snapshotHandedOut ? this.#snapshot : undefined;
    if (snapshot !== undefined) {
      this.#snapshot = undefined;
      this.#snapshotHandedOut = false;
      // Entries that were handed out for applying before are part of the snapshot now.
      this.#applying = maxIndex(this.#applying, snapshot.index);
      this.appliedTo(maxIndex(this.#applied, snapshot.index));
    }
    this.#unstable = this.#unstable.slice(this.#handedOut - this.#offset);
    this.#offset = this.#handedOut;
    if (this.#snapshot !== undefined) return;
    assert(this.#storage.lastIndex() >= indexBefore(this.#offset), 'advanced before storage has the entries');
  }

  get hasCommitted(): boolean {
    return !this.#loading && this.#applying < this.#applicable && this.#applyingBytes < this.#applyingBytesMax;
  }

  /** Takes the next committed entries for the application. Empty at the bound, or while storage fetches them. */
  takeCommitted(): readonly Entry[] {
    if (!this.hasCommitted) return [];
    const room = this.#applyingBytesMax - this.#applyingBytes;
    const entries = this.#slice(indexAfter(this.#applying), indexAfter(this.#applicable), room);
    if (entries === 'loading') {
      this.#loading = true;
      return [];
    }
    assert(entries !== 'compacted', 'dropped from the log before it was applied');
    const last = entries.at(-1)!.index;
    const bytes = totalBytes(entries);
    this.#applying = last;
    this.#applyingBytes += bytes;
    this.#applyingBatches.push({ last, bytes });
    return entries;
  }

  /** Storage now has the entries in memory that it answered `loading` for. */
  loaded(): void {
    this.#loading = false;
  }

  /** A snapshot for a follower that needs dropped entries. */
  snapshot(): Snapshot | 'preparing' {
    const snapshot = this.#storage.snapshot();
    assert(snapshot === 'preparing' || snapshot.index >= this.firstIndex - 1, 'the snapshot leaves a gap to the log');
    return snapshot;
  }

  /** The application has applied everything up to `index`. */
  appliedTo(index: LogIndex): void {
    assert(index <= this.#applying, 'applied what was not handed out');
    if (index <= this.#applied) return;
    this.#applied = index;
    let done = 0;
    for (const { last, bytes } of this.#applyingBatches) {
      if (last > index) break;
      this.#applyingBytes -= bytes;
      done += 1;
    }
    this.#applyingBatches.splice(0, done);
  }

  /** The last index that is committed and persisted here. While a snapshot waits, no further entry is: it comes first. */
  get #applicable(): LogIndex {
    return this.#snapshot === undefined ? minIndex(this.#committed, indexBefore(this.#offset)) : this.#applying;
  }

  #slice(from: LogIndex, to: LogIndex, bytesMax: number): readonly Entry[] | 'compacted' | 'loading' {
    assert(to <= this.lastIndex + 1, 'a slice behind the end');
    if (from < this.firstIndex) return 'compacted';
    if (from >= to) return [];
    const unstable = this.#unstable.slice(Math.max(0, from - this.#offset), Math.max(0, to - this.#offset));
    if (from >= this.#offset) return limitBytes(unstable, bytesMax);
    const storedTo = minIndex(to, this.#offset);
    const stored = this.#storage.entries(from, storedTo, bytesMax);
    if (stored === 'loading' || stored.length < storedTo - from || unstable.length === 0) return stored;
    return limitBytes([...stored, ...unstable], bytesMax);
  }
}
