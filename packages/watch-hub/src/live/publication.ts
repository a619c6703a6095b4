import type { EventGroup, Revision } from '@engram/core';
import type { Filter, Share } from '../events/group-shares.ts';
import { LargeGroup, type Stretches } from '../events/large-group.ts';
import type { LiveSet } from './live-set.ts';
import type { RangeNode } from './range-node.ts';
import { type Match, Run } from '../events/run.ts';
import { takesAll } from './live-set.ts';
import type { Sliced } from '../sliced.ts';
import type { WatcherState } from './watcher-state.ts';
import { MATCH_US, OFFER_US, type SliceLimits } from '../slice-limits.ts';

export interface PublicationOptions {
  readonly live: LiveSet;
  readonly sliced: Sliced;
  readonly limits: SliceLimits;
  /** Bytes of events in one offer to a sink. A larger group is offered alone. */
  readonly offerBytesMax: number;
}

/** Makes the run of a range for a filter. Cutting the events may take several turns. */
type RunMaker = (filter: Filter) => Run | Promise<Run>;

/**
 * Matches one batch against the live set and hands it to the watchers. An ordinary batch is matched and handed at once
 * (`matchAtOnce`, then `handAtOnce`). A large one is handed in slices (`inSlices`), while the set changes:
 *
 * - A watcher that leaves the set is skipped, and the last watcher of its range takes its index. So each watcher
 *   records the last revision that it was handed (`handed`), and the walk goes backwards: no unvisited watcher moves to
 *   an index that the walk has passed.
 * - A watcher that joins the set meanwhile must need no event of the batch; `WatchHub` ensures this. New watchers that
 *   need events of the batch read them from history once the hub's revision has moved.
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
  /** The preparation of a large offer that is under way. */
  #preparing: Promise<void> | undefined;
  /** The watcher for which the last large offer was prepared, so that its sink is not asked again. */
  #prepared: WatcherState | undefined;
  /** The ranges that match events of the portion. */
  #nodes: RangeNode[] = [];

  constructor(options: PublicationOptions, groups: readonly EventGroup[], revision: Revision) {
    this.#options = options;
    this.#groups = groups;
    this.#revision = revision;
  }

  /** Matches a first portion. Returns true if it is the whole batch and few enough watchers get events of it. */
  matchAtOnce(): boolean {
    const { atOnceUs } = this.#options.limits;
    if (!this.#matchPortion(atOnceUs)) return false;
    let watchers = 0;
    for (const node of this.#nodes) watchers += node.watchers.length;
    return watchers * OFFER_US <= atOnceUs;
  }

  /** Hands the batch, after `matchAtOnce` has returned true. */
  handAtOnce(): void {
    const { live, offerBytesMax } = this.#options;
    for (const node of this.#nodes) {
      const { watchers } = node;
      const matches = take(node);
      const runs: (Run | undefined)[] = [undefined, undefined, undefined, undefined];
      // Backwards, because watchers that cannot take the run leave during the walk.
      for (let at = watchers.length - 1; at >= 0; at -= 1) {
        const watcher = watchers[at]!;
        runs[watcher.filter] ??= Run.of(matches, watcher.filter, offerBytesMax);
        live.hand(watcher, runs[watcher.filter]!, this.#revision);
      }
    }
  }

  /**
   * Hands and matches the rest in slices, after `matchAtOnce` has returned false. The first slice runs within the call.
   */
  async inSlices(): Promise<void> {
    const { limits, offerBytesMax } = this.#options;
    for (;;) {
      for (const node of this.#nodes) {
        const matches = take(node);
        await this.#hand(node, (filter) => Run.of(matches, filter, offerBytesMax));
      }
      this.#nodes = [];
      const next = this.#groups[this.#at];
      if (next === undefined) return;
      if (this.#large) {
        this.#large = false;
        this.#at += 1;
        await this.#handLarge(next);
      } else {
        this.#matchPortion(limits.sliceUs);
      }
    }
  }

  /**
   * Matches ordinary groups up to the next large one, or until the time is used up. Returns true if no group is left.
   */
  #matchPortion(us: number): boolean {
    const { live, limits } = this.#options;
    const notesMax = limits.atOnceUs / MATCH_US;
    for (let spentUs = 0; spentUs < us; this.#at += 1) {
      const group = this.#groups[this.#at];
      if (group === undefined) return true;
      if (group.events.length >= limits.largeGroup) return this.#meetLarge();
      const noted = live.match(group, this.#nodes, notesMax);
      if (noted === undefined) return this.#meetLarge();
      spentUs += (noted + group.events.length) * MATCH_US;
    }
    return this.#at === this.#groups.length;
  }

  #meetLarge(): false {
    this.#large = true;
    return false;
  }

  async #handLarge(group: EventGroup): Promise<void> {
    const { live, sliced, limits } = this.#options;
    const large = await LargeGroup.of(group, sliced);
    for (const node of live.nodes()) {
      const stretches = large.within(node.range);
      if (sliced.spend(large.runs * MATCH_US)) await sliced.turn();
      if (stretches.length === 0) continue;
      if (large.cutEvents > limits.cutEventsMax && !large.has(stretches)) await this.#leave(node, group.revision);
      else await this.#hand(node, (filter) => this.#runOf(large, stretches, filter));
    }
  }

  #isLarge({ groups }: Share): boolean {
    return groups[0]!.events.length >= this.#options.limits.largeGroup;
  }

  async #runOf(large: LargeGroup, stretches: Stretches, filter: Filter): Promise<Run> {
    const share = await large.share(stretches, filter);
    return new Run(
      share === undefined ? [] : [share],
      this.#options.offerBytesMax,
      share !== undefined && this.#isLarge(share),
    );
  }

  /** Hands the range's run to all its watchers, some of which may leave meanwhile. */
  async #hand(node: RangeNode, make: RunMaker): Promise<void> {
    const { sliced } = this.#options;
    const runs: (Run | undefined)[] = [undefined, undefined, undefined, undefined];
    let at = node.watchers.length - 1;
    for (;;) {
      at = this.#handSome(node, at, runs);
      if (sliced.spent) {
        await sliced.turn();
        continue;
      }
      const watcher = node.watchers[at];
      if (watcher === undefined) return;
      const run = runs[watcher.filter];
      if (run === undefined) {
        const made = make(watcher.filter);
        runs[watcher.filter] = made instanceof Run ? made : await made;
      } else {
        await this.#preparing;
        this.#prepared = watcher;
      }
    }
  }

  /**
   * Hands the run backwards from index `from`. Stops when the slice is used up, or before a watcher whose run is not
   * made or whose sink is not ready. Returns the index of that watcher, or -1 at the end.
   */
  #handSome(node: RangeNode, from: number, runs: readonly (Run | undefined)[]): number {
    const { live, sliced } = this.#options;
    const last = this.#groups[this.#at - 1]!.revision;
    for (let at = Math.min(from, node.watchers.length - 1); at >= 0; at -= 1) {
      const watcher = node.watchers[at]!;
      if (watcher.handed >= last) continue;
      const run = runs[watcher.filter];
      if (run === undefined || sliced.spent || !this.#isReady(watcher, run)) return at;
      watcher.handed = last;
      live.hand(watcher, run, this.#revision);
      sliced.spend(OFFER_US);
    }
    return -1;
  }

  /** Whether the watcher's sink needs no preparation for the run, or has finished it. */
  #isReady(watcher: WatcherState, run: Run): boolean {
    if (!run.large || this.#prepared === watcher || !takesAll(watcher, run)) return true;
    this.#preparing = watcher.stream.prepare(watcher, run.offers[0]!);
    return this.#preparing === undefined;
  }

  /** Makes all watchers of a range that need the revision read it from history. */
  async #leave(node: RangeNode, revision: Revision): Promise<void> {
    const { live, sliced } = this.#options;
    for (let at = node.watchers.length - 1; at >= 0; at -= 1) {
      const watcher = node.watchers[at];
      if (watcher !== undefined && watcher.next <= revision) live.leave(watcher, revision);
      if (sliced.spend(OFFER_US)) await sliced.turn();
    }
  }
}

function take(node: RangeNode): readonly Match[] {
  const { matches } = node;
  node.matches = [];
  return matches;
}
