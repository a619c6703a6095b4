import {
  type AnswerAccount,
  assert,
  type DeleteRangeOp,
  doAtOnce,
  isEngramError,
  keyBytes,
  type KvEvent,
  type LeaseId,
  type LogPosition,
  nextLogPosition,
  nextRevision,
  type Op,
  type PutOp,
  type RangeOp,
  type Revision,
  revision,
  Slice,
  type SlicedWork,
  type Txn,
} from '@engram/core';
import { Change, KeyChanges } from './change.ts';
import { Checks, checkPut, checkRoom } from './checks.ts';
import { choosePath, type Path, succeeds } from './compares.ts';
import type { Changes, PlannedOp, PlannedTxn, Sequenced } from './plan.ts';
import type {
  ChangeEncoder,
  Deciding,
  KeyVersions,
  KnownValues,
  NeededNow,
  RangePlanner,
  SequencedLeases,
} from './ports.ts';
import { valueNeeds } from './value-needs.ts';

export interface SequencerOptions<Plan> {
  readonly versions: KeyVersions;
  readonly leases: SequencedLeases;
  readonly encoder: ChangeEncoder;
  readonly ranges: RangePlanner<Plan>;
  /** The last revision that was dealt; an empty store begins at 1. */
  readonly revision: Revision;
  /** The position that the next record takes. */
  readonly next: LogPosition;
  /** Puts and deletes of one transaction. */
  readonly changesMax: number;
  /** What the ranges and superseded versions in the answer to one transaction may take together. */
  readonly answerBytesMax: number;
  /** A version is in the index now. */
  readonly onChanged: (event: KvEvent) => void;
  /** The versions at this position and behind it are out of the index again: their transaction was refused after all. */
  readonly onUndone: (from: LogPosition) => void;
}

/** What an operation costs beside what it looks at, in microseconds. */
const OP_US = 2;
const unbounded = new Slice(Number.POSITIVE_INFINITY);

/**
 * Decides writes in memory, one after the other, and deals their revisions and log positions. A decided write is in
 * the index at once, above the revision that readers may see, so the next one is decided on top of it without waiting
 * for storage; versions are immutable, so what an answer needs in bytes is only noted here.
 *
 * What may be long is decided in slices, and nothing else is decided before it has ended. It may be given up where it
 * has yielded, by an EngramError that is thrown into it: then it takes its changes back, in slices too.
 *
 * Invariants: revisions and positions are consecutive in the order of the calls; a refused transaction leaves no
 * trace. Nearly all that can refuse one is checked before its first change; the others, and who gives up, are
 * EngramErrors, and the changes are taken back. Whatever else is thrown after the first change leaves the index and
 * the positions apart: `broken` says so, and the node must end.
 */
export class Sequencer<Plan> {
  readonly #versions: KeyVersions;
  readonly #leases: SequencedLeases;
  readonly #ranges: RangePlanner<Plan>;
  readonly #keys: KeyChanges;
  readonly #onUndone: (from: LogPosition) => void;
  readonly #changesMax: number;
  readonly #answerBytesMax: number;
  #dealt: Revision;
  #next: LogPosition;
  #underWay = false;
  #broken = false;

  constructor(options: SequencerOptions<Plan>) {
    this.#versions = options.versions;
    this.#leases = options.leases;
    this.#ranges = options.ranges;
    this.#keys = new KeyChanges(options.versions, options.leases, options.encoder, options.onChanged);
    this.#onUndone = options.onUndone;
    this.#changesMax = options.changesMax;
    this.#answerBytesMax = options.answerBytesMax;
    this.#dealt = options.revision;
    this.#next = options.next;
  }

  /** The newest revision that any write was given, durable or not. */
  get dealt(): Revision {
    return this.#dealt;
  }

  /** A call has thrown after its first change: the index holds versions that no record of the log will explain. */
  get broken(): boolean {
    return this.#broken;
  }

  /** The position of the next record. */
  get next(): LogPosition {
    return this.#next;
  }

