import { EVENT_DELETE, type KeyRange, type KvEvent, rangeContains, type Revision } from '@engram/core';
import type { LoggedWrite, ModelEvent, StoreHistory } from '@engram/sim/model';
import { isVersion, sameBytes, textOfBytes, textOfKv } from './answers.ts';
import { expectThat, Finding } from './finding.ts';

/** A client's request for a watch. */
export interface Watched {
  readonly name: string;
  readonly range: KeyRange;
  readonly prevKv: boolean;
  readonly noPut: boolean;
  readonly noDelete: boolean;
}

/** What a client sees of an event, and of the events of a revision. */
export type SeenEvent = Pick<KvEvent, 'type' | 'modRevision' | 'kv' | 'prevKv'>;

export interface SeenGroup {
  readonly revision: Revision;
  readonly events: readonly SeenEvent[];
}

/**
 * Judges one watch of one client over all its streams. Events must come in order, each exactly once, and revisions
 * whole. Progress must not come before an event at or below it.
 */
export class WatchJudge {
  readonly watched: Watched;
  readonly #history: StoreHistory;
  #next: number;
  /** Lower bound of the compact revision of the history that serves the watch now. */
  #compactRevision = -1;

  /** `next` is the first revision that the watch must see. */
  constructor(history: StoreHistory, watched: Watched, next: number) {
    this.#history = history;
    this.watched = watched;
    this.#next = next;
  }

  /** The watch begins or resumes at a node with this compact revision. Another node may be behind with compactions. */
  begins(compactRevision: number): void {
    this.#compactRevision = compactRevision;
  }

  /** The start revision for a resumed watch. */
  get next(): number {
    return this.#next;
  }

  events(groups: readonly SeenGroup[], header: number): void {
    for (const group of groups) {
      expectThat(
        group.revision <= header,
        'watch',
        () => `${this.#name}: revision ${group.revision} under header ${header}`,
      );
      this.#group(group);
    }
    this.#checkDurable(header);
  }

  #group({ revision, events }: SeenGroup): void {
    expectThat(revision >= this.#next, 'watch', () => `${this.#name}: revision ${revision} comes again, or too late`);
    this.#checkDurable(revision);
    this.#checkSkipped(revision - 1, `revision ${revision} came`);
    const expected = this.#matches(this.#history.writeOf(revision));
    expectThat(
      events.length === expected.length,
      'watch',
      () => `${this.#name}: revision ${revision} has ${events.length} events, not ${expected.map(({ key }) => key)}`,
    );
    for (const [at, event] of events.entries()) this.#event(event, expected[at]!);
    this.#next = revision + 1;
  }

  #event(event: SeenEvent, expected: ModelEvent): void {
    const deleted = event.type === EVENT_DELETE;
    expectThat(
      deleted === expected.deleted && sameBytes(event.kv, expected.kv),
      'watch',
      () => `${this.#name}: event ${textOfBytes(event.kv)} at ${event.modRevision}, not ${textOfKv(expected)}`,
    );
    if (!this.watched.prevKv) return;
    const prev = this.#history.live(expected.key, expected.mod - 1);
    if (event.prevKv === undefined) {
      // Only compaction may remove the superseded version.
      expectThat(
        prev === undefined || expected.mod <= this.#history.compactRevision,
        'watch',
        () => `${this.#name}: no prev_kv at ${expected.mod}, and it was ${textOfKv(prev!)}`,
      );
      return;
    }
    // The revision before the event is compacted, so etcd does not send prev_kv, even if the version is not dropped
    // yet.
    expectThat(
      expected.mod > this.#compactRevision,
      'watch',
      () => `${this.#name}: prev_kv at ${expected.mod}, and it began compacted at ${this.#compactRevision}`,
    );
    expectThat(
      prev !== undefined && isVersion(event.prevKv, prev),
      'watch',
      () =>
        `${this.#name}: prev_kv ${textOfBytes(event.prevKv!)} at ${expected.mod}, not ${prev === undefined ? 'none' : textOfKv(prev)}`,
    );
  }

  progress(revision: number): void {
    this.#checkDurable(revision);
    this.#checkSkipped(revision, `progress ${revision} came`);
    this.#next = Math.max(this.#next, revision + 1);
  }

  /** The watch has ended, because revisions that it has not seen are compacted. */
  compacted(compactRevision: number): void {
    expectThat(
      compactRevision <= this.#history.compactRevision,
      'watch',
      () => `${this.#name}: compacted at ${compactRevision}, and the log says ${this.#history.compactRevision}`,
    );
    expectThat(
      this.#next < compactRevision,
      'watch',
      () => `${this.#name}: compacted at ${compactRevision}, and all before it was seen`,
    );
    this.#next = compactRevision;
  }

  /** Checks that all events have arrived. */
  checkComplete(): void {
    this.#checkSkipped(this.#history.revision, 'all was quiet');
  }

  #checkDurable(revision: number): void {
    expectThat(
      revision <= this.#history.revision,
      'watch',
      () => `${this.#name}: revision ${revision}, and the log ends at ${this.#history.revision}`,
    );
  }

  #checkSkipped(upTo: number, when: string): void {
    for (const write of this.#history.changes(this.#next, upTo)) {
      const missed = this.#matches(write)[0];
      if (missed !== undefined)
        throw new Finding('watch', `${this.#name}: ${when} without ${textOfKv(missed)} of revision ${write.revision}`);
    }
  }

  #matches(write: LoggedWrite | undefined): readonly ModelEvent[] {
    const { range, noPut, noDelete } = this.watched;
    return (write?.events ?? []).filter(
      ({ keyBytes, deleted }) => !(deleted ? noDelete : noPut) && rangeContains(range, keyBytes),
    );
  }

  get #name(): string {
    return this.watched.name;
  }
}
