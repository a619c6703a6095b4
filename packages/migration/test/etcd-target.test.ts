import { EtcdClient, EtcdTarget, isMigrationError } from '@engram/migration';
import { etcdserverpb as pb } from '@engram/wire';
import * as grpc from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';

type Answer = grpc.sendUnaryData<Uint8Array>;
interface Asked {
  readonly request: Buffer;
}

const raw = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const plain = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
const unary = (path: string) => ({ path, requestStream: false, responseStream: false, ...plain });
const never = new AbortController().signal;

/** Its transactions take effect one behind the other, also those that nobody waits for. Reads show what has taken effect. */
class Etcd {
  readonly #server = new grpc.Server();
  #log: Promise<void> = Promise.resolve();
  #revision = 9;
  readonly asked: { readonly conditions: number; readonly writes: number }[] = [];
  #requests = 0;
  #told = (): void => {};
  /** What its disk waits for. */
  disk: Promise<void> = Promise.resolve();
  port = 0;

  async listen(): Promise<void> {
    const service = { txn: unary('/etcdserverpb.KV/Txn'), range: unary('/etcdserverpb.KV/Range') };
    this.#server.addService(service, {
      range: (_: Asked, answer: Answer) => {
        answer(null, pb.encodeRangeResponse({ header: this.#header }));
        this.#received();
      },
      txn: ({ request }: Asked, answer: Answer) => {
        this.#received();
        this.#log = this.#log
          .then(() => this.disk)
          .then(() => answer(null, pb.encodeTxnResponse(this.#apply(request))));
      },
    });
    this.port = await new Promise((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      this.#server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error ? reject(error) : resolve(port)));
    });
  }

  #received(): void {
    this.#requests += 1;
    this.#told();
  }

  /** So many requests have arrived. */
  async received(count: number): Promise<void> {
    while (this.#requests < count) {
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }

  get #header(): pb.ResponseHeaderInit {
    return { clusterId: 7n, revision: this.#revision };
  }

  #apply(request: Buffer): pb.TxnResponseInit {
    const { compare, success } = pb.decodeTxnRequest(request);
    this.asked.push({ conditions: compare.length, writes: success.length });
    const succeeded = !compare.some(({ result, version }) => result === pb.CompareCompareResult.LESS && version === 0);
    if (succeeded && success.length > 0) this.#revision += 1;
    return { header: this.#header, succeeded };
  }

  close(): void {
    this.#server.forceShutdown();
  }
}

let etcd: Etcd;
let client: EtcdClient;
let target: EtcdTarget;
beforeEach(async () => {
  etcd = new Etcd();
  await etcd.listen();
  client = new EtcdClient({ endpoints: [`127.0.0.1:${etcd.port}`], tls: undefined, user: undefined });
  target = new EtcdTarget(client);
});
afterEach(() => {
  client[Symbol.dispose]();
  etcd.close();
});

const puts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    kind: 'put' as const,
    key: Buffer.from(`key-${at}`),
    value: Buffer.from('value'),
    lease: 0n,
    version: 2,
    createRevision: 3,
  }));

test('the newest revision is told behind writes whose answers were not waited for', async () => {
  const slow = Promise.withResolvers<void>();
  etcd.disk = slow.promise;
  const enough = new AbortController();
  const written = target.write(puts(1), undefined, enough.signal);
  await etcd.received(1);
  const newest = target.revision(never);
  await etcd.received(2);
  enough.abort(new Error('enough'));
  await expect(written).rejects.toThrow('enough');
  slow.resolve();
  expect(await newest).toBe(10);
  expect(await target.revision(never)).toBe(10);
});

test('a revision of more conditions than a transaction may have is written under some of them', async () => {
  expect(await target.write(puts(60), undefined, never)).toBe(10);
  expect(etcd.asked).toEqual([
    { conditions: 100, writes: 0 },
    { conditions: 20, writes: 0 },
    { conditions: 100, writes: 60 },
  ]);
});

test('an etcd that is gone is tried again', async () => {
  etcd.close();
  await expect(target.revision(never)).rejects.toSatisfy((error) => isMigrationError(error, 'interrupted'));
});
