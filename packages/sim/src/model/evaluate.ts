import {
  type Compare,
  CompareResult,
  CompareTarget,
  compareBytes,
  type ErrorCode,
  keyBytes,
  type KeyRange,
  keyText,
  type Op,
  type PutOp,
  type RangeOp,
  rangeContains,
  SortOrder,
  SortTarget,
  type Txn,
  unreachable,
} from '@engram/core';
import type { ModelKv, StateAt, StoreHistory } from './history.ts';

export type ModelResponse =
  | {
      readonly kind: 'range';
      readonly revision: number;
      readonly kvs: readonly ModelKv[];
      readonly count: number;
      readonly more: boolean;
    }
  | { readonly kind: 'put'; readonly revision: number; readonly prev: ModelKv | undefined }
  | {
      readonly kind: 'delete-range';
      readonly revision: number;
      readonly deleted: number;
      readonly prev: readonly ModelKv[];
    }
  | ModelTxn;

export interface ModelTxn {
  readonly kind: 'txn';
  readonly revision: number;
  readonly succeeded: boolean;
  readonly responses: readonly ModelResponse[];
}

/** The effect of a transaction on a state: it is refused, or answered and changes these keys in this order. */
export type Evaluation =
  | { readonly kind: 'refused'; readonly code: ErrorCode }
  | { readonly kind: 'answered'; readonly answer: ModelTxn; readonly changes: readonly ModelChange[] };

/** A change in the revision after the state's. If `deleted`, only the key is meaningful. */
export interface ModelChange extends ModelKv {
  readonly deleted: boolean;
}

class Refusal extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

/** Evaluates transactions as etcd's sources define them, in the simplest way. */
export function evaluateTxn(history: StoreHistory, state: StateAt, txn: Txn): Evaluation {
  const evaluation = new Transaction(history, state);
  try {
    const answer = evaluation.run(txn);
    return { kind: 'answered', answer, changes: [...evaluation.changes.values()] };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', code: error.code };
    throw error;
  }
}

/** `state.revision` is the newest. The answer's kvs are those at the requested revision. */
export function evaluateRange(history: StoreHistory, state: StateAt, op: RangeOp): ModelResponse | ErrorCode {
  const at = op.revision <= 0 ? state.revision : op.revision;
  if (at > state.revision) return 'FutureRev';
  if (at < state.compactRevision) return 'Compacted';
  return rangeOf(history.liveIn(op.range, at), op, state.revision);
}

interface Path {
  readonly succeeded: boolean;
  readonly nested: readonly (Path | undefined)[];
}

class Transaction {
  /** By key: a key changes at most once. */
  readonly changes = new Map<string, ModelChange>();
  readonly #history: StoreHistory;
  readonly #state: StateAt;

  constructor(history: StoreHistory, state: StateAt) {
    this.#history = history;
    this.#state = state;
  }

  run(txn: Txn): ModelTxn {
    const path = this.#path(txn);
    this.#check(txn, path);
    return this.#execute(txn, path);
  }

