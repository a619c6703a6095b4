import { EtcdClient, EtcdSource, isMigrationError } from '@engram/migration';
import { etcdserverpb as pb } from '@engram/wire';
import * as grpc from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';

const header = { clusterId: 7n, revision: 5 };
const INVALID = 'etcdserver: invalid auth token';
const OLD = 'etcdserver: revision of auth store is old';

const raw = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const plain = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
const unary = (path: string) => ({ path, requestStream: false, responseStream: false, ...plain });
const service = {
  authenticate: unary('/etcdserverpb.Auth/Authenticate'),
  range: unary('/etcdserverpb.KV/Range'),
  watch: { path: '/etcdserverpb.Watch/Watch', requestStream: true, responseStream: true, ...plain },
};

/** An etcd that knows the tokens that it has given since its start, until users or roles change. */
class Etcd {
  readonly #server = new grpc.Server();
  logins = 0;
  /** What it says of other tokens. */
  says: { readonly code: grpc.status; readonly text: string } = { code: grpc.status.UNAUTHENTICATED, text: INVALID };
  port = 0;

  constructor() {
    this.#server.addService(service, {
      authenticate: (_: unknown, answer: grpc.sendUnaryData<Uint8Array>) => {
        this.logins += 1;
        answer(null, pb.encodeAuthenticateResponse({ header, token: `token.${this.logins}` }));
      },
      range: (call: grpc.ServerUnaryCall<Buffer, Uint8Array>, answer: grpc.sendUnaryData<Uint8Array>) => {
        if (this.#knows(call.metadata)) answer(null, pb.encodeRangeResponse({ header }));
        else answer({ code: this.says.code, details: this.says.text });
      },
      watch: (call: grpc.ServerDuplexStream<Buffer, Uint8Array>) => {
        const { code, text } = this.says;
        call.once('data', () => {
          const created = { header, created: true };
          const cancelReason = `rpc error: code = ${grpc.status[code]} desc = ${text}`;
          const refused = { ...created, canceled: true, watchId: -1n, cancelReason };
          call.write(pb.encodeWatchResponse(this.#knows(call.metadata) ? created : refused));
        });
        call.on('error', () => {});
      },
    });
  }

  #knows(metadata: grpc.Metadata): boolean {
    return metadata.get('token')[0] === `token.${this.logins}`;
  }

  async listen(): Promise<void> {
    this.port = await new Promise((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      this.#server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error ? reject(error) : resolve(port)));
    });
  }

  /** As after a restart, or a change of users: the tokens that it has given are worth nothing. */
  forget(): void {
    this.logins += 1;
  }

  close(): void {
    this.#server.forceShutdown();
  }
}

let etcd: Etcd;
beforeEach(async () => {
  etcd = new Etcd();
  await etcd.listen();
});
afterEach(() => etcd.close());

const { signal } = new AbortController();
const client = (name: string | undefined): EtcdClient =>
  new EtcdClient({
    endpoints: [`127.0.0.1:${etcd.port}`],
    tls: undefined,
    user: name === undefined ? undefined : { name, password: 'secret' },
  });

async function created(source: EtcdSource): Promise<boolean> {
  for await (const response of source.watch(1, signal)) return response.created;
  return false;
}

const ended = [
  { what: 'is not known any more', says: { code: grpc.status.UNAUTHENTICATED, text: INVALID } },
  { what: 'is older than a change of users', says: { code: grpc.status.INVALID_ARGUMENT, text: OLD } },
];

test.each(ended)('a watch with a token that $what is tried again with a new one', async ({ says }) => {
  using follower = client('root');
  const source = new EtcdSource(follower);
  expect(await created(source)).toBe(true);
  etcd.says = says;
  etcd.forget();
  await expect(created(source)).rejects.toSatisfy((error) => isMigrationError(error, 'interrupted'));
  expect(await created(source)).toBe(true);
});

test.each(ended)('a call with a token that $what is tried again with a new one', async ({ says }) => {
  using follower = client('root');
  const source = new EtcdSource(follower);
  expect(await source.revision(signal)).toBe(5);
  etcd.says = says;
  etcd.forget();
  await expect(source.revision(signal)).rejects.toSatisfy((error) => isMigrationError(error, 'interrupted'));
  expect(await source.revision(signal)).toBe(5);
});

test('a watch that is refused for another reason is not tried again', async () => {
  using follower = client('root');
  const source = new EtcdSource(follower);
  await created(source);
  etcd.says = { code: grpc.status.PERMISSION_DENIED, text: 'etcdserver: permission denied' };
  etcd.forget();
  await expect(created(source)).rejects.toSatisfy((error) => isMigrationError(error, 'refused'));
});
