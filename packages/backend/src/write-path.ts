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
import { answerTxn, type PlannedRange } from './answer.ts';
import type { Caller, Origin } from './caller.ts';
import { AwaitedWrites } from './awaited-writes.ts';
import { changeEncoder } from './change-encoder.ts';
import type { CommittedWrite, Mark } from './committed-write.ts';
import { Decisions } from './decisions.ts';
import { longWriteChanges } from './long-write.ts';
import { NeededValues, nothingNeeded } from './needed-values.ts';
import { observeChanges } from './observe-changes.ts';
import type { StoreObserver } from './observer.ts';
import type { PendingLeases } from './pending-leases.ts';
import type { PendingWrite } from './pending-writes.ts';
import { txnBytes } from './quota.ts';
import type { Replica } from './replica.ts';
import type { TxnResult } from './store.ts';

export interface WritePathOptions {
  readonly replica: Replica;
  readonly leases: PendingLeases;
  readonly log: Log;
  /** Holds the log. */
  readonly seal: Seal;
  readonly clock: Clock;
  readonly observer: StoreObserver;
  readonly batchBytesMax: number;
  /** Above it new writes are refused with TooManyRequests. */
  readonly waitingBytesMax: number;
  /** Puts and deletes of one transaction: above it RequestTooLarge. */
  readonly txnChangesMax: number;
  /** What the answer to one transaction may hold: above it ResponseTooLarge. */
  readonly txnAnswerBytesMax: number;
  /** See `Slice`. */
  readonly sliceUs: number | undefined;
  /**
   * A write that has not taken effect by then is answered Timeout; it may take effect later. One that is not sequenced by
   * then never does.
   */
  readonly timeoutMs: number;
  /**
   * Confirms that nobody else led when it was called. An append tells by itself that this node still leads; what is answered
   * without one rests on the state alone, which another leader may have changed by then. Undefined: a lone node.
   */
  readonly confirm: (() => Promise<void>) | undefined;
  /** The log took no more: `fenced` or `superseded` by a later epoch, or nobody knows. What was not durable is undone by then. */
  readonly onStopped: (outcome: Exclude<AppendOutcome, { kind: 'committed' }>) => void;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

/** Deletions of one write from here on are not kept at hand: nobody asks for their bytes before they are durable. */
const KEPT_DELETIONS = 1024;

/**
 * The way of a write on the leader: sequenced in memory, appended with others, handed to the replica when it is durable,
 * answered when it has taken effect. What is sequenced is in the index above the replica's revision, where no reader
 * looks; `halt` takes it out again.
 *
 * Nearly all writes are sequenced in the call that asks for it. A long one is sequenced in slices: the others wait in
 * `DecisionQueue`, and follow in their order.
 */
export class WritePath {
  readonly #options: WritePathOptions;
  readonly #sequencer: Sequencer<PlannedRange>;
  readonly #writer: Writer<PendingWrite>;
  readonly #decisions: Decisions;
  readonly #awaited: AwaitedWrites;
  readonly #neverAborted = new AbortController().signal;
  #halted = false;
  /** Takes back what was sequenced, one part after the other. */
  #unwinding: Promise<void> | undefined;
  /** The oldest revision that the plans of the transaction being sequenced must keep. */
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

