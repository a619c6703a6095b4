import { compareBytes, EngramError, isEmptyRange, isPoint, isUnbounded, type KeyRange } from '@engram/core';

/** The keys in [start, end) that one operation has changed. An undefined `end` is the end of all keys. */
interface Segment {
  readonly start: Uint8Array;
  readonly end: Uint8Array | undefined;
  readonly by: 'put' | 'delete';
}

/** A part of a range. `by` is what has changed its keys so far; undefined if nothing has. */
export interface TouchedPart {
  readonly range: KeyRange;
  readonly by: Segment['by'] | undefined;
}

/**
 * The keys that the operations of one transaction have changed so far. No key is put twice or both put and deleted
 * (`checkDuplicateKeys` of etcd-api), and deletes may overlap.
 */
export class TouchedKeys {
  /** Disjoint, in the order of the keys. */
  readonly #segments: Segment[] = [];

  put(key: Uint8Array): void {
    const start = key;
    const end = behind(key);
    const at = this.#firstBehind(start);
    if (overlaps(this.#segments[at], end)) throw new EngramError('TimeoutDueToLeaderFail');
    this.#segments.splice(at, 0, { start, end, by: 'put' });
  }

  /** Returns the parts of the range that were not deleted before, in the order of the keys. */
  delete(range: KeyRange): readonly KeyRange[] {
    const parts = this.partsOf(range);
    if (parts.length === 0) return [];
    if (parts.some(({ by }) => by === 'put')) throw new EngramError('TimeoutDueToLeaderFail');
    let { start, end } = boundsOf(range);
    const first = this.#firstBehind(start);
    let after = first;
    for (; overlaps(this.#segments[after], end); after += 1) {
      const segment = this.#segments[after]!;
      if (compareBytes(segment.start, start) < 0) start = segment.start;
      if (end !== undefined && (segment.end === undefined || compareBytes(segment.end, end) > 0)) end = segment.end;
    }
    this.#segments.splice(first, after - first, { start, end, by: 'delete' });
    return parts.filter(({ by }) => by === undefined).map((part) => part.range);
  }

  /** The range in parts that were changed alike, in the order of the keys. Empty for a range that has no key. */
  partsOf(range: KeyRange): readonly TouchedPart[] {
    if (isEmptyRange(range)) return [];
    const parts: TouchedPart[] = [];
    let { start, end } = boundsOf(range);
    for (let at = this.#firstBehind(start); overlaps(this.#segments[at], end); at += 1) {
      const segment = this.#segments[at]!;
      if (compareBytes(start, segment.start) < 0) parts.push(part(start, segment.start, undefined));
      const from = compareBytes(start, segment.start) < 0 ? segment.start : start;
      const inside = segment.end !== undefined && (end === undefined || compareBytes(segment.end, end) < 0);
      parts.push(part(from, inside ? segment.end : end, segment.by));
      if (!inside) return parts;
      start = segment.end!;
    }
    if (end === undefined || compareBytes(start, end) < 0) parts.push(part(start, end, undefined));
    return parts;
  }

  /** The index of the first segment that ends behind `start`. */
  #firstBehind(start: Uint8Array): number {
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { end } = this.#segments[middle]!;
      if (end !== undefined && compareBytes(end, start) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const ALL_BEHIND = Uint8Array.of(0);

const part = (start: Uint8Array, end: Uint8Array | undefined, by: Segment['by'] | undefined): TouchedPart => ({
  range: { key: start, end: end ?? ALL_BEHIND },
  by,
});

/** Whether a segment, none of which lies before the start of a range, begins before the range's end. */
const overlaps = (segment: Segment | undefined, end: Uint8Array | undefined): boolean =>
  segment !== undefined && (end === undefined || compareBytes(segment.start, end) < 0);

/** The first key after `key`. */
function behind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

function boundsOf(range: KeyRange): { start: Uint8Array; end: Uint8Array | undefined } {
  if (isPoint(range)) return { start: range.key, end: behind(range.key) };
  return { start: range.key, end: isUnbounded(range) ? undefined : range.end };
}
