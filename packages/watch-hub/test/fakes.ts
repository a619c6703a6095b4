import {
  type CommittedBatch,
  EMPTY_BYTES,
  EngramError,
  EVENT_DELETE,
  EVENT_PUT,
  type EventGroup,
  keyText,
  type KvEvent,
  logPosition,
  NO_LEASE,
  NO_REVISION,
  prefixRange,
  rangeContains,
  type KeyRange,
  revision,
  type Revision,
  utf8,
} from '@engram/core';
import type { SimClock } from '@engram/sim';
import type { History, HistoryPage, Watcher, WatchRequest, WatchSink } from '@engram/watch-hub';

/** A change as tests write it: the key, with `-` before it if the key is deleted. */
export type Change = string;

/** A fake store. It keeps every group from revision 2 on, and the mod revisions of the existing keys. */
export class FakeStore implements History {
  readonly groups: EventGroup[] = [];
  revision: Revision = revision(1);
  compactRevision: Revision = NO_REVISION;
  readonly #modRevisions = new Map<string, Revision>();
  /** A page holds at most this many groups, even if the read allows more. */
  pageGroupsMax = Number.POSITIVE_INFINITY;
  /** A page scans at most this many revisions. So it may end early, even without a match. */
  pageRevisionsMax = Number.POSITIVE_INFINITY;
  reads: { readonly from: Revision; readonly to: Revision; settle: (failure?: Error) => void; signal: AbortSignal }[] =
    [];
  /** The last revision that history has: normally the hub's. */
  readMax = (): Revision => this.revision;
  readonly #auto: boolean;

  /**
   * With `auto` reads settle by themselves in a later microtask. Otherwise the test calls `settle` of each of `reads`.
   */
  constructor(options: { readonly auto: boolean }) {
    this.#auto = options.auto;
  }

  /** Commits one revision with these changes. Loads the superseded version of each key for which `prevKv` returns true. */
  commit(changes: readonly Change[], prevKv: (key: Uint8Array) => boolean): CommittedBatch {
    const next = revision(this.revision + 1);
    const events = changes.map((change, sub) => this.#event(change, next, sub, prevKv));
    const group = { revision: next, events };
    this.groups.push(group);
    this.revision = next;
    return { groups: [group], revision: next };
  }

  #event(change: Change, modRevision: Revision, sub: number, prevKv: (key: Uint8Array) => boolean): KvEvent {
    const deleted = change.startsWith('-');
    const key = utf8(deleted ? change.slice(1) : change);
    const prev = this.#modRevisions.get(keyText(key));
    if (deleted) this.#modRevisions.delete(keyText(key));
    else this.#modRevisions.set(keyText(key), modRevision);
    return {
      type: deleted ? EVENT_DELETE : EVENT_PUT,
      key,
      modRevision,
      sub,
      createRevision: modRevision,
      version: 1,
      lease: NO_LEASE,
      kv: utf8(`${change}@${modRevision}`),
      position: logPosition(modRevision),
      prevPosition: prev === undefined ? undefined : logPosition(prev),
      prevModRevision: prev ?? revision(0),
      prevLease: NO_LEASE,
      prevKv: prev !== undefined && prevKv(key) ? utf8(`prev@${prev}`) : undefined,
    };
  }

  read(
    range: KeyRange,
    from: Revision,
    to: Revision,
    groupsMax: number,
    prevKv: boolean,
    signal: AbortSignal,
  ): Promise<HistoryPage> {
    if (to > this.readMax() || from > to) throw new Error('read of the future');
    return new Promise((resolve, reject) => {
      const read = {
        from,
        to,
        signal,
        settle: (failure?: Error) => {
          this.reads = this.reads.filter((other) => other !== read);
          if (failure !== undefined) reject(failure);
          else if (from < this.compactRevision) reject(new EngramError('Compacted'));
          else resolve(this.#page(range, from, to, Math.min(groupsMax, this.pageGroupsMax), prevKv));
        },
      };
      this.reads.push(read);
      if (this.#auto) queueMicrotask(() => read.settle());
    });
  }

  #page(range: KeyRange, from: Revision, to: Revision, groupsMax: number, prevKv: boolean): HistoryPage {
    const groups: EventGroup[] = [];
    for (let at = from; at <= to; at = revision(at + 1)) {
      const group = this.groups[at - 2];
      if (at - from === this.pageRevisionsMax) return { groups, next: at };
      if (group === undefined) continue; // revision 1 has no events
      const events = group.events.filter(({ key }) => rangeContains(range, key));
      if (events.length === 0) continue;
      if (groups.length === groupsMax) return { groups, next: at };
      groups.push({ revision: at, events: prevKv ? events.map(withPrevKv) : events });
    }
    return { groups, next: revision(to + 1) };
  }
}

function withPrevKv(event: KvEvent): KvEvent {
  if (event.prevPosition === undefined || event.prevKv !== undefined) return event;
  return { ...event, prevKv: utf8(`prev@${event.prevModRevision}`) };
}

/** Records each call as one line, in the format of `text`. */
export class FakeSink implements WatchSink {
  lines: string[] = [];
  groups: EventGroup[] = [];
  /** The number of calls of `events` that the sink accepts before it refuses. */
  room = Number.POSITIVE_INFINITY;

  events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean {
    if (this.room === 0) {
      this.lines.push(`${watcher.watchId} refused`);
      return false;
    }
    this.room -= 1;
    this.groups.push(...groups);
    this.lines.push(`${watcher.watchId} ${groups.map(text).join(' ')} header ${headerRevision}`);
    return true;
  }

  compacted(watcher: Watcher, compactRevision: Revision): void {
    this.lines.push(`${watcher.watchId} compacted ${compactRevision}`);
  }

  progress(watcher: Watcher | undefined, revision: Revision): void {
    this.lines.push(`${watcher?.watchId ?? 'all'} progress ${revision}`);
  }

  failed(cause: unknown): void {
    this.lines.push(`failed ${cause instanceof Error ? cause.message : String(cause)}`);
  }

  /** Returns and clears the recorded lines. */
  take(): readonly string[] {
    const { lines } = this;
    this.lines = [];
    return lines;
  }
}

export function text(group: EventGroup): string {
  return `${group.revision}:${group.events.map(eventText).join('+')}`;
}

function eventText({ type, key, prevKv }: KvEvent): string {
  const prev = prevKv === undefined ? '' : `(${Buffer.from(prevKv).toString()})`;
  return `${type === EVENT_DELETE ? '-' : ''}${keyText(key)}${prev}`;
}

/** `a`: the key; `a*`: the prefix; `*`: everything; `a..c`: from a to below c. */
export function range(pattern: string): KeyRange {
  if (pattern.endsWith('*')) return prefixRange(utf8(pattern.slice(0, -1)));
  const [key, end] = pattern.split('..');
  return { key: utf8(key!), end: end === undefined ? EMPTY_BYTES : utf8(end) };
}

export function request(pattern: string, options: Partial<Omit<WatchRequest, 'range'>> = {}): WatchRequest {
  return {
    range: range(pattern),
    startRevision: revision(0),
    prevKv: false,
    progressNotify: false,
    noPut: false,
    noDelete: false,
    fragment: false,
    watchId: 0,
    ...options,
  };
}

/** Waits for all queued microtasks and for microtasks that these queue, 50 levels deep. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

/** Runs the next turn of the event loop. Returns false if no callback waits for one. */
export function turn(clock: SimClock): boolean {
  const { scheduler } = clock;
  return scheduler.nextMs !== undefined && scheduler.nextMs <= scheduler.nowMs && scheduler.step();
}
