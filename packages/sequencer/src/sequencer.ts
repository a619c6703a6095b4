import {
  type AnswerAccount,
  assert,
  type DeleteRangeOp,
  isEngramError,
  isPoint,
  keyBytes,
  type KvEvent,
  type LeaseId,
  type LogPosition,
  nextLogPosition,
  nextRevision,
  type Op,
  type PutOp,
  type Revision,
  revision,
  type Txn,
} from '@engram/core';
import { finish, type Job, type PureJob, type Turn, unhurried } from '@engram/loop';
import { Change, KeyChanges } from './change.ts';
import { Checks } from './checks.ts';
import { choosePath, firstFailing, type Path } from './compares.ts';
import type { Changes, PlannedOp, PlannedTxn, DecidedTxn } from './plan.ts';
import type {
  ChangeEncoder,
  DecisionValues,
  KeyVersions,
  PendingVersions,
  RangePlanner,
  DecidedLeases,
} from './ports.ts';
import { valueNeeds } from './value-needs.ts';

export interface SequencerOptions<Plan> {
  readonly versions: KeyVersions;
  readonly leases: DecidedLeases;
  readonly encoder: ChangeEncoder;
  readonly ranges: RangePlanner<Plan>;
  /** Says when a decision that is long must give way. */
  readonly turn: Turn;
  /** The last revision that was assigned; an empty store begins at 1. */
  readonly revision: Revision;
  /** The position that the next record takes. */
  readonly next: LogPosition;
  /** The most puts and deletes of one transaction. */
  readonly changesMax: number;
  /** The most bytes of ranges and superseded versions in the answer to one transaction. */
  readonly answerBytesMax: number;
  readonly pending: PendingVersions;
}

/**
 * Decides writes in memory, one after the other, and assigns their revisions and log positions. A decided write is in
 * the index at once, above the revision that readers may see. So the next write is decided on top of it without
 * waiting for storage. Versions are immutable, so bytes that an answer needs are only noted here.
 *
 * A simple transaction (`isSimple`) whose values are at hand is decided within a call. Nearly all are. Another decision is a
 * job: it gives way when its turn is over, and no other decision is taken before it has ended. The caller may give it up after
 * a yield by throwing an EngramError into it. It then undoes its changes, and gives way meanwhile too. A decision that is being
 * undone, for whatever reason, is not given up any more: it ends with its first error.
 *
 * Invariants: revisions and positions are consecutive in the order of the calls. A refused transaction leaves no
 * trace. Nearly every reason to refuse one is checked before its first change. The other refusals, and giving up, are
 * EngramErrors, and the changes are undone. Any other error after the first change leaves the index and the positions
 * apart: `broken` is then true, and the node must end.
 */
export class Sequencer<Plan> {
  readonly #versions: KeyVersions;
  readonly #ranges: RangePlanner<Plan>;
  readonly #turn: Turn;
  readonly #checks: Checks;
  readonly #keys: KeyChanges;
  readonly #pending: PendingVersions;
  readonly #answerBytesMax: number;
  #assigned: Revision;
  #next: LogPosition;
  #underWay = false;
  #broken = false;

  constructor(options: SequencerOptions<Plan>) {
    this.#versions = options.versions;
    this.#ranges = options.ranges;
    this.#turn = options.turn;
    this.#checks = new Checks(options.versions, options.leases, options.changesMax);
    this.#keys = new KeyChanges(options.versions, options.leases, options.encoder, options.pending);
    this.#pending = options.pending;
    this.#answerBytesMax = options.answerBytesMax;
    this.#assigned = options.revision;
    this.#next = options.next;
  }

