import { assert, type EventGroup, type Revision } from '@engram/core';

export interface BacklogLimits {
  /** Revisions in the backlog of one watcher. */
  readonly groupsMax: number;
  /** Bytes in the backlog of one watcher. */
  readonly bytesMax: number;
  /** Bytes in all backlogs together. */
  readonly totalBytesMax: number;
}

/** Memory of the objects of one event and its group. The bytes that the event refers to are counted separately. */
const EVENT_OVERHEAD_BYTES = 430;

/** The matches published for one watcher since its read of history began. */
export class Backlog {
  readonly groups: EventGroup[] = [];
  events = 0;
  bytes = 0;
  /** The backlog holds no match at or above this revision. Undefined if it holds every match since the read began. */
  end: Revision | undefined;
}

/**
 * All backlogs of a hub, and the count of the memory they hold. Bytes that two backlogs share are counted twice. A
 * match that finds no room is not lost: the backlog ends before it, and the watcher reads it from history.
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

  /** Returns false if there is no room. */
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

  /** Takes the backlog out of the count. The caller owns its groups from then on. */
  release(backlog: Backlog): void {
    this.#events -= backlog.events;
    this.#bytes -= backlog.bytes;
    assert(this.#events >= 0 && this.#bytes >= 0, 'a backlog was released twice');
  }
}

/** Bytes of a group. Stops counting above `enough`, because one revision may have very many events. */
function heldBytes({ events }: EventGroup, enough: number): number {
  let bytes = 0;
  for (let at = 0; at < events.length && bytes <= enough; at += 1) {
    const { kv, prevKv } = events[at]!;
    bytes += EVENT_OVERHEAD_BYTES + kv.length + (prevKv?.length ?? 0);
  }
  return bytes;
}
