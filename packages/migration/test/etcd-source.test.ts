import { EtcdClient, EtcdSource } from '@engram/migration';
import { etcdserverpb as pb } from '@engram/wire';
import * as grpc from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';

const header = { clusterId: 7n, revision: 5 };
const raw = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const plain = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
const service = {
  timeToLive: { path: '/etcdserverpb.Lease/LeaseTimeToLive', requestStream: false, responseStream: false, ...plain },
  watch: { path: '/etcdserverpb.Watch/Watch', requestStream: true, responseStream: true, ...plain },
};
const never = new AbortController().signal;

let server: grpc.Server;
beforeEach(() => {
  server = new grpc.Server();
});
afterEach(() => server.forceShutdown());

async function listen(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });
}

const clientOf = (...ports: readonly number[]): EtcdClient =>
  new EtcdClient({ endpoints: ports.map((port) => `127.0.0.1:${port}`), tls: undefined, user: undefined });

test('a lease that is over and not ended yet has its TTL: another leader gives it its full time again', async () => {
  const answers = new Map<bigint, pb.LeaseTimeToLiveResponseInit>([
    [1n, { header, ID: 1n, TTL: -3, grantedTTL: 30 }],
    [2n, { header, ID: 2n, TTL: -1 }],
  ]);
  server.addService(service, {
    timeToLive: ({ request }: { readonly request: Buffer }, answer: grpc.sendUnaryData<Uint8Array>) =>
      answer(null, pb.encodeLeaseTimeToLiveResponse(answers.get(pb.decodeLeaseTimeToLiveRequest(request).ID)!)),
  });
  using client = clientOf(await listen());
  const source = new EtcdSource(client);
  expect(await source.leaseTtl(1n, never)).toBe(30);
  expect(await source.leaseTtl(2n, never)).toBeUndefined();
});

test('a member that is cut off from the others is left: it would be silent about what they write, and answer', async () => {
  server.addService(service, {
    timeToLive: () => {},
    watch: (call: grpc.ServerDuplexStream<Buffer, Uint8Array>) => {
      call.on('error', () => {});
      if (call.metadata.get('hasleader')[0] === 'true') {
        call.emit('error', { code: grpc.status.UNAVAILABLE, details: 'etcdserver: no leader' });
      } else call.on('data', () => call.write(pb.encodeWatchResponse({ header, created: true })));
    },
  });
  const port = await listen();
  using client = clientOf(port, 1);
  const watched = new EtcdSource(client).watch(5, never);
  await expect(watched.next()).rejects.toMatchObject({ fault: 'interrupted' });
  expect(client.endpoint).toBe('127.0.0.1:1');
});
