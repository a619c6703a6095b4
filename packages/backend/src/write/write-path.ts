import { encodeRecord } from '@engram/coder';
import {
  assert,
  AssertionError,
  type Clock,
  doSliced,
  EngramError,
  EVENT_PUT,
  type EventGroup,
  isEngramError,
  type KvEvent,
  type LeaseId,
  type LogPosition,
  type Revision,
  type Seal,
  Slice,
  type SlicedWork,
  type Txn,
} from '@engram/core';
import type { RangePlan } from '@engram/scanner';
import { type Changes, type Deciding, isSimple, type KnownValues, type Sequenced, Sequencer } from '@engram/sequencer';
import type { AppendOutcome, Log } from '@engram/storage';
import { Writer } from '@engram/writer';
import { answerSequenced, type PlannedRange } from '../answer/answer.ts';
import type { Caller, Origin } from '../caller.ts';
import { AwaitedWrites } from '../answer/awaited-writes.ts';
import { changeEncoder } from './change-encoder.ts';
import type { CommittedWrite, Mark } from '../apply/committed-write.ts';
import { Decisions } from '../decide/decisions.ts';
import { longWriteChanges } from '../apply/long-write.ts';
import { NeededValues, nothingNeeded } from '../decide/needed-values.ts';
import { observeChanges } from './observe-changes.ts';
import type { StoreObserver } from '../observer.ts';
import type { PendingLeases } from '../answer/pending-leases.ts';
import type { PendingWrite } from '../answer/pending-writes.ts';
import { txnBytes } from '../quota.ts';
import type { Replica } from '../replica/replica.ts';
import type { TxnResult } from '../store.ts';

export interface WritePathOptions {
  readonly replica: Replica;
  readonly leases: PendingLeases;
  readonly log: Log;
  /** The seal with which this leadership holds the log. */
  readonly seal: Seal;
  readonly clock: Clock;
  readonly observer: StoreObserver;
  readonly batchBytesMax: number;
  /** Bytes that may wait. Above it new writes are refused with TooManyRequests. */
  readonly waitingBytesMax: number;
  /** The most puts and deletes of one transaction: above it RequestTooLarge. */
  readonly txnChangesMax: number;
  /** The most bytes of the answer to one transaction: above it ResponseTooLarge. */
  readonly txnAnswerBytesMax: number;
  /** See `Slice`. */
  readonly sliceUs: number | undefined;
  /**
   * A write that has not taken effect after this time is answered Timeout. If it was sequenced, it may take effect
   * later; otherwise it never does. Only a long end of a lease goes on in any case.
   */
  readonly timeoutMs: number;
  /**
   * Confirms that no other node led when it was called. An append itself proves that this node still leads. An answer
   * without one rests on the state alone, which another leader may have changed. Undefined on a lone node.
   */
  readonly confirm: (() => Promise<void>) | undefined;
  /** The log took no more. Writes that were not durable are undone by then, unless the outcome is `uncertain`. */
  readonly onStopped: (outcome: Exclude<AppendOutcome, { kind: 'committed' }>) => void;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

/** Deletions from this `sub` on are not kept in the cache: no reader needs their bytes before they are durable. */
const KEPT_DELETIONS = 1024;

/**
 * The path of a write on the leader: sequenced in memory, appended with others, given to the replica when durable,
 * and answered when in effect. Sequenced versions are in the index above the replica's revision, where no reader
 * looks. `halt` undoes the writes that have not left for the log.
 *
 * Nearly all writes are sequenced in the call that requests them. A long write is sequenced in slices. Other writes
 * wait for it in `DecisionQueue`, and follow in their order.
 */
export class WritePath {
  readonly #options: WritePathOptions;
  readonly #sequencer: Sequencer<PlannedRange>;
  readonly #writer: Writer<PendingWrite>;
  readonly #decisions: Decisions;
  readonly #awaited: AwaitedWrites;
  readonly #neverAborted = new AbortController().signal;
  #halted = false;
  /** Undoes sequenced writes, one part after the other. */
  #unwinding: Promise<void> | undefined;
  /** The oldest revision that must be kept for the plans of the transaction that is being sequenced. */
  #lowestPinned = Number.POSITIVE_INFINITY;

