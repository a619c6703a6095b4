import { EVENT_PUT, type EventGroup, type KvEvent } from '@engram/core';

/** The kinds of event that a watcher does not want, as bits. Also the index into a table of four. */
export type Filter = number;
export const DROP_NOTHING: Filter = 0;
export const DROP_PUTS: Filter = 1;
export const DROP_DELETES: Filter = 2;

export function passes(filter: Filter, event: KvEvent): boolean {
  return (filter & (event.type === EVENT_PUT ? DROP_PUTS : DROP_DELETES)) === 0;
}

/**
 * The events of a revision for all watchers that matched the same ones. They get one object, so a sink encodes it once.
 */
export interface Subset {
  /** Exactly one group. All these watchers get the same array. */
  readonly groups: readonly EventGroup[];
  readonly puts: number;
  readonly deletes: number;
  /**
   * True if an event supersedes a version that was not loaded. A watcher with prevKv must read the group from history.
   */
  readonly prevKvMissing: boolean;
}

/** The subsets of one revision. A subset is made at its first use. */
export class GroupSubsets {
  readonly #group: EventGroup;
  readonly #whole: Subset;
  #byIndices: Map<string, Subset> | undefined;

  constructor(group: EventGroup) {
    this.#group = group;
    this.#whole = subsetOf(group);
  }

  /**
   * The events at these ascending indices (undefined: all), except the events that the filter drops. Returns undefined
   * if no event is left.
   */
  of(indices: readonly number[] | undefined, filter: Filter): Subset | undefined {
    const matched = indices === undefined ? this.#whole : this.#subset(indices);
    const dropped = (filter & DROP_PUTS ? matched.puts : 0) + (filter & DROP_DELETES ? matched.deletes : 0);
    if (dropped === 0) return matched;
    if (dropped === matched.puts + matched.deletes) return undefined;
    const { events } = this.#group;
    const all = indices ?? Array.from(events.keys());
    return this.#subset(all.filter((at) => passes(filter, events[at]!)));
  }

  #subset(indices: readonly number[]): Subset {
    if (indices.length === this.#group.events.length) return this.#whole;
    this.#byIndices ??= new Map();
    const id = indices.join();
    let subset = this.#byIndices.get(id);
    if (subset === undefined) {
      const events = indices.map((at) => this.#group.events[at]!);
      subset = subsetOf({ revision: this.#group.revision, events });
      this.#byIndices.set(id, subset);
    }
    return subset;
  }
}

/** Collects the counts of a subset, one event at a time. */
export class SubsetDraft {
  #puts = 0;
  #prevKvMissing = false;

  count(event: KvEvent): void {
    if (event.type === EVENT_PUT) this.#puts += 1;
    if (event.prevKv === undefined && event.prevPosition !== undefined) this.#prevKvMissing = true;
  }

  /** Makes the subset. `group` must have exactly the events that were counted. */
  subset(group: EventGroup): Subset {
    const puts = this.#puts;
    return { groups: [group], puts, deletes: group.events.length - puts, prevKvMissing: this.#prevKvMissing };
  }
}

function subsetOf(group: EventGroup): Subset {
  const draft = new SubsetDraft();
  for (const event of group.events) draft.count(event);
  return draft.subset(group);
}
