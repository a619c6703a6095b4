import { assert, EngramError, type Revision, type Txn } from '@engram/core';
import { choosePath, valueNeeds } from '@engram/sequencer';
import { NeededValues } from './needed-values.ts';
import type { Replica } from './replica.ts';
import type { RangeResult, TxnResult } from './store.ts';
import { VersionsAt } from './versions-at.ts';

/**
 * A transaction of nothing but ranges, on any node: all of it sees one revision, the newest that has taken effect there.
 * Compacted, FutureRev.
 */
export async function readTxn(txn: Txn, replica: Replica, signal: AbortSignal): Promise<TxnResult> {
  const at = replica.revision;
  using _pin = replica.pins.hold(at);
  const versions = new VersionsAt(replica.state.index, at);
  const values = new NeededValues(replica);
  const missing = values.collect(valueNeeds(txn, versions, at));
  if (missing.length > 0) await values.load(missing, signal);
  const { succeeded } = choosePath(txn, versions, values, at);
  const ops = succeeded ? txn.success : txn.failure;
  for (const op of ops) {
    assert(op.kind === 'range', 'a transaction that only reads has another op');
    if (op.revision > at) throw new EngramError('FutureRev');
    if (op.revision !== 0 && op.revision < replica.state.compactRevision) throw new EngramError('Compacted');
  }
  const responses: RangeResult[] = [];
  for (const op of ops) {
    assert(op.kind === 'range', 'a transaction that only reads has another op');
    const scanned = replica.scanner.scan(op, op.revision > 0 ? (op.revision as Revision) : at, signal);
    const { kvs, more, count } = scanned instanceof Promise ? await scanned : scanned;
    responses.push({ kind: 'range', revision: at, kvs, more, count });
  }
  return { kind: 'txn', revision: at, succeeded, responses };
}
