import { assert, type EventGroup, type KeyRange, keyText, type Random, type Revision } from '@engram/core';
import type { Backlogs } from './backlog.ts';
import { GroupSubsets, type Subset } from '../events/group-subsets.ts';
import { IntervalTree } from './interval-tree.ts';
import { RangeNode, rangeId } from './range-node.ts';
import type { Delivery } from '../events/delivery.ts';
import type { WatcherState } from './watcher-state.ts';

export interface LiveSetOptions {
  readonly random: Random;
  readonly backlogs: Backlogs;
  /** Called for a watcher that has left the set. It was sent no event at or above `next`. */
  readonly behind: (watcher: WatcherState, next: Revision) => void;
}

/**
 * The watchers that get published events. Live watchers are offered their matches directly. The matches of a watcher
 * that reads history go to its backlog. A watcher that cannot take a group leaves the set and must be served from
 * history, from the group's revision on.
 */
export class LiveSet {
  readonly #random: Random;
  readonly #backlogs: Backlogs;
  readonly #behind: (watcher: WatcherState, next: Revision) => void;
  readonly #points = new Map<string, RangeNode>();
  readonly #ranges = new Map<string, RangeNode>();
  readonly #tree = new IntervalTree<RangeNode>();
  #size = 0;
  #prevKvWatchers = 0;

  constructor(options: LiveSetOptions) {
    this.#random = options.random;
    this.#backlogs = options.backlogs;
    this.#behind = options.behind;
  }

  get size(): number {
    return this.#size;
  }

  add(watcher: WatcherState): void {
    assert(watcher.node === undefined, 'added to the live set twice');
    const node = this.#nodeOf(watcher.request.range);
    const { marked } = node;
    node.add(watcher);
    if (node.marked !== marked && !node.point) this.#tree.remark(node);
    this.#size += 1;
    if (watcher.request.prevKv) this.#prevKvWatchers += 1;
  }

  /** Does nothing if the watcher is not in the set. */
  remove(watcher: WatcherState): void {
    const { node } = watcher;
    if (node === undefined) return;
    const { marked } = node;
    node.remove(watcher);
    this.#size -= 1;
    if (watcher.request.prevKv) this.#prevKvWatchers -= 1;
    if (node.watchers.length > 0) {
      if (node.marked !== marked && !node.point) this.#tree.remark(node);
    } else if (node.point) {
      this.#points.delete(node.start);
    } else {
      this.#ranges.delete(node.id);
      this.#tree.remove(node);
    }
  }

  wantsPrevKv(key: Uint8Array): boolean {
    if (this.#prevKvWatchers === 0) return false;
    const text = keyText(key);
    return this.#points.get(text)?.marked === true || this.#tree.anyMarked(text);
  }

  /** All watched ranges. A range added during the walk may be left out. */
  *nodes(): Generator<RangeNode> {
    for (const nodes of [this.#points, this.#ranges]) {
      let left = nodes.size;
      for (const node of nodes.values()) {
        if (left === 0) break;
        left -= 1;
        yield node;
      }
    }
  }

  /**
   * Records the matches of a group at each range that it matches. Appends ranges that had no matches before to `nodes`.
   * Returns the number of pairs of an event and a range. If there are more than `notesMax`, returns undefined and
   * records nothing.
   */
  match(group: EventGroup, nodes: RangeNode[], notesMax: number): number | undefined {
    const { events } = group;
    let subsets: GroupSubsets | undefined;
    if (events.length === 1) {
      const matching = this.#matching(keyText(events[0]!.key), notesMax);
      if (matching.length > notesMax) return undefined;
      for (const node of matching) {
        subsets ??= new GroupSubsets(group);
        if (node.matches.length === 0) nodes.push(node);
        node.matches.push({ subsets, indices: undefined });
      }
      return matching.length;
    }
    let noted = 0;
    const matching: RangeNode[] = [];
    for (let at = 0; at < events.length; at += 1) {
      const found = this.#matching(keyText(events[at]!.key), notesMax);
      for (const node of found) {
        if (node.indices.length === 0) matching.push(node);
        node.indices.push(at);
      }
      noted += found.length;
      if (noted <= notesMax) continue;
      for (const node of matching) node.indices = [];
      return undefined;
    }
    for (const node of matching) {
      subsets ??= new GroupSubsets(group);
      if (node.matches.length === 0) nodes.push(node);
      node.matches.push({ subsets, indices: node.indices });
      node.indices = [];
    }
    return noted;
  }

  /** The ranges that contain the key. If there are more than `nodesMax`, some may be missing. */
  #matching(key: string, nodesMax: number): readonly RangeNode[] {
    const nodes: RangeNode[] = [];
    const point = this.#points.get(key);
    if (point !== undefined) nodes.push(point);
    this.#tree.stab(key, nodes, nodesMax);
    return nodes;
  }

  /** Hands a delivery to one of its watchers. A watcher that cannot take it leaves the set. */
  hand(watcher: WatcherState, delivery: Delivery, headerRevision: Revision): void {
    if (!takesAll(watcher, delivery)) {
      this.#handSingly(watcher, delivery.subsets, headerRevision);
      return;
    }
    for (const groups of delivery.offers) {
      if (watcher.stream.offer(watcher, groups, headerRevision)) continue;
      this.leave(watcher, groups[0]!.revision);
      return;
    }
  }

  /** Hands the revisions one by one to a watcher that may be unable to take all of them. */
  #handSingly(watcher: WatcherState, subsets: readonly Subset[], headerRevision: Revision): void {
    for (const subset of subsets) {
      const { revision } = subset.groups[0]!;
      if (revision < watcher.next) continue; // the watcher starts later
      let taken: boolean;
      if (watcher.request.prevKv && subset.prevKvMissing) taken = false;
      else if (watcher.reading !== undefined) taken = this.#backlogs.push(watcher.reading.backlog, subset.groups[0]!);
      else taken = watcher.stream.offer(watcher, subset.groups, headerRevision);
      if (taken) continue;
      this.leave(watcher, revision);
      return;
    }
  }

  /** Removes a watcher that was sent no event at or above `next`. It gets them from history. */
  leave(watcher: WatcherState, next: Revision): void {
    this.remove(watcher);
    if (watcher.reading !== undefined) watcher.reading.backlog.end = next;
    else this.#behind(watcher, next);
  }

  #nodeOf(range: KeyRange): RangeNode {
    const id = rangeId(range);
    const known = this.#ranges.get(id) ?? (range.end.length === 0 ? this.#points.get(keyText(range.key)) : undefined);
    if (known !== undefined) return known;
    const node = new RangeNode(range, this.#random.uint32());
    if (node.point) {
      this.#points.set(node.start, node);
    } else {
      this.#ranges.set(node.id, node);
      this.#tree.insert(node);
    }
    return node;
  }
}

/** Whether the watcher can be offered all of it: it is live, has started, and the events have what it asks for. */
export function takesAll(watcher: WatcherState, delivery: Delivery): boolean {
  return (
    watcher.reading === undefined &&
    watcher.next <= delivery.first &&
    !(watcher.request.prevKv && delivery.prevKvMissing)
  );
}
