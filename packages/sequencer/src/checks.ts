import {
  EngramError,
  isEmptyRange,
  isPoint,
  isUnbounded,
  type KeyRange,
  NO_LEASE,
  type Op,
  type PutOp,
  type Revision,
  compareBytes,
} from '@engram/core';
import type { KeyVersions, SequencedLeases } from './ports.ts';

/** Checks the chosen operations of a transaction, before its first change, for reasons to refuse it. */
export class Checks {
  readonly #versions: KeyVersions;
  readonly #leases: SequencedLeases;
  readonly #dealt: Revision;
  readonly #compactRevision: Revision;
  readonly #changesMax: number;
  readonly #puts: PutOp[] = [];
  readonly #deletes: KeyRange[] = [];
  #changes = 0;

  /** `dealt` is the newest revision that was dealt, durable or not. */
  constructor(
    versions: KeyVersions,
    leases: SequencedLeases,
    dealt: Revision,
    compactRevision: Revision,
    changesMax: number,
  ) {
    this.#versions = versions;
    this.#leases = leases;
    this.#dealt = dealt;
    this.#compactRevision = compactRevision;
    this.#changesMax = changesMax;
  }

  /** Errors: FutureRev, Compacted, LeaseNotFound, KeyNotFound. */
  add(op: Exclude<Op, { readonly kind: 'txn' }>): void {
    if (op.kind === 'range') {
      if (op.revision > this.#dealt) throw new EngramError('FutureRev');
      if (op.revision !== 0 && op.revision < this.#compactRevision) throw new EngramError('Compacted');
    } else if (op.kind === 'put') {
      checkPut(op, this.#versions, this.#leases);
      this.#puts.push(op);
      this.#changes += 1;
    } else {
      if (!isPoint(op.range)) this.#deletes.push(op.range);
      this.#changes += isPoint(op.range) ? 1 : this.#versions.count(op.range, this.#dealt);
    }
  }

  /** Errors: RequestTooLarge if there would be too many changes, NoSpace if the index has no room for the keys. */
  finish(): void {
    if (this.#changes > this.#changesMax && this.#changesAtMost() > this.#changesMax) {
      throw new EngramError('RequestTooLarge');
    }
    checkRoom(this.#puts, this.#versions);
  }

  /** Counts a key once if several deletes cover it, because only the first one deletes it. */
  #changesAtMost(): number {
    let changes = this.#changes;
    for (const range of this.#deletes) changes -= this.#versions.count(range, this.#dealt);
    for (const range of union(this.#deletes)) changes += this.#versions.count(range, this.#dealt);
    return changes;
  }
}

/** Errors: LeaseNotFound, KeyNotFound. */
export function checkPut(op: PutOp, versions: KeyVersions, leases: SequencedLeases): void {
  if (op.lease !== NO_LEASE && !leases.has(op.lease)) throw new EngramError('LeaseNotFound');
  if (op.ignoreValue || op.ignoreLease) {
    const head = versions.head(op.key);
    if (head < 0 || versions.isTombstone(head)) throw new EngramError('KeyNotFound');
  }
}

/** Errors: NoSpace if the index has no room for the keys that are new. */
export function checkRoom(puts: readonly PutOp[], versions: KeyVersions): void {
  if (puts.length === 0 || versions.hasRoomFor(puts.length)) return;
  let newKeys = 0;
  for (const { key } of puts) if (versions.head(key) < 0) newKeys += 1;
  if (newKeys > 0 && !versions.hasRoomFor(newKeys)) throw new EngramError('NoSpace');
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
