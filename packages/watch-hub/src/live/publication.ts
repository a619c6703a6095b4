import type { EventGroup, Revision } from '@engram/core';
import type { Job, PureJob, Turn } from '@engram/loop';
import type { Filter, Subset } from '../events/group-subsets.ts';
import { LargeGroup, type Stretches } from '../events/large-group.ts';
import { type Match, Delivery } from '../events/delivery.ts';
import type { WatchLimits } from '../limits.ts';
import { type LiveSet, takesAll } from './live-set.ts';
import type { RangeNode } from './range-node.ts';
import type { WatcherState } from './watcher-state.ts';

export interface PublicationOptions {
  readonly live: LiveSet;
  readonly turn: Turn;
  readonly limits: WatchLimits;
  /** Bytes of events in one offer to a sink. A larger group is offered alone. */
  readonly offerBytesMax: number;
}

/** The delivery of a range for each filter; undefined if it is not made yet. */
type Deliveries = (Delivery | undefined)[];

/**
 * Matches one batch against the live set and hands it to the watchers. An ordinary batch needs less than a slice. A longer
 * one gives way, and the set changes meanwhile:
 *
 * - A watcher that leaves the set is skipped, and the last watcher of its range takes its index. So each watcher
 *   records the last revision that it was handed (`handed`), and the walk goes backwards: no unvisited watcher moves to
 *   an index that the walk has passed.
 * - A watcher that joins the set meanwhile must need no event of the batch; `StreamState.start` ensures this. New watchers
 *   that need events of the batch read them from history once the hub's revision has moved.
 *
 * Revisions are handed in portions. Each portion is handed to all its watchers before the next is matched, which bounds
 * the recorded matches.
 */
export class Publication {
  readonly #options: PublicationOptions;
  readonly #groups: readonly EventGroup[];
  /** The store's revision after the batch. */
  readonly #revision: Revision;
  /** The index of the first group that is not matched yet. */
  #at = 0;
  /** True if the group at `#at` has very many events, or if too many ranges match its events. */
  #large = false;
  /** Matches of the portion, and events that were looked at. */
  #noted = 0;
  /** The portion is matched. */
  #matched = false;
  /** The ranges that match events of the portion. */
  #nodes: RangeNode[] = [];
  /** The index of the range that is being handed, its matches and deliveries, and the index of its next watcher. */
  #handing = 0;
  #matches: readonly Match[] | undefined;
  #deliveries: Deliveries = [];
  #next = -1;
  /** Whether the slice is used up. */
  #spent = false;
  /** The preparation of a large offer that is under way. */
  #preparing: Promise<void> | undefined;
  /** The watcher for which the last large offer was prepared, so that its sink is not asked again. */
  #prepared: WatcherState | undefined;

  constructor(options: PublicationOptions, groups: readonly EventGroup[], revision: Revision) {
    this.#options = options;
    this.#groups = groups;
    this.#revision = revision;
  }

