import { assert, type EventGroup, type KeyRange, keyText, type Random, type Revision } from '@engram/core';
import type { Backlogs } from './backlog.ts';
import { GroupShares, type Share } from './group-shares.ts';
import { IntervalTree } from './interval-tree.ts';
import { RangeNode, rangeId } from './range-node.ts';
import { Run } from './run.ts';
import type { WatcherState } from './watcher-state.ts';

export interface LiveSetOptions {
  readonly random: Random;
  readonly backlogs: Backlogs;
  /** Bytes of events that a sink is offered at once; a larger group goes alone. */
  readonly offerBytesMax: number;
  /** The watcher is out of the set: it has got nothing from `next` on. */
  readonly behind: (watcher: WatcherState, next: Revision) => void;
}

/**
 * The watchers that get what is published: live ones at once, those that read history into their backlog. Whoever
 * cannot take a group leaves the set, and `behind` is told from which revision on he has to be served from history.
 */
export class LiveSet {
  readonly #random: Random;
  readonly #backlogs: Backlogs;
  readonly #offerBytesMax: number;
  readonly #behind: (watcher: WatcherState, next: Revision) => void;
  readonly #points = new Map<string, RangeNode>();
  readonly #ranges = new Map<string, RangeNode>();
  readonly #tree = new IntervalTree<RangeNode>();
  #prevKvWatchers = 0;
  #size = 0;

  constructor(options: LiveSetOptions) {
    this.#random = options.random;
    this.#backlogs = options.backlogs;
    this.#offerBytesMax = options.offerBytesMax;
    this.#behind = options.behind;
  }

  get size(): number {
    return this.#size;
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

  wantsPrevKv(key: Uint8Array): boolean {
    if (this.#prevKvWatchers === 0) return false;
    return this.#matching(keyText(key)).some((node) => node.prevKvWatchers > 0);
  }

  /** Consecutive revisions, at least one. `headerRevision`: the store's, not below the last of them. */
  publish(groups: readonly EventGroup[], headerRevision: Revision): void {
    if (this.#size === 0) return;
    const nodes: RangeNode[] = [];
    for (const group of groups) this.#match(group, nodes);
    for (const node of nodes) this.#hand(node, headerRevision);
  }

  /** Notes at each range that matches what it matches; ranges that had nothing noted join `nodes`. */
  #match(group: EventGroup, nodes: RangeNode[]): void {
    const { events } = group;
    let shares: GroupShares | undefined;
    if (events.length === 1) {
      for (const node of this.#matching(keyText(events[0]!.key))) {
        shares ??= new GroupShares(group);
        if (node.matches.length === 0) nodes.push(node);
        node.matches.push({ shares, indices: undefined });
      }
      return;
    }
    const matching: RangeNode[] = [];
    for (let at = 0; at < events.length; at += 1) {
      for (const node of this.#matching(keyText(events[at]!.key))) {
        if (node.indices.length === 0) matching.push(node);
        node.indices.push(at);
      }
    }
    for (const node of matching) {
      shares ??= new GroupShares(group);
      if (node.matches.length === 0) nodes.push(node);
      node.matches.push({ shares, indices: node.indices });
      node.indices = [];
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
  #hand(node: RangeNode, headerRevision: Revision): void {
    const { matches, watchers } = node;
    node.matches = [];
    const byFilter: (Run | undefined)[] = [undefined, undefined, undefined, undefined];
    for (let at = watchers.length - 1; at >= 0; at -= 1) {
      const watcher = watchers[at]!;
      byFilter[watcher.filter] ??= new Run(matches, watcher.filter, this.#offerBytesMax);
      const run = byFilter[watcher.filter]!;
      if (watcher.reading !== undefined || watcher.next > run.first || (watcher.request.prevKv && run.prevKvMissing)) {
        this.#handSingly(watcher, run.shares, headerRevision);
        continue;
      }
      for (const groups of run.offers) {
        if (watcher.stream.offer(watcher, groups, headerRevision)) continue;
        this.#leave(watcher, groups[0]!.revision);
        break;
      }
    }
  }

  /** Revision by revision, to a watcher that may not take them all. */
  #handSingly(watcher: WatcherState, shares: readonly Share[], headerRevision: Revision): void {
    for (const share of shares) {
      const { revision } = share.groups[0]!;
      if (revision < watcher.next) continue; // it starts in the future
      let taken: boolean;
      if (watcher.request.prevKv && share.prevKvMissing) taken = false;
      else if (watcher.reading !== undefined) taken = this.#backlogs.push(watcher.reading.backlog, share.groups[0]!);
      else taken = watcher.stream.offer(watcher, share.groups, headerRevision);
      if (taken) continue;
      this.#leave(watcher, revision);
      return;
    }
  }

  #leave(watcher: WatcherState, next: Revision): void {
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
