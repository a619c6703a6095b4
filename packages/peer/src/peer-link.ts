import { type Clock, type LogPosition, logPosition, SequenceRing, type Timer } from '@engram/core';
import { Inbox, type Loop } from '@engram/loop';
import { PeerError } from '@engram/member';
import { type LogBatch, recordBytes } from '@engram/storage';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { DialTarget } from './dial-target.ts';
import { Gathered } from './gathered.ts';
import { GoneProbe } from './gone-probe.ts';
import type * as linkpb from './gen/linkpb.ts';
import type { PeerTraffic } from './peer-traffic.ts';
import { channelOptions, EXCHANGE, FOLLOW, peerService } from './methods.ts';
import type { DialedTls } from './tls.ts';

export interface PeerLinkOptions {
  readonly hello: linkpb.Hello;
  readonly dialed: DialTarget;
  readonly tls: DialedTls;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly traffic: PeerTraffic;
  /** Called for each measured time to the other member and back. */
  readonly onRoundTrip: (ms: number) => void;
  /** Called for a Raft message that the other member sent on this connection. False: it is refused, and the connection ends. */
  readonly onMessage: (bytes: Uint8Array) => boolean;
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
  /** The address refuses connections, or resets them as a process does that only starts: the member's process is gone. */
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
  | { readonly kind: 'cancel'; readonly number: number }
  | { readonly kind: 'ping'; readonly number: number };

const RETRY_MS = 100;
/**
 * An attempt that the other member has not accepted by then is given up (etcd: a second and two election timeouts). By TCP's own
 * count it may last for two minutes after the network is well: packets of an interface that is gone go nowhere.
 */
const ATTEMPT_MAX_MS = 5000;
/** Raft messages are dropped while more frames than this wait in the process, or more items for the next one. */
export const QUEUED_FRAMES_MAX = 4096;
const CALLS_MIN = 64;
/** How often the time to the other member and back is measured (etcd: rafthttp's prober, ConnReadTimeout less a second). */
const PING_MS = 4000;

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
  /** Ends the attempt to connect that is under way. */
  #attempt: Timer | undefined;
  #probe: GoneProbe | undefined;
  #pingTimer: Timer | undefined;
  /** The last ping, and when it was sent. */
  #ping = { number: 0, sentMs: 0 };
  #closed = false;

  constructor(options: PeerLinkOptions) {
    this.#options = options;
    this.#credentials = options.tls.credentials;
    this.#client = new Client(options.dialed.target, this.#credentials, channelOptions);
    this.#outgoing = new Gathered((items) => this.#write(items));
    this.#open();
  }

  get isConnected(): boolean {
    return this.#connected;
  }

