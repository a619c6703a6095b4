import { compareBytes, EMPTY_BYTES, keyBytes, keyText } from '@engram/core';
import type { Timestamp } from '@engram/tso';
import * as kv from '../proto/gen/kvrpcpb.ts';

export interface FakeLock {
  readonly startTs: Timestamp;
  readonly primary: Uint8Array;
  ttlMs: number;
  readonly op: number;
  readonly value: Uint8Array;
  readonly txnSize: bigint;
  useAsyncCommit: boolean;
  minCommitTs: Timestamp;
  readonly secondaries: readonly Uint8Array[];
}

export interface FakeWrite {
  readonly kind: 'put' | 'delete' | 'lock' | 'rollback';
  readonly startTs: Timestamp;
  readonly commitTs: Timestamp;
  readonly value: Uint8Array;
}

/** One key with its lock and its write records. */
export interface FakeRow {
  readonly key: Uint8Array;
  lock: FakeLock | undefined;
  /** Newest first. */
  readonly writes: FakeWrite[];
}

/** All keys of a cluster. */
export class FakeRows {
  readonly #rows = new Map<string, FakeRow>();

  /** The row of `key`, made at the first access. */
  row(key: Uint8Array): FakeRow {
    const text = keyText(key);
    let row = this.#rows.get(text);
    if (row === undefined) {
      row = { key: keyBytes(text), lock: undefined, writes: [] };
      this.#rows.set(text, row);
    }
    return row;
  }

  /** In key order; `end` of zero length is the end of all keys. */
  range(start: Uint8Array, end: Uint8Array): readonly FakeRow[] {
    return [...this.#rows.values()]
      .filter(({ key }) => compareBytes(key, start) >= 0 && (end.length === 0 || compareBytes(key, end) < 0))
      .sort((left, right) => compareBytes(left.key, right.key));
  }

  deleteRange(start: Uint8Array, end: Uint8Array): void {
    for (const { key } of this.range(start, end)) this.#rows.delete(keyText(key));
  }

  /** Collects garbage as TiKV does: at or below `safePoint` each key keeps only its newest version, and only if it is a put. */
  collect(safePoint: Timestamp): void {
    for (const row of this.#rows.values()) {
      let kept = false;
      const left = row.writes.filter(({ commitTs, kind }) => {
        if (commitTs > safePoint) return true;
        if (kept || kind === 'rollback' || kind === 'lock') return false;
        kept = true;
        return kind === 'put';
      });
      row.writes.splice(0, row.writes.length, ...left);
    }
  }
}

/** Removes the transaction's lock, and leaves a record that refuses a late prewrite. */
export function rollBack(row: FakeRow, startTs: Timestamp): void {
  if (row.lock?.startTs === startTs) row.lock = undefined;
  if (!row.writes.some((write) => write.startTs === startTs)) record(row, 'rollback', startTs, startTs, EMPTY_BYTES);
}

export function record(
  row: FakeRow,
  kind: FakeWrite['kind'],
  startTs: Timestamp,
  commitTs: Timestamp,
  value: Uint8Array,
): void {
  row.writes.push({ kind, startTs, commitTs, value });
  row.writes.sort((left, right) => (left.commitTs < right.commitTs ? 1 : left.commitTs > right.commitTs ? -1 : 0));
}

export function kindOf(op: number): FakeWrite['kind'] {
  if (op === kv.Op.Del) return 'delete';
  return op === kv.Op.Lock ? 'lock' : 'put';
}
