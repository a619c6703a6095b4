import { GrpcCode } from '@engram/core';
import { type Codec, decode, encode } from '@engram/protobuf';
import {
  BatchCommandsRequestCodec,
  BatchCommandsResponseCodec,
  type BatchCommandsResponseResponseInit,
} from '../proto/gen/tikvpb.ts';
import {
  type Channel,
  type MessageStream,
  type StreamEvents,
  TransportError,
  type UnaryOptions,
  unavailable,
} from '../transport/transport.ts';
import type { FakeCluster } from './fake-cluster.ts';
import type { FakeCall, FakeStore } from './fake-store.ts';
import { type CommandName, storeCommands, storeMethods } from './store-commands.ts';
import { BatchRules } from './strict/batch-rules.ts';

const unreachable = (): TransportError => unavailable('connect ECONNREFUSED', { unsent: true, lost: true });

const loss = (words: string | undefined): TransportError =>
  words === undefined ? unavailable('connection reset', { lost: true }) : unavailable(words);

/** One connection to one server of the scripted cluster. */
export class FakeChannel implements Channel {
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
        else if (cluster.down.has(this.#address)) finish(() => reject(unreachable()));
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
    if (store === undefined) throw unavailable(`nobody listens at ${this.#address}`, { lost: true });
    if (service === 'grpc.health.v1.Health') {
      if (this.#cluster.mvcc.flavour === 'unistore')
        throw new TransportError(GrpcCode.UNIMPLEMENTED, 'unknown service');
      return Uint8Array.of(8, 1);
    }
    const name = storeMethods[method];
    if (name === undefined) throw new TransportError(GrpcCode.UNIMPLEMENTED, `unknown method ${method}`);
    const codecs = storeCommands[name];
    const message = decode(codecs.request as Codec<Pick<FakeCall, 'context'>, unknown>, request);
    const { context } = message;
    const fault = this.#cluster.judge({ storeId: store.id, command: name, context, request: message });
    if (fault?.kind === 'exhausted') throw new TransportError(GrpcCode.RESOURCE_EXHAUSTED, fault.words);
    if (fault?.kind === 'refuse') throw unavailable('connection reset', { lost: true });
    if (fault?.kind === 'silence' && !fault.executed) return undefined;
    if (fault?.kind === 'region-error' && fault.executed === true) store.execute(name, message);
    const response =
      fault?.kind === 'region-error'
        ? { regionError: fault.error }
        : fault?.kind === 'answer'
          ? fault.response
          : store.execute(name, message);
    if (fault?.kind === 'lose') throw loss(fault.words);
    if (fault?.kind === 'silence') return undefined;
    return this.#cluster.answer(name, response);
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

/** One stream of BatchCommands or of Tso. */
export class FakeStream implements MessageStream {
  readonly address: string;
  waitingBytes = 0;
  readonly #cluster: FakeCluster;
  readonly #method: string;
  readonly #events: StreamEvents;
  readonly #onEnd: () => void;
  readonly #rules = new BatchRules(true);
  #ended = false;
  #outgoing: { id: number; body: BatchCommandsResponseResponseInit }[] = [];

  constructor(cluster: FakeCluster, address: string, method: string, events: StreamEvents, onEnd: () => void) {
    this.#cluster = cluster;
    this.address = address;
    this.#method = method;
    this.#events = events;
    this.#onEnd = onEnd;
    cluster.enter(this);
    if (cluster.down.has(address)) cluster.clock.soon(() => this.end(unreachable()));
  }

  write(bytes: Uint8Array): void {
    if (this.#cluster.shut.has(this.address)) {
      this.waitingBytes += bytes.length;
      return;
    }
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
    this.#cluster.sawPdCall(`${member}/Tso`);
    if (member !== pd.leader) throw unavailable('not leader');
    const answer = pd.tso(bytes);
    this.#deliver(() => this.#events.message(answer));
  }

  #commands(bytes: Uint8Array): void {
    const store = this.#cluster.storeAt(this.address);
    if (store === undefined) throw unavailable(`nobody listens at ${this.address}`, { lost: true });
    const message = decode(BatchCommandsRequestCodec, bytes);
    for (const { id, command, body } of this.#cluster.orStop(store.id, () => this.#rules.requests(message))) {
      this.#command(store, id, command, body);
      if (this.#ended) return;
    }
  }

  #command(store: FakeStore, id: number, command: CommandName, request: Pick<FakeCall, 'context'>): void {
    const fault = this.#cluster.judge({ storeId: store.id, command, context: request.context, request });
    const answer = (response: object): void => {
      this.#rules.answered(id);
      this.#cluster.answer(command, response);
      this.#answer(id, { [command[0]!.toLowerCase() + command.slice(1)]: response });
    };
    switch (fault?.kind) {
      case 'region-error':
        if (fault.executed === true) store.execute(command, request);
        answer({ regionError: fault.error });
        return;
      case 'answer':
        answer(fault.response);
        return;
      case 'exhausted':
        throw new TransportError(GrpcCode.RESOURCE_EXHAUSTED, fault.words);
      case 'refuse':
        throw unavailable('connection reset', { lost: true });
      case 'lose':
        store.execute(command, request);
        throw loss(fault.words);
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
          const response = store.execute(command, request);
          if (!this.#ended) answer(response);
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
      // Cut into two messages, so that one request message is answered by several.
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
