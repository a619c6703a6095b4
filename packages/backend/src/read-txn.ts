import {
  assert,
  EngramError,
  type KeyRange,
  type LeaseId,
  type LogPosition,
  type Revision,
  type Txn,
} from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import { choosePath, type ReadVersions, valueNeeds } from '@engram/sequencer';
import { NeededValues } from './needed-values.ts';
import type { Replica } from './replica.ts';
import type { RangeResult, TxnResult } from './store.ts';

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

/** The index as of one revision. */
class VersionsAt implements ReadVersions {
  readonly #index: KeyIndex;
  readonly #at: Revision;

  constructor(index: KeyIndex, at: Revision) {
    this.#index = index;
    this.#at = at;
  }

  head(key: Uint8Array): VersionSlot {
    return this.#index.at(key, this.#at);
  }

  modRevision(version: VersionSlot): Revision {
    return this.#index.modRevision(version);
  }

  createRevision(version: VersionSlot): Revision {
    return this.#index.createRevision(version);
  }

  version(version: VersionSlot): number {
    return this.#index.version(version);
  }

  lease(version: VersionSlot): LeaseId {
    return this.#index.lease(version);
  }

  position(version: VersionSlot): LogPosition {
    return this.#index.position(version);
  }

  isTombstone(version: VersionSlot): boolean {
    return this.#index.isTombstone(version);
  }

  key(version: VersionSlot): Uint8Array {
    return this.#index.key(version);
  }

  collect(range: KeyRange, at: Revision, max: number): readonly VersionSlot[] {
    return this.#index.collect(range, at, max);
  }
}