  constructor(options: WritePathOptions) {
    this.#options = options;
    const { replica } = options;
    const { state, scanner } = replica;
    assert(replica.applied === replica.next, 'a leadership begins before the replica has settled');
    replica.cache.forgetPending(replica.next);
    this.#decisions = new Decisions({
      ...options,
      pins: replica.pins,
      onLong: () => this.#awaited.watchTimeouts(),
    });
    this.#awaited = new AwaitedWrites({
      ...options,
      onTimeout: (untilMs, error) => this.#decisions.failUntil(untilMs, error),
    });
    this.#sequencer = new Sequencer<PlannedRange>({
      versions: state.index,
      leases: options.leases,
      encoder: changeEncoder,
      ranges: {
        plan: (op, at, pinned, room, slice) => {
          if (!op.countOnly && pinned < this.#lowestPinned) this.#lowestPinned = pinned;
          return plannedRange(scanner.plan(op, at, room, slice), pinned);
        },
      },
      revision: state.revision,
      next: replica.next,
      changesMax: options.txnChangesMax,
      answerBytesMax: options.txnAnswerBytesMax,
      onChanged: ({ type, sub, position, kv }) => {
        if (type === EVENT_PUT || sub < KEPT_DELETIONS) replica.cache.addPending(position, kv);
      },
      onUndone: (from) => replica.cache.forgetPending(from),
    });
    this.#writer = new Writer<PendingWrite>({
      log: options.log,
      seal: options.seal,
      clock: options.clock,
      next: replica.next,
      batchBytesMax: options.batchBytesMax,
      sharingRecordsMax: longWriteChanges(options.sliceUs),
      onAppending: (writes) => replica.prefetch(writes),
      onAppended: (durationMs, records, bytes) => {
        this.#appendedBytes = bytes;
        options.observer.appended?.(durationMs, records, bytes);
      },
      onCommitted: (writes, durable) => this.#committed(writes, durable),
      onStopped: (outcome, writes) => this.#stopped(outcome, writes),
    });
  }

  #appendedBytes = 0;

  /** The newest revision that was dealt and the next log position, durable or not. */
  get sequenced(): { readonly revision: Revision; readonly next: LogPosition } {
    return { revision: this.#sequencer.dealt, next: this.#sequencer.next };
  }

  /** Everything that was sequenced has taken effect. */
  get isSettled(): boolean {
    return this.#sequencer.next === this.#options.replica.applied;
  }

  /** Bytes of writes that wait for the log or for a long decision before them. */
  get waitingBytes(): number {
    return this.#writer.waitingBytes + this.#decisions.waitingBytes + this.#awaited.waitingBytes;
  }

  /** Sequences the transaction within the call. If decisions wait, it follows them, in the order of the calls. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    this.admit();
    if (this.#decisions.free) return this.#txn(txn, caller);
    return this.#decisions.inTurn(txnBytes(txn), () => this.#txn(txn, caller));
  }

  /**
   * For decisions that read more than a transaction does. If `decide` reads the state and requests its write in one
   * synchronous call, no write is sequenced in between. `bytes` is what the decision keeps in memory while it waits.
   */
  inTurn<Result>(bytes: number, decide: () => Result | Promise<Result>): Promise<Result> {
    try {
      if (!this.#decisions.free) this.admit();
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#decisions.inTurn(bytes, decide);
  }

  /** Appends a record without a revision. Resolves when it has taken effect. Must be called in turn (`inTurn`). */
  mark(mark: Mark, origin: Origin | undefined): Promise<Revision> {
    assert(this.#decisions.free, 'a mark is decided on out of turn');
    this.admit();
    this.#sequencer.dealPosition();
    const record = encodeRecord(mark);
    const write = { mark, group: undefined, origin };
    return this.#enqueue(write, [record], record.length, undefined, () => this.#options.replica.revision);
  }

  /** Ends a lease and deletes the keys that are attached to it, in one revision. Must be called in turn (`inTurn`). */
  endLease(id: LeaseId, origin: Origin | undefined): Promise<Revision> {
    assert(this.#decisions.free, 'a lease ends out of turn');
    this.admit();
    const { replica, leases } = this.#options;
    const mark: Mark = { kind: 'lease-revoke', id };
    const slice = this.#newSlice();
    const ending = this.#endingLease(encodeRecord(mark), id, slice);
    // Continues after a timeout, because a retry would begin from the start.
    return this.#decide(ending, new NeededValues(replica), slice, true, ({ events, records, recordBytes }) => {
      leases.decide(id, false);
      const group = this.#groupOf(events);
      const answer = (): Revision => group?.revision ?? replica.revision;
      return this.#enqueue({ mark, group, origin }, records, recordBytes, undefined, answer);
    });
  }

  *#endingLease(record: Uint8Array, id: LeaseId, slice: Slice): Deciding<Changes> {
    const keys = yield* this.#options.leases.candidates(id, slice);
    return yield* this.#sequencer.endLease(record, keys, id, slice);
  }

  /** Resolves when every write requested before has taken effect. Undefined if all have. */
  settled(): Promise<void> | undefined {
    if (!this.#decisions.free) return this.#decisions.inTurn(0, () => this.settled());
    return this.#sequencedSettled();
  }

  #sequencedSettled(): Promise<void> | undefined {
    return this.isSettled ? undefined : this.#whenSettled(undefined, () => undefined);
  }

  /** For a node that stops: gives up writes that are not sequenced yet. Resolves when nothing is under way. */
  async drained(): Promise<void> {
    const error = new EngramError('Stopped');
    for (const waiting of this.#decisions.giveUp(error)) waiting.fail(error);
    await this.#decisions.idle();
    await this.#writer.drained();
  }

  /** Throws if no write can be accepted now. Must be called before a change that holds only with the write. */
  admit(): void {
    if (this.#halted) throw new EngramError('LeaderChanged');
    if (this.#writer.stopped) throw new EngramError('Stopped');
    // A decision that has waited for its turn was admitted before.
    if (this.#decisions.waited) return;
    if (this.waitingBytes > this.#options.waitingBytesMax) throw new EngramError('TooManyRequests');
  }

  /**
   * Ends the write path. Writes that have not left for the log are undone and fail with LeaderChanged. Resolves when
   * an append under way has settled (given to the replica, or undone) and all undone versions are out of the index.
   */
  async halt(): Promise<void> {
    this.#halted = true;
    const error = new EngramError('LeaderChanged');
    this.#unwind(this.#writer.halt(), error, () => {});
    await this.#writer.drained();
    await this.#unwinding;
  }

  #txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    if (!isSimple(txn)) return this.#sequenceSliced(txn, caller);
    const needs = this.#sequencer.needs(txn);
    if (needs.length === 0) return this.#sequence(txn, caller, nothingNeeded);
    return this.#sequenceWith(new NeededValues(this.#options.replica), needs, txn, caller);
  }

  #sequenceWith(
    values: NeededValues,
    needs: readonly LogPosition[],
    txn: Txn,
    caller: Caller,
    deadlineMs?: number,
  ): Promise<TxnResult> {
    const missing = values.collect(needs);
    return missing.length === 0
      ? this.#sequence(txn, caller, values)
      : this.#loadAndSequence(txn, caller, values, missing, deadlineMs);
  }

  /**
   * The keys may have newer versions when the values arrive. So the needs are collected again, until all values are
   * at hand or the deadline has passed.
   */
  async #loadAndSequence(
    txn: Txn,
    caller: Caller,
    values: NeededValues,
    missing: readonly LogPosition[],
    deadlineMs = this.#decisions.askedMs + this.#options.timeoutMs,
  ): Promise<TxnResult> {
    await values.loadUntil(deadlineMs, missing, this.#options.clock);
    this.admit();
    return this.#decisions.inTurn(txnBytes(txn), () =>
      this.#sequenceWith(values, this.#sequencer.needs(txn), txn, caller, deadlineMs),
    );
  }

  #sequence(txn: Txn, caller: Caller, values: KnownValues): Promise<TxnResult> {
    const { replica } = this.#options;
    this.#lowestPinned = Number.POSITIVE_INFINITY;
    let sequenced: Sequenced<PlannedRange>;
    try {
      sequenced = this.#guarded(() => this.#sequencer.sequence(txn, replica.state.compactRevision, values, caller));
    } catch (error) {
      return this.#refuse(error);
    }
    return this.#sequenced(sequenced, caller);
  }

  #sequenceSliced(txn: Txn, caller: Caller): Promise<TxnResult> {
    const { replica } = this.#options;
    const slice = this.#newSlice();
    const values = new NeededValues(replica);
    this.#lowestPinned = Number.POSITIVE_INFINITY;
    const sequencing = this.#sequencer.sequenceSliced(txn, replica.state.compactRevision, values, slice, caller);
    return this.#decide(sequencing, values, slice, false, (sequenced) => this.#sequenced(sequenced, caller));
  }

  #sequenced(sequenced: Sequenced<PlannedRange>, caller: Caller): Promise<TxnResult> {
    const { planned, events, records, recordBytes, answersPrevious } = sequenced;
    const { replica } = this.#options;
    const { scanner, pins, loop } = replica;
    const lowest = answersPrevious ? Math.min(this.#lowestPinned, planned.revision - 1) : this.#lowestPinned;
    const answer = (): Promise<TxnResult> | TxnResult =>
      answerSequenced(sequenced, caller, lowest as Revision, { scanner, pins, loop, signal: this.#neverAborted });
    if (events.length === 0 && this.isSettled) return this.#confirmed(promised(answer));
    const pin = lowest === Number.POSITIVE_INFINITY ? undefined : replica.pins.hold(lowest as Revision);
    // The versions that it read may not be durable yet. The answer waits until they have taken effect.
    if (events.length === 0) return this.#confirmed(this.#whenSettled(pin, answer));
    const write = { mark: undefined, group: this.#groupOf(events), origin: caller.origin };
    return this.#enqueue(write, records, recordBytes, pin, answer);
  }

  #decide<Result extends Changes, Answer>(
    deciding: Deciding<Result>,
    values: NeededValues,
    slice: Slice,
    goesOn: boolean,
    finish: (result: Result) => Promise<Answer>,
  ): Promise<Answer> {
    return this.#decisions.take({
      deciding,
      values,
      slice,
      goesOn,
      finish,
      confirm: ({ events }) => (this.#halted ? this.#takeBack(events, slice) : undefined),
      refuse: (error) => this.#refuse(this.#judged(error)),
    });
  }

  /** Undoes a long write whose leadership has ended in its last slice. */
  async #takeBack(events: readonly KvEvent[], slice: Slice): Promise<never> {
    await doSliced(this.#sequencer.undo(events, slice), () => slice.turn(this.#options.clock));
    throw new EngramError('LeaderChanged');
  }

  /** A refusal may rest on a write that is under way. It is reported when that write has taken effect. */
  async #refuse(error: unknown): Promise<never> {
    const givenUp = isEngramError(error, 'Timeout') || isEngramError(error, 'Stopped');
    if (this.#halted) await this.#unwinding;
    else if (isEngramError(error) && !givenUp) {
      await this.#sequencedSettled();
      await this.#options.confirm?.();
    }
    throw error;
  }

  #confirmed<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const { confirm } = this.#options;
    return confirm === undefined ? answer : answer.then((value) => confirm().then(() => value));
  }

  /** An error between a write's first change and its place in the queue leaves index and log apart: the node ends. */
  #guarded<Result>(change: () => Result): Result {
    try {
      return change();
    } catch (error) {
      throw isEngramError(error) ? this.#judged(error) : this.#fatal(error);
    }
  }

  /** The error to report for a decision that failed. Ends the node if an invariant is broken. */
  #judged(error: unknown): unknown {
    return this.#sequencer.broken || error instanceof AssertionError ? this.#fatal(error) : error;
  }

  #fatal(cause: unknown): EngramError {
    const fatal = new Error('a write was left half sequenced', { cause });
    this.#halted = true;
    this.#options.onFatal(fatal);
    return new EngramError('Stopped', { cause: fatal });
  }

  #groupOf(events: readonly KvEvent[]): EventGroup | undefined {
    const first = events[0];
    if (first === undefined) return undefined;
    const { observer, clock, sliceUs } = this.#options;
    observeChanges(events, observer, clock, sliceUs);
    return { revision: first.modRevision, events };
  }

  #enqueue<Answer>(
    effect: CommittedWrite,
    records: Uint8Array[],
    recordBytes: number,
    pin: Disposable | undefined,
    answer: () => Answer | Promise<Answer>,
  ): Promise<Answer> {
    return this.#awaited.wait(effect, this.#decisions.askedMs, pin, answer, (write) => {
      let bytes = recordBytes;
      if (effect.origin !== undefined) {
        const record = encodeRecord({ kind: 'origin', ...effect.origin });
        this.#sequencer.dealPosition();
        records.push(record);
        bytes += record.length;
      }
      this.#guarded(() => this.#writer.enqueue(write, records, bytes));
    });
  }

  /** Answers when everything that is sequenced now has taken effect. */
  #whenSettled<Answer>(pin: Disposable | undefined, answer: () => Answer | Promise<Answer>): Promise<Answer> {
    return this.#awaited.wait(noEffect, this.#decisions.askedMs, pin, answer, (write) => {
      if (this.isSettled) write.settle();
      else if (this.#halted) write.fail(new EngramError('LeaderChanged'));
      else this.#awaited.addWaiter(this.#sequencer.next, write);
    });
  }

  #committed(writes: readonly PendingWrite[], durable: LogPosition): void {
    const next = (durable + 1) as LogPosition;
    this.#options.replica.apply(writes, next, this.#appendedBytes, () => this.#awaited.applied(writes, next));
  }

  #stopped(outcome: Exclude<AppendOutcome, { kind: 'committed' }>, writes: readonly PendingWrite[]): void {
    const told = this.#halted;
    this.#halted = true;
    if (outcome.kind !== 'uncertain') {
      // A superseded leader does not know whether the log holds the write. Reading on in the log shows it, and where that
      // is trimmed, what other members have.
      const error = new EngramError(outcome.kind === 'fenced' ? 'LeaderChanged' : 'TimeoutDueToLeaderFail');
      this.#unwind(writes, error, () => {
        if (!told) this.#options.onStopped(outcome);
      });
      return;
    }
    // It is unknown whether the log holds the batch, so it can be neither applied nor undone: the node must restart.
    const error = new EngramError('Stopped', { cause: outcome.cause });
    this.#fail([...writes, ...this.#decisions.giveUp(error)], error);
    this.#options.onStopped(outcome);
  }

  #fail(writes: readonly { fail(error: Error): void }[], error: Error): void {
    for (const write of writes) write.fail(error);
    this.#awaited.failWaiters(error);
  }

  /**
   * Removes versions that will never be durable from the index, newest first, as if the writes had never been
   * requested. Waits for the long decision under way and for earlier calls, which undo newer versions. At the end
   * every waiting caller fails and, in the same turn, `done` is called.
   */
  #unwind(writes: readonly PendingWrite[], error: EngramError, done: () => void): void {
    const { clock } = this.#options;
    const slice = this.#newSlice();
    const { longEnded } = this.#decisions;
    const waiting = this.#decisions.giveUp(error);
    const undo = (): void | Promise<void> => doSliced(this.#undoing(writes, slice), () => slice.turn(clock));
    const end = (): void => {
      this.#fail([...writes, ...waiting], error);
      done();
    };
    try {
      const before = this.#unwinding ?? longEnded;
      const undone = before === undefined ? undo() : before.then(undo);
      if (undone === undefined) end();
      else this.#unwinding = undone.then(end).catch((cause: unknown) => void this.#fatal(cause));
    } catch (cause) {
      this.#fatal(cause);
    }
  }

  *#undoing(writes: readonly PendingWrite[], slice: Slice): SlicedWork<void> {
    for (let at = writes.length - 1; at >= 0; at -= 1) {
      const { group } = writes[at]!;
      if (group !== undefined) yield* this.#sequencer.undo(group.events, slice);
    }
  }

  #newSlice(): Slice {
    return new Slice(this.#options.sliceUs);
  }
}

const promised = async <Value>(make: () => Value | Promise<Value>): Promise<Value> => make();

function* plannedRange(planning: SlicedWork<RangePlan>, pinned: Revision): SlicedWork<PlannedRange> {
  return { plan: yield* planning, pinned };
}

const noEffect: CommittedWrite = { mark: undefined, group: undefined, origin: undefined };
