import type { RangeOp, Txn } from '@engram/core';
import type { Caller } from '../caller.ts';
import { clientTask } from '../client-task.ts';
import type { StoreObserver } from '../observer.ts';
import type { Replica } from '../replica/replica.ts';
import type { AppliedReads, ListForm, PagedRangeResult, RangeResult, TxnResult } from '../store.ts';
import { readTxn } from './read-txn.ts';

const neverAborted = new AbortController().signal;

/** Reads of a replica, for their callers. */
export class ReplicaReads implements AppliedReads {
  readonly #replica: Replica;
  readonly #observer: StoreObserver;

  constructor(replica: Replica, observer: StoreObserver) {
    this.#replica = replica;
    this.#observer = observer;
  }

  range(
    op: RangeOp,
    caller: Caller,
    form: ListForm,
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult>;
  range(op: RangeOp, caller: Caller): RangeResult | Promise<RangeResult>;
  range(
    op: RangeOp,
    caller: Caller,
    form: ListForm = 'list',
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult> {
    // A read of one key ends before its caller could give up, and creating a signal costs more than the read.
    if (op.range.end.length === 0) return this.#replica.range(op, neverAborted);
    return this.#replica.range(op, caller.signal, clientTask(caller, 'range'), form, caller);
  }

  holdsBytes(op: RangeOp): number {
    return this.#replica.scanner.holdsBytes(op, this.#replica.revision);
  }

  rangeStream(op: RangeOp, chunkBytes: number, caller: Caller): AsyncGenerator<RangeResult> {
    return this.#replica.rangeStream(op, chunkBytes, caller.signal, clientTask(caller, 'range'));
  }

  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    return readTxn(txn, this.#replica, caller, this.#observer);
  }
}
