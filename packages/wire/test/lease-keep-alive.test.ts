import { leaseId } from '@engram/core';
import { decodeKeepAlive, encodeKeepAlive, etcdserverpb, HeaderEncoder, WireError } from '@engram/wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/* Compares the codecs with the generated ones. */

const identity = { clusterId: 2n ** 63n + 5n, memberId: 7n, raftTerm: 3 };
const id = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -200n, max: 200n }),
  fc.nat(63).map((shift) => (1n << BigInt(shift)) - 1n),
);

test('an answer is what the generated codec makes of it', () => {
  fc.assert(
    fc.property(id, fc.oneof(fc.nat(3), fc.nat(9_000_000_000)), fc.nat(), (ID, TTL, revision) => {
      const header = { ...identity, revision };
      const encoded = encodeKeepAlive(new HeaderEncoder(identity).encode(revision), leaseId(ID), TTL);
      expect(Buffer.from(encoded)).toEqual(
        Buffer.from(etcdserverpb.encodeLeaseKeepAliveResponse({ header, ID: leaseId(ID), TTL })),
      );
    }),
  );
});

test('a request is read as the generated codec reads it, whatever it is', () => {
  const request = fc.oneof(
    id.map((ID) => etcdserverpb.encodeLeaseKeepAliveRequest({ ID: leaseId(ID) })),
    fc.uint8Array({ maxLength: 24 }),
    fc
      .tuple(id, fc.uint8Array({ maxLength: 12 }))
      .map(([ID, more]) => Buffer.concat([etcdserverpb.encodeLeaseKeepAliveRequest({ ID: leaseId(ID) }), more])),
  );
  const outcome = (decode: () => bigint): string => {
    try {
      return String(decode());
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      return error.message;
    }
  };
  fc.assert(
    fc.property(request, (bytes) => {
      expect(outcome(() => decodeKeepAlive(bytes))).toBe(
        outcome(() => etcdserverpb.decodeLeaseKeepAliveRequest(bytes).ID),
      );
    }),
  );
});
