import { EVENT_DELETE, type EventGroup, type KeyRange, type KvEvent, rangeContains } from '@engram/core';
import type { LoggedWrite, ModelEvent, StoreHistory } from '@engram/sim/model';
import { isVersion, sameBytes, textOfBytes, textOfKv } from './answers.ts';
import { expectThat, Finding } from './finding.ts';

/** What a client asked a watch for. */
export interface Watched {
  readonly name: string;
  readonly range: KeyRange;
  readonly prevKv: boolean;
  readonly noPut: boolean;
  readonly noDelete: boolean;
}

/**
 * What one client has seen of one watch, over all its streams: events in order, each once, none left out, revisions
 * whole; a progress mark never before an event at or below it.
 */
export class WatchJudge {
  readonly watched: Watched;
  readonly #history: StoreHistory;
  #next: number;
  /** The history that it is served from now is compacted so far at least. */
  #compactRevision = -1;

  /** `next`: the first revision that it is to see. */
  constructor(history: StoreHistory, watched: Watched, next: number) {
    this.#history = history;
    this.watched = watched;
    this.#next = next;
  }

  /** It begins, or goes on, at a node that is compacted so far. Another node may be compacted less: it has yet to apply that. */
  begins(compactRevision: number): void {
    this.#compactRevision = compactRevision;
  }

  /** What a client that comes back asks for. */
  get next(): number {
    return this.#next;
  }

  events(groups: readonly EventGroup[], header: number): void {
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

  #group({ revision, events }: EventGroup): void {
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

  #event(event: KvEvent, expected: ModelEvent): void {
    const deleted = event.type === EVENT_DELETE;
    expectThat(
      deleted === expected.deleted && sameBytes(event.kv, expected.kv),
      'watch',
      () => `${this.#name}: event ${textOfBytes(event.kv)} at ${event.modRevision}, not ${textOfKv(expected)}`,
    );
    if (!this.watched.prevKv) return;
    const prev = this.#history.live(expected.key, expected.mod - 1);
    if (event.prevKv === undefined) {
      // Compaction may have taken it; nothing else may.
      expectThat(
        prev === undefined || expected.mod <= this.#history.compactRevision,
        'watch',
        () => `${this.#name}: no prev_kv at ${expected.mod}, and it was ${textOfKv(prev!)}`,
      );
      return;
    }
    // As of the revision before the event, which is compacted: etcd says nothing of it, dropped yet or not.
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

  /** The watch has ended, because what it has not seen is gone. */
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

  /** All that has happened must have come by now. */
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
