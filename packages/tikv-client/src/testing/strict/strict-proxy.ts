import { decode, encode } from '@engram/protobuf';
import * as pd from '../../proto/gen/pdpb.ts';
import type { Store } from '../../proto/gen/metapb.ts';
import { GrpcTransport } from '../../transport/grpc-transport.ts';
import type { Channel } from '../../transport/transport.ts';
import { GrpcRelay } from '../grpc-relay.ts';
import { Refusal } from './refusal.ts';
import type { StrictOptions } from './strict-checker.ts';
import { type StrictStream, StrictWire } from './strict-wire.ts';

export interface StrictProxyOptions extends StrictOptions {
  /** PD's members, host:port. */
  readonly pdAddresses: readonly string[];
  /** The address on which the relay of a PD member listens. A free port if absent. */
  bindOf?(pdAddress: string): string;
  /** Called once, with the first request that the strictest server would refuse. It was not passed on. */
  refused(refusal: Refusal): void;
}

/**
 * Applies StrictChecker between clients and a real PD and real stores. Each server has one relay. PD's answers name the relays
 * instead of the servers, so a client that connects to `pdAddresses` reaches the servers only through them. After a refusal
 * every request is refused, as if all stores had stopped. No TLS.
 */
export class StrictProxy {
  readonly #options: StrictProxyOptions;
  readonly #wire: StrictWire;
  readonly #transport = new GrpcTransport(undefined);
  /** Relays by the addresses of their servers. */
  readonly #relays = new Map<string, Promise<GrpcRelay>>();
  #pdAddresses: readonly string[] = [];
  #refusal: Refusal | undefined;

  private constructor(options: StrictProxyOptions) {
    this.#options = options;
    this.#wire = new StrictWire(options);
  }

  static async start(options: StrictProxyOptions): Promise<StrictProxy> {
    const proxy = new StrictProxy(options);
    proxy.#pdAddresses = await Promise.all(
      options.pdAddresses.map((address) => proxy.#relayOf(address, options.bindOf?.(address))),
    );
    return proxy;
  }

  /** The PD addresses for clients. */
  get pdAddresses(): readonly string[] {
    return this.#pdAddresses;
  }

  async stop(): Promise<void> {
    for (const relay of await Promise.allSettled(this.#relays.values()))
      if (relay.status === 'fulfilled') relay.value.stop();
  }

  /** The address of the relay of a server. Starts the relay if necessary. */
  async #relayOf(address: string, bind?: string): Promise<string> {
    let relay = this.#relays.get(address);
    if (relay === undefined) {
      relay = this.#startRelay(address, bind);
      this.#relays.set(address, relay);
    }
    return (await relay).address;
  }

  #startRelay(address: string, bind: string | undefined): Promise<GrpcRelay> {
    let unary: Channel | undefined;
    return GrpcRelay.start({
      ...(bind === undefined ? {} : { bind }),
      connect: (path) => {
        // A stream has its own connection and ends with it, as without the proxy.
        if (path.endsWith('/Tso') || path.endsWith('/BatchCommands'))
          return { channel: this.#transport.connect(address, false), shared: false };
        unary ??= this.#transport.connect(address, false);
        return { channel: unary, shared: true };
      },
      request: (path, bytes) => this.#check(() => this.#wire.request(path, bytes)),
      answer: async (path, bytes) => {
        this.#wire.answer(path, bytes);
        return this.#renamed(path, bytes);
      },
      stream: (path) => this.#stream(path),
    });
  }

  #stream(path: string): StrictStream | undefined {
    const stream = this.#wire.stream(path);
    if (stream === undefined) return undefined;
    return {
      request: (bytes) => this.#check(() => stream.request(bytes)),
      answer: (bytes) => stream.answer(bytes),
    };
  }

  #check(look: () => void): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    try {
      look();
    } catch (error) {
      this.#refusal = error instanceof Refusal ? error : new Refusal(`a message that cannot be read: ${String(error)}`);
      this.#options.refused(this.#refusal);
      throw this.#refusal;
    }
  }

  /** Replaces the servers' addresses in an answer of PD by those of the relays. */
  async #renamed(path: string, bytes: Uint8Array): Promise<Uint8Array> {
    switch (path) {
      case '/pdpb.PD/GetMembers': {
        const answer = decode(pd.GetMembersResponseCodec, bytes);
        const [leader, etcdLeader] = await Promise.all([this.#member(answer.leader), this.#member(answer.etcdLeader)]);
        const members = await Promise.all(answer.members.map(async (member) => (await this.#member(member))!));
        return encode(pd.GetMembersResponseCodec, { ...answer, members, leader, etcdLeader });
      }
      case '/pdpb.PD/GetStore': {
        const answer = decode(pd.GetStoreResponseCodec, bytes);
        return encode(pd.GetStoreResponseCodec, { ...answer, store: await this.#store(answer.store) });
      }
      case '/pdpb.PD/GetAllStores': {
        const answer = decode(pd.GetAllStoresResponseCodec, bytes);
        const stores = await Promise.all(answer.stores.map(async (store) => (await this.#store(store))!));
        return encode(pd.GetAllStoresResponseCodec, { ...answer, stores });
      }
      default:
        return bytes;
    }
  }

  async #member(member: pd.Member | undefined): Promise<pd.Member | undefined> {
    if (member === undefined) return undefined;
    const clientUrls = await Promise.all(
      member.clientUrls.map(async (url) => `http://${await this.#relayOf(new URL(url).host)}`),
    );
    return { ...member, clientUrls };
  }

  async #store(store: Store | undefined): Promise<Store | undefined> {
    return store === undefined || store.address === ''
      ? store
      : { ...store, address: await this.#relayOf(store.address) };
  }
}
