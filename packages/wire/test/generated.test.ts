import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInt64 } from '@engram/core';
import { arbitraryInt64, generatedContract } from '@engram/protobuf/contract';
import { loadRoot, messageSet } from '@engram/protobuf/schema';
import { authpb, etcdserverpb, healthpb, leasepb, mvccpb, reflectionpb, v3electionpb, v3lockpb } from '@engram/wire';

const etcd = messageSet('etcd');
const modules = {
  etcdserverpb,
  mvccpb,
  authpb,
  leasepb,
  v3lockpb,
  v3electionpb,
  'grpc.health.v1': healthpb,
  'grpc.reflection.v1': reflectionpb,
};

generatedContract(etcd, modules);

test('a watch id arrives in its one form, exactly', () => {
  fc.assert(
    fc.property(arbitraryInt64, (watchId) => {
      expect(isInt64(watchId)).toBe(true);
      const { watchId: read } = etcdserverpb.decodeWatchCancelRequest(
        etcdserverpb.encodeWatchCancelRequest({ watchId }),
      );
      expect(read).toBe(watchId);
    }),
  );
});

test('a map travels as a list of its entries', () => {
  const type = loadRoot(etcd).lookupType('grpc.health.v1.HealthListResponse');
  const bytes = healthpb.encodeHealthListResponse({ statuses: [{ key: 'etcd', value: { status: 1 } }] });
  expect(type.toObject(type.decode(bytes))).toEqual({ statuses: { etcd: { status: 1 } } });
  expect(healthpb.decodeHealthListResponse(bytes).statuses).toEqual([{ key: 'etcd', value: { status: 1 } }]);
});
