import { describe, expect, test } from 'vitest';
import { MAX_TIMESTAMP } from '@engram/tso';
import { encodeMemcomparable } from '../src/codec/memcomparable.ts';
import { type Codec, decode, encode } from '@engram/protobuf';
import * as kv from '../src/proto/gen/kvrpcpb.ts';
import * as pdpb from '../src/proto/gen/pdpb.ts';
import {
  type BatchCommandsRequest,
  BatchCommandsRequestCodec,
  type BatchCommandsRequestInit,
} from '../src/proto/gen/tikvpb.ts';
import { storeCommands } from '../src/testing/store-commands.ts';
import { BatchRules } from '../src/testing/strict/batch-rules.ts';
import { AllocatedTimestamps } from '../src/testing/strict/allocated-timestamps.ts';
import { StrictChecker } from '../src/testing/strict/strict-checker.ts';
import { Bench, k } from './support/bench.ts';

const context: kv.ContextInit = {
  regionId: 7,
  regionEpoch: { confVer: 1, version: 3 },
  peer: { id: 8, storeId: 1 },
};

/** PD has allocated 100 to 200. Stores have named a lock of transaction 90 and a commit at 201. Region 7 is [b, m). */
function checker(): StrictChecker {
  const strict = new StrictChecker();
  strict.timestamps.allocate(100n, 200n);
  const told = decode(kv.CheckTxnStatusResponseCodec, encode(kv.CheckTxnStatusResponseCodec, { commitVersion: 201n }));
  strict.storeAnswer('CheckTxnStatus', told);
  const locked = { error: { locked: { lockVersion: 90n, key: k('c') } } };
  strict.storeAnswer('Get', decode(kv.GetResponseCodec, encode(kv.GetResponseCodec, locked)));
  const region = {
    region: {
      id: 7,
      regionEpoch: { confVer: 1, version: 3 },
      startKey: encodeMemcomparable(k('b')),
      endKey: encodeMemcomparable(k('m')),
      peers: [],
    },
  };
  strict.pdAnswer('GetRegion', decode(pdpb.GetRegionResponseCodec, encode(pdpb.GetRegionResponseCodec, region)));
  return strict;
}

