import {
  AnswerRoom,
  assert,
  EMPTY_BYTES,
  EngramError,
  type KeyRange,
  type Op,
  type RangeOp,
  rangeOp,
  type Revision,
  revision as toRevision,
  type Slice,
  type Txn,
} from '@engram/core';
import type { ScanResult } from '@engram/scanner';
import { choosePath, type Path } from '@engram/sequencer';
import type { CommittedWrite } from './committed-write.ts';
import { decide } from './decide.ts';
import { NeededValues } from './needed-values.ts';
import type { Replica } from './replica.ts';
import type { OpResult, TxnResult } from './store.ts';
import { VersionsAt } from './versions-at.ts';

/**
 * Recomputes the answer to a transaction that is in the log, but whose leader's answer is unknown. Decides the
 * transaction again on the revision before it, which every replica has. Throws TimeoutDueToLeaderFail if that
 * revision, or one that a range asks for, is compacted. Also throws it if a range in the middle of the transaction
 * saw a state that no revision shows.
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
  const slice = replica.newSlice();
  const choosing = choosePath(txn, versions, values, before, slice);
  const path = await decide(choosing, {
    provide: (needed) => values.provide(needed, signal),
    turn: () => slice.turn(replica.clock, signal),
  });
  // Awaited here: the pin is released when this function returns.
  return await new Recall(replica, before, group.revision, countWrites(txn, path), signal).txn(txn, path);
}

/** Costs in microseconds: answering an operation, and each version of it. */
const RANGE_US = 5;
const VERSION_US = 0.5;

const nothing: Pick<ScanResult, 'kvs'> = { kvs: [] };

class Recall {
  readonly #replica: Replica;
  readonly #before: Revision;
  readonly #at: Revision;
  readonly #signal: AbortSignal;
  /** Puts and deletes that are still to come. */
  #writesLeft: number;
  #changed = false;
  readonly #room: AnswerRoom;
  readonly #slice: Slice;

  constructor(replica: Replica, before: Revision, at: Revision, writes: number, signal: AbortSignal) {
    this.#room = new AnswerRoom(replica.txnAnswerBytesMax);
    this.#slice = replica.newSlice();
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
        // The leader could still read this revision; it is compacted by now.
        if (at < this.#replica.state.compactRevision) throw new EngramError('TimeoutDueToLeaderFail');
        using _pin = this.#replica.pins.hold(at);
        const { kvs, more, count } = await this.#scan(op, at);
        return { kind: 'range', revision: this.#visible, kvs, more, count };
      }
      case 'put': {
        const { kvs } = op.prevKv ? await this.#lived({ key: op.key, end: EMPTY_BYTES }, false) : nothing;
        this.#wrote(true);
        return { kind: 'put', revision: this.#at, prevKv: [...kvs][0] };
      }
      case 'delete-range': {
        const { kvs, count } = await this.#lived(op.range, !op.prevKv);
        this.#wrote(count > 0);
        return { kind: 'delete-range', revision: this.#visible, deleted: count, prevKvs: kvs };
      }
    }
  }

  #wrote(changed: boolean): void {
    this.#writesLeft -= 1;
    this.#changed ||= changed;
  }

  /** The keys of the range that lived before the transaction. */
  #lived(range: KeyRange, countOnly: boolean): Promise<ScanResult> {
    return this.#scan(rangeOp(range, { countOnly }), this.#before);
  }

  async #scan(op: RangeOp, at: Revision): Promise<ScanResult> {
    const { scanner, clock } = this.#replica;
    const scanned = await scanner.scan(op, at, this.#signal, this.#room);
    if (this.#slice.spend(RANGE_US + VERSION_US * scanned.kvs.length)) await this.#slice.turn(clock, this.#signal);
    return scanned;
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
