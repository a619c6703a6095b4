import {
  EngramError,
  isEmptyRange,
  isPoint,
  isUnbounded,
  type KeyRange,
  NO_LEASE,
  NO_REVISION,
  type Op,
  type PutOp,
  type Revision,
  compareBytes,
} from '@engram/core';
import { unhurried } from '@engram/loop';
import type { KeyVersions, DecidedLeases } from './ports.ts';

/** Puts up to here have a place that the next transaction uses again. */
const PUTS_KEPT = 64;

/** Checks the chosen operations of a transaction, before its first change, for reasons to refuse it. */
export class Checks {
  readonly #versions: KeyVersions;
  readonly #leases: DecidedLeases;
  readonly #changesMax: number;
  /** The first `#putCount` are of this transaction. */
  #puts: PutOp[] = [];
  #putCount = 0;
  #deletes: KeyRange[] = [];
  #assigned: Revision = NO_REVISION;
  #compactRevision: Revision = NO_REVISION;
  #changes = 0;

  constructor(versions: KeyVersions, leases: DecidedLeases, changesMax: number) {
    this.#versions = versions;
    this.#leases = leases;
    this.#changesMax = changesMax;
  }

  /** The checks of the next transaction begin. `assigned` is the newest revision that was assigned, durable or not. */
  begin(assigned: Revision, compactRevision: Revision): void {
    if (this.#puts.length > PUTS_KEPT) this.#puts = [];
    this.#putCount = 0;
    if (this.#deletes.length > 0) this.#deletes = [];
    this.#changes = 0;
    this.#assigned = assigned;
    this.#compactRevision = compactRevision;
  }

  /** Errors: FutureRev, Compacted, LeaseNotFound, KeyNotFound. */
  add(op: Exclude<Op, { readonly kind: 'txn' }>): void {
    if (op.kind === 'range') {
      if (op.revision > this.#assigned) throw new EngramError('FutureRev');
      if (op.revision !== 0 && op.revision < this.#compactRevision) throw new EngramError('Compacted');
    } else if (op.kind === 'put') {
      this.#checkPut(op);
      this.#puts[this.#putCount] = op;
      this.#putCount += 1;
      this.#changes += 1;
    } else {
      if (!isPoint(op.range)) this.#deletes.push(op.range);
      this.#changes += isPoint(op.range) ? 1 : this.#liveIn(op.range);
    }
  }

  /** Errors: RequestTooLarge if there would be too many changes, NoSpace if the index has no room for the keys. */
  finish(): void {
    if (this.#changes > this.#changesMax && this.#changesAtMost() > this.#changesMax) {
      throw new EngramError('RequestTooLarge');
    }
    this.#checkRoom();
  }

  #checkPut({ key, lease, ignoreValue, ignoreLease }: PutOp): void {
    if (lease !== NO_LEASE && !this.#leases.has(lease)) throw new EngramError('LeaseNotFound');
    if (!ignoreValue && !ignoreLease) return;
    const head = this.#versions.head(key);
    if (head < 0 || this.#versions.isTombstone(head)) throw new EngramError('KeyNotFound');
  }

  #checkRoom(): void {
    if (this.#putCount === 0 || this.#versions.hasRoomFor(this.#putCount)) return;
    let newKeys = 0;
    for (let at = 0; at < this.#putCount; at += 1) if (this.#versions.head(this.#puts[at]!.key) < 0) newKeys += 1;
    if (newKeys > 0 && !this.#versions.hasRoomFor(newKeys)) throw new EngramError('NoSpace');
  }

  /** Counts a key once if several deletes cover it, because only the first one deletes it. */
  #changesAtMost(): number {
    let changes = this.#changes;
    for (const range of this.#deletes) changes -= this.#liveIn(range);
    for (const range of union(this.#deletes)) changes += this.#liveIn(range);
    return changes;
  }

  /** Of the newest revision, so it takes a few steps, however many keys there are. */
  #liveIn(range: KeyRange): number {
    return this.#versions.countSome(range, this.#assigned, unhurried).live;
  }
}

/** The same keys as ranges that do not overlap. */
function union(ranges: readonly KeyRange[]): readonly KeyRange[] {
  const sorted = ranges.filter((range) => !isEmptyRange(range)).sort((a, b) => compareBytes(a.key, b.key));
  const merged: KeyRange[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && isUnbounded(last)) break;
    if (last === undefined || compareBytes(range.key, last.end) > 0) merged.push(range);
    else if (isUnbounded(range) || compareBytes(range.end, last.end) > 0) {
      merged[merged.length - 1] = { key: last.key, end: range.end };
    }
  }
  return merged;
}
