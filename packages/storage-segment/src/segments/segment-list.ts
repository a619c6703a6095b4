import { assert } from '@engram/core';
import { deadWrite } from '../manifest/manifest.ts';
import type { MetaWrite } from '../manifest/meta.ts';
import type { Segment } from './segment.ts';

/** All segments with records, by position, without overlap. The last one is appended to. */
export class SegmentList {
  #segments: Segment[] = [];
  /** The first positions of the segments, in an array of their own: a search reads nothing else. */
  #firsts: number[] = [];
  /** Segments that were replaced and may still be read. */
  readonly #replaced = new Set<Segment>();

  constructor(segments: readonly Segment[]) {
    this.#set([...segments]);
  }

  get all(): readonly Segment[] {
    return this.#segments;
  }

  /** The segment that would hold this position; undefined before the first one. */
  find(position: number): Segment | undefined {
    return this.#segments[this.#lastNotBehind(position)];
  }

  /** Adds the next part of the log. */
  push(segment: Segment): void {
    const last = this.#segments.at(-1);
    assert(last === undefined || last.table.next <= segment.table.first, 'segments overlap');
    this.#segments.push(segment);
    this.#firsts.push(segment.table.first);
  }

  /** Replaces neighbouring segments by one, or by none. */
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
   * The drops that the manifest does not know yet, for the caller to write. If that write fails, nothing is written any
   * more.
   */
  takeDrops(): readonly MetaWrite[] {
    const changed = this.#segments.filter(({ dead }) => dead.changed);
    for (const { dead } of changed) dead.changed = false;
    return changed.map(({ id, dead }) => deadWrite(id, dead));
  }

  /** Closes all segments. */
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

  /** -1 if the position is before all segments. */
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
