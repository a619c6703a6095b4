import { assert, type EventGroup, type KeyRange, keyText, type Random, type Revision } from '@engram/core';
import { type Filter, GroupShares, type Share } from './group-shares.ts';
import { IntervalTree } from './interval-tree.ts';
import { RangeNode, rangeId } from './range-node.ts';
import type { Reading, WatcherState } from './watcher-state.ts';

/**
 * The watchers that get what is published: live ones at once, those that read history into their backlog. Whoever
 * cannot take a group leaves the set, and `behind` is told from which revision on he has to be served from history.
 */
export class LiveSet {
  readonly #random: Random;
  readonly #backlogGroupsMax: number;
  readonly #behind: (watcher: WatcherState, next: Revision) => void;
  readonly #points = new Map<string, RangeNode>();
  readonly #ranges = new Map<string, RangeNode>();
  readonly #tree = new IntervalTree<RangeNode>();
  #prevKvWatchers = 0;
  #size = 0;
  #backlogEvents = 0;

  constructor(random: Random, backlogGroupsMax: number, behind: (watcher: WatcherState, next: Revision) => void) {
    this.#random = random;
    this.#backlogGroupsMax = backlogGroupsMax;
    this.#behind = behind;
  }

  get size(): number {
    return this.#size;
  }

  /** Events in the backlogs of those that read. */
  get backlogEvents(): number {
    return this.#backlogEvents;
  }

  add(watcher: WatcherState): void {
    assert(watcher.node === undefined, 'added to the live set twice');
    this.#nodeOf(watcher.request.range).add(watcher);
    this.#size += 1;
    if (watcher.request.prevKv) this.#prevKvWatchers += 1;
  }

  /** Nothing when it is not in the set. */
  remove(watcher: WatcherState): void {
    const { node } = watcher;
    if (node === undefined) return;
    node.remove(watcher);
    this.#size -= 1;
    if (watcher.request.prevKv) this.#prevKvWatchers -= 1;
    if (node.watchers.length > 0) return;
    if (node.point) {
      this.#points.delete(node.start);
    } else {
      this.#ranges.delete(node.id);
      this.#tree.remove(node);
    }
  }

  /** Ends the reading of a watcher; what its backlog held is the caller's. */
  endReading(watcher: WatcherState): Reading {
    const { reading } = watcher;
    assert(reading !== undefined, 'no read is under way');
    watcher.reading = undefined;
    for (const group of reading.backlog) this.#backlogEvents -= group.events.length;
    return reading;
  }

  wantsPrevKv(key: Uint8Array): boolean {
    if (this.#prevKvWatchers === 0) return false;
    return this.#matching(keyText(key)).some((node) => node.prevKvWatchers > 0);
  }

  publish(group: EventGroup): void {
    if (this.#size === 0) return;
    const { events } = group;
    if (events.length === 1) {
      const nodes = this.#matching(keyText(events[0]!.key));
      if (nodes.length === 0) return;
      const shares = new GroupShares(group);
      for (const node of nodes) this.#hand(node, group.revision, shares, undefined);
      return;
    }
    const nodes: RangeNode[] = [];
    for (let at = 0; at < events.length; at += 1) {
      for (const node of this.#matching(keyText(events[at]!.key))) {
        if (node.matched.length === 0) nodes.push(node);
        node.matched.push(at);
      }
    }
    if (nodes.length === 0) return;
    const shares = new GroupShares(group);
    for (const node of nodes) {
      const indices = node.matched;
      node.matched = [];
      this.#hand(node, group.revision, shares, indices);
    }
  }

  #matching(key: string): readonly RangeNode[] {
    const nodes: RangeNode[] = [];
    const point = this.#points.get(key);
    if (point !== undefined) nodes.push(point);
    this.#tree.stab(key, nodes);
    return nodes;
  }

  /** To all watchers of a range. Backwards, because those who cannot take it leave on the way. */
  #hand(node: RangeNode, revision: Revision, shares: GroupShares, indices: readonly number[] | undefined): void {
    const byFilter: (Share | 'none' | undefined)[] = [undefined, undefined, undefined, undefined];
    const shareFor = (filter: Filter): Share | 'none' => {
      byFilter[filter] ??= shares.of(indices, filter) ?? 'none';
      return byFilter[filter];
    };
    const { watchers } = node;
    for (let at = watchers.length - 1; at >= 0; at -= 1) {
      const watcher = watchers[at]!;
      if (revision < watcher.next) continue; // it starts in the future
      const share = shareFor(watcher.filter);
      if (share === 'none') continue;
      if (watcher.request.prevKv && share.prevKvMissing) this.#leave(watcher, revision);
      else if (watcher.reading !== undefined) this.#gather(watcher, watcher.reading, share);
      else if (!watcher.stream.offer(watcher, share.groups, revision)) this.#leave(watcher, revision);
    }
  }

  #gather(watcher: WatcherState, reading: Reading, share: Share): void {
    const group = share.groups[0]!;
    if (reading.backlog.length === this.#backlogGroupsMax) {
      this.#leave(watcher, group.revision);
      return;
    }
    reading.backlog.push(group);
    this.#backlogEvents += group.events.length;
  }

  #leave(watcher: WatcherState, next: Revision): void {
    this.remove(watcher);
    if (watcher.reading !== undefined) watcher.reading.backlogEnd = next;
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