  /** Where the values lie that must be at hand before a simple transaction can be sequenced: see `valueNeeds`. */
  needs(txn: Txn): readonly LogPosition[] {
    return valueNeeds(txn, this.#versions);
  }

  /**
   * A simple transaction (`isSimple`). Refuses with FutureRev, Compacted, LeaseNotFound, KeyNotFound, NoSpace or
   * ResponseTooLarge, and then has changed nothing.
   */
  sequence(txn: Txn, compactRevision: Revision, values: KnownValues, account?: AnswerAccount): Sequenced<Plan> {
    assert(!this.#underWay, 'a transaction is decided within another');
    const succeeded = succeeds(txn, this.#versions, values);
    const ops = succeeded ? txn.success : txn.failure;
    this.#checkSimple(ops, compactRevision);
    const change = this.#begin(this.#next, account);
    const responses: PlannedOp<Plan>[] = [];
    try {
      for (const op of ops) {
        assert(op.kind !== 'txn', 'a nested transaction is sequenced in slices');
        if (op.kind === 'put') responses.push(this.#put(op, change, values));
        else if (op.kind === 'delete-range') {
          responses.push(this.#deleted(op, this.#keys.deletePoint(op, change), change));
        } else responses.push(doAtOnce(this.#range(op, change, unbounded)));
      }
    } catch (error) {
      doAtOnce(this.#abandon(change, error, unbounded));
      throw error;
    }
    const planned: PlannedTxn<Plan> = { kind: 'txn', revision: this.#visible(change), succeeded, responses };
    return this.#sequenced(change, planned);
  }

  /** Any transaction. As `sequence`, and RequestTooLarge where it would make too many changes. */
  *sequenceSliced(
    txn: Txn,
    compactRevision: Revision,
    values: KnownValues,
    slice: Slice,
    account?: AnswerAccount,
  ): Deciding<Sequenced<Plan>> {
    assert(!this.#underWay, 'a transaction is decided within another');
    this.#underWay = true;
    try {
      const path = yield* choosePath(txn, this.#versions, values, nextRevision(this.#dealt), slice);
      const checks = new Checks(this.#versions, this.#leases, this.#dealt, compactRevision, this.#changesMax);
      yield* this.#check(txn, path, checks, slice);
      checks.finish();
      const change = this.#begin(this.#next, account);
      let planned: PlannedTxn<Plan>;
      try {
        planned = yield* this.#execute(txn, path, change, values, slice);
      } catch (error) {
        yield* this.#abandon(change, error, slice);
        throw error;
      }
      return this.#sequenced(change, planned);
    } finally {
      this.#underWay = false;
    }
  }

  /**
   * A place in the log for `mark`, the record that ends a lease, and behind it, in one revision, the end of those of the
   * keys that live and are attached to the lease. The keys are in the form of `keyText`; `mark` is the first record.
   */
  *endLease(mark: Uint8Array, keys: readonly string[], attachedTo: LeaseId, slice: Slice): SlicedWork<Changes> {
    assert(!this.#underWay, 'a lease ends within a transaction');
    this.#underWay = true;
    const versions = this.#versions;
    const change = this.#begin(nextLogPosition(this.#next));
    change.records.push(mark);
    change.recordBytes = mark.length;
    try {
      for (const text of keys) {
        const key = keyBytes(text);
        const head = versions.head(key);
        if (head >= 0 && !versions.isTombstone(head) && versions.lease(head) === attachedTo) {
          this.#keys.delete(key, head, change);
          slice.spend(change.lastUs);
        }
        if (slice.spend(OP_US)) yield;
      }
    } catch (error) {
      yield* this.#abandon(change, error, slice);
      throw error;
    } finally {
      this.#underWay = false;
    }
    this.#accept(change);
    return change;
  }

  /** A place in the log for a record that takes no revision. */
  dealPosition(): LogPosition {
    assert(!this.#underWay, 'a position is dealt within a transaction');
    const position = this.#next;
    this.#next = nextLogPosition(position);
    return position;
  }

  /** Takes the changes of a write back that will never be durable: of all that were sequenced, the last one first. */
  undo(events: readonly KvEvent[], slice: Slice): SlicedWork<void> {
    return this.#keys.undo(events, slice);
  }

  #begin(next: LogPosition, account?: AnswerAccount): Change {
    return new Change(nextRevision(this.#dealt), next, this.#answerBytesMax, account);
  }

  #sequenced(change: Change, planned: PlannedTxn<Plan>): Sequenced<Plan> {
    this.#accept(change);
    const { events, records, recordBytes, answersPrevious } = change;
    return { planned, events, records, recordBytes, answersPrevious };
  }

  #accept(change: Change): void {
    if (change.events.length > 0) this.#dealt = change.revision;
    this.#next = change.next;
  }

  *#abandon(change: Change, error: unknown, slice: Slice): SlicedWork<void> {
    this.#broken = true;
    if (!isEngramError(error)) return;
    yield* this.#keys.undo(change.events, slice);
    this.#onUndone(this.#next);
    this.#broken = false;
  }

  #checkSimple(ops: readonly Op[], compactRevision: Revision): void {
    const only = ops[0];
    if (ops.length === 1 && only!.kind === 'put') {
      checkPut(only as PutOp, this.#versions, this.#leases);
      checkRoom(ops as readonly PutOp[], this.#versions);
      return;
    }
    const checks = new Checks(this.#versions, this.#leases, this.#dealt, compactRevision, this.#changesMax);
    for (const op of ops) if (op.kind !== 'txn') checks.add(op);
    checks.finish();
  }

  *#check(txn: Txn, path: Path, checks: Checks, slice: Slice): Deciding<void> {
    let nested = 0;
    for (const op of path.succeeded ? txn.success : txn.failure) {
      if (op.kind === 'txn') {
        yield* this.#check(op.txn, path.nested[nested]!, checks, slice);
        nested += 1;
        continue;
      }
      checks.add(op);
      if (op.kind === 'put' && op.ignoreValue) yield this.#valueOf(op);
      if (slice.spend(OP_US)) yield;
    }
  }

  #valueOf(op: PutOp): NeededNow {
    const head = this.#versions.head(op.key);
    return { positions: [this.#versions.position(head)], kept: true };
  }

  *#execute(txn: Txn, path: Path, change: Change, values: KnownValues, slice: Slice): SlicedWork<PlannedTxn<Plan>> {
    const responses: PlannedOp<Plan>[] = [];
    let nested = 0;
    for (const op of path.succeeded ? txn.success : txn.failure) {
      if (op.kind === 'txn') {
        responses.push(yield* this.#execute(op.txn, path.nested[nested]!, change, values, slice));
        nested += 1;
      } else if (op.kind === 'put') {
        responses.push(this.#put(op, change, values));
        slice.spend(change.lastUs);
      } else if (op.kind === 'delete-range') {
        responses.push(this.#deleted(op, yield* this.#keys.deleteRange(op, change, slice), change));
      } else responses.push(yield* this.#range(op, change, slice));
      if (slice.spend(OP_US)) yield;
    }
    return { kind: 'txn', revision: this.#visible(change), succeeded: path.succeeded, responses };
  }

  #put(op: PutOp, change: Change, values: KnownValues): PlannedOp<Plan> {
    const prev = this.#keys.put(op, change, values);
    return { kind: 'put', revision: change.revision, prev: op.prevKv ? prev : undefined };
  }

  #deleted(op: DeleteRangeOp, deleted: readonly LogPosition[], change: Change): PlannedOp<Plan> {
    const prev = op.prevKv ? deleted : [];
    return { kind: 'delete-range', revision: this.#visible(change), deleted: deleted.length, prev };
  }

  *#range(op: RangeOp, change: Change, slice: Slice): SlicedWork<PlannedOp<Plan>> {
    const at = op.revision > 0 ? revision(op.revision) : change.revision;
    const pinned = at < change.revision ? at : this.#dealt;
    const plan = yield* this.#ranges.plan(op, at, pinned, change.room, slice);
    return { kind: 'range', revision: this.#visible(change), plan };
  }

  /** What a reader inside the transaction sees: its own revision once it has changed something. */
  #visible(change: Change): Revision {
    return change.events.length > 0 ? change.revision : this.#dealt;
  }
}
