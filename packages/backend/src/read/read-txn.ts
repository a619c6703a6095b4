import { AnswerRoom, assert, EngramError, type Revision, type Txn } from '@engram/core';
import { type Job, settled } from '@engram/loop';
import { choosePath } from '@engram/sequencer';
import type { Caller } from '../caller.ts';
import { clientTask } from '../client-task.ts';
import { NeededValues } from '../decide/needed-values.ts';
import type { StoreObserver } from '../observer.ts';
import type { Replica } from '../replica/replica.ts';
import type { RangeResult, TxnResult } from '../store.ts';
import { VersionsAt } from './versions-at.ts';

/**
 * Answers a transaction of ranges only, on any node. All ranges see one revision, the newest that has taken effect
 * there. Errors: Compacted, FutureRev, ResponseTooLarge.
 */
export async function readTxn(txn: Txn, replica: Replica, caller: Caller, observer: StoreObserver): Promise<TxnResult> {
  return replica.loop.run(clientTask(caller, 'read'), reading(txn, replica, caller, observer), caller.signal);
}

function* reading(txn: Txn, replica: Replica, caller: Caller, observer: StoreObserver): Job<TxnResult> {
  const { signal } = caller;
  const { state, scanner, pins, loop } = replica;
  const at = replica.revision;
  // The compact revision is also read only once, and pinned: an older revision may be compacted while other ranges
  // are read.
  const { compactRevision } = state;
  using _pin = pins.hold(compactRevision);
  const versions = new VersionsAt(state.index, at);
  const { succeeded, compared } = yield* choosePath(txn, versions, new NeededValues(replica, signal), at, loop);
  const ops = succeeded ? txn.success : txn.failure;
  for (const op of ops) {
    assert(op.kind === 'range', 'a transaction that only reads has another op');
    if (op.revision > at) throw new EngramError('FutureRev');
    if (op.revision !== 0 && op.revision < compactRevision) throw new EngramError('Compacted');
  }
  observer.ranges?.(compared + ops.length);
  const room = new AnswerRoom(replica.txnAnswerBytesMax, caller);
  const responses: RangeResult[] = [];
  for (const op of ops) {
    assert(op.kind === 'range', 'a transaction that only reads has another op');
    const scanned = scanner.scan(op, op.revision > 0 ? (op.revision as Revision) : at, signal, room);
    const { kvs, more, count } = yield* settled(scanned);
    responses.push({ kind: 'range', revision: at, kvs, more, count });
    if (loop.shouldYield(1 + kvs.length)) yield;
  }
  return { kind: 'txn', revision: at, succeeded, responses };
}
