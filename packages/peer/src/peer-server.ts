import { assert, type Clock, type Logger, logPosition, nextTurn, SequenceRing } from '@engram/core';
import { type PeerCaller, PeerError, type PeerService } from '@engram/member';
import { recordBytes } from '@engram/storage';
import type { BoundPort } from '@engram/transport';
import { Metadata, Server, type ServerDuplexStream, type ServerWritableStream, status } from '@grpc/grpc-js';
import { Gathered } from './gathered.ts';
import type * as linkpb from './gen/linkpb.ts';
import { channelOptions, peerService } from './methods.ts';
import { listenPlainly } from './plain-listener.ts';
import { listenSecurely } from './secure-listener.ts';
import type { PeerTls } from './tls.ts';
import type { Traffic } from './peer-traffic.ts';
import { UnsentBytes } from './unsent-bytes.ts';

export interface PeerServerOptions {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  /** What to listen on. Secure ones serve TLS. They belong to the server from the call on. */
  readonly ports: readonly { readonly port: BoundPort; readonly secure: boolean }[];
  /** Required if a port is secure. */
  readonly tls: PeerTls | undefined;
  readonly service: PeerService;
  readonly traffic: Traffic;
  /** The stream waits when more bytes of batches than this are queued for a follower that reads slowly. */
  readonly queuedBytesMax: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface PeerServer extends AsyncDisposable {
  /** Sends a Raft message to a member over the connection that the member has made. False: there is none. */
  send(member: bigint, bytes: Uint8Array): boolean;
}

/** Serves the other members. Throws if the certificate of a secure port cannot be used; the ports are closed then. */
export function servePeers(options: PeerServerOptions): PeerServer {
  using opened = new DisposableStack();
  for (const { port } of options.ports) opened.use(port);
  const server = new Server(channelOptions);
  const connection = new PeerCalls(options);
  server.addService(peerService, {
    exchange: (call: Exchange) => connection.exchange(call),
    follow: (call: Follow) => void connection.follow(call),
  });
  const { tls, logger } = options;
  for (const { port, secure } of options.ports) {
    assert(!secure || tls !== undefined, 'a secure address has a certificate');
    if (secure) opened.use(listenSecurely({ port, tls: tls!.served, server, logger }));
    else opened.use(listenPlainly({ port, server, logger }));
  }
  const listeners = opened.move();
  return {
    send: (member, bytes) => connection.send(member, bytes),
    [Symbol.asyncDispose]: async () => {
      connection.close();
      listeners.dispose();
      server.forceShutdown();
    },
  };
}

type Exchange = ServerDuplexStream<linkpb.Frame, linkpb.AnswersInit>;
type Follow = ServerWritableStream<linkpb.FollowRequest, linkpb.BatchesInit>;

/** Encoding a message of so many records takes a millisecond, decoding it as well. */
const MESSAGE_RECORDS_MAX = 4096;

const CALLS_MIN = 64;
/** The numbers of a member's calls go up by one. A few are never sent. */
const CALLS_SKIPPED_MAX = 2 ** 16;

class PeerCalls {
  readonly #options: PeerServerOptions;
  readonly #closing = new AbortController();
  /** The newest connection of each member that has dialled. */
  readonly #dialled = new Map<bigint, Exchange>();

  constructor(options: PeerServerOptions) {
    this.#options = options;
  }

  send(member: bigint, bytes: Uint8Array): boolean {
    const call = this.#dialled.get(member);
    if (call === undefined || call.destroyed) return false;
    call.write({ messages: [bytes] });
    this.#count(member, 'sentBytes', bytes.length);
    return true;
  }

  #count(member: bigint, what: 'sentBytes' | 'receivedBytes' | 'receiveFailures', count: number): void {
    const traffic = this.#options.traffic.with(member);
    if (traffic !== undefined) traffic[what] += count;
  }

  close(): void {
    this.#closing.abort(new PeerError('lost', 'the member stops'));
  }