  /** Does what a slice allows of ordinary revisions. Returns true if that is the whole batch; otherwise `rest` follows. */
  some(): boolean {
    for (;;) {
      if (!this.#matched && !this.#match()) return false;
      this.#matched = true;
      if (!this.#handPortion() || this.#large) return false;
      if (this.#at === this.#groups.length) return true;
      this.#begin();
    }
  }

  /** What `some` has left. */
  *rest(): Job<void> {
    do {
      if (this.#large && !this.#spent) yield* this.#handLarge();
      else yield;
      this.#spent = false;
    } while (!this.some());
  }

  /** Begins the next portion. */
  #begin(): void {
    this.#matched = false;
    this.#noted = 0;
  }

  /** Hands the portion to its watchers. Returns false if the slice is used up before. */
  #handPortion(): boolean {
    const { length } = this.#nodes;
    for (; this.#handing < length; this.#handing += 1) {
      const node = this.#nodes[this.#handing]!;
      if (this.#matches === undefined) {
        this.#matches = take(node);
        this.#deliveries = noDeliveries();
        this.#next = node.watchers.length - 1;
      }
      this.#next = this.#hand(node, this.#next, this.#deliveries, this.#matches);
      if (this.#next >= 0) return false;
      this.#matches = undefined;
      if (!this.#spent || this.#handing + 1 === length) continue;
      this.#handing += 1;
      return false;
    }
    this.#nodes = [];
    this.#handing = 0;
    return true;
  }

  /**
   * Matches ordinary groups up to the next large one, or until the portion is full. Returns false if the slice is used up
   * before.
   */
  #match(): boolean {
    const { live, limits, turn } = this.#options;
    for (let asked = this.#noted; this.#noted < limits.matchesMax; ) {
      const group = this.#groups[this.#at];
      if (group === undefined) return true;
      const { length } = group.events;
      const noted = length >= limits.largeGroup ? undefined : live.match(group, this.#nodes, limits.matchesMax);
      if (noted === undefined) {
        this.#large = true;
        return true;
      }
      this.#at += 1;
      this.#noted += noted + length;
      if (this.#noted - asked < limits.stride) continue;
      if (turn.shouldYield(this.#noted - asked)) return false;
      asked = this.#noted;
    }
    return true;
  }

  *#handLarge(): Job<void> {
    const { live, limits, turn } = this.#options;
    const group = this.#groups[this.#at]!;
    this.#large = false;
    this.#at += 1;
    this.#begin();
    const large = yield* LargeGroup.of(group, turn, limits.stride);
    for (const node of live.nodes()) {
      const stretches = large.within(node.range);
      if (turn.shouldYield(large.runs)) yield;
      if (stretches.length === 0) continue;
      if (large.cutEvents > limits.cutEventsMax && !large.has(stretches)) yield* this.#leave(node, group.revision);
      else yield* this.#handParts(node, large, stretches);
    }
  }

  /** Hands the part of a large revision that a range matches to all its watchers. */
  *#handParts(node: RangeNode, large: LargeGroup, stretches: Stretches): Job<void> {
    const deliveries = noDeliveries();
    let at = node.watchers.length - 1;
    for (;;) {
      at = this.#hand(node, at, deliveries);
      if (this.#spent) {
        yield;
        continue;
      }
      const watcher = node.watchers[at];
      if (watcher === undefined) return;
      if (deliveries[watcher.filter] === undefined) {
        deliveries[watcher.filter] = yield* this.#deliveryOf(large, stretches, watcher.filter);
      } else {
        yield this.#preparing;
        this.#prepared = watcher;
      }
    }
  }

  /**
   * Hands a delivery backwards from index `from`, to some watchers that may leave meanwhile. Stops when the slice is used up
   * (`#spent`), or before a watcher whose delivery is not made or whose sink is not ready. Returns the index of the next
   * watcher, or -1 at the end. With `matches`, it makes the deliveries itself.
   */
  #hand(node: RangeNode, from: number, deliveries: Deliveries, matches?: readonly Match[]): number {
    const { live, turn, limits, offerBytesMax } = this.#options;
    const last = this.#groups[this.#at - 1]!.revision;
    let handed = 0;
    let at = Math.min(from, node.watchers.length - 1);
    this.#spent = false;
    for (; at >= 0 && !this.#spent; at -= 1) {
      const watcher = node.watchers[at]!;
      if (watcher.handed >= last) continue;
      if (matches !== undefined) deliveries[watcher.filter] ??= Delivery.of(matches, watcher.filter, offerBytesMax);
      const delivery = deliveries[watcher.filter];
      if (delivery === undefined || !this.#isReady(watcher, delivery)) return at;
      watcher.handed = last;
      live.hand(watcher, delivery, this.#revision);
      handed += 1;
      if (handed < limits.stride) continue;
      this.#spent = turn.shouldYield(handed);
      handed = 0;
    }
    if (handed > 0) this.#spent = turn.shouldYield(handed);
    return at;
  }

  /** Whether the watcher's sink needs no preparation for the delivery, or has finished it. */
  #isReady(watcher: WatcherState, delivery: Delivery): boolean {
    if (!delivery.large || this.#prepared === watcher || !takesAll(watcher, delivery)) return true;
    this.#preparing = watcher.stream.prepare(watcher, delivery.offers[0]!);
    return this.#preparing === undefined;
  }

  *#deliveryOf(large: LargeGroup, stretches: Stretches, filter: Filter): PureJob<Delivery> {
    const subset = yield* large.subset(stretches, filter);
    const { offerBytesMax } = this.#options;
    return subset === undefined
      ? new Delivery([], offerBytesMax)
      : new Delivery([subset], offerBytesMax, this.#isLarge(subset));
  }

  #isLarge({ groups }: Subset): boolean {
    return groups[0]!.events.length >= this.#options.limits.largeGroup;
  }

  /** Makes all watchers of a range that need the revision read it from history. */
  *#leave(node: RangeNode, revision: Revision): PureJob<void> {
    const { live, turn } = this.#options;
    for (let at = node.watchers.length - 1; at >= 0; at -= 1) {
      const watcher = node.watchers[at];
      if (watcher !== undefined && watcher.next <= revision) live.leave(watcher, revision);
      if (turn.shouldYield()) yield;
    }
  }
}

const noDeliveries = (): Deliveries => [undefined, undefined, undefined, undefined];

function take(node: RangeNode): readonly Match[] {
  const { matches } = node;
  node.matches = [];
  return matches;
}
