import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DeleteRangeOp, isEngramError, type Op, putOp, rangeContains, type Txn } from '@engram/core';
import { checkDuplicateKeys } from '../src/duplicate-keys.ts';

/* Compares the check with the rule in its simplest form, which looks at every pair of changes. */

const key = fc.integer({ min: 0, max: 7 }).map((byte) => Uint8Array.of(byte));
const end = fc.oneof(fc.constant(new Uint8Array(0)), key);
const put = key.map((bytes): Op => putOp(bytes, bytes));
const removal = fc.tuple(key, end).map(
  ([from, to]): Op => ({
    kind: 'delete-range',
    range: { key: from, end: to },
    prevKv: false,
  }),
);
const { txn } = fc.letrec<{ txn: Txn; op: Op }>((tie) => ({
  op: fc.oneof(
    { depthSize: 'small' },
    { weight: 3, arbitrary: put },
    { weight: 1, arbitrary: removal },
    { weight: 2, arbitrary: tie('txn').map((inner): Op => ({ kind: 'txn', txn: inner })) },
  ),
  txn: fc
    .tuple(fc.array(tie('op'), { maxLength: 3 }), fc.array(tie('op'), { maxLength: 2 }))
    .map(([success, failure]): Txn => ({ compares: [], success, failure })),
}));

/** A change, with the branch of each transaction that contains it. */
interface Place {
  readonly op: Extract<Op, { kind: 'put' }> | DeleteRangeOp;
  readonly branches: ReadonlyMap<Txn, boolean>;
}

function places(of: Txn, branches: ReadonlyMap<Txn, boolean>): Place[] {
  const found: Place[] = [];
  for (const [branch, ops] of [
    [true, of.success],
    [false, of.failure],
  ] as const) {
    const within = new Map([...branches, [of, branch]]);
    for (const op of ops) {
      if (op.kind === 'txn') found.push(...places(op.txn, within));
      else if (op.kind !== 'range') found.push({ op, branches: within });
    }
  }
  return found;
}

function collide(left: Place, right: Place): boolean {
  for (const [of, branch] of left.branches) if (right.branches.get(of) === !branch) return false;
  if (left.op.kind === 'put' && right.op.kind === 'put') return Buffer.compare(left.op.key, right.op.key) === 0;
  if (left.op.kind === 'put') return right.op.kind === 'delete-range' && rangeContains(right.op.range, left.op.key);
  return right.op.kind === 'put' && rangeContains(left.op.range, right.op.key);
}

test('a transaction is refused exactly when two of its changes could meet', () => {
  let refusals = 0;
  const property = fc.property(txn, (of) => {
    const all = places(of, new Map());
    const expected = all.some((left, at) => all.slice(at + 1).some((right) => collide(left, right)));
    let refused = false;
    try {
      checkDuplicateKeys(of);
    } catch (error) {
      expect(isEngramError(error, 'DuplicateKey')).toBe(true);
      refused = true;
      refusals += 1;
    }
    expect(refused).toBe(expected);
  });
  fc.assert(property, { numRuns: 2_000 });
  expect(refusals).toBeGreaterThan(100);
});

test('150,000 changes in one transaction are checked without looking at every pair', () => {
  const deletes = (from: number, count: number): Op[] =>
    Array.from({ length: count }, (_, at) => ({
      kind: 'delete-range',
      range: { key: Uint8Array.of(1, (from + at) >> 16, (from + at) >> 8, from + at), end: new Uint8Array(0) },
      prevKv: false,
    }));
  const puts = (from: number, count: number): Op[] =>
    Array.from({ length: count }, (_, at) =>
      putOp(Uint8Array.of(2, (from + at) >> 16, (from + at) >> 8, from + at), new Uint8Array(0)),
    );
  let next = 0;
  const nest = (width: number, depth: number): Txn => {
    if (depth === 0) {
      next += width;
      return { compares: [], success: deletes(next, width), failure: puts(next, width) };
    }
    const inner = Array.from({ length: width }, (): Op => ({ kind: 'txn', txn: nest(width, depth - 1) }));
    return { compares: [], success: inner, failure: [] };
  };
  checkDuplicateKeys(nest(42, 2));
});

/** Below `depth` transactions, each with one more put: transactions of three levels with `width` deletes or transactions in each branch. */
function deep(depth: number, width: number): Txn {
  let made = 0;
  const bytes = (): Uint8Array => {
    made += 1;
    return Buffer.from(String(made));
  };
  const both = (level: number): Txn => {
    const branch = (): Op[] => Array.from({ length: width }, () => (level === 0 ? removed() : nested(both(level - 1))));
    return { compares: [], success: branch(), failure: branch() };
  };
  const removed = (): Op => ({
    kind: 'delete-range',
    range: { key: bytes(), end: new Uint8Array(0) },
    prevKv: false,
  });
  const nested = (of: Txn): Op => ({ kind: 'txn', txn: of });
  let txn = both(2);
  for (let level = 0; level < depth; level += 1) {
    txn = { compares: [], success: [putOp(Buffer.from(`put ${level}`), bytes()), nested(txn)], failure: [] };
  }
  return txn;
}

test('a transaction whose many changes would be compared at very many levels is refused', () => {
  expect(() => checkDuplicateKeys(deep(0, 9)), 'three levels').not.toThrow();
  expect(() => checkDuplicateKeys(deep(60, 2)), 'few changes').not.toThrow();
  expect(() => checkDuplicateKeys(deep(45, 9))).toThrow('too many operations');
});