  exchange(call: Exchange): void {
    const underWay = new SequenceRing<CallUnderWay>(CALLS_MIN);
    let greeted = false;
    let from = 0n;
    const answers = new Gathered<linkpb.CallAnswerInit>((gathered) => {
      if (!call.destroyed) call.write({ answers: gathered });
    });
    call.on('data', (frame: linkpb.Frame) => {
      if (!greeted) {
        const fault = this.#refusal(frame.hello);
        if (fault !== undefined) {
          call.emit('error', { code: status.FAILED_PRECONDITION, details: fault });
          return;
        }
        greeted = true;
        from = frame.hello?.from ?? 0n;
        this.#dialled.set(from, call);
        call.sendMetadata(new Metadata()); // for the dialing member this means "connected"
      }
      if (frame.ping > 0) call.write({ pong: frame.ping });
      for (const message of frame.messages) {
        this.#count(from, 'receivedBytes', message.length);
        this.#options.service.message(message);
      }
      for (const { number, request } of frame.calls) {
        this.#count(from, 'receivedBytes', request.length);
        if (!follows(underWay, number)) {
          call.emit('error', { code: status.INVALID_ARGUMENT, details: `call ${number} is out of order` });
          return;
        }
        const called = new CallUnderWay();
        underWay.put(number, called);
        void this.#answer(request, called).then((answer) => {
          underWay.remove(number);
          if (answer === undefined) return;
          this.#count(from, 'sentBytes', answer.length);
          answers.add({ number, answer });
        });
      }
      for (const number of frame.cancelled) underWay.get(number)?.abort(new PeerError('lost', 'nobody waits'));
    });
    const end = (): void => {
      for (const called of underWay.values()) called.abort(new PeerError('lost', 'the connection has ended'));
      underWay.truncate(underWay.first);
      if (this.#dialled.get(from) === call) this.#dialled.delete(from);
    };
    call.on('end', () => {
      end();
      call.end();
    });
    call.on('error', () => {
      this.#count(from, 'receiveFailures', 1);
      end();
    });
    call.on('close', end);
    call.on('cancelled', end);
  }

  async #answer(request: Uint8Array, called: CallUnderWay): Promise<Uint8Array | undefined> {
    try {
      return await this.#options.service.call(request, called);
    } catch (error) {
      // An internal error gets no answer: the calling member waits until its signal fires or the connection ends.
      if (!called.aborted) this.#options.logger.error({ error: String(error) }, 'a call of another member failed');
      return undefined;
    }
  }

  async follow(call: Follow): Promise<void> {
    const fault = this.#refusal(call.request.hello);
    if (fault !== undefined) {
      call.emit('error', { code: status.FAILED_PRECONDITION, details: fault });
      return;
    }
    const from = call.request.hello?.from ?? 0n;
    const gone = new AbortController();
    call.on('cancelled', () => gone.abort());
    call.on('close', () => gone.abort());
    call.on('error', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#closing.signal]);
    const { clock, queuedBytesMax } = this.#options;
    try {
      const unsent = new UnsentBytes(queuedBytesMax, signal);
      for await (const { first, records } of this.#options.service.follow(logPosition(call.request.from), signal)) {
        for (let at = 0; at < records.length; at += MESSAGE_RECORDS_MAX) {
          if (signal.aborted) return;
          if (at > 0) await nextTurn(clock);
          const piece = records.slice(at, at + MESSAGE_RECORDS_MAX);
          const more = at + piece.length < records.length;
          const sent = unsent.add(piece);
          this.#count(from, 'sentBytes', recordBytes(piece));
          call.write({ batches: [{ first: first + at, records: piece, more }] }, sent);
          await unsent.room();
        }
      }
      call.end();
    } catch (error) {
      if (gone.signal.aborted) return;
      const behind = error instanceof PeerError && error.fault === 'behind';
      call.emit('error', { code: behind ? status.OUT_OF_RANGE : status.UNAVAILABLE, details: String(error) });
    }
  }

  #refusal(hello: linkpb.Hello | undefined): string | undefined {
    if (hello === undefined) return 'a peer that does not say who it is';
    const { clusterId, memberId } = this.#options;
    if (hello.cluster !== clusterId) return `this is a member of cluster ${clusterId.toString(16)}`;
    if (hello.to !== memberId) return `this is member ${memberId.toString(16)}`;
    return undefined;
  }
}

/** Whether a call may have this number. The first one of a connection may have any. */
function follows({ isEmpty, next }: SequenceRing<unknown>, number: number): boolean {
  return number >= next && (isEmpty || number - next <= CALLS_SKIPPED_MAX);
}

/** A call that this member works on. Most calls never need the signal, which costs as much as a good part of a call. */
class CallUnderWay implements PeerCaller {
  #reason: PeerError | undefined;
  #abort: AbortController | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#reason !== undefined) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  abort(reason: PeerError): void {
    this.#reason ??= reason;
    this.#abort?.abort(reason);
  }
}
