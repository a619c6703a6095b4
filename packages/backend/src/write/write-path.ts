import { encodeRecord } from '@engram/coder';
import {
  assert,
  AssertionError,
  type Clock,
  EngramError,
  type ErrorCode,
  isEngramError,
  type KvEvent,
  type LeaseId,
  type LogPosition,
  type Revision,
  type Seal,
  type Span,
  type Txn,
} from '@engram/core';
import type { Job, Loop, PureJob, Task } from '@engram/loop';
import { type DecisionValues, isSimple, type DecidedTxn, Sequencer } from '@engram/sequencer';
import type { AppendOutcome, Log } from '@engram/storage';
import { type AppendNext, type DurableBatch, Writer } from '@engram/writer';
import { type AnswerParts, answerDecided, type PlannedRange } from '../answer/answer.ts';
import { Answers } from '../answer/answers.ts';
import type { PendingLeases } from '../answer/pending-leases.ts';
import type { Mark } from '../apply/committed-write.ts';
import type { DecidedAuth } from '../auth/decided-auth.ts';
import { type Caller, nodeItself, type Origin } from '../caller.ts';
import { type DecideNext, Decisions } from '../decide/decisions.ts';
import { NeededValues, nothingNeeded } from '../decide/needed-values.ts';
import { type Decided, type Decision, type Outcome, type Postponed, Write } from '../decide/write.ts';
import type { StoreObserver } from '../observer.ts';
import { txnBytes } from '../quota.ts';
import type { Replica } from '../replica/replica.ts';
import type { TxnResult } from '../store.ts';
import { changeEncoder } from './change-encoder.ts';
import { PendingBytes } from './pending-bytes.ts';
import { PinnedRanges } from './pinned-ranges.ts';
import { WriteRights } from './write-rights.ts';

export interface WritePathOptions {
  readonly replica: Replica;
  readonly leases: PendingLeases;
  /** Whose users and roles judge each write, when it is decided. */
  readonly auth: DecidedAuth;
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
  /** See `BackendSettings`. */
  readonly sharingChangesMax: number;
  /**
   * A write that has not taken effect after this time is answered Timeout. If it was decided, it may take effect
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

/** Undoing decided writes, when the leadership ends. */
const UNDO: Task = { work: 'durable', caller: 'leadership', stage: 'undo' };
/** Refusals that rest on no state. */
const restsOnNothing: ReadonlySet<ErrorCode> = new Set(['LeaderChanged', 'Stopped', 'Timeout', 'TooManyRequests']);

/**
 * The path of a write on the leader (`WriteStage`). This moves writes from one stage to the next:
 * - decide: `Decisions` has the `Sequencer` decide them, one after the other, nearly all in the call that requests them;
 * - append: `Writer` makes them durable, together with others;
 * - apply and publish: the replica takes them through, as it does with batches of other leaders (`DurablePath`);
 * - answer: `Answers` tells their callers.
 *
 * Decided versions are in the index above the replica's revision, where no reader looks. `halt` and a log that takes no more end
 * the path: what is decided and not durable is undone.
 */
export class WritePath implements DecideNext, AppendNext<Write> {
  readonly #options: WritePathOptions;
  readonly #loop: Loop;
  readonly #ranges: PinnedRanges;
  readonly #sequencer: Sequencer<PlannedRange>;
  readonly #decisions: Decisions;
  readonly #writer: Writer<Write>;
  readonly #answers: Answers;
  readonly #rights: WriteRights;
  readonly #neverAborted = new AbortController().signal;
  readonly #parts: AnswerParts;
  #halted = false;
  /** Undoes decided writes, one part after the other. */
  #undoing: Promise<void> | undefined;

