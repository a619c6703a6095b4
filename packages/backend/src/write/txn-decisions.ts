import { encodeRecord } from '@engram/coder';
import {
  type Clock,
  EngramError,
  type KvEvent,
  type LeaseId,
  type LogPosition,
  type Revision,
  type Txn,
} from '@engram/core';
import type { Job, PureJob } from '@engram/loop';
import { type DecidedTxn, type DecisionValues, isSimple, type Sequencer } from '@engram/sequencer';
import { type AnswerParts, answerDecided, type PlannedRange } from '../answer/answer.ts';
import type { Mark } from '../apply/committed-write.ts';
import type { Caller, Origin } from '../caller.ts';
import type { Decisions } from '../decide/decisions.ts';
import { NeededValues, nothingNeeded } from '../decide/needed-values.ts';
import type { Decided, Decision, Outcome, Postponed } from '../decide/write.ts';
import { txnBytes } from '../quota.ts';
import type { TxnResult } from '../store.ts';
import type { PinnedRanges } from './pinned-ranges.ts';
import { WriteRights, type WriteRightsOptions } from './write-rights.ts';

/** The path that a decision is on. */
export interface DecisionPath {
  /** It has ended: what is decided will not be durable. */
  readonly halted: boolean;
  /** Throws if no write can be accepted now. */
  admit(): void;
  /** A decision has left versions behind, and cannot end. Returns what its caller is told. */
  fatal(cause: unknown): EngramError;
}

export interface TxnDecisionsOptions extends WriteRightsOptions {
  readonly sequencer: Sequencer<PlannedRange>;
  readonly ranges: PinnedRanges;
  readonly decisions: Pick<Decisions, 'free' | 'deciding'>;
  readonly path: DecisionPath;
  readonly clock: Clock;
  /** How long values that a transaction needs may take from when it was asked for. */
  readonly timeoutMs: number;
}

/**
 * The decisions of transactions, and of ends of leases, which delete keys as a transaction does: judged by the rights of the caller,
 * with the values that they need first, and with what the answer will need of versions that are superseded by then.
 */
export class TxnDecisions {
  readonly #options: TxnDecisionsOptions;
  readonly #rights: WriteRights;
  readonly #neverAborted = new AbortController().signal;
  readonly #parts: AnswerParts;

  constructor(options: TxnDecisionsOptions) {
    this.#options = options;
    this.#rights = new WriteRights(options);
    const { scanner, pins, loop } = options.replica;
    this.#parts = { scanner, pins, loop, signal: this.#neverAborted };
  }

  /** How the transaction is decided when its turn comes. Simple ones are decided in that call. */
  of(txn: Txn, caller: Caller): Decision<TxnResult> {
    if (!isSimple(txn)) return this.#deciding(txn, caller);
    if (!this.#rights.enabled) return () => this.#decideSimple(txn, caller);
    // A decision that waits for its turn is judged as a job: until then the rights of its caller may change.
    const isShort = this.#options.decisions.free && this.#rights.isShort(txn, caller);
    return isShort ? () => this.#decideShort(txn, caller) : this.#judging(txn, caller);
  }

  /** A part of a decision: throws what refuses the use of a lease. */
  permitLease(id: LeaseId, caller: Caller): PureJob<void> {
    return this.#rights.permitLease(id, caller);
  }

  /** A part of a decision: ends a lease, and deletes the keys that are attached to it, in one revision. */
  *endLease(id: LeaseId, origin: Origin | undefined): Job<Decided<Revision>> {
    this.#options.path.admit();
    const { replica, leases } = this.#options;
    const mark: Mark = { kind: 'lease-revoke', id };
    const keys = yield* leases.candidates(id, this.#options.replica.loop);
    const changes = yield* this.#options.sequencer.endLease(encodeRecord(mark), keys, id);
    if (this.#options.path.halted) yield* this.#undoLong(changes.events);
    leases.decide(id, false);
    const revision = changes.events[0]?.modRevision;
    return { mark, changes, origin, answer: () => revision ?? replica.revision };
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
    if (this.#options.path.halted) throw new EngramError('LeaderChanged');
    if (brought !== undefined) this.#options.path.admit();
    const { replica } = this.#options;
    const needs = this.#options.sequencer.needs(txn);
    let values: DecisionValues = nothingNeeded;
    if (needs.length > 0) {
      const needed = brought ?? new NeededValues(replica, this.#neverAborted);
      // The keys may have newer versions when the values are there. So the needs are collected again, until all are at hand.
      const missing = needed.collect(needs);
      if (missing.length > 0) return this.#postponed(txn, caller, needed, missing);
      values = needed;
    }
    this.#options.ranges.begin();
    return this.#answering(
      this.#options.sequencer.decideSimple(txn, replica.state.compactRevision, values, caller),
      caller,
    );
  }

  *#deciding(txn: Txn, caller: Caller): Job<Decided<TxnResult>> {
    if (this.#options.path.halted) throw new EngramError('LeaderChanged');
    const { replica } = this.#options;
    yield* this.#rights.permit(txn, caller);
    const values = new NeededValues(replica, this.#neverAborted);
    this.#options.ranges.begin();
    const decided = yield* this.#options.sequencer.decide(txn, replica.state.compactRevision, values, caller);
    if (this.#options.path.halted) yield* this.#undoLong(decided.changes.events);
    return this.#answering(decided, caller);
  }

  #postponed(txn: Txn, caller: Caller, values: NeededValues, missing: readonly LogPosition[]): Postponed<TxnResult> {
    const { timeoutMs, clock } = this.#options;
    return {
      until: values.loadUntil(this.#options.decisions.deciding!.askedMs + timeoutMs, missing, clock),
      bytes: txnBytes(txn),
      again: () => this.#decideSimple(txn, caller, values),
    };
  }

  #answering(decided: DecidedTxn<PlannedRange>, caller: Caller): Decided<TxnResult> {
    const { planned, changes } = decided;
    try {
      let { lowest } = this.#options.ranges;
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
      throw this.#options.path.fatal(error);
    }
  }

  /** Undoes a long write whose leadership has ended in its last slice. */
  *#undoLong(events: readonly KvEvent[]): PureJob<never> {
    yield* this.#options.sequencer.undo(events);
    throw new EngramError('LeaderChanged');
  }
}
