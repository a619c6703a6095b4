import { decode, encode } from '@engram/protobuf';
import * as kv from '../src/proto/gen/kvrpcpb.ts';
import { BatchCommandsRequestCodec } from '../src/proto/gen/tikvpb.ts';

// Lower bounds: a row of a scan takes one object, two views of the answer and about six varints, about 100 ns. A mutation takes
// the copy of its key and value (512 bytes: 20 ns) and about six varints.
const rounds = process.env['BENCH'] === 'smoke' ? 100 : 1_000_000;

const key = Buffer.from('/registry/pods/namespace-00000001/pod-000000001');
const value = new Uint8Array(512).fill(7);
const context = {
  regionId: 1_234,
  regionEpoch: { confVer: 5, version: 300 },
  peer: { id: 1_235, storeId: 4 },
  requestSource: 'external_engram',
};
const version = 449_000_000_000_000_001n;
const get = { context, key, version };
const prewrite = {
  context,
  mutations: Array.from({ length: 128 }, () => ({ op: 0, key, value, assertion: 0 })),
  primaryLock: key,
  startVersion: version,
  lockTtl: 3_000,
  txnSize: 128n,
  useAsyncCommit: true,
  tryOnePc: true,
  maxCommitTs: version + 1_000n,
};
// Answers as @grpc/grpc-js passes them: a view of a Buffer, after the five bytes of the frame header.
const answer = (bytes: Uint8Array): Uint8Array => Buffer.concat([Buffer.alloc(5), bytes]).subarray(5);
const found = answer(encode(kv.GetResponseCodec, { value }));
const written = answer(encode(kv.PrewriteResponseCodec, { onePcCommitTs: version }));
const page = answer(encode(kv.ScanResponseCodec, { pairs: Array.from({ length: 1_000 }, () => ({ key, value })) }));

function measure(name: string, share: number, run: () => number): void {
  const count = Math.max(10, Math.floor(rounds * share));
  let hash = 0;
  for (let round = 0; round < count / 10; round += 1) hash += run();
  // CPU time, because it does not include other work on the machine.
  const before = process.cpuUsage();
  for (let round = 0; round < count; round += 1) hash += run();
  const { user, system } = process.cpuUsage(before);
  const ns = ((user + system) * 1000) / count;
  console.log(`${name}: ${ns.toFixed(0)} ns (hash ${hash})`);
}

measure('encode Get', 1, () => encode(kv.GetRequestCodec, get).length);
measure(
  'encode eight Gets in a message',
  0.2,
  () =>
    encode(BatchCommandsRequestCodec, {
      requests: Array.from({ length: 8 }, () => ({ get })),
      requestIds: [1, 2, 3, 4, 5, 6, 7, 8],
    }).length,
);
measure('encode Prewrite of 128 records', 0.02, () => encode(kv.PrewriteRequestCodec, prewrite).length);
measure('decode answer to Get', 1, () => decode(kv.GetResponseCodec, found).value.length);
measure('decode answer to Prewrite', 1, () => decode(kv.PrewriteResponseCodec, written).errors.length);
measure('decode answer to Scan, 1000 rows', 0.005, () => decode(kv.ScanResponseCodec, page).pairs.length);
