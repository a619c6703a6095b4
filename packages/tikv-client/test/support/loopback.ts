import * as grpc from '@grpc/grpc-js';
import { systemClock } from '../../src/runtime/system.ts';
import { storeCommands } from '../../src/testing/store-commands.ts';
import { isTransportError, type TransportError } from '../../src/transport/transport.ts';
import { FakeCluster, type FakeClusterOptions } from '../../testing.ts';

const identity = (bytes: Buffer): Buffer => bytes;
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const unary = (path: string): grpc.MethodDefinition<Buffer, Buffer> => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
});
const bidi = (path: string): grpc.MethodDefinition<Buffer, Buffer> => ({
  ...unary(path),
  requestStream: true,
  responseStream: true,
});

const pdMethods = [
  'GetMembers',
  'GetRegion',
  'GetPrevRegion',
  'GetRegionByID',
  'ScanRegions',
  'BatchScanRegions',
  'GetStore',
  'GetAllStores',
  'GetGCSafePoint',
  'GetGCState',
  'UpdateGCSafePoint',
  'UpdateServiceGCSafePoint',
  'AdvanceTxnSafePoint',
  'ScatterRegion',
];

/** The scripted cluster behind real sockets on 127.0.0.1: every address of it has a gRPC server that passes bytes on. */
export class Loopback implements AsyncDisposable {
  readonly cluster: FakeCluster;
  readonly #servers = new Map<string, grpc.Server>();
  #credentials: grpc.ServerCredentials;

  private constructor(options: Omit<FakeClusterOptions, 'clock'>, credentials: grpc.ServerCredentials) {
    this.cluster = new FakeCluster({ ...options, clock: systemClock });
    this.#credentials = credentials;
  }

  static async start(
    options: Omit<FakeClusterOptions, 'clock'> = {},
    credentials = grpc.ServerCredentials.createInsecure(),
  ): Promise<Loopback> {
    const loopback = new Loopback(options, credentials);
    const { pd } = loopback.cluster;
    for (const [id, store] of pd.stores) {
      pd.stores.set(id, { ...store, address: await loopback.#serve(() => loopback.cluster.addressOf(id)) });
    }
    const members = pd.members as string[];
    for (const at of members.keys()) members[at] = await loopback.#serve(() => members[at]!);
    return loopback;
  }

  get pdAddresses(): readonly string[] {
    return this.cluster.pdAddresses;
  }

  /** Ends one server, and with it its connections. */
  stop(address: string): void {
    this.#servers.get(address)?.forceShutdown();
    this.#servers.delete(address);
  }

  /** The server of an address again, with the credentials of now. */
  async restart(address: string, credentials = this.#credentials): Promise<void> {
    this.stop(address);
    this.#credentials = credentials;
    await this.#serve(() => address, address);
  }

  async #serve(fakeAddress: () => string, bind = '127.0.0.1:0'): Promise<string> {
    const server = new grpc.Server({ 'grpc.max_receive_message_length': -1 });
    const channel = (): ReturnType<FakeCluster['transport']['connect']> =>
      this.cluster.transport.connect(fakeAddress(), false);
    const pass =
      (path: string): grpc.handleUnaryCall<Buffer, Buffer> =>
      (call, callback) => {
        channel()
          .unary(path, call.request, { timeoutMs: 60_000 })
          .then(
            (answer) => callback(null, toBuffer(answer)),
            (error: unknown) =>
              callback(
                isTransportError(error)
                  ? { code: error.grpc, details: error.message }
                  : { code: grpc.status.INTERNAL, details: String(error) },
              ),
          );
      };
    const stream =
      (path: string): grpc.handleBidiStreamingCall<Buffer, Buffer> =>
      (call) => {
        const inner = channel().stream(path, {
          message: (bytes) => void call.write(toBuffer(bytes)),
          end: (error: TransportError) =>
            call.destroy(Object.assign(new Error(error.message), { code: error.grpc, details: error.message })),
        });
        call.on('data', (bytes: Buffer) => inner.write(bytes));
        call.on('end', () => inner.cancel());
        call.on('cancelled', () => inner.cancel());
        call.on('error', () => inner.cancel());
      };
    const add = (path: string, streaming: boolean): void => {
      const definition = streaming ? bidi(path) : unary(path);
      server.addService({ method: definition }, { method: streaming ? stream(path) : pass(path) });
    };
    for (const method of pdMethods) add(`/pdpb.PD/${method}`, false);
    add('/pdpb.PD/Tso', true);
    for (const [name, { field }] of Object.entries(storeCommands)) {
      add(`/tikvpb.Tikv/${field === undefined ? '' : 'Kv'}${name}`, false);
    }
    add('/tikvpb.Tikv/BatchCommands', true);
    add('/grpc.health.v1.Health/Check', false);
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(bind, this.#credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
    });
    const address = `127.0.0.1:${port}`;
    this.#servers.set(address, server);
    return address;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers.values()) server.forceShutdown();
    if (this.cluster.refusal !== undefined) throw this.cluster.refusal;
  }
}
