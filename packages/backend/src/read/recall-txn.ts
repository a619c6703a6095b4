import {
  AnswerRoom,
  assert,
  type ByteList,
  ByteViews,
  EMPTY_BYTES,
  EngramError,
  isEngramError,
  type KeyRange,
  type Op,
  type RangeOp,
  rangeOp,
  type Revision,
  revision as toRevision,
  SortOrder,
  SortTarget,
  type Txn,
} from '@engram/core';
import { type Job, settled } from '@engram/loop';
import type { ScanResult } from '@engram/scanner';
import { choosePath, type Path } from '@engram/sequencer';
import type { Caller } from '../caller.ts';
import { clientTask } from '../client-task.ts';
import type { CommittedWrite } from '../apply/committed-write.ts';
import { NeededValues } from '../decide/needed-values.ts';
import type { Replica } from '../replica/replica.ts';
import type { OpResult, TxnResult } from '../store.ts';
import { TouchedKeys } from './touched-keys.ts';
import { VersionsAt } from './versions-at.ts';

/**
 * Recomputes the answer to a transaction that is in the log, but whose leader's answer is unknown. Decides the
 * transaction again on the revision before it, which every replica has. The answer is the leader's. Where it can no longer
 * be known, throws TimeoutDueToLeaderFail: that revision, or one that a range asks for, is compacted; this node has no room
 * for the answer; or a range between two changes of the transaction is not in the order of the keys, or is filtered.
 */
export async function recallTxn(
  txn: Txn,
  { group }: CommittedWrite,
  replica: Replica,
  caller: Caller,
): Promise<TxnResult> {
  assert(group !== undefined && group.revision <= replica.revision, 'recalled a transaction that has not taken effect');
  const before = toRevision(group.revision - 1);
  if (before < replica.state.compactRevision) throw new EngramError('TimeoutDueToLeaderFail');
  return replica.loop.run(
    clientTask(caller, 'recall'),
    recalling(txn, { before, at: group.revision }, replica, caller),
    caller.signal,
  );
}

function* recalling(txn: Txn, place: Place, replica: Replica, caller: Caller): Job<TxnResult> {
  const { before } = place;
  using _pin = replica.pins.hold(before);
  const versions = new VersionsAt(replica.state.index, before);
  const path = yield* choosePath(txn, versions, new NeededValues(replica, caller.signal), before, replica.loop);
  return yield* recall(txn, path, place, replica, caller);
}

/**
 * Computes the answer to a transaction of which the leader has told only what was decided (`TxnResult.recallAfter`). This
 * node has applied it. The answer is the leader's, or the error is TimeoutDueToLeaderFail, as for `recallTxn`.
 */
export async function recallDecided(
  txn: Txn,
  decided: TxnResult,
  before: Revision,
  replica: Replica,
  caller: Caller,
): Promise<TxnResult> {
  const at = decided.revision;
  const isKnown = before <= at && at <= replica.revision && before >= replica.state.compactRevision;
  if (!isKnown) throw new EngramError('TimeoutDueToLeaderFail');
  const answer = await replica.loop.run(
    clientTask(caller, 'recall'),
    pinned(replica, before, recall(txn, pathOf(txn, decided), { before, at }, replica, caller)),
    caller.signal,
  );
  if (!agree(answer, decided)) {
    const cause = new Error('the replicas of two members give two answers to one transaction');
    throw new EngramError('TimeoutDueToLeaderFail', { cause });
  }
  return answer;
}

function* pinned<Result>({ pins }: Replica, at: Revision, job: Job<Result>): Job<Result> {
  using _pin = pins.hold(at);
  return yield* job;
}

/**
 * Whether every answer to this transaction can be recalled while its revisions are not compacted. Otherwise it may have a
 * range between two changes that is filtered, or not in the order of the keys.
 */
export function isRecallable(txn: Txn): boolean {
  const seen = { writes: 0, isOrdered: true };
  look(txn, seen);
  return seen.writes < 2 || seen.isOrdered;
}

