import {
  type Compare,
  CompareResult,
  CompareTarget,
  compareBytes,
  isPoint,
  type LogPosition,
  type Revision,
  type Txn,
} from '@engram/core';
import { byteSteps, type Job, type Turn } from '@engram/loop';
import type { DecisionValues, ReadVersions } from './ports.ts';

/**
 * The branches that a transaction takes. They are decided up front: compares see the state before the transaction,
 * also those of nested transactions.
 */
export interface Path {
  readonly succeeded: boolean;
  /** One for each nested transaction of the chosen branch, in the order of its ops. */
  readonly nested: readonly Path[];
}

export interface ChosenPath extends Path {
  /** Compares that were looked at, those of nested transactions too: none behind the first one that fails. */
  readonly compared: number;
}

/** Versions of a range that are compared at a time, and the bytes of values that are held at a time. */
const CHUNK = 256;
const CHUNK_VALUE_BYTES = 1024 * 1024;

const noneNested: readonly Path[] = [];

/** The place of the first compare of a simple transaction (`isSimple`) that fails, or -1. Its values are at hand. */
export function firstFailing({ compares }: Txn, versions: ReadVersions, values: DecisionValues): number {
  for (let at = 0; at < compares.length; at += 1) if (!holdsOnKey(compares[at]!, versions, values)) return at;
  return -1;
}

/** Chooses the branches of a transaction. Compares of ranges read at revision `at`. */
export function* choosePath(
  txn: Txn,
  versions: ReadVersions,
  values: DecisionValues,
  at: Revision,
  turn: Turn,
): Job<ChosenPath> {
  let succeeded = true;
  let compared = 0;
  for (const compare of txn.compares) {
    const { range, target } = compare;
    compared += 1;
    if (!isPoint(range)) succeeded = yield* holdsOnRange(compare, versions, values, at, turn);
    else {
      const head = target === CompareTarget.VALUE ? versions.head(range.key) : -1;
      const bringing =
        head >= 0 && !versions.isTombstone(head) ? values.bring([versions.position(head)], false) : undefined;
      if (bringing !== undefined) yield bringing;
      succeeded = holdsOnKey(compare, versions, values);
    }
    if (turn.shouldYield(steps(compare))) yield;
    if (!succeeded) break;
  }
  let nested: Path[] | undefined;
  for (const op of succeeded ? txn.success : txn.failure) {
    if (op.kind !== 'txn') continue;
    const path: ChosenPath = yield* choosePath(op.txn, versions, values, at, turn);
    compared += path.compared;
    nested ??= [];
    nested.push(path);
  }
  return { succeeded, nested: nested ?? noneNested, compared };
}

/** Of one compare with a version, whose value may be long. */
const steps = (compare: Compare): number => byteSteps(compare.value.length);

function holdsOnKey(compare: Compare, versions: ReadVersions, values: DecisionValues): boolean {
  const head = versions.head(compare.range.key);
  if (head < 0 || versions.isTombstone(head)) return holdsOnMissing(compare);
  return holdsOn(compare, head, versions, values);
}

/**
 * All keys of the range must satisfy the condition. A range without keys behaves like a missing key: its numbers are
 * 0, and no VALUE compare on it holds, whatever the operator (etcd server/etcdserver/txn).
 */
function* holdsOnRange(
  compare: Compare,
  versions: ReadVersions,
  values: DecisionValues,
  at: Revision,
  turn: Turn,
): Job<boolean> {
  let found = 0;
  let key: Uint8Array | undefined = compare.range.key;
  while (key !== undefined) {
    const live: number[] = [];
    key = versions.collectSome({ key, end: compare.range.end }, at, CHUNK, turn, live);
    found += live.length;
    const holds =
      compare.target === CompareTarget.VALUE
        ? yield* holdOnValues(compare, live, versions, values, turn)
        : live.every((version) => holdsOn(compare, version, versions, values));
    if (!holds) return false;
    if (turn.shouldYield(live.length)) yield;
  }
  return found > 0 || holdsOnMissing(compare);
}

/** Holds a few values at a time, so that a compare of all keys does not load all values. */
function* holdOnValues(
  compare: Compare,
  live: readonly number[],
  versions: ReadVersions,
  values: DecisionValues,
  turn: Turn,
): Job<boolean> {
  for (let from = 0; from < live.length; ) {
    const positions: LogPosition[] = [];
    let bytes = 0;
    for (let at = from; at < live.length && bytes < CHUNK_VALUE_BYTES; at += 1) {
      positions.push(versions.position(live[at]!));
      bytes += versions.bytes(live[at]!);
    }
    const bringing = values.bring(positions, false);
    if (bringing !== undefined) yield bringing;
    for (const position of positions) {
      if (!satisfies(compare.result, compareBytes(values.value(position), compare.value))) return false;
      if (turn.shouldYield(steps(compare))) yield;
    }
    from += positions.length;
  }
  return true;
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

function holdsOn(compare: Compare, version: number, versions: ReadVersions, values: DecisionValues): boolean {
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
