import { encodeRecord } from '@engram/coder';
import {
  assert,
  AssertionError,
  type Clock,
  EngramError,
  type ErrorCode,
  isEngramError,
  type LogPosition,
  type Revision,
  type Seal,
  type Span,
  type Txn,
} from '@engram/core';
import { Sequencer } from '@engram/sequencer';
import type { Log } from '@engram/storage';
import { type AppendNext, type DurableBatch, Writer } from '@engram/writer';
import type { PlannedRange } from '../answer/answer.ts';
import { Answers } from '../answer/answers.ts';
import type { PendingLeases } from '../answer/pending-leases.ts';
import type { DecidedAuth } from '../auth/decided-auth.ts';
import { type Caller, nodeItself } from '../caller.ts';
import { type DecideNext, Decisions } from '../decide/decisions.ts';
import { type Decided, type Decision, Write } from '../decide/write.ts';
import type { StoreObserver } from '../observer.ts';
import { txnBytes } from '../quota.ts';
import type { Replica } from '../replica/replica.ts';
import type { TxnResult } from '../store.ts';
import { changeEncoder } from './change-encoder.ts';
import { type LogEnd, PathEnd } from './path-end.ts';
import { PendingBytes } from './pending-bytes.ts';
import { PinnedRanges } from './pinned-ranges.ts';
import { type DecisionPath, TxnDecisions } from './txn-decisions.ts';

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
  readonly onStopped: (outcome: LogEnd) => void;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

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
 * the path (`PathEnd`): what is decided and not durable is undone.
 */
export class WritePath implements DecideNext, AppendNext<Write>, DecisionPath {
  readonly #options: WritePathOptions;
  readonly #sequencer: Sequencer<PlannedRange>;
  readonly #decisions: Decisions;
  readonly #writer: Writer<Write>;
  readonly #answers: Answers;
  /** Decides transactions, and ends of leases. */
  readonly txns: TxnDecisions;
  readonly #end: PathEnd;

  constructor(options: WritePathOptions) {
    this.#options = options;
    const { replica, clock, log, seal, batchBytesMax } = options;
    const { state, scanner, pins, loop } = replica;
    assert(replica.applied === replica.next, 'a leadership begins before the replica has settled');
    replica.cache.forgetPending(replica.next);
    const ranges = new PinnedRanges(scanner);
    this.#sequencer = new Sequencer<PlannedRange>({
      versions: state.index,
      leases: options.leases,
      encoder: changeEncoder,
      ranges,
      turn: loop,
      revision: state.revision,
      next: replica.next,
      changesMax: options.txnChangesMax,
      answerBytesMax: options.txnAnswerBytesMax,
      pending: new PendingBytes(replica.cache),
    });
    this.#decisions = new Decisions({ pins, loop, next: this });
    const parts = { sequencer: this.#sequencer, decisions: this.#decisions, ranges, path: this };
    this.txns = new TxnDecisions({ ...options, ...parts });
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
    const { onStopped, onFatal } = options;
    const ended = { sequencer: this.#sequencer, decisions: this.#decisions, answers: this.#answers };
    this.#end = new PathEnd({ ...ended, loop, onStopped, onFatal });
  }

  /** The newest revision that was assigned and the next log position, durable or not. */
  get assigned(): { readonly revision: Revision; readonly next: LogPosition } {
    return { revision: this.#sequencer.assigned, next: this.#sequencer.next };
  }

  /** Bytes of writes that wait for the log or for a long decision before them. */
  get waitingBytes(): number {
    return this.#writer.waitingBytes + this.#decisions.waitingBytes + this.#answers.waitingBytes;
  }

  /** See `DecisionPath`. */
  get halted(): boolean {
    return this.#end.halted;
  }

  /** Throws if no write can be accepted now. Must be called before a change that holds only with the write. */
  admit(): void {
    if (this.#end.halted) throw new EngramError('LeaderChanged');
    if (this.#writer.stopped) throw new EngramError('Stopped');
    // A decision that has waited for its turn was admitted before.
    if (this.#decisions.deciding?.waited === true) return;
    if (this.waitingBytes > this.#options.waitingBytesMax) throw new EngramError('TooManyRequests');
  }

  /** Decides the transaction within the call, unless it is long. If decisions wait, it follows them, in the order of the calls. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    this.admit();
    const bytes = this.#decisions.free ? 0 : txnBytes(txn);
    return this.#request(this.txns.of(txn, caller), bytes, caller, false);
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

  /** Resolves when every write requested before has taken effect. Undefined if all have. */
  whenApplied(): Promise<void> | undefined {
    return this.#decisions.free && this.#allApplied ? undefined : this.decide(nothingDecided, 0);
  }

  /** Everything that was decided has taken effect. */
  get #allApplied(): boolean {
    return this.#sequencer.next === this.#options.replica.applied;
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
      this.#answers.refuse(write, this.fatal(error));
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
    const error = this.#sequencer.broken || cause instanceof AssertionError ? this.fatal(cause) : cause;
    const { confirm } = this.#options;
    const refuse = (reason: unknown): void => this.#answers.refuse(write, reason);
    const told = (): void => {
      if (confirm === undefined) refuse(error);
      else confirm().then(() => refuse(error), refuse);
    };
    const restsOnState = isEngramError(error) && !restsOnNothing.has(error.code);
    // What it rests on may have been undone.
    const reason = this.#end.halted && restsOnState ? new EngramError('LeaderChanged', { cause: error }) : error;
    if (this.#end.halted) void Promise.resolve(this.#end.undone).then(() => refuse(reason));
    else if (!restsOnState) refuse(error);
    else this.#afterOthers(write, told);
  }

  dropped(write: Write): void {
    this.#answers.refuse(write, new EngramError('Timeout'));
  }

  /** What rests on the versions of others waits until these have taken effect. */
  #afterOthers(write: Write, settle: () => void): void {
    if (this.#allApplied) settle();
    else if (this.#end.halted) this.#answers.refuse(write, new EngramError('LeaderChanged'));
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
    this.#end.giveUp(this.#writer.halt());
    await this.#writer.drained();
    await this.#end.undone;
  }

  /** For a node that stops: gives up writes that are not decided yet. Resolves when nothing is under way. */
  async drained(): Promise<void> {
    const error = new EngramError('Stopped');
    for (const write of this.#decisions.giveUp(error)) this.#answers.refuse(write, error);
    await this.#decisions.idle();
    await this.#writer.drained();
  }

  stopped(outcome: LogEnd, writes: readonly Write[]): void {
    this.#end.stopped(outcome, writes);
  }

  /** See `DecisionPath`. */
  fatal(cause: unknown): EngramError {
    return this.#end.fatal(cause);
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
