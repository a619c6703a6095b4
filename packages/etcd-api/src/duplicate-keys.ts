import {
  EngramError,
  isEmptyRange,
  isPoint,
  isUnbounded,
  keyText,
  type KeyRange,
  type Op,
  type Txn,
} from '@engram/core';

/**
 * Refuses a transaction that could change a key twice (etcd server/etcdserver/api/v3rpc/key.go: checkIntervals). Within
 * one branch, the branches of nested transactions included: no two puts of a key, and no put of a key that a delete
 * covers, in either order. The two branches of one nested transaction exclude each other, so both may put a key. Deletes
 * may overlap: what the first one takes, the second does not find.
 *
 * Stricter than etcd in two places, where it looks away: a delete up to the end of all keys (range_end "\0"), and a
 * nested delete behind a sibling's put. Both would give one key two changes in one revision.
 */
export function checkDuplicateKeys(txn: Txn): void {
  checkBranch(txn.success);
  checkBranch(txn.failure);
}

/** Keys as text with a character for each byte: compared and hashed by the engine. */
interface Changes {
  readonly puts: Set<string>;
  readonly deletes: DeleteSet;
}

/** A single operation cannot collide with itself, and most branches have but one. */
function checkBranch(ops: readonly Op[]): void {
  if (ops.length > 1 || ops[0]?.kind === 'txn') changesOf(ops);
}

function changesOf(ops: readonly Op[]): Changes {
  const ranges: KeyRange[] = [];
  for (const op of ops) if (op.kind === 'delete-range') ranges.push(op.range);
  let deletes = DeleteSet.of(ranges);
  const puts = new Set<string>();
  const addPut = (key: string): void => {
    if (puts.has(key) || deletes.covers(key)) throw new EngramError('DuplicateKey');
    puts.add(key);
  };

  for (const op of ops) {
    if (op.kind !== 'txn') continue;
    const success = changesOf(op.txn.success);
    const failure = changesOf(op.txn.failure);
    const nestedDeletes = success.deletes.union(failure.deletes);
    for (const key of puts) if (nestedDeletes.covers(key)) throw new EngramError('DuplicateKey');
    for (const key of success.puts) addPut(key);
    for (const key of failure.puts) if (!success.puts.has(key)) addPut(key);
    deletes = deletes.union(nestedDeletes);
  }
  for (const op of ops) if (op.kind === 'put') addPut(keyText(op.key));
  return { puts, deletes };
}

/** Disjoint intervals in key order: a look-up is a binary search, a union one merge, however many a client sends. */
class DeleteSet {
  readonly #starts: readonly string[];
  /** Exclusive; undefined is the end of all keys. */
  readonly #ends: readonly (string | undefined)[];

  private constructor(intervals: readonly (readonly [start: string, end: string | undefined])[]) {
    const starts: string[] = [];
    const ends: (string | undefined)[] = [];
    for (const [start, end] of intervals) {
      const last = ends.length - 1;
      const reach = ends[last];
      if (last < 0 || (reach !== undefined && start > reach)) {
        starts.push(start);
        ends.push(end);
      } else if (reach !== undefined && (end === undefined || end > reach)) {
        ends[last] = end;
      }
    }
    this.#starts = starts;
    this.#ends = ends;
  }

  static of(ranges: readonly KeyRange[]): DeleteSet {
    const intervals = ranges
      .filter((range) => !isEmptyRange(range))
      .map((range) => [keyText(range.key), endOf(range)] as const);
    return new DeleteSet(intervals.toSorted(byStart));
  }

  covers(key: string): boolean {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= key) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return false;
    const end = this.#ends[low - 1];
    return end === undefined || key < end;
  }

  union(other: DeleteSet): DeleteSet {
    if (other.#starts.length === 0) return this;
    if (this.#starts.length === 0) return other;
    return new DeleteSet([...this.#intervals(), ...other.#intervals()].toSorted(byStart));
  }

  #intervals(): (readonly [string, string | undefined])[] {
    return this.#starts.map((start, at) => [start, this.#ends[at]]);
  }
}

const byStart = ([left]: readonly [string, ...unknown[]], [right]: readonly [string, ...unknown[]]): number =>
  left < right ? -1 : left > right ? 1 : 0;

function endOf(range: KeyRange): string | undefined {
  if (isPoint(range)) return `${keyText(range.key)}\0`;
  return isUnbounded(range) ? undefined : keyText(range.end);
}
