import { etcdserverpb } from '@engram/wire';
import type { Prng } from '@engram/sim';
import { randomBytes } from './mutate.ts';

const SMALL = ['', 'a', 'b', 'key/1', '\0', 'key/'] as const;

function key(random: Prng): Buffer {
  return random.chance(0.9) ? Buffer.from(random.pick(SMALL)) : randomBytes(random, random.below(300));
}
const number = (random: Prng): number => random.pick([0, 0, 0, 1, 2, 3, 100, -1, 2 ** 31, 2 ** 53 - 1]);

function range(random: Prng): Parameters<typeof etcdserverpb.encodeRangeRequest>[0] {
  return {
    key: key(random),
    rangeEnd: key(random),
    limit: number(random),
    revision: random.chance(0.8) ? 0 : number(random),
    sortOrder: random.below(4),
    sortTarget: random.below(6),
    serializable: random.chance(0.5),
    keysOnly: random.chance(0.2),
    countOnly: random.chance(0.2),
    minModRevision: random.chance(0.1) ? number(random) : 0,
  };
}
const put = (random: Prng): Parameters<typeof etcdserverpb.encodePutRequest>[0] => ({
  key: key(random),
  value: Buffer.alloc(random.pick([0, 1, 100, 5_000]), 'v'),
  lease: random.chance(0.8) ? 0n : BigInt(random.below(10)),
  prevKv: random.chance(0.3),
  ignoreValue: random.chance(0.05),
  ignoreLease: random.chance(0.05),
});
const deleteRange = (random: Prng): Parameters<typeof etcdserverpb.encodeDeleteRangeRequest>[0] => ({
  key: key(random),
  rangeEnd: key(random),
  prevKv: random.chance(0.5),
});

type Txn = NonNullable<Parameters<typeof etcdserverpb.encodeTxnRequest>[0]>;
function txn(random: Prng, depth: number): Txn {
  const ops = (): NonNullable<Txn['success']> =>
    Array.from({ length: random.below(4) }, () => {
      const kind = random.below(depth > 0 ? 4 : 3);
      if (kind === 0) return { requestPut: put(random) };
      if (kind === 1) return { requestRange: range(random) };
      return kind === 2 ? { requestDeleteRange: deleteRange(random) } : { requestTxn: txn(random, depth - 1) };
    });
  const compare = Array.from({ length: random.below(3) }, () => ({
    result: random.below(5),
    target: random.below(6),
    key: key(random),
    rangeEnd: random.chance(0.2) ? key(random) : Buffer.alloc(0),
    modRevision: number(random),
  }));
  return { compare, success: ops(), failure: ops() };
}

/** A method and a valid request for it. Excludes requests that end a member's work permanently. */
export function someCall(random: Prng): { readonly path: string; readonly message: Uint8Array } {
  const { encodeWatchRequest } = etcdserverpb;
  const calls: readonly (() => readonly [string, Uint8Array])[] = [
    () => ['KV/Range', etcdserverpb.encodeRangeRequest(range(random))],
    () => ['KV/RangeStream', etcdserverpb.encodeRangeRequest(range(random))],
    () => ['KV/Put', etcdserverpb.encodePutRequest(put(random))],
    () => ['KV/DeleteRange', etcdserverpb.encodeDeleteRangeRequest(deleteRange(random))],
    () => ['KV/Txn', etcdserverpb.encodeTxnRequest(txn(random, 3))],
    () => [
      'KV/Compact',
      etcdserverpb.encodeCompactionRequest({ revision: random.below(50), physical: random.chance(0.5) }),
    ],
    () => [
      'Watch/Watch',
      encodeWatchRequest({
        createRequest: {
          key: key(random),
          rangeEnd: key(random),
          startRevision: random.chance(0.5) ? 0 : number(random),
          watchId: BigInt(random.below(3)),
          fragment: random.chance(0.5),
          prevKv: random.chance(0.5),
        },
      }),
    ],
    () => ['Watch/Watch', encodeWatchRequest({ progressRequest: {} })],
    () => ['Watch/Watch', encodeWatchRequest({ cancelRequest: { watchId: BigInt(random.below(3)) } })],
    () => [
      'Lease/LeaseGrant',
      etcdserverpb.encodeLeaseGrantRequest({ TTL: random.below(20), ID: BigInt(random.below(10)) }),
    ],
    () => ['Lease/LeaseRevoke', etcdserverpb.encodeLeaseRevokeRequest({ ID: BigInt(random.below(10)) })],
    () => ['Lease/LeaseKeepAlive', etcdserverpb.encodeLeaseKeepAliveRequest({ ID: BigInt(random.below(10)) })],
    () => [
      'Lease/LeaseTimeToLive',
      etcdserverpb.encodeLeaseTimeToLiveRequest({ ID: BigInt(random.below(10)), keys: true }),
    ],
    () => ['Maintenance/Status', etcdserverpb.encodeStatusRequest({})],
    () => ['Maintenance/HashKV', etcdserverpb.encodeHashKVRequest({ revision: number(random) })],
    () => ['Maintenance/Snapshot', Buffer.alloc(0)],
    () => ['Cluster/MemberList', Buffer.alloc(0)],
    () => ['Nothing/Here', randomBytes(random, random.below(40))],
  ];
  const [path, message] = random.pick(calls)();
  return { path: `/etcdserverpb.${path}`, message };
}
