import { assert, type EventGroup, type Revision } from '@engram/core';

export interface BacklogLimits {
  /** Revisions in the backlog of one watcher. */
  readonly groupsMax: number;
  /** Bytes in the backlog of one watcher. */
  readonly bytesMax: number;
  /** Bytes in all backlogs together. */
  readonly totalBytesMax: number;
}

/** What the objects of an event take in memory beside the bytes that they refer to, with those of a group of its own. */
const EVENT_OVERHEAD_BYTES = 430;

/** What was published for a watcher since its read of history began. */
export class Backlog {
  readonly groups: EventGroup[] = [];
  events = 0;
  bytes = 0;
  /** The first match that it has no room for; nothing from it on is in it. */
  end: Revision | undefined;
}

/**
 * All backlogs of a hub, and the one account of what they hold. Bytes that two of them share count twice. What finds no
 * room is not lost: it is the end of its backlog, and comes from history.
 */
export class Backlogs {
  readonly #limits: BacklogLimits;
  #events = 0;
  #bytes = 0;

  constructor(limits: BacklogLimits) {
    this.#limits = limits;
  }

  get events(): number {
    return this.#events;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False: there is no room. */
  push(backlog: Backlog, group: EventGroup): boolean {
    assert(backlog.end === undefined, 'a backlog goes on behind its end');
    const { groupsMax, bytesMax, totalBytesMax } = this.#limits;
    if (backlog.groups.length === groupsMax) return false;
    const room = Math.min(bytesMax - backlog.bytes, totalBytesMax - this.#bytes);
    const bytes = heldBytes(group, room);
    if (bytes > room) return false;
    backlog.groups.push(group);
    backlog.events += group.events.length;
    backlog.bytes += bytes;
    this.#events += group.events.length;
    this.#bytes += bytes;
    return true;
  }

  /** Its groups are the caller's from now on. */
  release(backlog: Backlog): void {
    this.#events -= backlog.events;
    this.#bytes -= backlog.bytes;
    assert(this.#events >= 0 && this.#bytes >= 0, 'a backlog was released twice');
  }
}

/** Counts no further than to the first number above `enough`: a revision may have very many events. */
function heldBytes({ events }: EventGroup, enough: number): number {
  let bytes = 0;
  for (let at = 0; at < events.length && bytes <= enough; at += 1) {
    const { kv, prevKv } = events[at]!;
    bytes += EVENT_OVERHEAD_BYTES + kv.length + (prevKv?.length ?? 0);
  }
  return bytes;
}
