import * as grpc from '@grpc/grpc-js';
import { systemClock } from '../runtime/system.ts';
import { GrpcRelay } from './grpc-relay.ts';
import { FakeCluster, type FakeClusterOptions } from './fake-cluster.ts';

/** The scripted cluster behind sockets on 127.0.0.1. Each of its addresses has a gRPC server that passes bytes on. */
export class Loopback implements AsyncDisposable {
  readonly cluster: FakeCluster;
  readonly #relays = new Map<string, GrpcRelay>();
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

  /** Stops one server and ends its connections. */
  stop(address: string): void {
    this.#relays.get(address)?.stop();
    this.#relays.delete(address);
  }

  /** Starts the server of an address again. It keeps the current credentials unless others are given. */
  async restart(address: string, credentials = this.#credentials): Promise<void> {
    this.stop(address);
    this.#credentials = credentials;
    await this.#serve(() => address, address);
  }

  async #serve(fakeAddress: () => string, bind = '127.0.0.1:0'): Promise<string> {
    const relay = await GrpcRelay.start({
      connect: () => ({ channel: this.cluster.transport.connect(fakeAddress(), false), shared: false }),
      bind,
      credentials: this.#credentials,
    });
    this.#relays.set(relay.address, relay);
    return relay.address;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const relay of this.#relays.values()) relay.stop();
    if (this.cluster.refusal !== undefined) throw this.cluster.refusal;
  }
}
