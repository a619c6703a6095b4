import {
  assert,
  type Compare,
  CompareResult,
  CompareTarget,
  EMPTY_BYTES,
  type KeyRange,
  type LeaseId,
  NO_LEASE,
  pointRange,
  prefixRange,
  type RangeOp,
  rangeOp,
  SortOrder,
  SortTarget,
  type Txn,
  utf8,
} from '@engram/core';
import type { OpResult, RangeResult } from '@engram/backend';
import { mvccpb } from '@engram/wire';
import type { ClientSteps } from './client-steps.ts';

/*
 * The keys of a lock, or of an election: `<name>/<lease in hex>`, one for each who wants it, in the order of their create revisions. The
 * first one has it. Clients have recipes of their own for the same keys (etcd client/v3/concurrency), so the form is part of the API.
 */

/** All keys of a lock or an election. */
export const lineOf = (name: Uint8Array): KeyRange => prefixRange(joined(name, '/'));

/** The key of one lease. */
export function placeIn({ key: prefix }: KeyRange, lease: LeaseId): Uint8Array {
  const hex = lease < 0n ? `-${(-lease).toString(16)}` : lease.toString(16);
  return joined(prefix, hex);
}

/** A copy, with nothing behind it. No Buffer: its `slice` would be a view. */
const joined = (beginning: Uint8Array, end: string): Uint8Array =>
  new Uint8Array(Buffer.concat([beginning, utf8(end)]));

/** The key that was created first: its lease has the lock. */
export const firstOf = (line: KeyRange): RangeOp =>
  rangeOp(line, { limit: 1, sortTarget: SortTarget.CREATE, sortOrder: SortOrder.ASCEND });

/** The newest of the keys that were created at `revisionMax` or before. */
const lastBefore = (line: KeyRange, revisionMax: number): RangeOp =>
  rangeOp(line, {
    limit: 1,
    sortTarget: SortTarget.CREATE,
    sortOrder: SortOrder.DESCEND,
    maxCreateRevision: revisionMax,
  });

/** The key was created at this revision; 0: there is none. */
export const createdAt = (key: Uint8Array, revision: number): Compare => ({
  range: pointRange(key),
  target: CompareTarget.CREATE,
  result: CompareResult.EQUAL,
  number: revision,
  lease: NO_LEASE,
  value: EMPTY_BYTES,
});

/** The first key-value of an answer. */
export function firstKv(kvs: Iterable<Uint8Array>): mvccpb.KeyValue | undefined {
  for (const kv of kvs) return mvccpb.decodeKeyValue(kv);
  return undefined;
}

/**
 * Resolves when no key is left that was created before `created`. True if there was one. Waits for the one right before: so the end of a
 * place wakes nobody but the next in line.
 */
export async function untilFirst(
  steps: ClientSteps,
  line: KeyRange,
  created: number,
  besideBytes: number,
): Promise<boolean> {
  for (let waited = false; ; waited = true) {
    const { kvs, revision } = await steps.read(lastBefore(line, created - 1));
    const before = firstKv(kvs);
    if (before === undefined) return waited;
    await steps.untilDeleted(new Uint8Array(before.key), revision, besideBytes);
  }
}

export const deletionOf = (key: Uint8Array, compares: readonly Compare[] = []): Txn => ({
  compares,
  success: [{ kind: 'delete-range', range: pointRange(key), prevKv: false }],
  failure: [],
});

/** The answer to a range in a transaction. */
export function rangeOf(result: OpResult | undefined): RangeResult {
  assert(result?.kind === 'range', 'a range without an answer');
  return result;
}
