import { assert, EngramError, isPoint, type Op, type Revision, revision as toRevision, type Txn } from '@engram/core';
import { choosePath, type Path, valueNeeds } from '@engram/sequencer';
import type { CommittedWrite } from './committed-write.ts';
import { NeededValues } from './needed-values.ts';
import type { Replica } from './replica.ts';
import type { OpResult, TxnResult } from './store.ts';
import { VersionsAt } from './versions-at.ts';

/**
 * The answer to a transaction that the log has, and whose leader did not say what it answered: decided once more on the
 * revision before it, which every replica has. TimeoutDueToLeaderFail where that is compacted, or where a range in the
 * middle of the transaction saw what no revision shows.
 */
export async function recallTxn(
  txn: Txn,
  { group }: CommittedWrite,
  replica: Replica,
  signal: AbortSignal,
): Promise<TxnResult> {
  assert(group !== undefined && group.revision <= replica.revision, 'recalled a transaction that has not taken effect');
  const before = toRevision(group.revision - 1);
  if (before < replica.state.compactRevision) throw new EngramError('TimeoutDueToLeaderFail');
  using _pin = replica.pins.hold(before);
  const versions = new VersionsAt(replica.state.index, before);
  const values = new NeededValues(replica);
  const missing = values.collect(valueNeeds(txn, versions, before));
  if (missing.length > 0) await values.load(missing, signal);
  const path = choosePath(txn, versions, values, before);
  return new Recall(replica, before, group.revision, countWrites(txn, path), signal).txn(txn, path);
}

class Recall {
  readonly #replica: Replica;
  readonly #before: Revision;
  readonly #at: Revision;
  readonly #signal: AbortSignal;
  /** Puts and deletes still to come. */
  #writesLeft: number;
  #changed = false;

  constructor(replica: Replica, before: Revision, at: Revision, writes: number, signal: AbortSignal) {
    this.#replica = replica;
    this.#before = before;
    this.#at = at;
    this.#writesLeft = writes;
    this.#signal = signal;
  }

  async txn(txn: Txn, path: Path): Promise<TxnResult> {
    const responses: OpResult[] = [];
    let nested = 0;
    for (const op of path.succeeded ? txn.success : txn.failure) {
      if (op.kind === 'txn') {
        responses.push(await this.txn(op.txn, path.nested[nested]!));
        nested += 1;
      } else responses.push(await this.#op(op));
    }
    return { kind: 'txn', revision: this.#visible, succeeded: path.succeeded, responses };
  }

  get #visible(): Revision {
    return this.#changed ? this.#at : this.#before;
  }

  async #op(op: Exclude<Op, { kind: 'txn' }>): Promise<OpResult> {
    switch (op.kind) {
      case 'range': {
        if (this.#changed && this.#writesLeft > 0 && op.revision <= 0) throw new EngramError('TimeoutDueToLeaderFail');
        const at = op.revision > 0 ? toRevision(op.revision) : this.#visible;
        const { kvs, more, count } = await this.#replica.scanner.scan(op, at, this.#signal);
        return { kind: 'range', revision: this.#visible, kvs, more, count };
      }
      case 'put': {
        const prevKvs = op.prevKv ? await this.#previous({ key: op.key, end: new Uint8Array(0) }) : [];
        this.#wrote(true);
        return { kind: 'put', revision: this.#at, prevKv: prevKvs[0] };
      }
      case 'delete-range': {
        const deleted = this.#live(op.range).length;
        const prevKvs = op.prevKv ? await this.#previous(op.range) : [];
        this.#wrote(deleted > 0);
        return { kind: 'delete-range', revision: this.#visible, deleted, prevKvs };
      }
    }
  }

  #wrote(changed: boolean): void {
    this.#writesLeft -= 1;
    this.#changed ||= changed;
  }

  #live(range: { readonly key: Uint8Array; readonly end: Uint8Array }): readonly number[] {
    const { index } = this.#replica.state;
    return index.collect(range, this.#before, isPoint(range) ? 1 : Number.POSITIVE_INFINITY);
  }

  async #previous(range: { readonly key: Uint8Array; readonly end: Uint8Array }): Promise<readonly Uint8Array[]> {
    const { state, scanner } = this.#replica;
    const positions = this.#live(range).map((slot) => state.index.position(slot));
    return scanner.versions(positions, this.#before, this.#signal);
  }
}

function countWrites(txn: Txn, path: Path): number {
  let writes = 0;
  let nested = 0;
  for (const op of path.succeeded ? txn.success : txn.failure) {
    if (op.kind === 'txn') {
      writes += countWrites(op.txn, path.nested[nested]!);
      nested += 1;
    } else if (op.kind !== 'range') writes += 1;
  }
  return writes;
}
