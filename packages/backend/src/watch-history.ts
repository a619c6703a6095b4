import {
  EngramError,
  EVENT_DELETE,
  EVENT_PUT,
  type EventGroup,
  type KeyRange,
  type KvEvent,
  type LogPosition,
  NO_LEASE,
  type Revision,
  revision,
} from '@engram/core';
import type { VersionSlot } from '@engram/index';
import type { Scanner } from '@engram/scanner';
import type { History, HistoryPage } from '@engram/watch-hub';
import type { ReplicatedState } from './replicated-state.ts';

const WINDOW_MIN = 4096;
const WINDOW_MAX = 1 << 20;
/** Eight pages may be read at a time: large values make them shorter, not the memory larger. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The past of a range, from the index: it knows every version that compaction has left, and passes over subtrees that
 * have not changed, so a watcher that comes back costs what changed in its range, not what changed in the store.
 */
export class WatchHistory implements History {
  readonly #state: ReplicatedState;
  readonly #scanner: Scanner;

  constructor(state: ReplicatedState, scanner: Scanner) {
    this.#state = state;
    this.#scanner = scanner;
  }

  get compactRevision(): Revision {
    return this.#state.compactRevision;
  }

  async read(
    range: KeyRange,
    from: Revision,
    to: Revision,
    groupsMax: number,
    prevKv: boolean,
    signal: AbortSignal,
  ): Promise<HistoryPage> {
    if (from < this.#state.compactRevision) throw new EngramError('Compacted');
    const { slots, next } = this.#select(range, from, to, groupsMax);
    const index = this.#state.index;
    const drafts = slots.map((slot) => draftOf(index, slot, this.#state.compactRevision));
    const positions: LogPosition[] = drafts.map((draft) => draft.position);
    if (prevKv) for (const draft of drafts) if (draft.prevPosition !== undefined) positions.push(draft.prevPosition);
    // The version before the first event may be read too, unless the compaction has made it invisible (see `draftOf`). No
    // pin is below the compaction, so that watchers who catch up steadily do not hold it back.
    const pinned = revision(Math.max(from - 1, this.#state.compactRevision));
    const kvs = await this.#scanner.versions(positions, pinned, signal);
    let prevAt = drafts.length;
    const groups: EventGroup[] = [];
    let events: KvEvent[] = [];
    for (let at = 0; at < drafts.length; at += 1) {
      const draft = drafts[at]!;
      const previous = prevKv && draft.prevPosition !== undefined ? kvs[prevAt++] : undefined;
      events.push({ ...draft, kv: kvs[at]!, prevKv: previous });
      if (drafts[at + 1]?.modRevision !== draft.modRevision) {
        groups.push({ revision: draft.modRevision, events });
        events = [];
      }
    }
    return { groups, next };
  }

  /** Whole revisions only, and no more of them than fit a page; the window grows where little has changed. */
  #select(
    range: KeyRange,
    from: Revision,
    to: Revision,
    groupsMax: number,
  ): { slots: readonly VersionSlot[]; next: Revision } {
    const index = this.#state.index;
    const found: VersionSlot[] = [];
    let groups = 0;
    let bytes = 0;
    let start = from;
    for (let window = WINDOW_MIN; start <= to; window = Math.min(window * 4, WINDOW_MAX)) {
      const end = revision(Math.min(to, start + window - 1));
      let last = revision(-1);
      for (const slot of index.changes(range, start, end)) {
        const mod = index.modRevision(slot);
        if (mod !== last) {
          if (groups === groupsMax || bytes > PAGE_BYTES_MAX) return { slots: found, next: mod };
          groups += 1;
          last = mod;
        }
        found.push(slot);
        bytes += index.bytes(slot);
      }
      start = revision(end + 1);
    }
    return { slots: found, next: start };
  }
}

type Draft = Omit<KvEvent, 'kv' | 'prevKv'>;

function draftOf(index: ReplicatedState['index'], slot: VersionSlot, compactRevision: Revision): Draft {
  // The version before counts as of the revision before the event: below the compaction it is gone, dropped yet or not.
  const before = index.modRevision(slot) > compactRevision ? index.previous(slot) : -1;
  const superseded = before >= 0 && !index.isTombstone(before) ? before : -1;
  const tombstone = index.isTombstone(slot);
  return {
    type: tombstone ? EVENT_DELETE : EVENT_PUT,
    key: index.key(slot),
    modRevision: index.modRevision(slot),
    sub: index.sub(slot),
    createRevision: index.createRevision(slot),
    version: index.version(slot),
    lease: tombstone ? NO_LEASE : index.lease(slot),
    position: index.position(slot),
    prevPosition: superseded >= 0 ? index.position(superseded) : undefined,
    prevModRevision: superseded >= 0 ? index.modRevision(superseded) : revision(0),
    prevLease: NO_LEASE,
  };
}