  /** False if the message was dropped. */
  send(bytes: Uint8Array): boolean {
    const queued = Math.max(this.#outgoing.size, this.#stream?.writableLength ?? 0);
    if (!this.#connected || queued > QUEUED_FRAMES_MAX) return false;
    this.#outgoing.add({ kind: 'message', bytes });
    return true;
  }

  call(request: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    if (!this.#connected) {
      this.#options.traffic.sendFailures += 1;
      return Promise.reject(new PeerError('unsent', `${this.#options.dialed.address} is not connected`));
    }
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
    const { hello, traffic } = this.#options;
    const stream = this.#client.makeServerStreamRequest<linkpb.FollowRequestInit, linkpb.Batches | Unreadable>(
      FOLLOW,
      peerService.follow.requestSerialize,
      readBatches,
      { hello, from },
    );
    let begun: { readonly first: LogPosition; readonly records: Uint8Array[] } | undefined;
    const cancel = (): void => stream.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      for await (const message of messagesOf(stream)) {
        if (message instanceof Unreadable) throw message.refusal;
        for (const { first, records, more, chain } of message.batches) {
          traffic.receivedBytes += recordBytes(records);
          if (begun === undefined) begun = { first: positionOf(first), records };
          else if (first !== begun.first + begun.records.length) {
            throw new PeerError(
              'refused',
              `a piece of a batch at ${first} behind ${begun.first + begun.records.length}`,
            );
          } else for (const record of records) begun.records.push(record);
          if (more) continue;
          yield chain.length === 0 ? begun : { ...begun, chain };
          begun = undefined;
        }
      }
    } catch (cause) {
      if (signal.aborted) return;
      if (cause instanceof PeerError) throw cause;
      const behind = isServiceError(cause) && cause.code === status.OUT_OF_RANGE;
      if (!behind) traffic.receiveFailures += 1;
      throw new PeerError(behind ? 'behind' : 'lost', 'the stream of committed batches has ended', { cause });
    } finally {
      signal.removeEventListener('abort', cancel);
      stream.cancel();
    }
  }

  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#attempt?.cancel();
    this.#probe?.cancel();
    this.#pingTimer?.cancel();
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
    const { traffic, loop, hello, clock } = this.#options;
    let late: string | undefined;
    this.#attempt = clock.after(ATTEMPT_MAX_MS, () => {
      late = `not connected within ${ATTEMPT_MAX_MS} ms`;
      stream.cancel();
      this.#renew();
    });
    const caller = `member ${hello.to}`;
    // Raft's messages never wait for answers.
    const raft = new Inbox<Uint8Array>(loop, { work: 'consensus', caller, stage: 'raft' }, (message) => {
      traffic.receivedBytes += message.length;
      if (this.#closed || this.#options.onMessage(message)) return;
      raft.clear();
      stream.cancel();
    });
    const answered = ({ number, answer }: linkpb.CallAnswer): void => {
      traffic.receivedBytes += answer.length;
      this.#answered(number, answer);
    };
    const calls = new Inbox(loop, { work: 'durable', caller, stage: 'answer' }, answered);
    stream.on('data', ({ answers, messages, pong }: linkpb.Answers) => {
      if (pong > 0) this.#ponged(pong);
      raft.take(messages);
      calls.take(answers);
    });
    const failed = (error?: unknown): void => {
      raft.clear();
      for (const told of calls.clear()) answered(told);
      if (this.#stream !== stream) return;
      const reached = this.#connected;
      this.#stream = undefined;
      this.#attempt?.cancel();
      this.#ended();
      if (this.#closed) return;
      if (!reached && isServiceError(error) && error.code === status.UNAVAILABLE) this.#askWhetherGone();
      this.#retry = this.#options.clock.after(RETRY_MS, () => {
        const why = late ?? (isServiceError(error) ? error.details : 'the connection has ended');
        if (!reached) this.#options.onUnreached(why);
        if (!this.#closed) this.#open();
      });
    };
    stream.on('error', failed);
    stream.on('end', () => failed());
    stream.write({ hello: this.#options.hello });
  }

  #askWhetherGone(): void {
    const { dialed, clock, onGone } = this.#options;
    this.#probe?.cancel();
    this.#probe = new GoneProbe({ host: dialed.host, port: dialed.port, clock, onGone });
  }

  /** Uses new certificates from the next attempt to connect on. An existing connection stays. */
  #followCredentials(): void {
    const { credentials } = this.#options.tls;
    if (credentials === this.#credentials) return;
    this.#credentials = credentials;
    this.#renew();
  }

  /** The next attempt makes a connection of its own. */
  #renew(): void {
    this.#client.close();
    this.#client = new Client(this.#options.dialed.target, this.#credentials, channelOptions);
  }

  #opened(stream: unknown): void {
    if (this.#stream !== stream || this.#connected) return;
    this.#attempt?.cancel();
    this.#connected = true;
    this.#options.traffic.connected = true;
    this.#pingLater(0);
    this.#options.onConnected();
  }

  #pingLater(afterMs: number): void {
    const { clock } = this.#options;
    this.#pingTimer?.cancel();
    this.#pingTimer = clock.after(afterMs, () => {
      if (!this.#connected) return;
      this.#ping = { number: this.#ping.number + 1, sentMs: clock.nowMs() };
      this.#outgoing.add({ kind: 'ping', number: this.#ping.number });
      this.#pingLater(PING_MS);
    });
  }

  /** An answer to a ping before the last is too old to count. */
  #ponged(number: number): void {
    const { clock, onRoundTrip } = this.#options;
    if (number === this.#ping.number) onRoundTrip(clock.nowMs() - this.#ping.sentMs);
  }

  #ended(): void {
    const calls = this.#calls;
    this.#calls = new SequenceRing(CALLS_MIN);
    for (const { reject } of calls.values())
      reject(new PeerError('lost', `the connection to ${this.#options.dialed.address} has ended`));
    if (!this.#connected) return;
    this.#connected = false;
    this.#pingTimer?.cancel();
    this.#options.traffic.connected = false;
    this.#options.traffic.disconnections += 1;
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
    const { traffic } = this.#options;
    const frame = { messages: [] as Uint8Array[], calls: [] as linkpb.CallInit[], cancelled: [] as number[], ping: 0 };
    for (const item of items) {
      if (item.kind === 'message') {
        frame.messages.push(item.bytes);
        traffic.sentBytes += item.bytes.length;
      } else if (item.kind === 'call') {
        frame.calls.push({ number: item.number, request: item.request });
        traffic.sentBytes += item.request.length;
      } else if (item.kind === 'cancel') frame.cancelled.push(item.number);
      else frame.ping = item.number;
    }
    stream.write(frame);
  }
}

function positionOf(first: number): LogPosition {
  if (first < 1 || !Number.isSafeInteger(first)) throw new PeerError('refused', `a batch at position ${first}`);
  return logPosition(first);
}

/** A message of batches that cannot be read. If its deserializer threw, grpc-js would tell it by words alone. */
class Unreadable {
  readonly refusal: PeerError;

  constructor(cause: unknown) {
    this.refusal = new PeerError('refused', `a message of batches that cannot be read: ${String(cause)}`, { cause });
  }
}

function readBatches(bytes: Buffer): linkpb.Batches | Unreadable {
  try {
    return peerService.follow.responseDeserialize(bytes);
  } catch (error) {
    return new Unreadable(error);
  }
}

/** Types the items of a stream: Node's own type is `any`. */
const messagesOf = <Message>(stream: ClientReadableStream<Message>): AsyncIterable<Message> => stream;

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'code' in error && 'details' in error;
