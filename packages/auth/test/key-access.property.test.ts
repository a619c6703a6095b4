import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  EMPTY_BYTES,
  type KeyRange,
  leaseId,
  type LeaseId,
  type Op,
  pointRange,
  putOp,
  rangeOp,
  type Txn,
} from '@engram/core';
import { type AuthChange, KeyAccess, PermissionType } from '@engram/auth';
import { grantableRanges, heldKeyByKey, keyRanges, keys } from './key-model.ts';
import { addRole, addUser, after, grantRole, info, rooted } from './states.ts';

const LEASES = [leaseId(0n), leaseId(1n), leaseId(2n)];

const compares = fc.array(
  keyRanges.map((range) => ({ range, result: 0, target: 0, number: 0, lease: LEASES[0]!, value: EMPTY_BYTES })),
  { maxLength: 2 },
);
const flatOp: fc.Arbitrary<Op> = fc.oneof(
  keyRanges.map((range) => rangeOp(range)),
  fc
    .record({ key: keys, lease: fc.constantFrom(...LEASES), prevKv: fc.boolean() })
    .map(({ key, ...over }) => putOp(key, EMPTY_BYTES, over)),
  fc.record({ kind: fc.constant('delete-range' as const), range: keyRanges, prevKv: fc.boolean() }),
);
const { txn } = fc.letrec<{ txn: Txn; op: Op }>((tie) => ({
  txn: fc.record({
    compares,
    success: fc.array(tie('op'), { maxLength: 2 }),
    failure: fc.array(tie('op'), { maxLength: 2 }),
  }),
  op: fc.oneof({ maxDepth: 3 }, flatOp, fc.record({ kind: fc.constant('txn' as const), txn: tie('txn') })),
}));

type Need = readonly ['read' | 'write', KeyRange];

/** All that a transaction touches, as a flat list. */
function needsOf({ compares, success, failure }: Txn, keysOf: (lease: LeaseId) => Uint8Array[]): Need[] {
  const ofOp = (op: Op): Need[] => {
    switch (op.kind) {
      case 'range':
        return [['read', op.range]];
      case 'delete-range':
        return [['write', op.range], ...(op.prevKv ? ([['read', op.range]] as const) : [])];
      case 'put': {
        const point = pointRange(op.key);
        const leased = keysOf(op.lease).map((key): Need => ['write', pointRange(key)]);
        return [['write', point], ...leased, ...(op.prevKv ? ([['read', point]] as const) : [])];
      }
      case 'txn':
        return needsOf(op.txn, keysOf);
    }
  };
  return [...compares.map(({ range }): Need => ['read', range]), ...[...success, ...failure].flatMap(ofOp)];
}

const granted = fc.record({
  role: fc.constantFrom('one', 'two', 'foreign'),
  type: fc.constantFrom(PermissionType.READ, PermissionType.WRITE, PermissionType.READWRITE, 7),
  // Wide ones, so that many transactions are permitted.
  range: fc.oneof(
    grantableRanges,
    keys.filter(({ length }) => length > 0).map((key) => ({ key, end: Uint8Array.of(0) })),
  ),
});

test('a transaction is permitted exactly if each key that it touches is, key by key', () => {
  let permitted = 0;
  let denied = 0;
  fc.assert(
    fc.property(
      fc.array(granted, { maxLength: 8 }),
      txn,
      fc.array(
        keys.filter(({ length }) => length > 0),
        { maxLength: 2 },
      ),
      (grants, asked, leased) => {
        const state = after(
          rooted,
          addUser('alice'),
          ...['one', 'two', 'foreign'].map(addRole),
          grantRole('alice', 'one'),
          grantRole('alice', 'two'),
          ...grants.map(({ role, ...permission }): AuthChange => ({ kind: 'role-grant-permission', role, permission })),
        );
        // A later grant of a range takes the place of an earlier one.
        const last = new Map(grants.map((grant) => [`${grant.role} ${grant.range.key} ${grant.range.end}`, grant]));
        const held = [...last.values()].filter(({ role }) => role !== 'foreign');
        const types = {
          read: [PermissionType.READ, PermissionType.READWRITE] as number[],
          write: [PermissionType.WRITE, PermissionType.READWRITE] as number[],
        };
        const keysOf = (lease: LeaseId) => (lease === LEASES[1] ? leased : []);
        const expected = needsOf(asked, keysOf).every(([what, range]) =>
          heldKeyByKey(
            held.filter(({ type }) => types[what].includes(type)).map((grant) => grant.range),
            range,
          ),
        );
        const refusal = new KeyAccess(state, info(state, 'alice')).txn(asked, keysOf);
        expect(refusal).toBe(expected ? undefined : 'PermissionDenied');
        if (expected) permitted += 1;
        else denied += 1;
      },
    ),
    { numRuns: 2_000 },
  );
  // Both answers are common, so neither is right by chance.
  expect(permitted).toBeGreaterThan(100);
  expect(denied).toBeGreaterThan(100);
});
