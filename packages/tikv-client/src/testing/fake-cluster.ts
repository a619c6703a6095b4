import { type Clock, GrpcCode } from '@engram/core';
import { type Codec, decode, encode } from '@engram/protobuf';
import type { ErrorInit as RegionErrorInit } from '../proto/gen/errorpb.ts';
import {
  BatchCommandsRequestCodec,
  BatchCommandsResponseCodec,
  type BatchCommandsResponseResponseInit,
} from '../proto/gen/tikvpb.ts';
import {
  type Channel,
  type MessageStream,
  type StreamEvents,
  type Transport,
  TransportError,
  type UnaryOptions,
  unavailable,
} from '../transport/transport.ts';
import { FakeMvcc, type Flavour } from './fake-mvcc.ts';
import { FakePd } from './fake-pd.ts';
import { FakeRegions } from './fake-regions.ts';
import { type CommandName, FakeStore, type FakeCall, fakeCommands } from './fake-store.ts';

/**
 * What is to happen to a request instead of its execution. `lose`: it is executed and the connection breaks; `silence`: it
 * is executed, or not, and never answered; `twice`: the answer comes twice.
 */
export type Fault =
  | { readonly kind: 'region-error'; readonly error: RegionErrorInit }
  | { readonly kind: 'answer'; readonly response: object }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'lose' }
  | { readonly kind: 'silence'; readonly executed: boolean }
  | { readonly kind: 'twice' }
  | { readonly kind: 'delay'; readonly ms: number };

/** Undefined: no fault, or none from this script. */
export type Script = (call: FakeCall) => Fault | undefined;

export interface FakeClusterOptions {
  readonly clock: Clock;
  readonly stores?: number;
  readonly pdMembers?: number;
  readonly flavour?: Flavour;
}

/** How answers of one store leave: one by one as they come, or all of a turn in one message, last first. */
export type AnswerOrder = 'single' | 'reversed';

/** A whole cluster in one process: PD and stores behind the transport port, and scripts that decide what goes wrong. */
export class FakeCluster {
  readonly clock: Clock;
  readonly mvcc: FakeMvcc;
  readonly regions: FakeRegions;
  readonly pd: FakePd;
  readonly stores = new Map<number, FakeStore>();
  /** Every request that reached a store, in order. */
  readonly calls: FakeCall[] = [];
  /** Every call that reached PD: "member/method". */
  readonly pdCalls: string[] = [];
  /** Addresses where nobody listens. */
  readonly down = new Set<string>();
  /** Addresses that take everything and answer nothing. */
  readonly paused = new Set<string>();
  answerOrder: AnswerOrder = 'single';
  readonly #scripts: Script[] = [];
  readonly #pdScripts: ((member: number, method: string) => TransportError | undefined)[] = [];
  readonly #streams = new Map<string, Set<FakeStream>>();

  constructor({ clock, stores = 3, pdMembers = 1, flavour = 'tikv' }: FakeClusterOptions) {
    this.clock = clock;
    this.mvcc = new FakeMvcc(flavour);
    const ids = Array.from({ length: stores }, (_, at) => at + 1);
    this.regions = new FakeRegions(ids);
    this.pd = new FakePd(
      clock,
      this.regions,
      Array.from({ length: pdMembers }, (_, at) => `pd${at}:2379`),
    );
    for (const id of ids) {
      this.stores.set(id, new FakeStore(id, this.mvcc, this.regions));
      this.pd.stores.set(id, { address: `store${id}:20160`, state: 0 });
    }
  }

  get pdAddresses(): readonly string[] {
    return this.pd.members;
  }

  /** How the client under test connects. */
  get transport(): Transport {
    return { connect: (address) => new FakeChannel(this, address) };
  }

  /** Scripts are asked in order; the first fault counts. The function returned removes it. */
  script(script: Script): () => void {
    this.#scripts.push(script);
    return () => {
      this.#scripts.splice(this.#scripts.indexOf(script), 1);
    };
  }

  /** The next `times` requests of one command meet a fault. */
  next(command: CommandName, fault: Fault, times = 1): void {
    let left = times;
    this.script((call) => {
      if (call.command !== command || left === 0) return undefined;
      left -= 1;
      return fault;
    });
  }

  scriptPd(script: (member: number, method: string) => TransportError | undefined): void {
    this.#pdScripts.push(script);
  }

  sent(command: CommandName): readonly FakeCall[] {
    return this.calls.filter((call) => call.command === command);
  }

