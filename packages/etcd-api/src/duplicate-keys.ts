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
 * one branch, including the branches of nested transactions, no key is put twice, and no key is put that a delete
 * covers, in either order. The two branches of one nested transaction exclude each other, so both may put a key.
 * Deletes may overlap: a key that the first one deletes is gone for the second.
 *
 * Stricter than etcd in two cases that etcd does not check: a delete up to the end of all keys (range_end "\0"), and a
 * nested delete after a sibling's put. Both would give one key two changes in one revision.
 *
 * Costs N log N for each level of nesting, of which there may be a hundred. Throws TooManyOps where that is too much: see
 * COMPARED_TIMES.
 */
export function checkDuplicateKeys(txn: Txn): void {
  const work: Work = { left: COMPARED_FREE };
  checkBranch(txn.success, work);
  checkBranch(txn.failure, work);
}

/**
 * A change is compared with others at each level of nesting. Changes may be compared so many times, all together, and so often beyond:
 * transactions of three levels are never refused. 5,800 deletes below a hundred levels, a request of 80 KB, took 180 ms (measured).
 */
const COMPARED_TIMES = 3;
const COMPARED_FREE = 8_192;

interface Work {
  /** Comparisons that are left. */
  left: number;
}

/** A single operation cannot collide with itself, and most branches have only one. */
function checkBranch(ops: readonly Op[], work: Work): void {
  if (ops.length > 1 || ops[0]?.kind === 'txn') changesOf(ops, work);
}

/** What a branch may change. Keys are strings with one character for each byte, which the engine compares and hashes. */
interface Changes {
  readonly puts: Set<string>;
  readonly deletes: readonly Interval[];
}

/** The keys in [start, end). An undefined `end` is the end of all keys. */
interface Interval {
  readonly start: string;
  readonly end: string | undefined;
}

/** Changes that must not collide with those of other groups. Changes within one group are already checked. */
type Group = Changes;

function changesOf(ops: readonly Op[], work: Work): Changes {
  const ownPuts: Group = { puts: new Set(), deletes: [] };
  const ownDeletes: Interval[] = [];
  const groups: Group[] = [ownPuts, { puts: new Set(), deletes: ownDeletes }];
  for (const op of ops) {
    if (op.kind === 'put') addPut(ownPuts.puts, keyText(op.key));
    else if (op.kind === 'txn') groups.push(eitherOf(changesOf(op.txn.success, work), changesOf(op.txn.failure, work)));
    else if (op.kind === 'delete-range' && !isEmptyRange(op.range)) ownDeletes.push(intervalOf(op.range));
  }
  work.left += COMPARED_TIMES * (ownPuts.puts.size + ownDeletes.length);
  const deleted = groups.reduce((sum, group) => sum + group.deletes.length, 0);
  if (deleted > 0) work.left -= groups.reduce((sum, group) => sum + group.puts.size, deleted);
  if (work.left < 0) throw new EngramError('TooManyOps');
  const deletes = new CoveringDeletes(groups);
  for (const [owner, { puts }] of groups.entries()) {
    if (deletes.isEmpty) break;
    for (const key of puts) if (deletes.covers(key, owner)) throw new EngramError('DuplicateKey');
  }
  return { puts: disjointUnion(groups.map((group) => group.puts)), deletes: deletes.merged() };
}

/** What a nested transaction may change. Only one of its branches runs, so the branches are not checked against each other. */
function eitherOf(success: Changes, failure: Changes): Group {
  const [large, small] = success.puts.size >= failure.puts.size ? [success, failure] : [failure, success];
  for (const key of small.puts) large.puts.add(key);
  return { puts: large.puts, deletes: [...success.deletes, ...failure.deletes] };
}

function disjointUnion(sets: readonly Set<string>[]): Set<string> {
  const union = sets.reduce((largest, set) => (set.size > largest.size ? set : largest));
  for (const set of sets) if (set !== union) for (const key of set) addPut(union, key);
  return union;
}

function addPut(puts: Set<string>, key: string): void {
  if (puts.has(key)) throw new EngramError('DuplicateKey');
  puts.add(key);
}

function intervalOf(range: KeyRange): Interval {
  const start = keyText(range.key);
  if (isPoint(range)) return { start, end: `${start}\0` };
  return { start, end: isUnbounded(range) ? undefined : keyText(range.end) };
}

const isBehind = (end: string | undefined, other: string | undefined): boolean =>
  other !== undefined && (end === undefined || end > other);

/**
 * Answers whether a delete of another group covers a key. The intervals are ordered by start. Each one knows the
 * furthest end of the intervals up to it, and the furthest end among the groups that do not own that one.
 */
class CoveringDeletes {
  readonly #intervals: readonly (Interval & { readonly owner: number })[];
  readonly #reaches: Reach[] = [];

  constructor(groups: readonly Group[]) {
    this.#intervals = groups
      .flatMap(({ deletes }, owner) => deletes.map(({ start, end }) => ({ start, end, owner })))
      .toSorted((left, right) => (left.start < right.start ? -1 : left.start > right.start ? 1 : 0));
    let reach: Reach = { end: '', owner: -1, othersEnd: '' };
    for (const { end, owner } of this.#intervals) {
      reach = extend(reach, end, owner);
      this.#reaches.push(reach);
    }
  }

  get isEmpty(): boolean {
    return this.#intervals.length === 0;
  }

  covers(key: string, owner: number): boolean {
    let low = 0;
    let high = this.#intervals.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#intervals[middle]!.start <= key) low = middle + 1;
      else high = middle;
    }
    const reach = this.#reaches[low - 1];
    if (reach === undefined) return false;
    return isBehind(reach.owner === owner ? reach.othersEnd : reach.end, key);
  }

  /** The same keys, as disjoint intervals. */
  merged(): readonly Interval[] {
    const merged: Interval[] = [];
    for (const { start, end } of this.#intervals) {
      const last = merged.at(-1);
      if (last === undefined || (last.end !== undefined && start > last.end)) merged.push({ start, end });
      else if (isBehind(end, last.end)) merged[merged.length - 1] = { start: last.start, end };
    }
    return merged;
  }
}

/** The furthest end of some intervals, the group that owns it, and the furthest end of the other groups. */
interface Reach {
  readonly end: string | undefined;
  readonly owner: number;
  readonly othersEnd: string | undefined;
}

function extend(reach: Reach, end: string | undefined, owner: number): Reach {
  if (isBehind(end, reach.end)) {
    return { end, owner, othersEnd: reach.owner === owner ? reach.othersEnd : reach.end };
  }
  if (owner === reach.owner || !isBehind(end, reach.othersEnd)) return reach;
  return { ...reach, othersEnd: end };
}
