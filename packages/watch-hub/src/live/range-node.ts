import { isPoint, isUnbounded, type KeyRange, keyText } from '@engram/core';
import { type Interval, UNBOUNDED_END } from './interval-tree.ts';
import type { Match } from '../events/delivery.ts';
import type { WatcherState } from './watcher-state.ts';

/** All live watchers of one range. The cost of matching depends on the number of distinct ranges, not of watchers. */
export class RangeNode implements Interval<RangeNode> {
  /** Identifies the range in a Map. */
  readonly id: string;
  readonly range: KeyRange;
  readonly point: boolean;
  readonly start: string;
  readonly end: string;
  readonly priority: number;
  readonly watchers: WatcherState[] = [];
  /** The number of watchers that want superseded versions. */
  prevKvWatchers = 0;
  /** While a batch is matched: the matches of the range, by revision. */
  matches: Match[] = [];
  /** While a revision of several events is matched: the indices of the events in the range. */
  indices: number[] = [];
  maxEnd: string;
  maxMarkedEnd = '';
  left: RangeNode | undefined;
  right: RangeNode | undefined;

  constructor(range: KeyRange, priority: number) {
    this.id = rangeId(range);
    this.range = range;
    this.point = isPoint(range);
    this.start = keyText(range.key);
    this.end = isUnbounded(range) ? UNBOUNDED_END : keyText(range.end);
    this.priority = priority;
    this.maxEnd = this.end;
  }

  /** Whether a watcher of the range wants superseded versions. */
  get marked(): boolean {
    return this.prevKvWatchers > 0;
  }

  add(watcher: WatcherState): void {
    watcher.node = this;
    watcher.slot = this.watchers.length;
    this.watchers.push(watcher);
    if (watcher.request.prevKv) this.prevKvWatchers += 1;
  }

  /** Removes a watcher. The last watcher takes its index, so a walk backwards may remove the current watcher. */
  remove(watcher: WatcherState): void {
    const last = this.watchers.pop();
    if (last !== undefined && last !== watcher) {
      this.watchers[watcher.slot] = last;
      last.slot = watcher.slot;
    }
    watcher.node = undefined;
    watcher.slot = -1;
    if (watcher.request.prevKv) this.prevKvWatchers -= 1;
  }
}

export function rangeId(range: KeyRange): string {
  return `${range.key.length}:${keyText(range.key)}${keyText(range.end)}`;
}
