import {
  type ByteList,
  type Clock,
  type LogPosition,
  type Revision,
  revision as toRevision,
  Slice,
} from '@engram/core';
import type { RangePlan, Scanner } from '@engram/scanner';
import type { PlannedOp, PlannedTxn, Sequenced } from '@engram/sequencer';
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
  readonly clock: Clock;
  /** See `Slice`. */
  readonly sliceUs: number | undefined;
  readonly signal: AbortSignal;
}

/** The most operations and versions of an answer that is built without slices. */
const AT_ONCE_MAX = 512;
/** Cost of answering an operation, in microseconds. */
const OP_US = 1;

/** The answer to a transaction that has taken effect: see `answerTxn`, or only what was decided (`recallAboveBytes`). */
export function answerSequenced(
  { planned, events, answerBytes }: Sequenced<PlannedRange>,
  { recallAboveBytes }: Caller,
  pinned: Revision,
  parts: AnswerParts,
): TxnResult | Promise<TxnResult> {
  if (recallAboveBytes === undefined || answerBytes <= recallAboveBytes) return answerTxn(planned, pinned, parts);
  return { ...decided(planned), recallAfter: events.length === 0 ? planned.revision : before(planned.revision) };
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
  if (sizeOf(planned, AT_ONCE_MAX) <= AT_ONCE_MAX) return answerAtOnce(planned, parts);
  const slice = new Slice(parts.sliceUs);
  return parts.scanner.pinned(pinned, () => answerInSlices(planned, parts, slice));
}

/** The number of operations and versions together. Stops counting above `enough`. */
function sizeOf({ responses }: PlannedTxn<PlannedRange>, enough: number): number {
  let size = responses.length;
  for (const op of responses) {
    if (size > enough) break;
    if (op.kind === 'txn') size += sizeOf(op, enough - size);
    else if (op.kind === 'range') size += op.plan.plan.positions.length;
    else if (op.kind === 'delete-range') size += op.prev.length;
  }
  return size;
}

/** Starts all reads before it waits for any of them. */
function answerAtOnce(planned: PlannedTxn<PlannedRange>, parts: AnswerParts): TxnResult | Promise<TxnResult> {
  const { revision, succeeded } = planned;
  const responses = new Array<OpResult>(planned.responses.length);
  let waits: Promise<void>[] | undefined;
  for (let at = 0; at < responses.length; at += 1) {
    const op = planned.responses[at]!;
    const answer = op.kind === 'txn' ? answerAtOnce(op, parts) : answerOp(op, parts);
    if (!(answer instanceof Promise)) {
      responses[at] = answer;
      continue;
    }
    waits ??= [];
    waits.push(
      answer.then((response) => {
        responses[at] = response;
      }),
    );
  }
  const result: TxnResult = { kind: 'txn', revision, succeeded, responses };
  return waits === undefined ? result : Promise.all(waits).then(() => result);
}

/** Answers one operation after the other, so that they share one slice. */
async function answerInSlices(planned: PlannedTxn<PlannedRange>, parts: AnswerParts, slice: Slice): Promise<TxnResult> {
  const { revision, succeeded } = planned;
  const responses: OpResult[] = [];
  for (const op of planned.responses) {
    const answer = await (op.kind === 'txn' ? answerInSlices(op, parts, slice) : answerOp(op, parts));
    responses.push(answer);
    if (slice.spend(OP_US * (1 + versionsOf(answer)))) await slice.turn(parts.clock, parts.signal);
  }
  return { kind: 'txn', revision, succeeded, responses };
}

/** The versions that were fetched for it, but for a nested transaction's. */
function versionsOf(result: OpResult): number {
  if (result.kind === 'range') return result.kvs.length;
  return result.kind === 'delete-range' ? result.prevKvs.length : 0;
}

function answerOp(
  op: Exclude<PlannedOp<PlannedRange>, { readonly kind: 'txn' }>,
  { scanner, signal }: AnswerParts,
): OpResult | Promise<OpResult> {
  const { revision } = op;
  switch (op.kind) {
    case 'range': {
      const result = scanner.fetch(op.plan.plan, op.plan.pinned, signal);
      return result instanceof Promise
        ? result.then((scanned) => ({ kind: 'range', revision, ...scanned }))
        : { kind: 'range', revision, ...result };
    }
    case 'put': {
      if (op.prev === undefined) return { kind: 'put', revision, prevKv: undefined };
      const kvs = scanner.versions([op.prev], before(revision), signal);
      return kvs instanceof Promise
        ? kvs.then(([prevKv]) => ({ kind: 'put', revision, prevKv }))
        : { kind: 'put', revision, prevKv: kvs[0] };
    }
    case 'delete-range': {
      const { deleted } = op;
      const kvs = previous(op.prev, revision, scanner, signal);
      return kvs instanceof Promise
        ? kvs.then((prevKvs) => ({ kind: 'delete-range', revision, deleted, prevKvs }))
        : { kind: 'delete-range', revision, deleted, prevKvs: kvs };
    }
  }
}

function previous(
  positions: readonly LogPosition[],
  at: Revision,
  scanner: Scanner,
  signal: AbortSignal,
): ByteList | Promise<ByteList> {
  return positions.length === 0 ? [] : scanner.fetchAll(positions, before(at), signal);
}

const before = (at: Revision): Revision => toRevision(at - 1);
