import { CompareTarget, isPoint, type LogPosition, type Op, type Revision, type Txn } from '@engram/core';
import type { ReadVersions } from './ports.ts';

/**
 * Where the values lie that must be at hand before `txn` can be decided: those of VALUE compares and of puts that keep
 * the value, in any branch. Positions, because the version may be another one by the time they are loaded: ask again
 * then. Ranges of compares are read at `at`.
 */
export function valueNeeds(txn: Txn, versions: ReadVersions, at: Revision): readonly LogPosition[] {
  if (!needsValues(txn)) return nothingNeeded;
  const positions: LogPosition[] = [];
  collectNeeds(txn, versions, at, positions);
  return positions;
}

const nothingNeeded: readonly LogPosition[] = [];

/** Hardly any transaction does; it is asked of every one. */
function needsValues(txn: Txn): boolean {
  for (const { target } of txn.compares) if (target === CompareTarget.VALUE) return true;
  return txn.success.some(needsValue) || txn.failure.some(needsValue);
}

const needsValue = (op: Op): boolean => (op.kind === 'txn' ? needsValues(op.txn) : op.kind === 'put' && op.ignoreValue);

function collectNeeds(txn: Txn, versions: ReadVersions, at: Revision, positions: LogPosition[]): void {
  for (const compare of txn.compares) {
    if (compare.target !== CompareTarget.VALUE) continue;
    if (isPoint(compare.range)) {
      collectHead(compare.range.key, versions, positions);
    } else {
      const live = versions.collect(compare.range, at, Number.POSITIVE_INFINITY);
      for (const version of live) positions.push(versions.position(version));
    }
  }
  for (const branch of [txn.success, txn.failure]) {
    for (const op of branch) {
      if (op.kind === 'txn') collectNeeds(op.txn, versions, at, positions);
      else if (op.kind === 'put' && op.ignoreValue) collectHead(op.key, versions, positions);
    }
  }
}

function collectHead(key: Uint8Array, versions: ReadVersions, positions: LogPosition[]): void {
  const head = versions.head(key);
  if (head >= 0 && !versions.isTombstone(head)) positions.push(versions.position(head));
}
