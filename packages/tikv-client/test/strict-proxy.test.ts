import { expect, test } from 'vitest';
import { encode } from '@engram/protobuf';
import { TikvClient } from '../index.ts';
import * as kv from '../src/proto/gen/kvrpcpb.ts';
import { BatchCommandsRequestCodec, type BatchCommandsRequestInit } from '../src/proto/gen/tikvpb.ts';
import { GrpcTransport } from '../src/transport/grpc-transport.ts';
import { StrictProxy } from '../testing.ts';
import { k, text } from './support/bench.ts';
import { Loopback } from '../src/testing/loopback.ts';

/** Runs `body` with the scripted cluster behind sockets, and the proxy in front of it. */
async function withProxy(
  body: (loopback: Loopback, proxy: StrictProxy, refusals: string[]) => Promise<void>,
): Promise<void> {
  await using loopback = await Loopback.start({ pdMembers: 2 });
  const refusals: string[] = [];
  const { pdAddresses } = loopback;
  const proxy = await StrictProxy.start({ pdAddresses, refused: ({ message }) => refusals.push(message) });
  try {
    await body(loopback, proxy, refusals);
  } finally {
    await proxy.stop();
  }
}

test('every way to commit and to read passes, and the client knows no address but the proxy’s', () =>
  withProxy(async (loopback, proxy, refusals) => {
    await using client = await TikvClient.connect({ pdAddresses: proxy.pdAddresses });
    const known = [
      ...loopback.pdAddresses,
      ...[...loopback.cluster.stores.keys()].map((id) => loopback.cluster.addressOf(id)),
    ];
    expect(known).not.toContain(client.status.pdLeader);
    await client.admin.split([k('m'), k('t')]);
    for (const mode of ['1pc', 'async', '2pc'] as const) {
      const txn = await client.begin();
      for (const key of ['a', 'b', 'n', 'z']) txn.put(k(key), k(mode));
      expect(await txn.commit({ mode })).toMatchObject({ kind: 'committed', mode: mode === '1pc' ? 'async' : mode });
      expect((await client.snapshot().then((snapshot) => snapshot.batchGet([k('z'), k('a')]))).map(text)).toEqual([
        mode,
        mode,
      ]);
    }
    const single = client.beginAt((await client.timestamps(3))[1]!);
    single.checkNotExists(k('seal'));
    single.insert(k('slot'), k('1'));
    expect((await single.commitOnePhase()).kind).toBe('committed');
    const rows: string[] = [];
    for await (const { key } of (await client.snapshot()).scan(k('a'), k(''))) rows.push(text(key)!);
    expect(rows).toEqual(['a', 'b', 'n', 'slot', 'z']);
    await client.gc.collect(0);
    await client.idle();
    // Every request that the proxy passed on to a store names its peer.
    expect(loopback.cluster.calls.length).toBeGreaterThan(0);
    for (const { context } of loopback.cluster.calls) expect(context?.peer?.storeId).toBeGreaterThan(0);
    expect(refusals).toEqual([]);
  }));

test('a store that stops and one that comes back are seen through it', () =>
  withProxy(async (loopback, proxy) => {
    await using client = await TikvClient.connect({ pdAddresses: proxy.pdAddresses, requestTimeoutMs: 1_000 });
    expect(await client.get(k('a'))).toBeUndefined();
    const address = loopback.cluster.addressOf(1);
    loopback.stop(address);
    await expect(client.get(k('a'), { timeoutMs: 500 })).rejects.toMatchObject({ code: 'deadline-exceeded' });
    await loopback.restart(address);
    expect(await client.get(k('a'))).toBeUndefined();
  }));

/** Sends a Get with a valid context to store 1. `version`: what its timestamp has above a new one. */
async function rawGet(loopback: Loopback, proxy: StrictProxy, version: bigint, batch: boolean): Promise<string> {
  await using client = await TikvClient.connect({ pdAddresses: proxy.pdAddresses });
  let storeAddress = '';
  const transport = new GrpcTransport(undefined);
  const spying = {
    connect: (address: string, secure: boolean) => {
      storeAddress = address;
      return transport.connect(address, secure);
    },
  };
  await using spy = await TikvClient.connect({ pdAddresses: proxy.pdAddresses, transport: spying });
  await spy.get(k('a')); // the last address that the client connects to is the store's
  const region = loopback.cluster.regions.holding(k('a'));
  const context = { regionId: region.id, regionEpoch: region, peer: region.peers[0]! };
  const now = await client.timestamp();
  const request: kv.GetRequestInit = { key: k('a'), version: now + version, context };
  const channel = transport.connect(storeAddress, false);
  try {
    if (!batch) {
      const bytes = encode(kv.GetRequestCodec, request);
      return await channel.unary('/tikvpb.Tikv/KvGet', bytes, { timeoutMs: 2_000 }).then(() => 'taken', String);
    }
    return await new Promise<string>((resolve) => {
      const stream = channel.stream('/tikvpb.Tikv/BatchCommands', {
        message: () => resolve('taken'),
        end: (error) => resolve(String(error)),
      });
      const message: BatchCommandsRequestInit = { requests: [{ get: request }], requestIds: [1] };
      stream.write(encode(BatchCommandsRequestCodec, message));
    });
  } finally {
    channel.close();
  }
}

test.each([false, true])(
  'a request that no server may be sent is not passed on, nor anything after it (batch %s)',
  (batch) =>
    withProxy(async (loopback, proxy, refusals) => {
      expect(await rawGet(loopback, proxy, 0n, batch)).toBe('taken');
      const before = loopback.cluster.sent('Get').length;
      expect(await rawGet(loopback, proxy, 1n << 40n, batch)).toMatch(/Get.version .* lies in the future/);
      expect(refusals).toHaveLength(1);
      expect(loopback.cluster.sent('Get').length).toBe(before + 1); // the valid one of `spy` in `rawGet`
      expect(loopback.cluster.refusal).toBeUndefined();
      await expect(TikvClient.connect({ pdAddresses: proxy.pdAddresses, timeoutMs: 500 })).rejects.toThrow();
      expect(refusals).toHaveLength(1);
    }),
);
