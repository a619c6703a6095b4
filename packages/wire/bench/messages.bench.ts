import { EVENT_PUT, type KvEvent, logPosition, NO_LEASE, revision } from '@engram/core';
import {
  type Answer,
  decodePut,
  decodeRange,
  CutTxn,
  decodeTxnWithin,
  encodeAnswer,
  encodeEvents,
  encodeWatchResponse,
  etcdserverpb,
  HeaderEncoder,
  messageBytes,
  mvccpb,
} from '@engram/wire';

// The limit: a request or answer of one key has about ten fields of a few nanoseconds each, one allocation, and one
// copy of the value (512 bytes: 20 ns). A page of 500 copies 300 KB: about 30 us.
const rounds = process.env['BENCH'] === 'smoke' ? 100 : 2_000_000;

const key = Buffer.from('/registry/pods/namespace-00000001/pod-000000001');
const value = new Uint8Array(512).fill(7);
const kv = mvccpb.encodeKeyValue({ key, value, createRevision: 1_000_000, modRevision: 2_000_000, version: 5 });
const identity = { clusterId: 2n ** 63n + 7n, memberId: 2n ** 62n + 9n, raftTerm: 3 };
const header = new HeaderEncoder(identity);
const responseHeader = { ...identity, revision: 2_000_000 };

const put = etcdserverpb.encodePutRequest({ key, value });
const get = etcdserverpb.encodeRangeRequest({ key, limit: 1 });
const update = etcdserverpb.encodeTxnRequest({
  compare: [{ target: 2, key, modRevision: 2_000_000 }],
  success: [{ requestPut: { key, value } }],
  failure: [{ requestRange: { key } }],
});
const range = (kvs: number): Answer => ({
  kind: 'range',
  revision: 2_000_000,
  kvs: Array.from({ length: kvs }, () => kv),
  more: false,
  count: kvs,
});
const range1 = range(1);
const range500 = range(500);
const written: Answer = { kind: 'put', revision: 2_000_000, prevKv: undefined };
const updated: Answer = { kind: 'txn', revision: 2_000_000, succeeded: true, responses: [written] };
const event: KvEvent = {
  type: EVENT_PUT,
  key,
  modRevision: revision(2_000_000),
  sub: 0,
  createRevision: revision(1_000_000),
  version: 5,
  lease: NO_LEASE,
  kv,
  position: logPosition(1),
  prevPosition: logPosition(1),
  prevModRevision: revision(1),
  prevLease: NO_LEASE,
  prevKv: kv,
};
const encoded = encodeEvents([event], true);

function measure(name: string, share: number, run: (round: number) => number): void {
  const count = Math.max(10, Math.floor(rounds * share));
  let hash = 0;
  for (let round = 0; round < count / 10; round += 1) hash += run(round);
  // CPU time, so that other work on the machine does not count.
  const before = process.cpuUsage();
  for (let round = 0; round < count; round += 1) hash += run(round);
  const { user, system } = process.cpuUsage(before);
  const ns = ((user + system) * 1000) / count;
  console.log(`${name}: ${ns.toFixed(0)} ns (hash ${hash})`);
}

const answer = (round: number, of: Answer): number => messageBytes(encodeAnswer(header.encode(2_000_000 + round), of));

measure('decode Put', 1, () => decodePut(put).value.length);
measure('decode Put, generated', 1, () => etcdserverpb.decodePutRequest(put).value.length);
measure('decode Range of a key', 1, () => decodeRange(get).limit);
measure('decode Txn, update as Kubernetes sends it', 0.5, () => {
  const txn = decodeTxnWithin(update, 128);
  return txn instanceof CutTxn ? 0 : txn.success.length;
});
measure('decode Txn, generated', 0.5, () => etcdserverpb.decodeTxnRequest(update).success.length);
measure('encode Put, generated', 1, () => etcdserverpb.encodePutRequest({ key, value }).length);
measure(
  'encode LeaseGrant answer, generated',
  1,
  (round) => etcdserverpb.encodeLeaseGrantResponse({ header: responseHeader, ID: BigInt(round), TTL: 3_600 }).length,
);
measure('encode answer to Put', 1, (round) => answer(round, written));
measure('encode answer to Txn', 1, (round) => answer(round, updated));
measure('encode answer to Range, 1 key', 1, (round) => answer(round, range1));
measure('encode answer to Range, 500 keys', 0.005, (round) => answer(round, range500));
measure('encode events of a revision', 1, () => encodeEvents([event], true).bytes);
measure('encode watch response of encoded events', 1, (round) =>
  messageBytes(encodeWatchResponse({ header: header.encode(2_000_000), watchId: round & 127 }, [encoded])),
);
