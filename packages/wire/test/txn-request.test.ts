import { type Compare, leaseId, type Op, type Txn } from '@engram/core';
import { decodeTxn, encodeTxn } from '@engram/wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const bytes = fc.uint8Array({ maxLength: 5 });
const numbers = fc.integer({ min: 0, max: 2 ** 40 });
const leases = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(leaseId);
const ranges = fc.record({ key: bytes, end: bytes });

/** A request carries only the operand that a compare's target reads. */
const compares: fc.Arbitrary<Compare> = fc
  .record({ range: ranges, result: fc.nat(4), target: fc.nat(5), number: numbers, lease: leases, value: bytes })
  .map((compare) => ({
    ...compare,
    number: compare.target <= 2 ? compare.number : 0,
    value: compare.target === 3 ? compare.value : new Uint8Array(0),
    lease: compare.target === 4 ? compare.lease : leaseId(0n),
  }));

const { txn } = fc.letrec<{ op: Op; txn: Txn }>((tie) => ({
  op: fc.oneof(
    { depthSize: 'small' },
    fc.record({
      kind: fc.constant('range' as const),
      range: ranges,
      limit: numbers,
      revision: numbers,
      sortOrder: fc.nat(2),
      sortTarget: fc.nat(4),
      serializable: fc.boolean(),
      keysOnly: fc.boolean(),
      countOnly: fc.boolean(),
      minModRevision: numbers,
      maxModRevision: numbers,
      minCreateRevision: numbers,
      maxCreateRevision: numbers,
    }),
    fc.record({
      kind: fc.constant('put' as const),
      key: bytes,
      value: bytes,
      lease: leases,
      prevKv: fc.boolean(),
      ignoreValue: fc.boolean(),
      ignoreLease: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('delete-range' as const), range: ranges, prevKv: fc.boolean() }),
    fc.record({ kind: fc.constant('txn' as const), txn: tie('txn') }),
  ),
  txn: fc.record({
    compares: fc.array(compares, { maxLength: 3 }),
    success: fc.array(tie('op'), { maxLength: 3 }),
    failure: fc.array(tie('op'), { maxLength: 3 }),
  }),
}));

test('a transaction is the same after the way to another node', () => {
  fc.assert(
    fc.property(txn, (sent) => {
      expect(decodeTxn(encodeTxn(sent))).toEqual(sent);
    }),
  );
});
