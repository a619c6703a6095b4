import type { EventEmitter } from 'node:events';
import type * as grpc from '@grpc/grpc-js';
import { type Clock, GrpcCode, type Span, whenThere } from '@engram/core';
import {
  type BidiMethod,
  type CallContext,
  type CallHead,
  type CallHooks,
  type CallUser,
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
  CANCELLED,
  DEADLINE_EXCEEDED,
  STOPPED,
  SUCCEEDED,
  statusOfError,
} from '@engram/wire';
import { commonNameOf } from '../client-certificate.ts';
import { STREAM_LOW_MARK_BYTES } from '../serve-options.ts';

type Unary = grpc.ServerUnaryCall<Buffer, Message>;
type Streaming = grpc.ServerDuplexStream<Buffer, Message> | grpc.ServerWritableStream<Buffer, Message>;

interface Stoppable {
  stop(): void;
}

/** State that every call of one server needs. */
export interface CallEnvironment {
  readonly clock: Clock;
  /** Peer of calls whose connection has no address (unix sockets). */
  readonly unixPath: string | undefined;
  /** Open streams, and unary calls that wait for other clients: a drain ends them. */
  readonly streams: Set<Stoppable>;
  /** The server drains: what would wait from now on ends at once. */
  draining: boolean;
}

/** Calls `ended` once when the call ends, in any way: grpc-js emits `cancelled` also after a status was sent. */
function onCancelled(call: EventEmitter, ended: () => void): void {
  call.once('cancelled', ended);
}

class GrpcJsContext implements CallContext {
  readonly head: CallHead = { admitted: undefined };
  span: Span | undefined = undefined;
  user: CallUser | undefined = undefined;
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

  protected abort(): void {
    this.#abort?.abort();
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

/** A unary call. `stopped` is called when the server stops while its handler waits for other clients. */
class GrpcJsUnary extends GrpcJsContext implements Stoppable {
  readonly #environment: CallEnvironment;
  readonly #stopped: () => void;

  constructor(call: Unary, environment: CallEnvironment, stopped: () => void) {
    super(call, environment.unixPath);
    this.#environment = environment;
    this.#stopped = stopped;
  }

  waits(waiting: boolean): void {
    const { streams, draining } = this.#environment;
    if (!waiting) streams.delete(this);
    else if (draining) this.stop();
    else streams.add(this);
  }

  stop(): void {
    this.#stopped();
    this.abort();
  }
}

/** grpc-js takes only whole messages. */
function whole(answer: Message): Message | Promise<Message> {
  return answer instanceof Uint8Array || !isLong(answer) ? answer : gatherMessage(answer);
}

function deadlinePassed(call: Unary | Streaming): boolean {
  const deadline = call.getDeadline();
  return (typeof deadline === 'number' ? deadline : deadline.getTime()) <= Date.now();
}

export function unaryHandler(method: UnaryMethod, environment: CallEnvironment): grpc.handleUnaryCall<Buffer, Message> {
  const { clock } = environment;
  const { hooks } = method;
  return (call, callback) => {
    const startMs = clock.nowMs();
    const context = new GrpcJsUnary(call, environment, () => end(STOPPED));
    let handled = false;
    const finish = (status: RpcStatus): boolean => {
      if (handled) return false;
      handled = true;
      hooks?.end?.(context, status, clock.nowMs() - startMs);
      return true;
    };
    const succeed = (message: Message): void => {
      context.waits(false);
      if (handled) return;
      hooks?.sent?.(context, messageBytes(message));
      finish(SUCCEEDED);
      callback(null, message);
    };
    const end = (status: RpcStatus): void => {
      context.waits(false);
      if (finish(status)) callback({ code: status.code, details: status.message });
    };
    const fail = (error: unknown): void => end(statusOfError(error, 'unary'));
    hooks?.begin?.(context);
    hooks?.received?.(context, call.request.length);
    onCancelled(call, () => finish(deadlinePassed(call) ? DEADLINE_EXCEEDED : CANCELLED));
    try {
      hooks?.admit?.(context, call.request);
      void whenThere(whenThere(method.handle(call.request, context), whole, undefined), succeed, undefined, fail);
    } catch (error) {
      fail(error);
    }
  };
}

export function serverStreamHandler(
  method: ServerStreamMethod,
  environment: CallEnvironment,
): grpc.handleServerStreamingCall<Buffer, Message> {
  return (call) => {
    const { hooks } = method;
    const stream = new GrpcJsStream(call, hooks, environment);
    hooks?.received?.(stream, call.request.length);
    stream.open(() => {
      hooks?.admit?.(stream, call.request);
      return method.open(call.request, stream);
    });
    stream.halfClosed();
  };
}

export function bidiHandler(
  method: BidiMethod,
  environment: CallEnvironment,
): grpc.handleBidiStreamingCall<Buffer, Message> {
  return (call) => {
    const { hooks } = method;
    const stream = new GrpcJsStream(call, hooks, environment);
    stream.open(() => {
      hooks?.admit?.(stream, undefined);
      return method.open(stream);
    });
    call.on('data', (request: Buffer) => {
      hooks?.received?.(stream, request.length);
      stream.message(request);
    });
    call.on('end', () => stream.halfClosed());
  };
}

/** Connects a stream of grpc-js to a handler. */
export class GrpcJsStream extends GrpcJsContext implements StreamCall {
  readonly #call: Streaming;
  readonly #hooks: CallHooks | undefined;
  readonly #environment: CallEnvironment;
  readonly #startMs: number;
  #handler: StreamHandler | undefined;
  #queuedBytes = 0;
  #aboveMark = false;
  #ended = false;
  #closed = false;

  constructor(call: Streaming, hooks: CallHooks | undefined, environment: CallEnvironment) {
    super(call, environment.unixPath);
    this.#call = call;
    this.#hooks = hooks;
    this.#environment = environment;
    this.#startMs = environment.clock.nowMs();
    hooks?.begin?.(this);
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
    this.#hooks?.sent?.(this, bytes);
    this.#call.write(message, () => this.#left(bytes));
  }

  end(status?: RpcStatus): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#handled(status ?? SUCCEEDED);
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
    if (!this.#ended) this.#handled(deadlinePassed(this.#call) ? DEADLINE_EXCEEDED : CANCELLED);
    this.#ended = true;
    this.#environment.streams.delete(this);
    this.#guard(() => this.#handler?.closed());
  }

  #handled(status: RpcStatus): void {
    this.#hooks?.end?.(this, status, this.#environment.clock.nowMs() - this.#startMs);
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.end(statusOfError(error, 'stream'));
    }
  }
}