  /** Compares see the state before the transaction, also those of nested transactions. */
  #path(txn: Txn): Path {
    const succeeded = txn.compares.every((compare) => this.#holds(compare));
    const ops = succeeded ? txn.success : txn.failure;
    return { succeeded, nested: ops.map((op) => (op.kind === 'txn' ? this.#path(op.txn) : undefined)) };
  }

  #holds(compare: Compare): boolean {
    const kvs = this.#history.liveIn(compare.range, this.#state.revision);
    if (kvs.length > 0) return kvs.every((kv) => holdsOn(compare, kv));
    if (compare.target === CompareTarget.VALUE) return false;
    return holdsOn(compare, { key: '', value: '', create: 0, mod: 0, version: 0, lease: 0n });
  }

  #check(txn: Txn, path: Path): void {
    const { revision, compactRevision, position } = this.#state;
    for (const [at, op] of (path.succeeded ? txn.success : txn.failure).entries()) {
      if (op.kind === 'txn') this.#check(op.txn, path.nested[at]!);
      if (op.kind === 'range' && op.revision > revision) throw new Refusal('FutureRev');
      if (op.kind === 'range' && op.revision !== 0 && op.revision < compactRevision) throw new Refusal('Compacted');
      if (op.kind !== 'put') continue;
      if (op.lease !== 0n && this.#history.leaseAt(op.lease, position) === undefined)
        throw new Refusal('LeaseNotFound');
      const lives = this.#history.live(keyText(op.key), revision) !== undefined;
      if ((op.ignoreLease || op.ignoreValue) && !lives) throw new Refusal('KeyNotFound');
    }
  }

  #execute(txn: Txn, path: Path): ModelTxn {
    const ops = path.succeeded ? txn.success : txn.failure;
    const responses = ops.map((op, at): ModelResponse => this.#executeOp(op, path.nested[at]));
    return { kind: 'txn', revision: this.#visible, succeeded: path.succeeded, responses };
  }

  #executeOp(op: Op, nested: Path | undefined): ModelResponse {
    switch (op.kind) {
      case 'txn':
        return this.#execute(op.txn, nested!);
      case 'range': {
        const kvs = op.revision > 0 ? this.#history.liveIn(op.range, op.revision) : this.#liveNow(op.range);
        return rangeOf(kvs, op, this.#visible);
      }
      case 'put':
        return this.#put(op);
      case 'delete-range': {
        const prev = this.#liveNow(op.range);
        for (const { key } of prev)
          this.changes.set(key, { key, value: '', create: 0, mod: this.#next, version: 0, lease: 0n, deleted: true });
        return { kind: 'delete-range', revision: this.#visible, deleted: prev.length, prev: op.prevKv ? prev : [] };
      }
      default:
        return unreachable(op);
    }
  }

  #put(op: PutOp): ModelResponse {
    const key = keyText(op.key);
    const prev = this.#live(key);
    this.changes.set(key, {
      key,
      value: op.ignoreValue ? prev!.value : keyText(op.value),
      create: prev?.create ?? this.#next,
      mod: this.#next,
      version: (prev?.version ?? 0) + 1,
      lease: op.ignoreLease ? prev!.lease : op.lease,
      deleted: false,
    });
    return { kind: 'put', revision: this.#next, prev: op.prevKv ? prev : undefined };
  }

  get #next(): number {
    return this.#state.revision + 1;
  }

  /** The revision that a range inside the transaction sees: the transaction's own once it has changed a key. */
  get #visible(): number {
    return this.changes.size > 0 ? this.#next : this.#state.revision;
  }

  #live(key: string): ModelKv | undefined {
    const change = this.changes.get(key);
    if (change === undefined) return this.#history.live(key, this.#state.revision);
    return change.deleted ? undefined : change;
  }

  #liveNow(range: KeyRange): ModelKv[] {
    const before = this.#history.liveIn(range, this.#state.revision);
    if (this.changes.size === 0) return before;
    const keys = new Set(before.map(({ key }) => key));
    for (const key of this.changes.keys()) if (rangeContains(range, keyBytes(key))) keys.add(key);
    return [...keys]
      .sort((left, right) => compareBytes(keyBytes(left), keyBytes(right)))
      .map((key) => this.#live(key))
      .filter((kv) => kv !== undefined);
  }
}

const sign = (left: number | bigint, right: number | bigint): number => (left < right ? -1 : left > right ? 1 : 0);

function holdsOn(compare: Compare, kv: ModelKv): boolean {
  const order = orderOf(compare, kv);
  switch (compare.result) {
    case CompareResult.EQUAL:
      return order === 0;
    case CompareResult.GREATER:
      return order > 0;
    case CompareResult.LESS:
      return order < 0;
    case CompareResult.NOT_EQUAL:
      return order !== 0;
    default:
      return true;
  }
}

function orderOf(compare: Compare, kv: ModelKv): number {
  switch (compare.target) {
    case CompareTarget.VERSION:
      return sign(kv.version, compare.number);
    case CompareTarget.CREATE:
      return sign(kv.create, compare.number);
    case CompareTarget.MOD:
      return sign(kv.mod, compare.number);
    case CompareTarget.VALUE:
      return sign(compareBytes(keyBytes(kv.value), compare.value), 0);
    case CompareTarget.LEASE:
      return sign(kv.lease, compare.lease);
    default:
      return 0;
  }
}

/** `live` has the range in key order. */
function rangeOf(live: readonly ModelKv[], op: RangeOp, revision: number): ModelResponse {
  const count = live.length;
  if (op.countOnly) return { kind: 'range', revision, kvs: [], count, more: false };
  const filtered = [op.minModRevision, op.maxModRevision, op.minCreateRevision, op.maxCreateRevision].some(
    (bound) => bound !== 0,
  );
  // As in etcd, the limit applies before the sort if the order is NONE and nothing is filtered.
  let kvs = op.limit > 0 && op.sortOrder === SortOrder.NONE && !filtered ? live.slice(0, op.limit + 1) : live;
  if (filtered) {
    kvs = kvs.filter(
      (kv) =>
        (op.maxModRevision === 0 || kv.mod <= op.maxModRevision) &&
        (op.minModRevision === 0 || kv.mod >= op.minModRevision) &&
        (op.maxCreateRevision === 0 || kv.create <= op.maxCreateRevision) &&
        (op.minCreateRevision === 0 || kv.create >= op.minCreateRevision),
    );
  }
  if (op.sortTarget !== SortTarget.KEY || op.sortOrder === SortOrder.DESCEND) {
    const order = orders[op.sortTarget] ?? orders[SortTarget.KEY]!;
    kvs = kvs.toSorted((left, right) => (op.sortOrder === SortOrder.DESCEND ? order(right, left) : order(left, right)));
  }
  const more = op.limit > 0 && kvs.length > op.limit;
  if (more) kvs = kvs.slice(0, op.limit);
  return { kind: 'range', revision, kvs: op.keysOnly ? kvs.map((kv) => ({ ...kv, value: '' })) : kvs, count, more };
}

const orders: Readonly<Record<number, (left: ModelKv, right: ModelKv) => number>> = {
  [SortTarget.KEY]: (left, right) => compareBytes(keyBytes(left.key), keyBytes(right.key)),
  [SortTarget.VERSION]: (left, right) => left.version - right.version,
  [SortTarget.CREATE]: (left, right) => left.create - right.create,
  [SortTarget.MOD]: (left, right) => left.mod - right.mod,
  [SortTarget.VALUE]: (left, right) => compareBytes(keyBytes(left.value), keyBytes(right.value)),
};
