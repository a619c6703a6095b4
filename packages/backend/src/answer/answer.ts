import { type ByteList, type LogPosition, type Revision, revision as toRevision, whenThere } from '@engram/core';
import type { Job, Loop, Task } from '@engram/loop';
import type { Pins, RangePlan, Scanner, ScanResult } from '@engram/scanner';
import type { PlannedOp, PlannedTxn, DecidedTxn } from '@engram/sequencer';
import type { Caller } from '../caller.ts';
import type { OpResult, TxnResult } from '../store.ts';

/**
 * A range inside a transaction: its plan, and the oldest revision that keeps all versions of the plan (see
 * RangePlanner).
 */
export interface PlannedRange {
  readonly plan: RangePlan;
  readonly pinned: Revision;
}

/** How `answerTxn` reads bytes, and how it gives way to other requests. */
export interface AnswerParts {
  readonly scanner: Scanner;
  readonly pins: Pins;
  readonly loop: Loop;
  readonly signal: AbortSignal;
}

/** What the callers of writes wait for, when these are in effect. */
export const ANSWER: Task = { work: 'durable', caller: 'writes', stage: 'answer' };
/** The most operations whose bytes are read at a time. */
const READS_MAX = 64;

/** The answer to a transaction that has taken effect: see `answerTxn`, or only what was decided (`recallAboveBytes`). */
export function answerDecided(
  { planned, changes }: DecidedTxn<PlannedRange>,
  { recallAboveBytes }: Caller,
  pinned: Revision,
  parts: AnswerParts,
): TxnResult | Promise<TxnResult> {
  if (recallAboveBytes === undefined || changes.answerBytes <= recallAboveBytes)
    return answerTxn(planned, pinned, parts);
  return {
    ...decided(planned),
    recallAfter: changes.events.length === 0 ? planned.revision : before(planned.revision),
  };
}

/** A transaction's answer without key-values. */
const decided = ({ revision, succeeded, responses }: PlannedTxn<PlannedRange>): TxnResult => ({
  kind: 'txn',
  revision,
  succeeded,
  responses: responses.map(decidedOp),
});

function decidedOp(op: PlannedOp<PlannedRange>): OpResult {
  const { revision } = op;
  switch (op.kind) {
    case 'range': {
      const { count, more } = op.plan.plan;
      return { kind: 'range', revision, kvs: [], count, more };
    }
    case 'put':
      return { kind: 'put', revision, prevKv: undefined };
    case 'delete-range':
      return { kind: 'delete-range', revision, deleted: op.deleted, prevKvs: [] };
    case 'txn':
      return decided(op);
  }
}

/**
 * Fetches the bytes that a decided transaction noted, and builds its answer. Synchronous if the answer is short and
 * all bytes are in memory. `pinned` is the oldest revision that the answer needs.
 */
export function answerTxn(
  planned: PlannedTxn<PlannedRange>,
  pinned: Revision,
  parts: AnswerParts,
): TxnResult | Promise<TxnResult> {
  const { responses } = planned;
  const [only] = responses;
  // The usual case. What may be long in it is a job of the scanner.
  if (only !== undefined && responses.length === 1 && only.kind !== 'txn') {
    return whenThere(answerOp(only, parts), resultOfOne, planned);
  }
  return parts.loop.run(ANSWER, answering(planned, pinned, parts));
}

const resultOfOne = (response: OpResult, { revision, succeeded }: PlannedTxn<PlannedRange>): TxnResult => ({
  kind: 'txn',
  revision,
  succeeded,
  responses: [response],
});

function* answering(planned: PlannedTxn<PlannedRange>, pinned: Revision, parts: AnswerParts): Job<TxnResult> {
  using _pin = parts.pins.hold(pinned);
  return yield* answeringOps(planned, parts);
}

/** Reads for several operations at a time. */
function* answeringOps(planned: PlannedTxn<PlannedRange>, parts: AnswerParts): Job<TxnResult> {
  const { revision, succeeded } = planned;
  const responses = new Array<OpResult>(planned.responses.length);
  let reads: Promise<void>[] = [];
  let failure: { readonly error: unknown } | undefined;
  for (let at = 0; at < responses.length; at += 1) {
    const op = planned.responses[at]!;
    const answer = op.kind === 'txn' ? yield* answeringOps(op, parts) : answerOp(op, parts);
    if (answer instanceof Promise) {
      // A failure is thrown below. Until then it has a handler, also while others have their turn.
      const taken = answer.then(
        (response) => {
          responses[at] = response;
        },
        (error: unknown) => {
          failure ??= { error };
        },
      );
      reads.push(taken);
    } else {
      responses[at] = answer;
    }
    const last = at === responses.length - 1;
    if (reads.length === READS_MAX || (reads.length > 0 && last)) {
      yield Promise.all(reads);
      reads = [];
      if (failure !== undefined) throw failure.error;
    }
    if (parts.loop.shouldYield(1 + versionsOf(responses[at])) && !last) yield;
  }
  return { kind: 'txn', revision, succeeded, responses };
}

/** The versions that were fetched for it, but for a nested transaction's. */
function versionsOf(result: OpResult | undefined): number {
  if (result?.kind === 'range') return result.kvs.length;
  return result?.kind === 'delete-range' ? result.prevKvs.length : 0;
}

function answerOp(
  op: Exclude<PlannedOp<PlannedRange>, { readonly kind: 'txn' }>,
  { scanner, signal }: AnswerParts,
): OpResult | Promise<OpResult> {
  const { revision } = op;
  switch (op.kind) {
    case 'range': {
      const fetched = scanner.fetch(op.plan.plan, op.plan.pinned, signal);
      return whenThere(fetched, rangeResult, revision);
    }
    case 'put': {
      if (op.prev === undefined) return { kind: 'put', revision, prevKv: undefined };
      const kvs = scanner.versions([op.prev], before(revision), signal);
      return whenThere(kvs, putResult, revision);
    }
    case 'delete-range': {
      const kvs = previous(op.prev, revision, scanner, signal);
      return whenThere(kvs, deleteResult, op);
    }
  }
}

const rangeResult = (scanned: ScanResult, revision: Revision): OpResult => ({ kind: 'range', revision, ...scanned });

const putResult = ([prevKv]: readonly Uint8Array[], revision: Revision): OpResult => ({
  kind: 'put',
  revision,
  prevKv,
});

const deleteResult = (
  prevKvs: ByteList,
  { revision, deleted }: Extract<PlannedOp<PlannedRange>, { readonly kind: 'delete-range' }>,
): OpResult => ({ kind: 'delete-range', revision, deleted, prevKvs });

function previous(
  positions: readonly LogPosition[],
  at: Revision,
  scanner: Scanner,
  signal: AbortSignal,
): ByteList | Promise<ByteList> {
  return positions.length === 0 ? [] : scanner.fetchAll(positions, before(at), signal);
}

const before = (at: Revision): Revision => toRevision(at - 1);
