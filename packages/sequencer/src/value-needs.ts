import { CompareTarget, isPoint, type LogPosition, type Op, type Txn } from '@engram/core';
import type { ReadVersions } from './ports.ts';

/** The most compares and operations of a simple transaction: less than half a millisecond of work. */
const SIMPLE_MAX = 256;

/**
 * Whether each compare and operation is about one key, none is a transaction, and they are few. Nearly all
 * transactions are simple. They are decided without giving way.
 */
export function isSimple({ compares, success, failure }: Txn): boolean {
  if (compares.length + success.length + failure.length > SIMPLE_MAX) return false;
  for (const { range } of compares) if (!isPoint(range)) return false;
  for (const op of success) if (!isSimpleOp(op)) return false;
  for (const op of failure) if (!isSimpleOp(op)) return false;
  return true;
}

const isSimpleOp = (op: Op): boolean => op.kind === 'put' || (op.kind !== 'txn' && isPoint(op.range));

/**
 * The log positions of the values that must be at hand before a simple transaction can be decided. These are the
 * values of VALUE compares and of puts that keep the value, in both branches. A key may have another version when the
 * values are loaded, so the caller must then ask again.
 */
export function valueNeeds(txn: Txn, versions: ReadVersions): readonly LogPosition[] {
  if (!needsValues(txn)) return nothingNeeded;
  const positions: LogPosition[] = [];
  for (const { target, range } of txn.compares) {
    if (target === CompareTarget.VALUE) collectHead(range.key, versions, positions);
  }
  for (const branch of [txn.success, txn.failure]) {
    for (const op of branch) if (needsValue(op)) collectHead(op.key, versions, positions);
  }
  return positions;
}

const nothingNeeded: readonly LogPosition[] = [];

/** A quick check for every transaction: hardly any needs values. */
function needsValues(txn: Txn): boolean {
  for (const { target } of txn.compares) if (target === CompareTarget.VALUE) return true;
  return txn.success.some(needsValue) || txn.failure.some(needsValue);
}

const needsValue = (op: Op): op is Op & { readonly kind: 'put' } => op.kind === 'put' && op.ignoreValue;

function collectHead(key: Uint8Array, versions: ReadVersions, positions: LogPosition[]): void {
  const head = versions.head(key);
  if (head >= 0 && !versions.isTombstone(head)) positions.push(versions.position(head));
}
