import { AnswerRoom, assert, EngramError, type Revision, type Txn } from '@engram/core';
import { choosePath } from '@engram/sequencer';
import type { Caller } from '../caller.ts';
import { decide } from '../decide/decide.ts';
import { NeededValues } from '../decide/needed-values.ts';
import type { Replica } from '../replica/replica.ts';
import type { RangeResult, TxnResult } from '../store.ts';
import { VersionsAt } from './versions-at.ts';

/** Costs in microseconds: answering a range, and each version of it. */
const RANGE_US = 5;
const VERSION_US = 0.5;

/**
 * Answers a transaction of ranges only, on any node. All ranges see one revision, the newest that has taken effect
 * there. Errors: Compacted, FutureRev, ResponseTooLarge.
 */
export async function readTxn(txn: Txn, replica: Replica, caller: Caller): Promise<TxnResult> {
  const { signal } = caller;
  const { state, scanner, pins, clock } = replica;
  const at = replica.revision;
  // The compact revision is also read only once, and pinned: an older revision may be compacted while other ranges
  // are read.
  const { compactRevision } = state;
  using _pin = pins.hold(compactRevision);
  const slice = replica.newSlice();
  const turn = (): Promise<void> => slice.turn(clock, signal);
  const values = new NeededValues(replica);
  const choosing = choosePath(txn, new VersionsAt(state.index, at), values, at, slice);
  const chosen = decide(choosing, { provide: (needed) => values.provide(needed, signal), turn });
  const { succeeded } = chosen instanceof Promise ? await chosen : chosen;
  const ops = succeeded ? txn.success : txn.failure;
  for (const op of ops) {
    assert(op.kind === 'range', 'a transaction that only reads has another op');
    if (op.revision > at) throw new EngramError('FutureRev');
    if (op.revision !== 0 && op.revision < compactRevision) throw new EngramError('Compacted');
  }
  const room = new AnswerRoom(replica.txnAnswerBytesMax, caller);
  const responses: RangeResult[] = [];
  for (const op of ops) {
    assert(op.kind === 'range', 'a transaction that only reads has another op');
    const scanned = scanner.scan(op, op.revision > 0 ? (op.revision as Revision) : at, signal, room);
    const { kvs, more, count } = scanned instanceof Promise ? await scanned : scanned;
    responses.push({ kind: 'range', revision: at, kvs, more, count });
    if (slice.spend(RANGE_US + VERSION_US * kvs.length)) await turn();
  }
  return { kind: 'txn', revision: at, succeeded, responses };
}
