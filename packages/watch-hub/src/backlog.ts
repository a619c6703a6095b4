import { assert, type EventGroup, type Revision } from '@engram/core';

export interface BacklogLimits {
  /** Revisions in the backlog of one watcher. */
  readonly groupsMax: number;
  /** Bytes in the backlog of one watcher. */
  readonly bytesMax: number;
  /** Bytes in all backlogs together. */
  readonly totalBytesMax: number;
}

/**
 * Memory taken by the objects of one event, those of its group included. The bytes that the event refers to are counted
 * apart.
 */
const EVENT_OVERHEAD_BYTES = 430;

/** What was published for one watcher since its read of history began. */
export class Backlog {
  readonly groups: EventGroup[] = [];
  events = 0;
  bytes = 0;
  /** The revision of the first match that found no room. The backlog holds nothing from it on. */
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

  /** Takes the backlog out of the count. From now on the caller owns its groups. */
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
