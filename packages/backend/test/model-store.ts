import {
  type Compare,
  CompareResult,
  CompareTarget,
  compareBytes,
  type DeleteRangeOp,
  type ErrorCode,
  keyBytes,
  keyText,
  type Op,
  type PutOp,
  rangeContains,
  type KeyRange,
  type RangeOp,
  SortOrder,
  SortTarget,
  type Txn,
  unreachable,
} from '@engram/core';

/** One change of one key. */
export interface ModelVersion {
  readonly mod: number;
  readonly sub: number;
  readonly create: number;
  readonly version: number;
  readonly value: string;
  readonly lease: bigint;
  readonly deleted: boolean;
}

export interface ModelKv extends ModelVersion {
  readonly key: string;
}

export type ModelResponse =
  | { kind: 'range'; revision: number; kvs: ModelKv[]; count: number; more: boolean }
  | { kind: 'put'; revision: number; prev: ModelKv | undefined }
  | { kind: 'delete-range'; revision: number; deleted: number; prev: ModelKv[] }
  | { kind: 'txn'; revision: number; succeeded: boolean; responses: ModelResponse[] };

export class ModelError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode) {
    super(code);
    this.code = code;
  }
}

/**
 * etcd's store as the reference describes it, in the plainest way: every version of every key in a list, every answer
 * by looking at all of them. Slow, and obviously right.
 */
export class ModelStore {
  revision = 1;
  compactRevision = -1;
  /** Versions of each key, oldest first. Compaction hides, it does not remove. */
  readonly keys = new Map<string, ModelVersion[]>();
  readonly leases = new Map<bigint, number>();
  readonly events: ModelKv[] = [];

  live(key: string, at: number): ModelKv | undefined {
    const found = (this.keys.get(key) ?? []).findLast((version) => version.mod <= at);
    return found === undefined || found.deleted ? undefined : { key, ...found };
  }

  liveIn(range: KeyRange, at: number): ModelKv[] {
    return [...this.keys.keys()]
      .filter((key) => rangeContains(range, keyBytes(key)))
      .sort((left, right) => compareBytes(keyBytes(left), keyBytes(right)))
      .map((key) => this.live(key, at))
      .filter((kv) => kv !== undefined);
  }

  range(op: RangeOp): ModelResponse {
    const at = op.revision <= 0 ? this.revision : op.revision;
    if (at > this.revision) throw new ModelError('FutureRev');
    if (at < this.compactRevision) throw new ModelError('Compacted');
    return this.rangeAt(op, at, this.revision);
  }

  rangeAt(op: RangeOp, at: number, header: number): ModelResponse {
    const all = this.liveIn(op.range, at);
    const count = all.length;
    if (op.countOnly) return { kind: 'range', revision: header, kvs: [], count, more: false };
    const filtered = [op.minModRevision, op.maxModRevision, op.minCreateRevision, op.maxCreateRevision].some(
      (bound) => bound !== 0,
    );
    let kvs = op.limit > 0 && op.sortOrder === SortOrder.NONE && !filtered ? all.slice(0, op.limit + 1) : all;
    kvs = kvs.filter(
      (kv) =>
        (op.maxModRevision === 0 || kv.mod <= op.maxModRevision) &&
        (op.minModRevision === 0 || kv.mod >= op.minModRevision) &&
        (op.maxCreateRevision === 0 || kv.create <= op.maxCreateRevision) &&
        (op.minCreateRevision === 0 || kv.create >= op.minCreateRevision),
    );
    const by: Record<number, (left: ModelKv, right: ModelKv) => number> = {
      [SortTarget.KEY]: (left, right) => compareBytes(keyBytes(left.key), keyBytes(right.key)),
      [SortTarget.VERSION]: (left, right) => left.version - right.version,
      [SortTarget.CREATE]: (left, right) => left.create - right.create,
      [SortTarget.MOD]: (left, right) => left.mod - right.mod,
      [SortTarget.VALUE]: (left, right) => compareBytes(keyBytes(left.value), keyBytes(right.value)),
    };
    const order = by[op.sortTarget]!;
    kvs = kvs.toSorted((left, right) => (op.sortOrder === SortOrder.DESCEND ? order(right, left) : order(left, right)));
    const more = op.limit > 0 && kvs.length > op.limit;
    if (more) kvs = kvs.slice(0, op.limit);
    return {
      kind: 'range',
      revision: header,
      kvs: op.keysOnly ? kvs.map((kv) => ({ ...kv, value: '' })) : kvs,
      count,
      more,
    };
  }

  txn(txn: Txn): Extract<ModelResponse, { kind: 'txn' }> {
    const before = this.revision;
    const path = this.#path(txn);
    this.#check(txn, path);
    const change = { at: before + 1, sub: 0 };
    const result = this.#execute(txn, path, change);
    if (change.sub > 0) this.revision = change.at;
    return result;
  }

