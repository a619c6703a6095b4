import { type LogPosition, type Revision, revision as toRevision } from '@engram/core';
import type { RangePlan, Scanner } from '@engram/scanner';
import type { PlannedOp, PlannedTxn } from '@engram/sequencer';
import type { OpResult, TxnResult } from './store.ts';

/** A range inside a transaction: the plan, and the oldest revision that keeps all of its versions (see RangePlanner). */
export interface PlannedRange {
  readonly plan: RangePlan;
  readonly pinned: Revision;
}

/** Fetches what a decided transaction noted, and makes its answer. Synchronous when all bytes are in memory. */
export function answerTxn(
  planned: PlannedTxn<PlannedRange>,
  scanner: Scanner,
  signal: AbortSignal,
): TxnResult | Promise<TxnResult> {
  const { revision, succeeded } = planned;
  const responses = new Array<OpResult>(planned.responses.length);
  let waits: Promise<void>[] | undefined;
  for (let at = 0; at < responses.length; at += 1) {
    const answer = answerOp(planned.responses[at]!, scanner, signal);
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

function answerOp(op: PlannedOp<PlannedRange>, scanner: Scanner, signal: AbortSignal): OpResult | Promise<OpResult> {
  const { revision } = op;
  switch (op.kind) {
    case 'txn':
      return answerTxn(op, scanner, signal);
    case 'range': {
      const result = scanner.fetch(op.plan.plan, op.plan.pinned, signal);
      return result instanceof Promise
        ? result.then((scanned) => ({ kind: 'range', revision, ...scanned }))
        : { kind: 'range', revision, ...result };
    }
    case 'put': {
      if (op.prev === undefined) return { kind: 'put', revision, prevKv: undefined };
      const kvs = previous([op.prev], revision, scanner, signal);
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
): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
  return positions.length === 0 ? [] : scanner.versions(positions, toRevision(at - 1), signal);
}
