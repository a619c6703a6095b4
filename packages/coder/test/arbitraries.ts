import { type LeaseId, leaseId, NO_LEASE, type Revision, revision } from '@engram/core';
import fc from 'fast-check';
import type { KeyValue } from '../index.ts';

/** Numbers of every length. fast-check alone prefers small ones; a uniform choice would prefer large ones. */
export const naturals: fc.Arbitrary<number> = fc
  .tuple(fc.integer({ min: 0, max: 53 }), fc.maxSafeNat())
  .map(([bits, value]) => value % 2 ** bits);

export const revisions: fc.Arbitrary<Revision> = naturals.map(revision);

export const leaseIds: fc.Arbitrary<LeaseId> = fc
  .oneof(
    fc.constant(NO_LEASE),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -5n, max: 300n }),
  )
  .map(leaseId);

export const keyValues: fc.Arbitrary<KeyValue> = fc.record({
  key: fc.uint8Array({ maxLength: 150 }),
  createRevision: revisions,
  modRevision: revisions,
  version: naturals,
  value: fc.uint8Array({ maxLength: 400 }),
  lease: leaseIds,
});

/** Prefixes of `whole`, at least one byte shorter. */
export function truncations(whole: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return whole
    .filter((bytes) => bytes.length > 0)
    .chain((bytes) => fc.nat({ max: bytes.length - 1 }).map((length) => bytes.slice(0, length)));
}