function look(txn: Txn, seen: { writes: number; isOrdered: boolean }): void {
  for (const branch of [txn.success, txn.failure]) {
    for (const op of branch) {
      if (op.kind === 'txn') look(op.txn, seen);
      else if (op.kind !== 'range') seen.writes += 1;
      else if (op.revision <= 0 && !isInKeyOrder(op)) seen.isOrdered = false;
    }
  }
}

/** The branches that a decision has taken. The result is one of this transaction. */
function pathOf(txn: Txn, { succeeded, responses }: TxnResult): Path {
  const nested: Path[] = [];
  for (const [at, op] of (succeeded ? txn.success : txn.failure).entries()) {
    const result = responses[at];
    if (op.kind === 'txn' && result?.kind === 'txn') nested.push(pathOf(op.txn, result));
  }
  return { succeeded, nested };
}

/** Whether two results of one transaction say the same, their key-values aside. */
function agree(left: OpResult, right: OpResult): boolean {
  if (left.revision !== right.revision) return false;
  if (left.kind === 'range') return right.kind === 'range' && left.count === right.count;
  if (left.kind === 'delete-range') return right.kind === 'delete-range' && left.deleted === right.deleted;
  if (left.kind === 'put') return right.kind === 'put';
  return right.kind === 'txn' && left.responses.every((response, at) => agree(response, right.responses[at]!));
}

/** A transaction's place in the history: it saw `before`, and its changes, if it made any, are in `at`. */
interface Place {
  readonly before: Revision;
  readonly at: Revision;
}

function* recall(txn: Txn, path: Path, place: Place, replica: Replica, caller: Caller): Job<TxnResult> {
  try {
    return yield* new Recall(replica, place, countWrites(txn, path), caller).txn(txn, path);
  } catch (cause) {
    // The transaction is done. An error that says that it was refused would be wrong.
    throw isEngramError(cause, 'ResponseTooLarge') ? new EngramError('TimeoutDueToLeaderFail', { cause }) : cause;
  }
}

const nothing: Pick<ScanResult, 'kvs'> = { kvs: [] };

class Recall {
  readonly #replica: Replica;
  readonly #before: Revision;
  readonly #at: Revision;
  readonly #signal: AbortSignal;
  /** Puts and deletes that are still to come. */
  #writesLeft: number;
  #changed = false;
  readonly #touched = new TouchedKeys();
  readonly #room: AnswerRoom;

  constructor(replica: Replica, { before, at }: Place, writes: number, caller: Caller) {
    this.#room = new AnswerRoom(replica.txnAnswerBytesMax, caller);
    this.#replica = replica;
    this.#before = before;
    this.#at = at;
    this.#writesLeft = writes;
    this.#signal = caller.signal;
  }

