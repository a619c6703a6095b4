import { type Clock, type LogPosition, logPosition, SequenceRing, type Timer } from '@engram/core';
import { PeerError } from '@engram/member';
import type { LogBatch } from '@engram/storage';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { Gathered } from './gathered.ts';
import type * as linkpb from './gen/linkpb.ts';
import { channelOptions, EXCHANGE, FOLLOW, peerService } from './methods.ts';
import type { DialedTls } from './tls.ts';

export interface PeerLinkOptions {
  readonly hello: linkpb.Hello;
  /** host:port. */
  readonly target: string;
  readonly tls: DialedTls;
  readonly clock: Clock;
  /** Called for a Raft message that the other member sent on this connection. */
  readonly onMessage: (bytes: Uint8Array) => void;
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
  /** The address refuses connections, so the member's process is gone. */
  readonly onGone: () => void;
  /** An attempt to connect has failed. The link makes another unless this callback closes it. */
  readonly onUnreached: (why: string) => void;
}

interface Waiting {
  readonly resolve: (answer: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

type Item =
  | { readonly kind: 'message'; readonly bytes: Uint8Array }
  | { readonly kind: 'call'; readonly number: number; readonly request: Uint8Array }
  | { readonly kind: 'cancel'; readonly number: number };

const RETRY_MS = 100;
/** Raft messages are dropped while more items than this wait in the process. */
const QUEUED_FRAMES_MAX = 4096;
const CALLS_MIN = 64;

/** The connection to one other member. When the connection ends, the link makes a new one. */
export class PeerLink {
  readonly #options: PeerLinkOptions;
  #client: Client;
  #credentials: ChannelCredentials;
  #calls = new SequenceRing<Waiting>(CALLS_MIN);
  readonly #outgoing: Gathered<Item>;
  #stream: ClientDuplexStream<linkpb.FrameInit, linkpb.Answers> | undefined;
  #connected = false;
  #number = 0;
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: PeerLinkOptions) {
    this.#options = options;
    this.#credentials = options.tls.credentials;
    this.#client = new Client(options.target, this.#credentials, channelOptions);
    this.#outgoing = new Gathered((items) => this.#write(items));
    this.#open();
  }

  get isConnected(): boolean {
    return this.#connected;
  }

  send(bytes: Uint8Array): void {
    if (!this.#connected || this.#outgoing.size > QUEUED_FRAMES_MAX) return;
    this.#outgoing.add({ kind: 'message', bytes });
  }

  call(request: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    if (!this.#connected) return Promise.reject(new PeerError('unsent', `${this.#options.target} is not connected`));
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    this.#number += 1;
    const number = this.#number;
    return new Promise<Uint8Array>((resolve, reject) => {
      this.#outgoing.add({ kind: 'call', number, request });
      if (signal === undefined) {
        this.#calls.put(number, { resolve, reject });
        return;
      }
      const cancel = (): void => {
        if (this.#calls.get(number) === undefined) return;
        this.#calls.remove(number);
        this.#outgoing.add({ kind: 'cancel', number });
        reject(signal.reason);
      };
      signal.addEventListener('abort', cancel, { once: true });
      const settled = (): void => signal.removeEventListener('abort', cancel);
      this.#calls.put(number, {
        resolve: (answer) => {
          settled();
          resolve(answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
    });
  }

  async *follow(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const { hello } = this.#options;
    const { requestSerialize, responseDeserialize } = peerService.follow;
    const stream = this.#client.makeServerStreamRequest<linkpb.FollowRequestInit, linkpb.Batches>(
      FOLLOW,
      requestSerialize,
      responseDeserialize,
      { hello, from },
    );
    const cancel = (): void => stream.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      for await (const { batches } of batchesOf(stream)) {
        for (const { first, records } of batches) yield { first: logPosition(first), records };
      }
    } catch (cause) {
      if (signal.aborted) return;
      const behind = isServiceError(cause) && cause.code === status.OUT_OF_RANGE;
      throw new PeerError(behind ? 'behind' : 'lost', 'the stream of committed batches has ended', { cause });
    } finally {
      signal.removeEventListener('abort', cancel);
      stream.cancel();
    }
  }

  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#stream?.cancel();
    this.#ended();
    this.#client.close();
  }

  #open(): void {
    this.#followCredentials();
    const { requestSerialize, responseDeserialize } = peerService.exchange;
    const stream = this.#client.makeBidiStreamRequest<linkpb.FrameInit, linkpb.Answers>(
      EXCHANGE,
      requestSerialize,
      responseDeserialize,
    );
    this.#stream = stream;
    // The server sends headers when it has accepted `hello`. Frames written before might reach no member.
    stream.on('metadata', () => this.#opened(stream));
    stream.on('data', ({ answers, messages }: linkpb.Answers) => {
      for (const { number, answer } of answers) this.#answered(number, answer);
      for (const message of messages) this.#options.onMessage(message);
    });
    const failed = (error?: unknown): void => {
      if (this.#stream !== stream) return;
      const reached = this.#connected;
      this.#stream = undefined;
      this.#ended();
      if (this.#closed) return;
      if (isServiceError(error) && /ECONNREFUSED/.test(error.details)) this.#options.onGone();
      this.#retry = this.#options.clock.after(RETRY_MS, () => {
        if (!reached) this.#options.onUnreached(isServiceError(error) ? error.details : 'the connection has ended');
        if (!this.#closed) this.#open();
      });
    };
    stream.on('error', failed);
    stream.on('end', () => failed());
    stream.write({ hello: this.#options.hello });
  }

  /** Uses new certificates from the next attempt to connect on. An existing connection stays. */
  #followCredentials(): void {
    const { target, tls } = this.#options;
    const { credentials } = tls;
    if (credentials === this.#credentials) return;
    this.#client.close();
    this.#credentials = credentials;
    this.#client = new Client(target, credentials, channelOptions);
  }

  #opened(stream: unknown): void {
    if (this.#stream !== stream || this.#connected) return;
    this.#connected = true;
    this.#options.onConnected();
  }

  #ended(): void {
    const calls = this.#calls;
    this.#calls = new SequenceRing(CALLS_MIN);
    for (const { reject } of calls.values())
      reject(new PeerError('lost', `the connection to ${this.#options.target} has ended`));
    if (!this.#connected) return;
    this.#connected = false;
    this.#options.onDisconnected();
  }

  #answered(number: number, answer: Uint8Array): void {
    const waiting = this.#calls.get(number);
    this.#calls.remove(number);
    waiting?.resolve(answer);
  }

  #write(items: readonly Item[]): void {
    const stream = this.#stream;
    if (stream === undefined || !this.#connected) return; // the calls were rejected when the connection ended
    const frame = { messages: [] as Uint8Array[], calls: [] as linkpb.CallInit[], cancelled: [] as number[] };
    for (const item of items) {
      if (item.kind === 'message') frame.messages.push(item.bytes);
      else if (item.kind === 'call') frame.calls.push({ number: item.number, request: item.request });
      else frame.cancelled.push(item.number);
    }
    stream.write(frame);
  }
}

/** Types the items of a stream: Node's own type is `any`. */
const batchesOf = (stream: ClientReadableStream<linkpb.Batches>): AsyncIterable<linkpb.Batches> => stream;

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && 'details' in error;