/** Why a store stops over a request, or undefined. */
function judge(command: keyof typeof storeCommands, request: object, strict = checker()): string | undefined {
  const codec = storeCommands[command].request as Codec<{ context: kv.Context | undefined }, object>;
  try {
    strict.storeRequest(command, decode(codec, encode(codec, { context, ...request })));
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const put = (key: string): kv.MutationInit => ({ op: kv.Op.Put, key: k(key), value: k('1') });
const prewrite = {
  mutations: [put('c'), put('d')],
  primaryLock: k('c'),
  startVersion: 150n,
  minCommitTs: 201n,
  lockTtl: 3_000,
};
const async = { ...prewrite, useAsyncCommit: true, secondaries: [k('d')] };
const status = { primaryKey: k('c'), lockTs: 90n, callerStartTs: 150n, currentTs: 200n };
const long = new Uint8Array(7_280).fill(0x63);

/** Valid requests, each with changes that make it invalid, and the reason of the refusal. */
const rows: Partial<Record<keyof typeof storeCommands, [good: object, bad: readonly (readonly [object, RegExp])[]]>> = {
  Get: [
    { key: k('c'), version: MAX_TIMESTAMP },
    [
      [{ version: 201n + 1n }, /Get.version 202 lies in the future/],
      [{ version: 0n }, /lies in the future/],
      [{ key: k('a') }, /outside of the region/],
      [{ key: k('m') }, /outside of the region/],
      [{ key: long }, /max-key-size/],
      [{ context: { ...context, replicaRead: true } }, /only a leader knows/],
      [
        { context: { ...context, regionEpoch: { confVer: 1, version: 4 } } },
        /nobody has told of region 7 in version 4/,
      ],
      [{ context: { ...context, regionId: 9 } }, /nobody has told of region 9/],
      [{ context: { ...context, peer: undefined } }, /context.peer is missing/],
      [{ context: { ...context, regionEpoch: undefined } }, /context.region_epoch is missing/],
      [{ context: undefined }, /no context/],
      [{ context: { ...context, term: 5 } }, /context.term is not known to all servers/],
      [{ context: { ...context, resolvedLocks: [91n] } }, /names transaction 91/],
      [{ context: { ...context, resolvedLocks: [90n], committedLocks: [90n] } }, /rolled back and committed/],
    ],
  ],
  BatchGet: [
    { keys: [k('d'), k('c')], version: 120n },
    [
      [{ keys: [k('c'), k('d'), k('c')] }, /BatchGet.keys name "c" twice/],
      [{ keys: [] }, /BatchGet.keys are none/],
      [{ keys: [k('c'), k('z')] }, /outside of the region/],
      [{ version: MAX_TIMESTAMP }, /no cut of several keys/],
      [{ version: 210n }, /lies in the future/],
    ],
  ],
  Scan: [
    { startKey: k('b'), endKey: k('m'), limit: 10, version: 200n },
    [
      [{ startKey: k('a') }, /before the region/],
      [{ endKey: k('') }, /behind the region/],
      [{ endKey: k('n') }, /behind the region/],
      [{ endKey: k('b') }, /is empty/],
      [{ reverse: true }, /is empty/],
      [{ limit: 0 }, /Scan.limit is 0/],
      [{ version: MAX_TIMESTAMP }, /no cut/],
      [{ sampleStep: 2 }, /Scan.sampleStep is not known/],
    ],
  ],
  Prewrite: [
    prewrite,
    [
      [{ startVersion: 90n }, /start_version 90 was not allocated/],
      [{ startVersion: 201n }, /start_version 201 was not allocated/],
      [{ minCommitTs: 203n }, /min_commit_ts, less one, 202 lies in the future/],
      [{ minCommitTs: 150n }, /min_commit_ts 150 is not above/],
      [{ forUpdateTs: 160n }, /forUpdateTs is not known/],
      [{ lockTtl: 0 }, /lock_ttl is 0/],
      [{ mutations: [put('d'), put('c')] }, /not in order: "c" after "d"/],
      [{ mutations: [put('c'), put('c')] }, /name "c" twice/],
      [{ mutations: [put('c'), put('x')] }, /outside of the region/],
      [{ mutations: [] }, /mutations are none/],
      [{ mutations: [{ op: kv.Op.Put, key: k('c') }] }, /value of 0 bytes/],
      [{ mutations: [{ op: kv.Op.Del, key: k('c'), value: k('1') }] }, /value of 1 bytes/],
      [{ mutations: [{ op: kv.Op.Rollback, key: k('c') }] }, /op 3/],
      [{ mutations: [{ op: kv.Op.CheckNotExists, key: k('c') }, put('d')] }, /only checked/],
      [{ mutations: [{ ...put('c'), value: new Uint8Array(9 << 20) }] }, /more than an entry of the Raft log/],
      [{ primaryLock: k('') }, /primary_lock is empty/],
      [{ secondaries: [k('d')] }, /without use_async_commit/],
      [{ skipConstraintCheck: true }, /skipConstraintCheck is not known/],
    ],
  ],
  Commit: [
    { keys: [k('c')], startVersion: 150n, commitVersion: 201n },
    [
      [{ commitVersion: 150n }, /not above/],
      [{ commitVersion: 202n }, /commit_version 202: neither did PD/],
      [{ startVersion: 91n }, /start_version 91: neither/],
      [{ keys: [k('c'), k('c')] }, /twice/],
      [{ keys: [k('z')] }, /outside/],
      [
        { keys: Array.from({ length: 1_000 }, (_, at) => Buffer.concat([k(`c${at}`), long.subarray(0, 7_200)])) },
        /entry/,
      ],
    ],
  ],
  BatchRollback: [
    { keys: [k('c')], startVersion: 150n },
    [
      [{ keys: [k('c'), k('d'), k('d')] }, /twice/],
      [{ startVersion: 300n }, /start_version 300/],
      [{ keys: [k('a')] }, /outside/],
    ],
  ],
  CheckTxnStatus: [
    status,
    [
      [{ currentTs: 202n }, /current_ts 202 was not allocated by PD, whose highest is 200/],
      [{ currentTs: 201n }, /current_ts 201 was not allocated/],
      [{ currentTs: 90n }, /current_ts 90 was not allocated/],
      [{ callerStartTs: 202n }, /caller_start_ts 202 lies in the future/],
      [{ lockTs: 99n }, /lock_ts 99: neither/],
      [{ primaryKey: k('a') }, /outside/],
      [{ resolvingPessimisticLock: true }, /resolvingPessimisticLock is not known/],
      [{ context: { ...context, replicaRead: true } }, /no replica but the leader/],
    ],
  ],
  CheckSecondaryLocks: [
    { keys: [k('c')], startVersion: 90n },
    [
      [{ keys: [k('c'), k('c')] }, /twice/],
      [{ startVersion: 99n }, /start_version 99/],
      [{ keys: [] }, /none/],
    ],
  ],
  ResolveLock: [
    { keys: [k('c'), k('d')], startVersion: 90n, commitVersion: 201n },
    [
      [{ keys: [k('c'), k('d'), k('c')] }, /ResolveLock.keys name "c" twice/],
      [{ commitVersion: 80n }, /80: neither|not above/],
      [{ commitVersion: 202n }, /202: neither/],
      [{ startVersion: 0n }, /names no transaction/],
      [{ txnInfos: [{ txn: 90n, status: 0n }] }, /names them in two ways/],
      [{ keys: [k('c'), k('z')] }, /outside/],
    ],
  ],
  TxnHeartBeat: [
    { primaryLock: k('c'), startVersion: 150n, adviseLockTtl: 10 },
    [
      [{ adviseLockTtl: 0 }, /advise_lock_ttl is 0/],
      [{ startVersion: 99n }, /neither/],
      [{ primaryLock: k('z') }, /outside/],
    ],
  ],
  ScanLock: [
    { maxVersion: 199n, startKey: k('b'), endKey: k('m'), limit: 5 },
    [
      [{ maxVersion: 202n }, /max_version 202 lies in the future/],
      [{ limit: 0 }, /limit is 0/],
      [{ endKey: k('') }, /behind the region/],
    ],
  ],
  DeleteRange: [
    { startKey: k('b'), endKey: k('c') },
    [
      [{ endKey: k('b') }, /empty/],
      [{ startKey: k('a') }, /before the region/],
      [{ notifyOnly: true }, /notifyOnly is not known/],
    ],
  ],
  SplitRegion: [
    { splitKeys: [k('c'), k('d')] },
    [
      [{ splitKeys: [k('d'), k('c')] }, /not in order/],
      [{ splitKeys: [k('c'), k('c')] }, /twice/],
      [{ splitKeys: [k('b')] }, /own start/],
      [{ splitKeys: [k('m')] }, /outside/],
      [{ splitKeys: [] }, /none/],
      [{ splitKeys: [k('c')], splitKey: k('c') }, /splitKey is not known/],
    ],
  ],
  MvccGetByKey: [{ key: k('c') }, [[{ key: k('z') }, /outside/]]],
};

describe.each(Object.entries(rows))('%s', (command, [good, bad]) => {
  const name = command as keyof typeof storeCommands;
  test('a request in order is taken', () => expect(judge(name, good)).toBeUndefined());
  test.each(bad)('%o is refused: %s', (change, reason) => expect(judge(name, { ...good, ...change })).toMatch(reason));
});

test('other requests that are in order', () => {
  expect(judge('Prewrite', async)).toBeUndefined();
  expect(judge('Prewrite', { ...prewrite, minCommitTs: 0n, tryOnePc: true, maxCommitTs: 151n })).toBeUndefined();
  expect(
    judge('CheckTxnStatus', { ...status, currentTs: MAX_TIMESTAMP, callerStartTs: MAX_TIMESTAMP }),
  ).toBeUndefined();
  expect(judge('CheckTxnStatus', { ...status, callerStartTs: 0n })).toBeUndefined();
  expect(judge('Scan', { startKey: k('m'), endKey: k('b'), reverse: true, limit: 1, version: 1n })).toBeUndefined();
  expect(
    judge('ResolveLock', {
      txnInfos: [
        { txn: 90n, status: 0n },
        { txn: 150n, status: 201n },
      ],
    }),
  ).toBeUndefined();
  expect(judge('UnsafeDestroyRange', { startKey: k('a'), endKey: k('b') })).toBeUndefined();
});

test('async commit: the primary’s lock names every other key, once, and no request without the primary names any', () => {
  expect(judge('Prewrite', { ...async, secondaries: [] })).toMatch(/leave out "d"/);
  expect(judge('Prewrite', { ...async, secondaries: [k('d'), k('d')] })).toMatch(/twice/);
  expect(judge('Prewrite', { ...async, secondaries: [k('c'), k('d')] })).toMatch(/twice/);
  expect(judge('Prewrite', { ...async, primaryLock: k('a') })).toMatch(/without the primary/);
});

test('BatchCommands: one id for each request, none that still waits, and nothing that old servers crash over', () => {
  const get = { get: { key: k('c') } };
  const message = (init: BatchCommandsRequestInit): BatchCommandsRequest =>
    decode(BatchCommandsRequestCodec, encode(BatchCommandsRequestCodec, init));
  const rules = new BatchRules(true);
  expect(rules.requests(message({ requests: [get, get], requestIds: [1, 2] }))).toMatchObject([
    { id: 1, command: 'Get' },
    { id: 2, command: 'Get' },
  ]);
  expect(() => rules.requests(message({ requests: [get], requestIds: [2] }))).toThrow(/id 2 waits/);
  rules.answered(2);
  expect(rules.requests(message({ requests: [get], requestIds: [2] }))).toHaveLength(1);
  expect(() => rules.requests(message({ requests: [get], requestIds: [3, 4] }))).toThrow(/differ in number/);
  expect(() => rules.requests(message({ requests: [{}], requestIds: [5] }))).toThrow(/empty/);
  const check = { requests: [{ checkSecondaryLocks: { keys: [k('c')] } }], requestIds: [6] };
  expect(() => rules.requests(message(check))).toThrow(/old servers crash/);
  expect(new BatchRules(false).requests(message(check))).toHaveLength(1);
});

test('a start timestamp names one transaction', () => {
  const strict = checker();
  expect(judge('Prewrite', prewrite, strict)).toBeUndefined();
  expect(judge('Prewrite', { ...prewrite, mutations: [put('d')] }, strict)).toBeUndefined();
  expect(judge('Prewrite', { ...prewrite, primaryLock: k('d') }, strict)).toMatch(/150 names two transactions/);
});

const bound = (key: string): Uint8Array => encodeMemcomparable(k(key));
test.each([
  ['UpdateGCSafePoint', pdpb.UpdateGCSafePointRequestCodec, { safePoint: 200n }, { safePoint: 201n }, /in the future/],
  ['AdvanceTxnSafePoint', pdpb.AdvanceTxnSafePointRequestCodec, { target: 200n }, { target: 201n }, /in the future/],
  ['AdvanceGCSafePoint', pdpb.AdvanceGCSafePointRequestCodec, { target: 200n }, { target: 201n }, /in the future/],
  [
    'SetGCBarrier',
    pdpb.SetGCBarrierRequestCodec,
    { barrierId: 'x', barrierTs: 200n, ttlSeconds: 1n },
    { barrierTs: 201n },
    /in the future/,
  ],
  [
    'SetGCBarrier',
    pdpb.SetGCBarrierRequestCodec,
    { barrierId: 'x', barrierTs: 200n, ttlSeconds: 1n },
    { barrierId: 'gc_worker' },
    /barrier_id is "gc_worker"/,
  ],
  [
    'UpdateServiceGCSafePoint',
    pdpb.UpdateServiceGCSafePointRequestCodec,
    { serviceId: k('x'), ttl: 10n, safePoint: 200n },
    { safePoint: 201n },
    /in the future/,
  ],
  [
    'UpdateServiceGCSafePoint',
    pdpb.UpdateServiceGCSafePointRequestCodec,
    { serviceId: k('x'), ttl: 10n, safePoint: 200n },
    { serviceId: k('gc_worker') },
    /for ever is gc_worker's/,
  ],
  ['Tso', pdpb.TsoRequestCodec, { count: 1 }, { count: 0 }, /Tso.count is 0/],
  ['GetRegion', pdpb.GetRegionRequestCodec, { regionKey: bound('a') }, { regionKey: k('a') }, /no encoded key/],
  ['GetPrevRegion', pdpb.GetRegionRequestCodec, { regionKey: bound('a') }, { regionKey: k('a') }, /no encoded key/],
  [
    'ScanRegions',
    pdpb.ScanRegionsRequestCodec,
    { startKey: bound('a'), endKey: bound('b') },
    { endKey: bound('a') },
    /is empty/,
  ],
  [
    'BatchScanRegions',
    pdpb.BatchScanRegionsRequestCodec,
    { ranges: [{ startKey: bound('a'), endKey: bound('b') }, { startKey: bound('b') }] },
    { ranges: [{ startKey: bound('b') }, { startKey: bound('a'), endKey: bound('b') }] },
    /overlap or are not in order/,
  ],
] as [string, Codec<object, object>, object, object, RegExp][])('PD: %s', (method, codec, good, change, reason) => {
  const ask = (request: object): void => checker().pdRequest(method, decode(codec, encode(codec, request)));
  ask(good);
  expect(() => ask({ ...good, ...change })).toThrow(reason);
});

test('allocated timestamps: runs join, gaps stay, out of order too, and what is forgotten counts as allocated', () => {
  const allocated = new AllocatedTimestamps(4);
  allocated.allocate(10n, 12n);
  allocated.allocate(20n, 20n);
  allocated.allocate(13n, 13n); // an answer of another stream that arrives late
  expect([9n, 10n, 13n, 14n, 19n, 20n, 21n].map((ts) => allocated.isAllocated(ts))).toEqual([
    false,
    true,
    true,
    false,
    false,
    true,
    false,
  ]);
  expect(allocated.highest).toBe(20n);
  allocated.tell(30n);
  expect([
    allocated.isKnown(30n),
    allocated.isAllocated(30n),
    allocated.isPast(30n),
    allocated.isPast(29n),
    allocated.isPast(15n),
  ]).toEqual([true, false, true, false, true]);
  for (let ts = 40n; ts < 60n; ts += 5n) allocated.allocate(ts, ts);
  expect(allocated.isAllocated(15n)).toBe(true);
  expect(allocated.isAllocated(54n)).toBe(false);
});

test('the scripted cluster: a store that is sent such a request stops, with the reason, and PD refuses', async () => {
  const bench = await Bench.make();
  bench.refusalExpected = true;
  const future = (await bench.run(bench.client.timestamp())) + (3_600_000n << 18n);
  const channel = bench.cluster.transport.connect(bench.cluster.addressOf(1), false);
  const region = bench.cluster.regions.holding(k('a'));
  const request = encode(kv.GetRequestCodec, {
    key: k('a'),
    version: future,
    context: { regionId: region.id, regionEpoch: region, peer: region.peers[0]! },
  });
  await bench.run(bench.client.get(k('b'))); // from now on the region is known
  await expect(bench.run(channel.unary('/tikvpb.Tikv/KvGet', request, { timeoutMs: 1_000 }))).rejects.toThrow(
    /the store has stopped: Get.version .* lies in the future/,
  );
  expect(bench.cluster.down.has(bench.cluster.addressOf(1))).toBe(true);
  expect(bench.cluster.refusal?.message).toMatch(/Get.version/);
  const pd = bench.cluster.transport.connect(bench.cluster.pdAddresses[0]!, false);
  const header = { clusterId: bench.cluster.pd.clusterId };
  const advance = encode(pdpb.UpdateGCSafePointRequestCodec, { header, safePoint: future });
  await expect(bench.run(pd.unary('/pdpb.PD/UpdateGCSafePoint', advance, { timeoutMs: 1_000 }))).rejects.toThrow(
    /safe_point .* lies in the future/,
  );
  expect(bench.cluster.pd.gcSafePoint).toBe(0n);
});