  /** What was decided last, durable or not. */
  get sequenced(): { readonly revision: Revision; readonly next: LogPosition } {
    return { revision: this.#sequencer.dealt, next: this.#sequencer.next };
  }

  /** Everything that was sequenced has taken effect. */
  get isSettled(): boolean {
    return this.#sequencer.next === this.#options.replica.applied;
  }

  /** Of writes that wait for the log, or for a long one before them. */
  get waitingBytes(): number {
    return this.#writer.waitingBytes + this.#decisions.waitingBytes;
  }

  /** Within the call, unless a long write is being sequenced: then behind it, in the order of the calls. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    this.admit();
    if (this.#decisions.free) return this.#txn(txn, caller);
    return this.#decisions.inTurn(txnBytes(txn), () => this.#txn(txn, caller));
  }

  /**
   * For decisions that look at more than a transaction does: no write is sequenced between what `decide` sees and what it
   * asks for, as long as that is in one call. `bytes` is what it keeps in memory where it has to wait.
   */
  inTurn<Result>(bytes: number, decide: () => Result | Promise<Result>): Promise<Result> {
    try {
      if (!this.#decisions.free) this.admit();
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#decisions.inTurn(bytes, decide);
  }

  /** A record without a revision; resolves when it has taken effect. In turn. */
  mark(mark: Mark, origin: Origin | undefined): Promise<Revision> {
    assert(this.#decisions.free, 'a mark is decided on out of turn');
    this.admit();
    this.#sequencer.dealPosition();
    const record = encodeRecord(mark);
    const write = { mark, group: undefined, origin };
    return this.#enqueue(write, [record], record.length, undefined, () => this.#options.replica.revision);
  }

  /** The end of a lease, and with it in one revision of the keys that are attached to it. In turn. */
  endLease(id: LeaseId, origin: Origin | undefined): Promise<Revision> {
    assert(this.#decisions.free, 'a lease ends out of turn');
    this.admit();
    const { replica, leases } = this.#options;
    const mark: Mark = { kind: 'lease-revoke', id };
    const slice = this.#newSlice();
    const ending = this.#endingLease(encodeRecord(mark), id, slice);
    // It goes on when nobody waits: who tried again would only begin anew.
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

  /** Resolves when everything that was asked for before has taken effect; undefined: it has. */
  settled(): Promise<void> | undefined {
    if (!this.#decisions.free) return this.#decisions.inTurn(0, () => this.settled());
    return this.#sequencedSettled();
  }

  #sequencedSettled(): Promise<void> | undefined {
    return this.isSettled ? undefined : this.#whenSettled(undefined, () => undefined);
  }

  /** For a node that stops: what is not sequenced yet is given up. Resolves when nothing is under way any more. */
  async drained(): Promise<void> {
    const error = new EngramError('Stopped');
    for (const waiting of this.#decisions.giveUp(error)) waiting.fail(error);
    await this.#decisions.idle();
    await this.#writer.drained();
  }

  /** Throws when no write can be taken now. To be called before anything is changed that only the write makes true. */
  admit(): void {
    if (this.#halted) throw new EngramError('LeaderChanged');
    if (this.#writer.stopped) throw new EngramError('Stopped');
    // Who has waited for his turn was admitted before.
    if (this.#decisions.waited) return;
    if (this.waitingBytes > this.#options.waitingBytesMax) throw new EngramError('TooManyRequests');
  }

  /**
   * Ends it: what has not left for the log is undone and fails with LeaderChanged. Resolves when the append that was
   * under way has settled, it took effect, or it is undone as well, and all that is undone is out of the index.
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
   * The versions may be others by the time the values are there: it is asked again until all that it needs is at hand, or its
   * time is over.
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
    const { replica, clock, sliceUs } = this.#options;
    const lowest = answersPrevious ? Math.min(this.#lowestPinned, planned.revision - 1) : this.#lowestPinned;
    const answer = (): Promise<TxnResult> | TxnResult =>
      answerTxn(planned, lowest as Revision, { scanner: replica.scanner, clock, sliceUs, signal: this.#neverAborted });
    if (events.length === 0 && this.isSettled) return this.#confirmed(promised(answer));
    const pin = lowest === Number.POSITIVE_INFINITY ? undefined : replica.pins.hold(lowest as Revision);
    // What it read may not be durable yet: the answer waits for it, as one that writes waits for its own records.
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

  /** The leadership has ended in the last slice. */
  async #takeBack(events: readonly KvEvent[], slice: Slice): Promise<never> {
    await doSliced(this.#sequencer.undo(events, slice), () => slice.turn(this.#options.clock));
    throw new EngramError('LeaderChanged');
  }

  /** A refusal may rest on a write that is under way: it is told when that has taken effect. */
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

  /** What is thrown between a write's first change and its place in the queue leaves index and log apart: the node ends. */
  #guarded<Result>(change: () => Result): Result {
    try {
      return change();
    } catch (error) {
      throw isEngramError(error) ? this.#judged(error) : this.#fatal(error);
    }
  }

  /** The error to tell of a decision that could not be taken. */
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
      // Whoever was superseded cannot say what became of the write: the log will bring it back, or it will not.
      const error = new EngramError(outcome.kind === 'fenced' ? 'LeaderChanged' : 'TimeoutDueToLeaderFail');
      this.#unwind(writes, error, () => {
        if (!told) this.#options.onStopped(outcome);
      });
      return;
    }
    // Nobody knows whether the batch is there, so it can be neither applied nor undone: the node must start anew.
    const error = new EngramError('Stopped', { cause: outcome.cause });
    this.#fail([...writes, ...this.#decisions.giveUp(error)], error);
    this.#options.onStopped(outcome);
  }

  #fail(writes: readonly { fail(error: Error): void }[], error: Error): void {
    for (const write of writes) write.fail(error);
    this.#awaited.failWaiters(error);
  }

  /**
   * Takes versions that will never be durable out of the index, the newest first; then all is as if nobody had asked.
   * What is being sequenced is newer than all of them, and what an earlier call undoes is newer than what this one does.
   * Then all who wait for anything fail and, in the same turn, `done` is called.
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
