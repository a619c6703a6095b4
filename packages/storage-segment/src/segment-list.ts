import { assert } from '@engram/core';
import { deadWrite } from './manifest.ts';
import type { MetaWrite } from './meta.ts';
import type { Segment } from './segment.ts';

/**
 * All segments with records, in the order of their positions, which do not overlap; the last is the one that is
 * appended to. Found by position.
 */
export class SegmentList {
  #segments: Segment[] = [];
  /** The first positions, apart: a search reads only these. */
  #firsts: number[] = [];
  /** Replaced, and perhaps still read. */
  readonly #replaced = new Set<Segment>();

  constructor(segments: readonly Segment[]) {
    this.#set([...segments]);
  }

  get all(): readonly Segment[] {
    return this.#segments;
  }

  /** The segment that would hold this position; undefined before the first. */
  find(position: number): Segment | undefined {
    return this.#segments[this.#lastNotBehind(position)];
  }

  /** The first segment with a record at or behind the position. */
  findFrom(position: number): Segment | undefined {
    const at = this.#lastNotBehind(position);
    const segment = this.#segments[at];
    return segment !== undefined && segment.table.next > position ? segment : this.#segments[at + 1];
  }

  /** The next part of the log. */
  push(segment: Segment): void {
    const last = this.#segments.at(-1);
    assert(last === undefined || last.table.next <= segment.table.first, 'segments overlap');
    this.#segments.push(segment);
    this.#firsts.push(segment.table.first);
  }

  /** Puts one segment, or none, in the place of some that stand side by side. */
  replace(old: readonly Segment[], by: Segment | undefined): void {
    const at = this.#segments.indexOf(old[0]!);
    assert(at >= 0 && old.every((segment, index) => this.#segments[at + index] === segment), 'not side by side');
    const following = this.#segments.slice(at + old.length);
    this.#set([...this.#segments.slice(0, at), ...(by === undefined ? [] : [by]), ...following]);
    for (const segment of old) {
      this.#replaced.add(segment);
      void segment.retire().finally(() => this.#replaced.delete(segment));
    }
  }

  /**
   * What was dropped since the manifest was told. It knows once these are written; where that fails, nothing is written
   * any more.
   */
  takeDrops(): readonly MetaWrite[] {
    const changed = this.#segments.filter(({ dead }) => dead.changed);
    for (const { dead } of changed) dead.changed = false;
    return changed.map(({ id, dead }) => deadWrite(id, dead));
  }

  /** At the end of everything. */
  async close(): Promise<void> {
    for (const segment of [...this.#segments, ...this.#replaced]) await segment.close();
  }

  #set(segments: Segment[]): void {
    for (let at = 1; at < segments.length; at += 1) {
      assert(segments[at - 1]!.table.next <= segments[at]!.table.first, 'segments overlap');
    }
    this.#segments = segments;
    this.#firsts = segments.map((segment) => segment.table.first);
  }

  /** -1 where the position is before all of them. */
  #lastNotBehind(position: number): number {
    let low = 0;
    for (let high = this.#firsts.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if (this.#firsts[middle]! <= position) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