  *txn(txn: Txn, path: Path): Job<TxnResult> {
    const responses: OpResult[] = [];
    let nested = 0;
    for (const op of path.succeeded ? txn.success : txn.failure) {
      if (op.kind === 'txn') {
        responses.push(yield* this.txn(op.txn, path.nested[nested]!));
        nested += 1;
      } else responses.push(yield* this.#op(op));
    }
    return { kind: 'txn', revision: this.#visible, succeeded: path.succeeded, responses };
  }

  get #visible(): Revision {
    return this.#changed ? this.#at : this.#before;
  }

  *#op(op: Exclude<Op, { kind: 'txn' }>): Job<OpResult> {
    switch (op.kind) {
      case 'range':
        return yield* this.#range(op);
      case 'put': {
        const { kvs } = op.prevKv ? yield* this.#lived({ key: op.key, end: EMPTY_BYTES }, false) : nothing;
        this.#touched.put(op.key);
        this.#wrote(true);
        return { kind: 'put', revision: this.#at, prevKv: [...kvs][0] };
      }
      case 'delete-range': {
        // What an earlier delete has taken is gone for this one.
        const lived: ScanResult[] = [];
        for (const part of this.#touched.delete(op.range)) lived.push(yield* this.#lived(part, !op.prevKv));
        const deleted = countOf(lived);
        this.#wrote(deleted > 0);
        return { kind: 'delete-range', revision: this.#visible, deleted, prevKvs: yield* this.#joined(lived) };
      }
    }
  }

  *#range(op: RangeOp): Job<OpResult> {
    const revision = this.#visible;
    const asked = op.revision > 0 ? toRevision(op.revision) : undefined;
    const at = asked ?? revision;
    // The leader could still read this revision; it is compacted by now.
    if (at < this.#replica.state.compactRevision) throw new EngramError('TimeoutDueToLeaderFail');
    using _pin = this.#replica.pins.hold(at);
    const between = asked === undefined && this.#changed && this.#writesLeft > 0;
    const { kvs, more, count } = between ? yield* this.#between(op) : yield* this.#scan(op, at);
    return { kind: 'range', revision, kvs, more, count };
  }

  /** A range between two changes. No revision shows what it saw: the changed keys are in `at`, and the others in `before`. */
  *#between(op: RangeOp): Job<ScanResult> {
    if (!isInKeyOrder(op)) throw new EngramError('TimeoutDueToLeaderFail');
    const found: ScanResult[] = [];
    let length = 0;
    for (const { range, by } of this.#touched.partsOf(op.range)) {
      if (by === 'delete') continue;
      const left = op.limit > 0 ? op.limit - length : 0;
      const part = op.limit > 0 && left === 0 ? rangeOp(range, { countOnly: true }) : { ...op, range, limit: left };
      const scanned = yield* this.#scan(part, by === 'put' ? this.#at : this.#before);
      length += scanned.kvs.length;
      found.push(scanned);
    }
    const count = countOf(found);
    return { kvs: yield* this.#joined(found), count, more: !op.countOnly && op.limit > 0 && count > op.limit };
  }

  /** The lists one after another. */
  *#joined(parts: readonly ScanResult[]): Job<ByteList> {
    const lists = parts.map(({ kvs }) => kvs).filter(({ length }) => length > 0);
    if (lists.length < 2) return lists[0] ?? [];
    const all = new ByteViews();
    for (const list of lists) {
      for (const kv of list) {
        all.setView(all.extend(1), kv);
        if (this.#replica.loop.shouldYield()) yield;
      }
    }
    return all;
  }

  #wrote(changed: boolean): void {
    this.#writesLeft -= 1;
    this.#changed ||= changed;
  }

  /** The keys of the range that lived before the transaction. */
  #lived(range: KeyRange, countOnly: boolean): Job<ScanResult> {
    return this.#scan(rangeOp(range, { countOnly }), this.#before);
  }

  *#scan(op: RangeOp, at: Revision): Job<ScanResult> {
    const { scanner, loop } = this.#replica;
    const result = yield* settled(scanner.scan(op, at, this.#signal, this.#room));
    if (loop.shouldYield(1 + result.kvs.length)) yield;
    return result;
  }
}

const countOf = (parts: readonly ScanResult[]): number => parts.reduce((sum, { count }) => sum + count, 0);

const isInKeyOrder = (op: RangeOp): boolean =>
  op.sortTarget === SortTarget.KEY &&
  op.sortOrder !== SortOrder.DESCEND &&
  op.minModRevision === 0 &&
  op.maxModRevision === 0 &&
  op.minCreateRevision === 0 &&
  op.maxCreateRevision === 0;

function countWrites(txn: Txn, path: Path): number {
  let writes = 0;
  let nested = 0;
  for (const op of path.succeeded ? txn.success : txn.failure) {
    if (op.kind === 'txn') {
      writes += countWrites(op.txn, path.nested[nested]!);
      nested += 1;
    } else if (op.kind !== 'range') writes += 1;
  }
  return writes;
}