  #path(txn: Txn): Path {
    const succeeded = txn.compares.every((compare) => this.#holds(compare));
    const ops = succeeded ? txn.success : txn.failure;
    return { succeeded, nested: ops.map((op) => (op.kind === 'txn' ? this.#path(op.txn) : undefined)) };
  }

  #holds(compare: Compare): boolean {
    const kvs = this.liveIn(compare.range, this.revision);
    if (kvs.length === 0) {
      if (compare.target === CompareTarget.VALUE) return false;
      return this.#holdsOn(compare, {
        key: '',
        mod: 0,
        sub: 0,
        create: 0,
        version: 0,
        value: '',
        lease: 0n,
        deleted: false,
      });
    }
    return kvs.every((kv) => this.#holdsOn(compare, kv));
  }

  #holdsOn(compare: Compare, kv: ModelKv): boolean {
    const sign = (left: number | bigint, right: number | bigint): number => (left < right ? -1 : left > right ? 1 : 0);
    const orders: Record<number, () => number> = {
      [CompareTarget.VERSION]: () => sign(kv.version, compare.number),
      [CompareTarget.CREATE]: () => sign(kv.create, compare.number),
      [CompareTarget.MOD]: () => sign(kv.mod, compare.number),
      [CompareTarget.VALUE]: () => sign(compareBytes(keyBytes(kv.value), compare.value), 0),
      [CompareTarget.LEASE]: () => sign(kv.lease, compare.lease),
    };
    const order = orders[compare.target]?.() ?? 0;
    const holds: Record<number, boolean> = {
      [CompareResult.EQUAL]: order === 0,
      [CompareResult.GREATER]: order > 0,
      [CompareResult.LESS]: order < 0,
      [CompareResult.NOT_EQUAL]: order !== 0,
    };
    return holds[compare.result] ?? true;
  }

  #check(txn: Txn, path: Path): void {
    for (const [at, op] of (path.succeeded ? txn.success : txn.failure).entries()) {
      if (op.kind === 'txn') this.#check(op.txn, path.nested[at]!);
      if (op.kind === 'range' && op.revision > this.revision) throw new ModelError('FutureRev');
      if (op.kind === 'range' && op.revision !== 0 && op.revision < this.compactRevision)
        throw new ModelError('Compacted');
      if (op.kind === 'put' && op.lease !== 0n && !this.leases.has(op.lease)) throw new ModelError('LeaseNotFound');
      if (
        op.kind === 'put' &&
        (op.ignoreLease || op.ignoreValue) &&
        this.live(keyText(op.key), this.revision) === undefined
      ) {
        throw new ModelError('KeyNotFound');
      }
    }
  }

  #execute(txn: Txn, path: Path, change: { at: number; sub: number }): Extract<ModelResponse, { kind: 'txn' }> {
    const header = (): number => (change.sub > 0 ? change.at : change.at - 1);
    const responses = (path.succeeded ? txn.success : txn.failure).map((op: Op, at): ModelResponse => {
      switch (op.kind) {
        case 'txn':
          return this.#execute(op.txn, path.nested[at]!, change);
        case 'range':
          return this.rangeAt(op, op.revision > 0 ? op.revision : change.at, header());
        case 'put':
          return this.#put(op, change);
        case 'delete-range': {
          const deleted = this.#delete(op, change);
          return { kind: 'delete-range', revision: header(), deleted: deleted.length, prev: op.prevKv ? deleted : [] };
        }
        default:
          return unreachable(op);
      }
    });
    return { kind: 'txn', revision: header(), succeeded: path.succeeded, responses };
  }

  #put(op: PutOp, change: { at: number; sub: number }): ModelResponse {
    const key = keyText(op.key);
    const prev = this.live(key, change.at);
    this.#add(key, {
      mod: change.at,
      sub: change.sub,
      create: prev?.create ?? change.at,
      version: (prev?.version ?? 0) + 1,
      value: op.ignoreValue ? prev!.value : keyText(op.value),
      lease: op.ignoreLease ? prev!.lease : op.lease,
      deleted: false,
    });
    change.sub += 1;
    return { kind: 'put', revision: change.at, prev: op.prevKv ? prev : undefined };
  }

  #delete(op: Pick<DeleteRangeOp, 'range'>, change: { at: number; sub: number }): ModelKv[] {
    const prev = this.liveIn(op.range, change.at);
    for (const kv of prev) {
      this.#add(kv.key, {
        mod: change.at,
        sub: change.sub,
        create: 0,
        version: 0,
        value: '',
        lease: 0n,
        deleted: true,
      });
      change.sub += 1;
    }
    return prev;
  }

  #add(key: string, version: ModelVersion): void {
    const versions = this.keys.get(key) ?? [];
    versions.push(version);
    this.keys.set(key, versions);
    this.events.push({ key, ...version });
  }

  compact(revision: number): void {
    if (revision <= this.compactRevision) throw new ModelError('Compacted');
    if (revision > this.revision) throw new ModelError('FutureRev');
    this.compactRevision = revision;
  }

  grant(id: bigint, ttlSeconds: number): void {
    if (this.leases.has(id)) throw new ModelError('LeaseExist');
    this.leases.set(id, Math.max(2, ttlSeconds));
  }

  revoke(id: bigint): void {
    if (!this.leases.delete(id)) throw new ModelError('LeaseNotFound');
    const change = { at: this.revision + 1, sub: 0 };
    for (const key of this.leaseKeys(id))
      this.#delete({ range: { key: keyBytes(key), end: new Uint8Array(0) } }, change);
    if (change.sub > 0) this.revision = change.at;
  }

  leaseKeys(id: bigint): string[] {
    return [...this.keys.keys()]
      .filter((key) => this.live(key, Number.POSITIVE_INFINITY)?.lease === id)
      .sort((left, right) => compareBytes(keyBytes(left), keyBytes(right)));
  }

  /** What the version before an event was, unless compaction has taken it. */
  prevOf(event: ModelKv): ModelKv | undefined {
    return this.live(event.key, event.mod - 1);
  }
}

interface Path {
  readonly succeeded: boolean;
  readonly nested: readonly (Path | undefined)[];
}