  constructor(options: WritePathOptions) {
    this.#options = options;
    const { replica, clock, log, seal, batchBytesMax } = options;
    const { state, scanner, pins, loop } = replica;
    assert(replica.applied === replica.next, 'a leadership begins before the replica has settled');
    replica.cache.forgetPending(replica.next);
    this.#loop = loop;
    this.#rights = new WriteRights(options);
    this.#ranges = new PinnedRanges(scanner);
    this.#parts = { scanner, pins, loop, signal: this.#neverAborted };
    this.#sequencer = new Sequencer<PlannedRange>({
      versions: state.index,
      leases: options.leases,
      encoder: changeEncoder,
      ranges: this.#ranges,
      turn: loop,
      revision: state.revision,
      next: replica.next,
      changesMax: options.txnChangesMax,
      answerBytesMax: options.txnAnswerBytesMax,
      pending: new PendingBytes(replica.cache),
    });
    this.#decisions = new Decisions({ pins, loop, next: this });
    this.#writer = new Writer<Write>({
      log,
      seal,
      clock,
      soon: (fire) => loop.soon(fire),
      first: replica.next,
      batchBytesMax,
      sharingRecordsMax: options.sharingChangesMax,
      next: this,
    });
    this.#answers = new Answers({ ...options, loop, decisions: this.#decisions });
  }

  /** The newest revision that was assigned and the next log position, durable or not. */
  get assigned(): { readonly revision: Revision; readonly next: LogPosition } {
    return { revision: this.#sequencer.assigned, next: this.#sequencer.next };
  }

  /** Bytes of writes that wait for the log or for a long decision before them. */
  get waitingBytes(): number {
    return this.#writer.waitingBytes + this.#decisions.waitingBytes + this.#answers.waitingBytes;
  }

  /** Throws if no write can be accepted now. Must be called before a change that holds only with the write. */
  admit(): void {
    if (this.#halted) throw new EngramError('LeaderChanged');
    if (this.#writer.stopped) throw new EngramError('Stopped');
    // A decision that has waited for its turn was admitted before.
    if (this.#decisions.deciding?.waited === true) return;
    if (this.waitingBytes > this.#options.waitingBytesMax) throw new EngramError('TooManyRequests');
  }

  /** Decides the transaction within the call, unless it is long. If decisions wait, it follows them, in the order of the calls. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    this.admit();
    const bytes = this.#decisions.free ? 0 : txnBytes(txn);
    return this.#request(this.#decisionOf(txn, caller), bytes, caller, false);
  }

  #decisionOf(txn: Txn, caller: Caller): Decision<TxnResult> {
    if (!isSimple(txn)) return this.#deciding(txn, caller);
    if (!this.#rights.enabled) return () => this.#decideSimple(txn, caller);
    // A decision that waits for its turn is judged as a job: until then the rights of its caller may change.
    const isShort = this.#decisions.free && this.#rights.isShort(txn, caller);
    return isShort ? () => this.#decideShort(txn, caller) : this.#judging(txn, caller);
  }

  /**
   * For decisions that read more than a transaction does. No write is decided between the begin and the end of `decision`. It
   * calls `admit` before a change that holds only with its write. `bytes` is what it keeps in memory while it waits. One that is
   * `lasting` goes on when its caller is answered Timeout; another one is given up then.
   */
  decide<Answer>(
    decision: Decision<Answer>,
    bytes: number,
    caller: Caller = nodeItself,
    lasting = false,
  ): Promise<Answer> {
    try {
      if (!this.#decisions.free) this.admit();
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#request(decision, bytes, caller, lasting);
  }

  #request<Answer>(decision: Decision<Answer>, bytes: number, caller: Caller, lasting: boolean): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const write = new Write(caller, lasting, this.#options.clock.nowMs(), decision, { resolve, reject });
      this.#answers.add(write);
      this.#decisions.offer(write, bytes);
    });
  }

  /** A part of a decision: throws what refuses the use of a lease. */
  permitLease(id: LeaseId, caller: Caller): PureJob<void> {
    return this.#rights.permitLease(id, caller);
  }

  /** A part of a decision: ends a lease, and deletes the keys that are attached to it, in one revision. */
  *endLease(id: LeaseId, origin: Origin | undefined): Job<Decided<Revision>> {
    this.admit();
    const { replica, leases } = this.#options;
    const mark: Mark = { kind: 'lease-revoke', id };
    const keys = yield* leases.candidates(id, this.#loop);
    const changes = yield* this.#sequencer.endLease(encodeRecord(mark), keys, id);
    if (this.#halted) yield* this.#undoLong(changes.events);
    leases.decide(id, false);
    const revision = changes.events[0]?.modRevision;
    return { mark, changes, origin, answer: () => revision ?? replica.revision };
  }

  /** Resolves when every write requested before has taken effect. Undefined if all have. */
  whenApplied(): Promise<void> | undefined {
    return this.#decisions.free && this.#allApplied ? undefined : this.decide(nothingDecided, 0);
  }

  /** Everything that was decided has taken effect. */
  get #allApplied(): boolean {
    return this.#sequencer.next === this.#options.replica.applied;
  }

  /** In the call that has found the rights known: no decision is taken in between, and so no change of users. */
  #decideShort(txn: Txn, caller: Caller): Outcome<TxnResult> {
    this.#rights.permitShort(txn, caller);
    return this.#decidePermitted(txn, caller);
  }

  /** To look up rights, and the keys of leases, may take long. */
  *#judging(txn: Txn, caller: Caller): Job<Outcome<TxnResult>> {
    yield* this.#rights.permit(txn, caller);
    return this.#decidePermitted(txn, caller);
  }

  /**
   * `brought`: values that the transaction was postponed for. Users and roles may have changed while it waited, or have begun to
   * count: it is judged here, in the call of its decision.
   */
  #decideSimple(txn: Txn, caller: Caller, brought?: NeededValues): Outcome<TxnResult> {
    if (this.#rights.enabled) this.#rights.permitNow(txn, caller);
    return this.#decidePermitted(txn, caller, brought);
  }

  #decidePermitted(txn: Txn, caller: Caller, brought?: NeededValues): Outcome<TxnResult> {
    if (this.#halted) throw new EngramError('LeaderChanged');
    if (brought !== undefined) this.admit();
    const { replica } = this.#options;
    const needs = this.#sequencer.needs(txn);
    let values: DecisionValues = nothingNeeded;
    if (needs.length > 0) {
      const needed = brought ?? new NeededValues(replica, this.#neverAborted);
      // The keys may have newer versions when the values are there. So the needs are collected again, until all are at hand.
      const missing = needed.collect(needs);
      if (missing.length > 0) return this.#postponed(txn, caller, needed, missing);
      values = needed;
    }
    this.#ranges.begin();
    return this.#answering(this.#sequencer.decideSimple(txn, replica.state.compactRevision, values, caller), caller);
  }

  *#deciding(txn: Txn, caller: Caller): Job<Decided<TxnResult>> {
    if (this.#halted) throw new EngramError('LeaderChanged');
    const { replica } = this.#options;
    yield* this.#rights.permit(txn, caller);
    const values = new NeededValues(replica, this.#neverAborted);
    this.#ranges.begin();
    const decided = yield* this.#sequencer.decide(txn, replica.state.compactRevision, values, caller);
    if (this.#halted) yield* this.#undoLong(decided.changes.events);
    return this.#answering(decided, caller);
  }

  #postponed(txn: Txn, caller: Caller, values: NeededValues, missing: readonly LogPosition[]): Postponed<TxnResult> {
    const { timeoutMs, clock } = this.#options;
    return {
      until: values.loadUntil(this.#decisions.deciding!.askedMs + timeoutMs, missing, clock),
      bytes: txnBytes(txn),
      again: () => this.#decideSimple(txn, caller, values),
    };
  }

  #answering(decided: DecidedTxn<PlannedRange>, caller: Caller): Decided<TxnResult> {
    const { planned, changes } = decided;
    try {
      let { lowest } = this.#ranges;
      const before = (planned.revision - 1) as Revision;
      if (changes.answersPrevious && (lowest === undefined || before < lowest)) lowest = before;
      return {
        changes,
        origin: caller.origin,
        pin: lowest === undefined ? undefined : this.#parts.pins.hold(lowest),
        showsState: changes.events.length === 0,
        answer: () => answerDecided(decided, caller, lowest ?? planned.revision, this.#parts),
      };
    } catch (error) {
      // The versions of the transaction are in the index.
      throw this.#fatal(error);
    }
  }

  /** Undoes a long write whose leadership has ended in its last slice. */
  *#undoLong(events: readonly KvEvent[]): PureJob<never> {
    yield* this.#sequencer.undo(events);
    throw new EngramError('LeaderChanged');
  }

  // From decide to append.

  decided(write: Write, decided: Decided<unknown>): void {
    try {
      const { mark, changes, origin, showsState, answer } = decided;
      const { confirm } = this.#options;
      const proven = showsState === true && confirm !== undefined ? () => thenConfirm(answer, confirm) : answer;
      // A clock that was read in this call is not read again.
      const nowMs = write.waited || write.gaveWay ? this.#options.clock.nowMs() : write.askedMs;
      write.decided(decided, proven, nowMs);
      const records = changes?.records ?? [];
      let bytes = changes?.recordBytes ?? 0;
      if (mark !== undefined && changes === undefined) bytes += this.#addRecord(records, encodeRecord(mark));
      if (records.length === 0) this.#afterOthers(write, () => this.#answers.settle(write));
      else {
        if (origin !== undefined) bytes += this.#addRecord(records, encodeRecord({ kind: 'origin', ...origin }));
        this.#writer.enqueue(write, records, bytes);
      }
    } catch (error) {
      // Its versions are in the index, and the log will not have them.
      this.#answers.refuse(write, this.#fatal(error));
    }
  }

  /** A record without a revision. Returns its length. */
  #addRecord(records: Uint8Array[], record: Uint8Array): number {
    this.#sequencer.assignPosition();
    records.push(record);
    return record.length;
  }

  /** A refusal may rest on a write that is under way: its caller is told when that has taken effect, and this node still leads. */
  refused(write: Write, cause: unknown): void {
    const error = this.#sequencer.broken || cause instanceof AssertionError ? this.#fatal(cause) : cause;
    const { confirm } = this.#options;
    const refuse = (reason: unknown): void => this.#answers.refuse(write, reason);
    const told = (): void => {
      if (confirm === undefined) refuse(error);
      else confirm().then(() => refuse(error), refuse);
    };
    const restsOnState = isEngramError(error) && !restsOnNothing.has(error.code);
    // What it rests on may have been undone.
    const reason = this.#halted && restsOnState ? new EngramError('LeaderChanged', { cause: error }) : error;
    if (this.#halted) void Promise.resolve(this.#undoing).then(() => refuse(reason));
    else if (!restsOnState) refuse(error);
    else this.#afterOthers(write, told);
  }

  dropped(write: Write): void {
    this.#answers.refuse(write, new EngramError('Timeout'));
  }

  /** What rests on the versions of others waits until these have taken effect. */
  #afterOthers(write: Write, settle: () => void): void {
    if (this.#allApplied) settle();
    else if (this.#halted) this.#answers.refuse(write, new EngramError('LeaderChanged'));
    else this.#answers.addWaiter(this.#sequencer.next, write, settle);
  }

  // From append to apply and publish, and to the answer.

  appending(writes: readonly Write[], nowMs: number): Span | undefined {
    let span: Span | undefined;
    for (const write of writes) {
      write.appending(nowMs);
      span ??= write.span;
    }
    this.#options.replica.prefetch(writes);
    return span?.child('append', { writes: writes.length });
  }

  durable({ entries, next, records, bytes, startMs, durableMs }: DurableBatch<Write>): void {
    for (const write of entries) write.durable(durableMs);
    this.#options.observer.appended?.(durableMs - startMs, records, bytes);
    this.#options.replica.apply(entries, next, bytes, this.#answers);
  }

  // The end.

  /**
   * Ends the write path. Writes that have not left for the log are undone and fail with LeaderChanged. Resolves when
   * an append under way has settled (given to the replica, or undone) and all undone versions are out of the index.
   */
  async halt(): Promise<void> {
    this.#halted = true;
    this.#undo(this.#writer.halt(), new EngramError('LeaderChanged'), undefined);
    await this.#writer.drained();
    await this.#undoing;
  }

  /** For a node that stops: gives up writes that are not decided yet. Resolves when nothing is under way. */
  async drained(): Promise<void> {
    const error = new EngramError('Stopped');
    for (const write of this.#decisions.giveUp(error)) this.#answers.refuse(write, error);
    await this.#decisions.idle();
    await this.#writer.drained();
  }

  stopped(outcome: Exclude<AppendOutcome, { kind: 'committed' }>, writes: readonly Write[]): void {
    const told = this.#halted;
    this.#halted = true;
    if (outcome.kind !== 'uncertain') {
      // A superseded leader does not know whether the log holds the write. Reading on in the log shows it, and where that
      // is trimmed, what other members have.
      const error = new EngramError(outcome.kind === 'fenced' ? 'LeaderChanged' : 'TimeoutDueToLeaderFail');
      this.#undo(writes, error, told ? undefined : outcome);
      return;
    }
    // It is unknown whether the log holds the batch, so it can be neither applied nor undone: the node must restart.
    const error = new EngramError('Stopped', { cause: outcome.cause });
    this.#refuseAll([...writes, ...this.#decisions.giveUp(error)], error);
    this.#options.onStopped(outcome);
  }

  #refuseAll(writes: readonly Write[], error: Error): void {
    for (const write of writes) this.#answers.refuse(write, error);
    this.#answers.refuseWaiters(error);
  }

  /**
   * Removes versions that will never be durable from the index, newest first, as if the writes had never been
   * requested. Waits for the long decision under way and for earlier calls, which undo newer versions. At the end
   * every waiting caller is refused and, in the same turn, the owner is told of `outcome`.
   */
  #undo(
    writes: readonly Write[],
    error: EngramError,
    outcome: Parameters<WritePathOptions['onStopped']>[0] | undefined,
  ): void {
    const before = this.#undoing ?? this.#decisions.longEnded;
    const all = [...writes, ...this.#decisions.giveUp(error)];
    const end = (): void => {
      this.#refuseAll(all, error);
      if (outcome !== undefined) this.#options.onStopped(outcome);
    };
    this.#undoing = this.#loop.run(UNDO, this.#undoAll(writes, before, end));
  }

  *#undoAll(writes: readonly Write[], before: Promise<void> | undefined, end: () => void): Job<undefined> {
    try {
      if (before !== undefined) yield before;
      for (let at = writes.length - 1; at >= 0; at -= 1) {
        const { group } = writes[at]!;
        if (group !== undefined) yield* this.#sequencer.undo(group.events);
      }
      end();
    } catch (cause) {
      this.#fatal(cause);
    }
  }

  #fatal(cause: unknown): EngramError {
    const fatal = new Error('a write was left half decided', { cause });
    this.#halted = true;
    this.#options.onFatal(fatal);
    return new EngramError('Stopped', { cause: fatal });
  }
}

const nothingDecided = (): Decided<void> => ({ answer: () => undefined });

/** The answer, or why there is none, once it is confirmed that no other node led when the state was read. */
async function thenConfirm<Answer>(
  make: () => Answer | Promise<Answer>,
  confirm: () => Promise<void>,
): Promise<Answer> {
  const answer = await make();
  await confirm();
  return answer;
}