  /** The newest revision that was assigned to a write, durable or not. */
  get assigned(): Revision {
    return this.#assigned;
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
   * The log positions of the values that must be at hand before a simple transaction can be decided: see
   * `valueNeeds`.
   */
  needs(txn: Txn): readonly LogPosition[] {
    return valueNeeds(txn, this.#versions);
  }

  /**
   * Decides a simple transaction. Refuses as `decide` does. What both do with an operation stands once, below. This goes over the
   * operations without a job, because with one a put takes 0.4 microseconds more of 7 (measured).
   */
  decideSimple(txn: Txn, compactRevision: Revision, values: DecisionValues, account?: AnswerAccount): DecidedTxn<Plan> {
    assert(!this.#underWay, 'a transaction is decided within another');
    const failing = firstFailing(txn, this.#versions, values);
    const succeeded = failing < 0;
    const ops = succeeded ? txn.success : txn.failure;
    this.#checks.begin(this.#assigned, compactRevision);
    for (const op of ops) this.#checks.add(flat(op));
    this.#checks.finish();
    const change = this.#begin(this.#next, account);
    const responses = new Array<PlannedOp<Plan>>(ops.length);
    try {
      for (let at = 0; at < ops.length; at += 1) {
        const op = flat(ops[at]!);
        responses[at] = this.#onKey(op, change, values) ?? finish(this.#onRange(op, change, unhurried));
      }
    } catch (error) {
      finish(this.#abandon(change, error, unhurried));
      throw error;
    }
    countChecks(change, txn, succeeded ? txn.compares.length : failing + 1);
    return this.#decided(change, { kind: 'txn', revision: this.#visible(change), succeeded, responses });
  }

  /**
   * Decides any transaction. Refuses it with FutureRev, Compacted, LeaseNotFound, KeyNotFound, RequestTooLarge, NoSpace or
   * ResponseTooLarge, and then has changed nothing.
   */
  *decide(txn: Txn, compactRevision: Revision, values: DecisionValues, account?: AnswerAccount): Job<DecidedTxn<Plan>> {
    assert(!this.#underWay, 'a transaction is decided within another');
    this.#underWay = true;
    try {
      const turn = this.#turn;
      const path = yield* choosePath(txn, this.#versions, values, nextRevision(this.#assigned), turn);
      this.#checks.begin(this.#assigned, compactRevision);
      yield* this.#check(txn, path, values, turn);
      this.#checks.finish();
      const change = this.#begin(this.#next, account);
      let planned: PlannedTxn<Plan>;
      try {
        planned = yield* this.#execute(txn, path, change, values, turn);
      } catch (error) {
        yield* this.#abandon(change, error, turn);
        throw error;
      }
      countChecks(change, txn, path.compared);
      return this.#decided(change, planned);
    } finally {
      this.#underWay = false;
    }
  }

  /**
   * Assigns a log position to `mark`, the record that ends a lease. Then deletes, in one revision, those of `keys` that
   * live and are attached to the lease. `keys` are in the form of `keyText`. `mark` is the first of the returned
   * records.
   */
  *endLease(mark: Uint8Array, keys: readonly string[], attachedTo: LeaseId): PureJob<Changes> {
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
          change.deletes += 1;
          this.#turn.shouldYield(change.lastSteps);
        }
        if (this.#turn.shouldYield()) yield;
      }
    } catch (error) {
      yield* this.#abandon(change, error, this.#turn);
      throw error;
    } finally {
      this.#underWay = false;
    }
    this.#accept(change);
    return change;
  }

  /** Assigns the log position of a record without a revision. */
  assignPosition(): LogPosition {
    assert(!this.#underWay, 'a position is assigned within a transaction');
    const position = this.#next;
    this.#next = nextLogPosition(position);
    return position;
  }

  /**
   * Undoes the changes of a write that will never be durable. Of all decided writes, the last one must be undone
   * first.
   */
  undo(events: readonly KvEvent[]): PureJob<void> {
    return this.#keys.undo(events, this.#turn);
  }

  #begin(next: LogPosition, account?: AnswerAccount): Change {
    return new Change(nextRevision(this.#assigned), next, this.#answerBytesMax, account);
  }

  #decided(change: Change, planned: PlannedTxn<Plan>): DecidedTxn<Plan> {
    this.#accept(change);
    return { planned, changes: change };
  }

  #accept(change: Change): void {
    if (change.events.length > 0) this.#assigned = change.revision;
    this.#next = change.next;
  }

  *#abandon(change: Change, error: unknown, turn: Turn): PureJob<void> {
    this.#broken = true;
    if (!isEngramError(error)) return;
    yield* this.#keys.undo(change.events, turn);
    this.#pending.undone(this.#next);
    this.#broken = false;
  }

  *#check(txn: Txn, path: Path, values: DecisionValues, turn: Turn): Job<void> {
    let nested = 0;
    for (const op of path.succeeded ? txn.success : txn.failure) {
      if (op.kind === 'txn') {
        yield* this.#check(op.txn, path.nested[nested]!, values, turn);
        nested += 1;
        continue;
      }
      this.#checks.add(op);
      const bringing = op.kind === 'put' && op.ignoreValue ? values.bring([this.#livePosition(op)], true) : undefined;
      if (bringing !== undefined) yield bringing;
      if (turn.shouldYield()) yield;
    }
  }

  #livePosition({ key }: PutOp): LogPosition {
    return this.#versions.position(this.#versions.head(key));
  }

  *#execute(txn: Txn, path: Path, change: Change, values: DecisionValues, turn: Turn): PureJob<PlannedTxn<Plan>> {
    const ops = path.succeeded ? txn.success : txn.failure;
    const responses = new Array<PlannedOp<Plan>>(ops.length);
    let nested = 0;
    for (let at = 0; at < ops.length; at += 1) {
      const op = ops[at]!;
      if (op.kind === 'txn') {
        responses[at] = yield* this.#execute(op.txn, path.nested[nested]!, change, values, turn);
        nested += 1;
      } else {
        responses[at] = this.#onKey(op, change, values) ?? (yield* this.#onRange(op, change, turn));
        if (op.kind === 'put') turn.shouldYield(change.lastSteps);
      }
      if (turn.shouldYield()) yield;
    }
    return { kind: 'txn', revision: this.#visible(change), succeeded: path.succeeded, responses };
  }

  /** Decides an operation that changes one key. Undefined: it is another one. */
  #onKey(op: FlatOp, change: Change, values: DecisionValues): PlannedOp<Plan> | undefined {
    if (op.kind === 'put') {
      const prev = this.#keys.put(op, change, values);
      return { kind: 'put', revision: change.revision, prev: op.prevKv ? prev : undefined };
    }
    if (op.kind === 'range' || !isPoint(op.range)) return undefined;
    return this.#deleted(op, this.#keys.deletePoint(op, change), change);
  }

  /** Decides any other operation. */
  *#onRange(op: FlatOp, change: Change, turn: Turn): PureJob<PlannedOp<Plan>> {
    assert(op.kind !== 'put', 'a put is of one key');
    if (op.kind === 'delete-range') return this.#deleted(op, yield* this.#keys.deleteRange(op, change, turn), change);
    change.scans += 1;
    const at = op.revision > 0 ? revision(op.revision) : change.revision;
    const pinned = at < change.revision ? at : this.#assigned;
    const plan = yield* this.#ranges.plan(op, at, pinned, change.room, turn);
    return { kind: 'range', revision: this.#visible(change), plan };
  }

  #deleted(op: DeleteRangeOp, deleted: readonly LogPosition[], change: Change): PlannedOp<Plan> {
    const prev = op.prevKv ? deleted : [];
    return { kind: 'delete-range', revision: this.#visible(change), deleted: deleted.length, prev };
  }

  /** The revision that a reader inside the transaction sees: its own once it has changed something. */
  #visible(change: Change): Revision {
    return change.events.length > 0 ? change.revision : this.#assigned;
  }
}

/** Of a transaction that is decided. `KV.Put` and `KV.DeleteRange` are transactions of one operation without compares. */
function countChecks(change: Change, { compares, success }: Txn, compared: number): void {
  const isAlone = compares.length === 0 && success.length === 1 && success[0]!.kind !== 'txn';
  change.checks = isAlone ? 0 : compared + change.lookups;
}

type FlatOp = Exclude<Op, { readonly kind: 'txn' }>;

function flat(op: Op): FlatOp {
  assert(op.kind !== 'txn', 'a simple transaction has another one in it');
  return op;
}
