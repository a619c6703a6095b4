import { EtcdClient, EtcdTarget } from '@engram/migration';
import { etcdserverpb as pb } from '@engram/wire';
import * as grpc from '@grpc/grpc-js';
import { expect, test } from 'vitest';

const raw = (bytes: Uint8Array): Buffer => Buffer.from(bytes);

test('a revision of more conditions than a transaction may have is written under some of them', async () => {
  const asked: { readonly conditions: number; readonly writes: number }[] = [];
  const server = new grpc.Server();
  const plain = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
  server.addService(
    { txn: { path: '/etcdserverpb.KV/Txn', requestStream: false, responseStream: false, ...plain } },
    {
      txn: ({ request }: { readonly request: Buffer }, answer: grpc.sendUnaryData<Uint8Array>) => {
        const { compare, success } = pb.decodeTxnRequest(request);
        asked.push({ conditions: compare.length, writes: success.length });
        answer(null, pb.encodeTxnResponse({ header: { clusterId: 7n, revision: 9 }, succeeded: true }));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  using client = new EtcdClient({ endpoints: [`127.0.0.1:${port}`], tls: undefined, user: undefined });
  const changes = Array.from({ length: 60 }, (_, at) => ({
    kind: 'put' as const,
    key: Buffer.from(`key-${at}`),
    value: Buffer.from('value'),
    lease: 0n,
    version: 2,
    createRevision: 3,
  }));
  const { signal } = new AbortController();
  expect(await new EtcdTarget(client).write(changes, undefined, signal)).toBe(9);
  expect(asked).toEqual([
    { conditions: 100, writes: 0 },
    { conditions: 20, writes: 0 },
    { conditions: 100, writes: 60 },
  ]);
  server.forceShutdown();
});
