import type { EventEmitter } from 'node:events';
import type * as grpc from '@grpc/grpc-js';
import { type Clock, GrpcCode } from '@engram/core';
import {
  type BidiMethod,
  type CallContext,
  type CallHead,
  dropMessage,
  gatherMessage,
  isLong,
  type Message,
  messageBytes,
  type RpcStatus,
  type ServerStreamMethod,
  type StreamCall,
  type StreamHandler,
  type UnaryMethod,
} from '@engram/wire';
import { commonNameOf } from '../client-certificate.ts';
import { type MethodObserver, STREAM_LOW_MARK_BYTES } from '../serve-options.ts';
import { CANCELLED, DEADLINE_EXCEEDED, statusOfError, STOPPED } from '../status.ts';

type Unary = grpc.ServerUnaryCall<Buffer, Message>;
type Streaming = grpc.ServerDuplexStream<Buffer, Message> | grpc.ServerWritableStream<Buffer, Message>;

/** State that every call of one server needs. */
export interface CallEnvironment {
  readonly clock: Clock;
  /** Peer of calls whose connection has no address (unix sockets). */
  readonly unixPath: string | undefined;
  /** Open streams, which a drain ends. */
  readonly streams: Set<GrpcJsStream>;
}

/** Calls `ended` once when the call ends, in any way: grpc-js emits `cancelled` also after a status was sent. */
function onCancelled(call: EventEmitter, ended: () => void): void {
  call.once('cancelled', ended);
}

class GrpcJsContext implements CallContext {
  readonly head: CallHead = { admitted: undefined };
  readonly #call: Unary | Streaming;
  readonly #unixPath: string | undefined;
  #abort: AbortController | undefined;

  constructor(call: Unary | Streaming, unixPath: string | undefined) {
    this.#call = call;
    this.#unixPath = unixPath;
  }

  metadata(name: string): string | undefined {
    const value = this.#call.metadata.get(name)[0];
    return typeof value === 'string' ? value : undefined;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      this.#abort = abort;
      if (this.#call.cancelled) abort.abort();
      else onCancelled(this.#call, () => abort.abort());
    }
    return this.#abort.signal;
  }

  get peer(): string {
    return this.#unixPath ?? this.#call.getPeer();
  }

  get client(): string {
    return this.peer;
  }

  get method(): string {
    return this.#call.getPath();
  }

  get commonName(): string | undefined {
    const certificate = this.#call.getAuthContext().sslPeerCertificate;
    return certificate === undefined ? undefined : commonNameOf(certificate);
  }
}

function deadlinePassed(call: Unary | Streaming): boolean {
  const deadline = call.getDeadline();
  return (typeof deadline === 'number' ? deadline : deadline.getTime()) <= Date.now();
}

export function unaryHandler(
  method: UnaryMethod,
  observer: MethodObserver | undefined,
  environment: CallEnvironment,
): grpc.handleUnaryCall<Buffer, Message> {
  const { clock } = environment;
  return (call, callback) => {
    const startMs = clock.nowMs();
    let handled = false;
    const finish = (code: number): boolean => {
      if (handled) return false;
      handled = true;
      observer?.handled(code, clock.nowMs() - startMs);
      return true;
    };
    const succeed = (message: Message): void => {
      if (!finish(GrpcCode.OK)) return;
      observer?.sent(messageBytes(message));
      callback(null, message);
    };
    const fail = (error: unknown): void => {
      const status = statusOfError(error, 'unary');
      if (finish(status.code)) callback({ code: status.code, details: status.message });
    };
    observer?.started();
    observer?.received(call.request.length);
    onCancelled(call, () => finish((deadlinePassed(call) ? DEADLINE_EXCEEDED : CANCELLED).code));
    try {
      const answer = method.handle(call.request, new GrpcJsContext(call, environment.unixPath));
      // grpc-js takes only whole messages.
      if (answer instanceof Promise) answer.then(gatherMessage).then(succeed, fail);
      else if (answer instanceof Uint8Array || !isLong(answer)) succeed(answer);
      else gatherMessage(answer).then(succeed, fail);
    } catch (error) {
      fail(error);
    }
  };
}

export function serverStreamHandler(
  method: ServerStreamMethod,
  observer: MethodObserver | undefined,
  environment: CallEnvironment,
): grpc.handleServerStreamingCall<Buffer, Message> {
  return (call) => {
    const stream = new GrpcJsStream(call, observer, environment);
    observer?.received(call.request.length);
    stream.open(() => method.open(call.request, stream));
    stream.halfClosed();
  };
}

export function bidiHandler(
  method: BidiMethod,
  observer: MethodObserver | undefined,
  environment: CallEnvironment,
): grpc.handleBidiStreamingCall<Buffer, Message> {
  return (call) => {
    const stream = new GrpcJsStream(call, observer, environment);
    stream.open(() => method.open(stream));
    call.on('data', (request: Buffer) => {
      observer?.received(request.length);
      stream.message(request);
    });
    call.on('end', () => stream.halfClosed());
  };
}

/** Connects a stream of grpc-js to a handler. */
export class GrpcJsStream extends GrpcJsContext implements StreamCall {
  readonly #call: Streaming;
  readonly #observer: MethodObserver | undefined;
  readonly #environment: CallEnvironment;
  readonly #startMs: number;
  #handler: StreamHandler | undefined;
  #queuedBytes = 0;
  #aboveMark = false;
  #ended = false;
  #closed = false;

  constructor(call: Streaming, observer: MethodObserver | undefined, environment: CallEnvironment) {
    super(call, environment.unixPath);
    this.#call = call;
    this.#observer = observer;
    this.#environment = environment;
    this.#startMs = environment.clock.nowMs();
    observer?.started();
    environment.streams.add(this);
    onCancelled(call, () => this.#close());
  }

  get crowded(): boolean {
    return false; // grpc-js has no limit
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  open(handler: () => StreamHandler): void {
    this.#guard(() => {
      this.#handler = handler();
    });
    if (this.#closed) this.#handler?.closed();
  }

  message(request: Uint8Array): void {
    if (!this.#ended) this.#guard(() => this.#handler?.message(request));
  }

  halfClosed(): void {
    if (!this.#ended) this.#guard(() => this.#handler?.halfClosed());
  }

  send(message: Message): void {
    if (this.#ended) {
      dropMessage(message);
      return;
    }
    const bytes = messageBytes(message);
    this.#queuedBytes += bytes;
    if (this.#queuedBytes > STREAM_LOW_MARK_BYTES) this.#aboveMark = true;
    this.#observer?.sent(bytes);
    this.#call.write(message, () => this.#left(bytes));
  }

  end(status?: RpcStatus): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#handled(status?.code ?? GrpcCode.OK);
    if (status === undefined || status.code === GrpcCode.OK) this.#call.end();
    else this.#call.emit('error', { code: status.code, details: status.message });
  }

  stop(): void {
    this.end(STOPPED);
  }

  #left(bytes: number): void {
    this.#queuedBytes -= bytes;
    if (!this.#aboveMark || this.#queuedBytes > STREAM_LOW_MARK_BYTES) return;
    this.#aboveMark = false;
    if (!this.#ended) this.#guard(() => this.#handler?.drained());
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#ended) this.#handled((deadlinePassed(this.#call) ? DEADLINE_EXCEEDED : CANCELLED).code);
    this.#ended = true;
    this.#environment.streams.delete(this);
    this.#guard(() => this.#handler?.closed());
  }

  #handled(code: number): void {
    this.#observer?.handled(code, this.#environment.clock.nowMs() - this.#startMs);
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.end(statusOfError(error, 'stream'));
    }
  }
}
