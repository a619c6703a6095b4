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
  /** The most puts and deletes of one transaction. */
  readonly changesMax: number;
  /** The most bytes of ranges and superseded versions in the answer to one transaction. */
  readonly answerBytesMax: number;
  /** Called when a version was added to the index. */
  readonly onChanged: (event: KvEvent) => void;
  /** The versions from this position on are out of the index again, because their transaction was refused after all. */
  readonly onUndone: (from: LogPosition) => void;
}

/** Cost of an operation beside the versions that it reads, in microseconds. */
const OP_US = 2;
const unbounded = new Slice(Number.POSITIVE_INFINITY);

/**
 * Decides writes in memory, one after the other, and deals their revisions and log positions. A decided write is in
 * the index at once, above the revision that readers may see. So the next write is decided on top of it without
 * waiting for storage. Versions are immutable, so bytes that an answer needs are only noted here.
 *
 * A decision that may be long is taken in slices, and no other decision is taken before it has ended. The caller may
 * give it up after a yield by throwing an EngramError into it. It then undoes its changes, in slices too.
 *
 * Invariants: revisions and positions are consecutive in the order of the calls. A refused transaction leaves no
 * trace. Nearly every reason to refuse one is checked before its first change. The other refusals, and giving up, are
 * EngramErrors, and the changes are undone. Any other error after the first change leaves the index and the positions
 * apart: `broken` is then true, and the node must end.
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

  /** The newest revision that was dealt to a write, durable or not. */
  get dealt(): Revision {
    return this.#dealt;
  }

  /** A call has thrown after its first change: the index holds versions that the log will never have. */
  get broken(): boolean {
    return this.#broken;
  }

  /** The position of the next record. */
  get next(): LogPosition {
    return this.#next;
  }

  /**
   * The log positions of the values that must be at hand before a simple transaction can be sequenced: see
   * `valueNeeds`.
   */
  needs(txn: Txn): readonly LogPosition[] {
    return valueNeeds(txn, this.#versions);
  }

  /**
   * Sequences a simple transaction (`isSimple`). Refuses it with FutureRev, Compacted, LeaseNotFound, KeyNotFound,
   * RequestTooLarge, NoSpace or ResponseTooLarge, and then has changed nothing.
   */
  sequence(txn: Txn, compactRevision: Revision, values: KnownValues, account?: AnswerAccount): Sequenced<Plan> {
    assert(!this.#underWay, 'a transaction is decided within another');
    const succeeded = succeeds(txn, this.#versions, values);
    const ops = succeeded ? txn.success : txn.failure;
    this.#checkSimple(ops, compactRevision);
    const change = this.#begin(this.#next, account);
    let responses: readonly PlannedOp<Plan>[];
    try {
      responses = ops.map((op) => this.#executeSimple(op, change, values));
    } catch (error) {
      doAtOnce(this.#abandon(change, error, unbounded));
      throw error;
    }
    const planned: PlannedTxn<Plan> = { kind: 'txn', revision: this.#visible(change), succeeded, responses };
    return this.#sequenced(change, planned);
  }

  /** Sequences any transaction, simple or not. Refuses as `sequence` does. */
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
   * Deals a log position to `mark`, the record that ends a lease. Then deletes, in one revision, those of `keys` that
   * live and are attached to the lease. `keys` are in the form of `keyText`. `mark` is the first of the returned
   * records.
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

  /** Deals the log position of a record without a revision. */
  dealPosition(): LogPosition {
    assert(!this.#underWay, 'a position is dealt within a transaction');
    const position = this.#next;
    this.#next = nextLogPosition(position);
    return position;
  }

  /**
   * Undoes the changes of a write that will never be durable. Of all sequenced writes, the last one must be undone
   * first.
   */
  undo(events: readonly KvEvent[], slice: Slice): SlicedWork<void> {
    return this.#keys.undo(events, slice);
  }

  #begin(next: LogPosition, account?: AnswerAccount): Change {
    return new Change(nextRevision(this.#dealt), next, this.#answerBytesMax, account);
  }

  #sequenced(change: Change, planned: PlannedTxn<Plan>): Sequenced<Plan> {
    this.#accept(change);
    const { events, records, recordBytes, answersPrevious, answerBytes } = change;
    return { planned, events, records, recordBytes, answersPrevious, answerBytes };
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

  #executeSimple(op: Op, change: Change, values: KnownValues): PlannedOp<Plan> {
    assert(op.kind !== 'txn', 'a nested transaction is sequenced in slices');
    if (op.kind === 'put') return this.#put(op, change, values);
    if (op.kind === 'delete-range') return this.#deleted(op, this.#keys.deletePoint(op, change), change);
    return doAtOnce(this.#range(op, change, unbounded));
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

  /** The revision that a reader inside the transaction sees: its own once it has changed something. */
  #visible(change: Change): Revision {
    return change.events.length > 0 ? change.revision : this.#dealt;
  }
}
