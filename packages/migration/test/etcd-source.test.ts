import { EtcdClient, EtcdSource } from '@engram/migration';
import { etcdserverpb as pb } from '@engram/wire';
import * as grpc from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';

const header = { clusterId: 7n, revision: 5 };
const raw = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const plain = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
const path = '/etcdserverpb.Lease/LeaseTimeToLive';
const service = { timeToLive: { path, requestStream: false, responseStream: false, ...plain } };
const never = new AbortController().signal;

const server = new grpc.Server();
afterEach(() => server.forceShutdown());

test('a lease that is over and not ended yet has its TTL: another leader gives it its full time again', async () => {
  const answers = new Map<bigint, pb.LeaseTimeToLiveResponseInit>([
    [1n, { header, ID: 1n, TTL: -3, grantedTTL: 30 }],
    [2n, { header, ID: 2n, TTL: -1 }],
  ]);
  server.addService(service, {
    timeToLive: ({ request }: { readonly request: Buffer }, answer: grpc.sendUnaryData<Uint8Array>) =>
      answer(null, pb.encodeLeaseTimeToLiveResponse(answers.get(pb.decodeLeaseTimeToLiveRequest(request).ID)!)),
  });
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  using client = new EtcdClient({ endpoints: [`127.0.0.1:${port}`], tls: undefined, user: undefined });
  const source = new EtcdSource(client);
  expect(await source.leaseTtl(1n, never)).toBe(30);
  expect(await source.leaseTtl(2n, never)).toBeUndefined();
});