  /** Ends every stream to an address, as a broken connection does. */
  breakStreams(address: string): void {
    for (const stream of [...(this.#streams.get(address) ?? [])]) stream.end(unavailable('connection reset'));
  }

  /** Kills a server: its streams break, and nobody listens until `revive`. */
  kill(address: string): void {
    this.down.add(address);
    this.breakStreams(address);
  }

  revive(address: string): void {
    this.down.delete(address);
    this.paused.delete(address);
  }

  addressOf(storeId: number): string {
    return this.pd.stores.get(storeId)!.address;
  }

  /** @internal */
  enter(stream: FakeStream): void {
    const streams = this.#streams.get(stream.address) ?? new Set();
    this.#streams.set(stream.address, streams.add(stream));
  }

  /** @internal */
  leave(stream: FakeStream): void {
    this.#streams.get(stream.address)?.delete(stream);
  }

  get openStreams(): number {
    let open = 0;
    for (const streams of this.#streams.values()) open += streams.size;
    return open;
  }

  /** @internal The store that listens there now. */
  storeAt(address: string): FakeStore | undefined {
    for (const [id, store] of this.pd.stores) if (store.address === address) return this.stores.get(id);
    return undefined;
  }

  /** @internal */
  pdUnary(address: string, method: string, request: Uint8Array): Uint8Array {
    const member = this.pd.members.indexOf(address);
    if (member < 0) throw unavailable(`nobody listens at ${address}`);
    this.pdCalls.push(`${member}/${method}`);
    for (const script of this.#pdScripts) {
      const error = script(member, method);
      if (error !== undefined) throw error;
    }
    return this.pd.unary(member, method, request);
  }

  /** @internal What to do with a request; it is recorded. */
  judge(call: FakeCall): Fault | undefined {
    this.calls.push(call);
    for (const script of this.#scripts) {
      const fault = script(call);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
}

class FakeChannel implements Channel {
  readonly #cluster: FakeCluster;
  readonly #address: string;
  #closed = false;
  readonly #streams = new Set<FakeStream>();
  readonly #unary = new Set<() => void>();

  constructor(cluster: FakeCluster, address: string) {
    this.#cluster = cluster;
    this.#address = address;
  }

  unary(method: string, request: Uint8Array, options: UnaryOptions): Promise<Uint8Array> {
    const cluster = this.#cluster;
    return new Promise((resolve, reject) => {
      const abort = (): void => finish(() => reject(new TransportError(GrpcCode.CANCELLED, 'cancelled')));
      const close = (): void => finish(() => reject(unavailable('the channel is closed')));
      this.#unary.add(close);
      const timer = cluster.clock.after(options.timeoutMs, () =>
        finish(() => reject(new TransportError(GrpcCode.DEADLINE_EXCEEDED, 'deadline exceeded'))),
      );
      const finish = (how: () => void): void => {
        timer.cancel();
        this.#unary.delete(close);
        options.signal?.removeEventListener('abort', abort);
        how();
      };
      options.signal?.addEventListener('abort', abort, { once: true });
      cluster.clock.soon(() => {
        if (this.#closed) finish(() => reject(unavailable('the channel is closed')));
        else if (cluster.down.has(this.#address))
          finish(() => reject(unavailable('No connection established. Last error: connect ECONNREFUSED')));
        else if (!cluster.paused.has(this.#address)) {
          try {
            const answer = this.#serve(method, request);
            if (answer !== undefined) cluster.clock.soon(() => finish(() => resolve(answer)));
          } catch (error) {
            finish(() => reject(error instanceof TransportError ? error : unavailable(String(error))));
          }
        }
      });
    });
  }

  #serve(path: string, request: Uint8Array): Uint8Array | undefined {
    const [, service, method] = path.split('/') as [string, string, string];
    if (service === 'pdpb.PD') return this.#cluster.pdUnary(this.#address, method, request);
    const store = this.#cluster.storeAt(this.#address);
    if (store === undefined) throw unavailable(`nobody listens at ${this.#address}`);
    if (service === 'grpc.health.v1.Health') {
      if (this.#cluster.mvcc.flavour === 'unistore')
        throw new TransportError(GrpcCode.UNIMPLEMENTED, 'unknown service');
      return Uint8Array.of(8, 1);
    }
    const name = (method in fakeCommands ? method : method.replace(/^Kv/, '')) as CommandName;
    const codecs = fakeCommands[name];
    const message = decode(codecs.request as Codec<object, unknown>, request);
    const { context } = message as FakeCall;
    const fault = this.#cluster.judge({ storeId: store.id, command: name, context, request: message });
    if (fault?.kind === 'refuse') throw unavailable('connection reset');
    if (fault?.kind === 'silence' && !fault.executed) return undefined;
    const response =
      fault?.kind === 'region-error'
        ? { regionError: fault.error }
        : fault?.kind === 'answer'
          ? fault.response
          : store.execute(name, message);
    if (fault?.kind === 'lose') throw unavailable('connection reset');
    if (fault?.kind === 'silence') return undefined;
    return encode(codecs.response as Codec<unknown, object>, response);
  }

  stream(method: string, events: StreamEvents): MessageStream {
    const stream = new FakeStream(this.#cluster, this.#address, method, events, () => this.#streams.delete(stream));
    this.#streams.add(stream);
    return stream;
  }

  close(): void {
    this.#closed = true;
    for (const close of [...this.#unary]) close();
    for (const stream of [...this.#streams]) stream.end(unavailable('the channel is closed'));
  }
}

class FakeStream implements MessageStream {
  readonly address: string;
  readonly #cluster: FakeCluster;
  readonly #method: string;
  readonly #events: StreamEvents;
  readonly #onEnd: () => void;
  #ended = false;
  #outgoing: { id: number; body: BatchCommandsResponseResponseInit }[] = [];

  constructor(cluster: FakeCluster, address: string, method: string, events: StreamEvents, onEnd: () => void) {
    this.#cluster = cluster;
    this.address = address;
    this.#method = method;
    this.#events = events;
    this.#onEnd = onEnd;
    cluster.enter(this);
    if (cluster.down.has(address))
      cluster.clock.soon(() => this.end(unavailable('No connection established. Last error: connect ECONNREFUSED')));
  }

  write(bytes: Uint8Array): void {
    this.#cluster.clock.soon(() => {
      if (this.#ended || this.#cluster.paused.has(this.address)) return;
      try {
        if (this.#method === '/pdpb.PD/Tso') this.#tso(bytes);
        else this.#commands(bytes);
      } catch (error) {
        this.end(error instanceof TransportError ? error : unavailable(String(error)));
      }
    });
  }

  #tso(bytes: Uint8Array): void {
    const { pd } = this.#cluster;
    const member = pd.members.indexOf(this.address);
    this.#cluster.pdCalls.push(`${member}/Tso`);
    if (member !== pd.leader) throw unavailable('not leader');
    const answer = pd.tso(bytes);
    this.#deliver(() => this.#events.message(answer));
  }

  #commands(bytes: Uint8Array): void {
    const { requests, requestIds } = decode(BatchCommandsRequestCodec, bytes);
    for (const [at, request] of requests.entries()) {
      const found = Object.entries(request).find(([, body]) => body !== undefined);
      if (found === undefined) continue;
      const [name, body] = found as [string, { context: FakeCall['context'] }];
      this.#command(requestIds[at]!, name, body);
      if (this.#ended) return;
    }
  }

  #command(id: number, field: string, request: { readonly context: FakeCall['context'] }): void {
    const command = (field[0]!.toUpperCase() + field.slice(1)) as CommandName;
    const store = this.#cluster.storeAt(this.address);
    if (store === undefined) throw unavailable(`nobody listens at ${this.address}`);
    const fault = this.#cluster.judge({ storeId: store.id, command, context: request.context, request });
    const answer = (response: object): void => this.#answer(id, { [field]: response });
    switch (fault?.kind) {
      case 'region-error':
        answer({ regionError: fault.error });
        return;
      case 'answer':
        answer(fault.response);
        return;
      case 'refuse':
        throw unavailable('connection reset');
      case 'lose':
        store.execute(command, request);
        throw unavailable('connection reset');
      case 'silence':
        if (fault.executed) store.execute(command, request);
        return;
      case 'twice': {
        const response = store.execute(command, request);
        answer(response);
        answer(response);
        return;
      }
      case 'delay':
        this.#cluster.clock.after(fault.ms, () => {
          if (!this.#ended) answer(store.execute(command, request));
        });
        return;
      default:
        answer(store.execute(command, request));
    }
  }

  #answer(id: number, body: BatchCommandsResponseResponseInit): void {
    if (this.#cluster.answerOrder === 'single') {
      const message = encode(BatchCommandsResponseCodec, { responses: [body], requestIds: [id] });
      this.#deliver(() => this.#events.message(message));
      return;
    }
    this.#outgoing.push({ id, body });
    if (this.#outgoing.length > 1) return;
    this.#deliver(() => {
      const all = this.#outgoing.reverse();
      this.#outgoing = [];
      // Cut in two, so that one request message is answered in several.
      for (const part of [all.slice(0, 1), all.slice(1)]) {
        if (part.length === 0) continue;
        this.#events.message(
          encode(BatchCommandsResponseCodec, {
            responses: part.map((entry) => entry.body),
            requestIds: part.map((entry) => entry.id),
          }),
        );
      }
    });
  }

  #deliver(message: () => void): void {
    this.#cluster.clock.soon(() => {
      if (!this.#ended) message();
    });
  }

  end(error: TransportError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cluster.leave(this);
    this.#onEnd();
    this.#events.end(error);
  }

  cancel(): void {
    this.end(new TransportError(GrpcCode.CANCELLED, 'cancelled by this client'));
  }
}
