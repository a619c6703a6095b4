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
import { type Job, type Loop, type PureJob, settled, type Turn } from '@engram/loop';
import type { Scanner } from '@engram/scanner';
import type { History, HistoryPage } from '@engram/watch-hub';
import type { ReplicatedState } from '../apply/replicated-state.ts';

const WINDOW_MIN = 4096;
const WINDOW_MAX = 1 << 20;
/** Bytes of a page. Eight pages may be read at a time, so large values make a page shorter instead of using more memory. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Versions that are read in one call. */
const READ_VERSIONS = 1024;

export interface WatchHistoryOptions {
  readonly state: ReplicatedState;
  readonly scanner: Scanner;
  readonly loop: Loop;
}

/**
 * Reads the past of a range from the index. The index knows every version that compaction has left, and skips
 * subtrees that have not changed. So the cost of a watcher that comes back depends on the changes in its range, not
 * on all changes in the store. A page holds whole revisions, which may have very many events, so it is made by a job of the
 * loop, in the name of the client that watches.
 */
export class WatchHistory implements History {
  readonly #state: ReplicatedState;
  readonly #scanner: Scanner;
  readonly #loop: Loop;

  constructor({ state, scanner, loop }: WatchHistoryOptions) {
    this.#state = state;
    this.#scanner = scanner;
    this.#loop = loop;
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
    client: object | string,
  ): Promise<HistoryPage> {
    const { compactRevision } = this.#state;
    if (from < compactRevision) throw new EngramError('Compacted');
    // The version before the first event may be read too, unless the compaction has made it invisible (see
    // `draftOf`). The pin is never below the compact revision, so that watchers that catch up steadily do not delay a
    // compaction.
    const pinned = revision(Math.max(from - 1, compactRevision));
    const task = { work: 'catch-up', caller: client, stage: 'history' } as const;
    const reading = this.#page(range, from, to, groupsMax, prevKv, pinned, signal);
    return this.#scanner.pinned(pinned, () => this.#loop.run(task, reading, signal));
  }

  *#page(
    range: KeyRange,
    from: Revision,
    to: Revision,
    groupsMax: number,
    prevKv: boolean,
    pinned: Revision,
    signal: AbortSignal,
  ): Job<HistoryPage> {
    const loop = this.#loop;
    const { drafts, next } = yield* this.#drafts(range, from, to, groupsMax);
    const positions: LogPosition[] = [];
    for (const { position } of drafts) positions.push(position);
    if (prevKv) for (const { prevPosition } of drafts) if (prevPosition !== undefined) positions.push(prevPosition);
    const kvs: Uint8Array[] = [];
    for (let at = 0; at < positions.length; at += READ_VERSIONS) {
      const part = positions.slice(at, at + READ_VERSIONS);
      const read = Promise.resolve(this.#scanner.versions(part, pinned, signal));
      for (const kv of yield* settled(read)) kvs.push(kv);
      if (loop.shouldYield(part.length)) yield;
    }
    return { groups: yield* groupsOf(drafts, kvs, prevKv, loop), next };
  }

  *#drafts(
    range: KeyRange,
    from: Revision,
    to: Revision,
    groupsMax: number,
  ): PureJob<{ readonly drafts: readonly Draft[]; readonly next: Revision }> {
    const { index, compactRevision } = this.#state;
    const { slots, next } = yield* this.#select(range, from, to, groupsMax);
    const drafts: Draft[] = [];
    for (const slot of slots) {
      drafts.push(draftOf(index, slot, compactRevision));
      if (this.#loop.shouldYield()) yield;
    }
    return { drafts, next };
  }

  /** Selects whole revisions, and no more of them than fit a page. The window grows while little has changed. */
  *#select(
    range: KeyRange,
    from: Revision,
    to: Revision,
    groupsMax: number,
  ): PureJob<{ readonly slots: readonly VersionSlot[]; readonly next: Revision }> {
    const index = this.#state.index;
    const found: VersionSlot[] = [];
    let groups = 0;
    let bytes = 0;
    let start = from;
    for (let window = WINDOW_MIN; start <= to; window = Math.min(window * 4, WINDOW_MAX)) {
      const end = revision(Math.min(to, start + window - 1));
      let last = revision(-1);
      for (const slot of yield* index.changes(range, start, end, this.#loop)) {
        const mod = index.modRevision(slot);
        if (mod !== last) {
          if (groups === groupsMax || bytes > PAGE_BYTES_MAX) return { slots: found, next: mod };
          groups += 1;
          last = mod;
        }
        found.push(slot);
        bytes += index.bytes(slot);
        if (this.#loop.shouldYield()) yield;
      }
      start = revision(end + 1);
    }
    return { slots: found, next: start };
  }
}

type Draft = Omit<KvEvent, 'kv' | 'prevKv'>;

/** `kvs` has the KeyValues of all drafts, followed by those of the versions that the drafts supersede. */
function* groupsOf(
  drafts: readonly Draft[],
  kvs: readonly Uint8Array[],
  prevKv: boolean,
  turn: Turn,
): PureJob<readonly EventGroup[]> {
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
    if (turn.shouldYield()) yield;
  }
  return groups;
}

function draftOf(index: ReplicatedState['index'], slot: VersionSlot, compactRevision: Revision): Draft {
  // The previous version is read as of the revision before the event. Below the compact revision it is gone, whether
  // it is dropped yet or not.
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
