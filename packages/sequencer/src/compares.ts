import {
  type Compare,
  CompareResult,
  CompareTarget,
  compareBytes,
  isPoint,
  type Revision,
  type Txn,
} from '@engram/core';
import type { KnownValues, ReadVersions } from './ports.ts';

/** Which way a transaction goes, decided up front: compares see the state before it, also those of nested ones. */
export interface Path {
  readonly succeeded: boolean;
  /** One for each nested transaction of the chosen branch, in the order of its ops. */
  readonly nested: readonly Path[];
}

/** Ranges of compares are read at `at`. */
export function choosePath(txn: Txn, versions: ReadVersions, values: KnownValues, at: Revision): Path {
  const succeeded = txn.compares.every((compare) => holds(compare, versions, values, at));
  let nested: Path[] | undefined;
  for (const op of succeeded ? txn.success : txn.failure) {
    if (op.kind !== 'txn') continue;
    nested ??= [];
    nested.push(choosePath(op.txn, versions, values, at));
  }
  if (nested === undefined) return succeeded ? flatSuccess : flatFailure;
  return { succeeded, nested };
}

const flatSuccess: Path = { succeeded: true, nested: [] };
const flatFailure: Path = { succeeded: false, nested: [] };

/**
 * All keys of the range must satisfy the condition; a range without keys behaves like a missing key: its numbers are
 * 0, and no VALUE compare on it holds, whatever the operator (etcd server/etcdserver/txn).
 */
function holds(compare: Compare, versions: ReadVersions, values: KnownValues, at: Revision): boolean {
  if (isPoint(compare.range)) {
    const head = versions.head(compare.range.key);
    if (head < 0 || versions.isTombstone(head)) return holdsOnMissing(compare);
    return holdsOn(compare, head, versions, values);
  }
  const live = versions.collect(compare.range, at, Number.POSITIVE_INFINITY);
  if (live.length === 0) return holdsOnMissing(compare);
  return live.every((version) => holdsOn(compare, version, versions, values));
}

function holdsOnMissing(compare: Compare): boolean {
  switch (compare.target) {
    case CompareTarget.VALUE:
      return false;
    case CompareTarget.VERSION:
    case CompareTarget.CREATE:
    case CompareTarget.MOD:
      return satisfies(compare.result, 0 - compare.number);
    case CompareTarget.LEASE:
      return satisfies(compare.result, compareLeases(0n, compare.lease));
    default:
      return satisfies(compare.result, 0);
  }
}

function holdsOn(compare: Compare, version: number, versions: ReadVersions, values: KnownValues): boolean {
  switch (compare.target) {
    case CompareTarget.VERSION:
      return satisfies(compare.result, versions.version(version) - compare.number);
    case CompareTarget.CREATE:
      return satisfies(compare.result, versions.createRevision(version) - compare.number);
    case CompareTarget.MOD:
      return satisfies(compare.result, versions.modRevision(version) - compare.number);
    case CompareTarget.VALUE:
      return satisfies(compare.result, compareBytes(values.value(versions.position(version)), compare.value));
    case CompareTarget.LEASE:
      return satisfies(compare.result, compareLeases(versions.lease(version), compare.lease));
    default:
      return satisfies(compare.result, 0);
  }
}

const compareLeases = (left: bigint, right: bigint): number => (left === right ? 0 : left < right ? -1 : 1);

function satisfies(result: number, order: number): boolean {
  switch (result) {
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
