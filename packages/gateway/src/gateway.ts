import { type Clock, EMPTY_BYTES, GrpcCode } from '@engram/core';
import type { Loop, PureJob } from '@engram/loop';
import {
  type BidiMethod,
  dropMessage,
  type Message,
  messageBytes,
  type Method,
  type MethodTable,
  type RpcStatus,
  type ServerStreamMethod,
  StatusError,
  type UnaryMethod,
  DEADLINE_EXCEEDED,
  STOPPED,
  SUCCEEDED,
  statusOfError,
} from '@engram/wire';
import { failure, jsonHeaders, streamFailure } from './answers.ts';
import { GatewayCall, type CallParts, WaitingCalls } from './gateway-call.ts';
import type { GatewayAnswer, GatewayRequest } from './gateway-request.ts';
import { type GatewaySocket, piecesOfLines, protocolOfSocket, requestOfSocket } from './gateway-socket.ts';
import { GatewayStream } from './gateway-stream.ts';
import { JsonText } from './json/json-text.ts';
import { messageOfJson } from './json/message-of-json.ts';
import { linesOf } from './lines.ts';
import { heldBytes, MessageChunks } from './message-chunks.ts';
import { type Route, routes } from './routes.ts';
import { NO_ROOM, notServed } from './statuses.ts';
import { timeoutMsOf } from './timeout.ts';

/** A request of up to this length is not counted beside its body. */
const SMALL_BYTES = 32 * 1024;
/** Requests of a stream that are read between two pauses. */
const REQUESTS_EACH = 16;

export interface GatewayOptions {
  /** The methods that gRPC serves. Each call of a method calls the method's hooks as well. */
  readonly methods: MethodTable;
  readonly loop: Loop;
  readonly clock: Clock;
  /** A longer request message is refused, as by gRPC. */
  readonly messageBytesMax: number;
}

interface Target {
  readonly route: Route;
  readonly method: Method;
  readonly parts: CallParts;
}

/**
 * etcd's gateway: JSON over HTTP for the methods of gRPC, by the rules of grpc-gateway 2. A call ends with its answer, or when its
 * client is gone.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #services: ReadonlySet<string>;
  readonly #streams = new Set<GatewayStream>();
  readonly #waiting = new WaitingCalls();
  /** Of sockets whose call begins with a message that has not come: each begins it without one. */
  readonly #silent = new Set<() => void>();
  #stopped = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#routes = new Map(routes.map((route) => [route.path, route]));
    this.#services = new Set([...options.methods.keys()].map((path) => path.slice(1, path.lastIndexOf('/'))));
  }

  async answer(request: GatewayRequest): Promise<GatewayAnswer> {
    const target = this.#find(request);
    if ('code' in target) return failure(target);
    const { route, method, parts } = target;
    if (method.kind !== 'unary') {
      const stream = this.#openStream(method, new GatewayStream(route, request, parts));
      void this.#requests(method, stream, request.body);
      return await this.#answerStream(stream);
    }
    const call = new GatewayCall(route, request, parts);
    call.start();
    try {
      return await this.#answerUnary(method, call, request);
    } catch (error) {
      const status = call.cut ?? statusOfError(error, 'unary');
      call.end(status);
      return failure(status);
    }
  }

  /**
   * A WebSocket at a path of the gateway: the call begins with its first message, or, if the method takes a stream of requests, at
   * once. `request` is that of the upgrade; its signal aborts when the socket has closed.
   */
  socket(request: GatewayRequest): GatewaySocket {
    const asked = requestOfSocket(request);
    const protocol = protocolOfSocket(request);
    const target = this.#find(asked);
    if ('code' in target) return { protocol, pieces: piecesOfLines(failure(target)), message: async () => {} };
    const { route, method, parts } = target;
    if (method.kind === 'bidi') {
      const stream = this.#openStream(method, new GatewayStream(route, asked, parts));
      const pieces = piecesOfLines({ body: linesOf(stream, this.#options.loop) });
      return { protocol, pieces, message: (bytes) => this.#feed(stream, bytes) };
    }
    const first = Promise.withResolvers<Uint8Array | undefined>();
    const begin = (body: Uint8Array | undefined): void => {
      this.#silent.delete(stop);
      first.resolve(body);
    };
    const stop = (): void => begin(EMPTY_BYTES);
    const gone = (): void => begin(undefined);
    this.#silent.add(stop);
    if (asked.signal.aborted) gone();
    else asked.signal.addEventListener('abort', gone, { once: true });
    const answer = async function* (gateway: Gateway): AsyncGenerator<Uint8Array> {
      const body = await first.promise;
      asked.signal.removeEventListener('abort', gone);
      if (body === undefined) return;
      const { body: answered } = await gateway.answer({ ...asked, body });
      if (answered instanceof Uint8Array) yield answered;
      else yield* answered;
    };
    return {
      protocol,
      pieces: piecesOfLines({ body: answer(this) }),
      message: async (bytes) => begin(bytes),
    };
  }

  /** Ends all streams with UNAVAILABLE, and the calls that wait for other clients. New calls are refused. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.stop();
    for (const stream of this.#streams) stream.stop();
    for (const begin of [...this.#silent]) begin();
  }

  #find({ method: verb, path, headers }: GatewayRequest): Target | RpcStatus {
    if (this.#stopped) return STOPPED;
    // etcd's paths before 3.4.
    const route = this.#routes.get(path.replace(/^\/v3beta\//, '/v3/'));
    if (route === undefined) return { code: GrpcCode.NOT_FOUND, message: 'Not Found' };
    if (verb !== 'POST') return { code: GrpcCode.UNIMPLEMENTED, message: 'Method Not Allowed' };
    const timeout = headers['grpc-timeout'];
    const timeoutMs = timeout === undefined ? 0 : timeoutMsOf(timeout);
    if (timeoutMs === undefined)
      return { code: GrpcCode.INVALID_ARGUMENT, message: `invalid grpc-timeout: ${timeout?.slice(0, 40)}` };
    if (timeoutMs < 0) return DEADLINE_EXCEEDED;
    const method = this.#options.methods.get(route.method);
    if (method === undefined) return notServed(route.method, (service) => this.#services.has(service));
    const { loop, clock } = this.#options;
    return { route, method, parts: { loop, clock, hooks: method.hooks, timeoutMs, waiting: this.#waiting } };
  }

  async #answerUnary(method: UnaryMethod, call: GatewayCall, request: GatewayRequest): Promise<GatewayAnswer> {
    const bytes = await this.#requestMessage(call, request.body);
    call.received(bytes.length);
    method.hooks?.admit?.(call, bytes);
    const message = await method.handle(bytes, call);
    if (call.cut !== undefined) {
      dropMessage(message);
      throw new StatusError(call.cut.code, call.cut.message);
    }
    call.sent(messageBytes(message));
    call.handled(SUCCEEDED);
    return await this.#answerMessage(call, message);
  }

  /** What is short is sent as a whole. The rest of a long message becomes text while the client takes it. */
  async #answerMessage(call: GatewayCall, message: Message): Promise<GatewayAnswer> {
    const chunks = new MessageChunks(call.route.response, message);
    call.onEnd(() => chunks.drop());
    call.hold(heldBytes(message));
    const first = Buffer.from(await chunks.next());
    if (!chunks.done) return { status: 200, headers: jsonHeaders, body: this.#rest(call, first, chunks) };
    call.end();
    return { status: 200, headers: jsonHeaders, body: first };
  }

  async *#rest(call: GatewayCall, first: Uint8Array, chunks: MessageChunks): AsyncGenerator<Uint8Array> {
    try {
      yield first;
      while (!chunks.done) {
        await this.#options.loop.pause(call.task);
        yield Buffer.from(await chunks.next());
      }
    } finally {
      call.end();
    }
  }

  /** The stream of a method that takes one begins now, that of another method with its request. */
  #openStream(method: BidiMethod | ServerStreamMethod, stream: GatewayStream): GatewayStream {
    this.#streams.add(stream);
    stream.start();
    stream.onEnd(() => this.#streams.delete(stream));
    if (method.kind === 'bidi') {
      stream.open(() => {
        method.hooks?.admit?.(stream, undefined);
        return method.open(stream);
      });
    }
    return stream;
  }

  /** Hands on all requests of a stream, and their end. */
  async #requests(method: BidiMethod | ServerStreamMethod, stream: GatewayStream, body: Uint8Array): Promise<void> {
    if (method.kind === 'bidi') {
      await this.#feed(stream, body);
      stream.halfClosed();
      return;
    }
    try {
      const bytes = await this.#requestMessage(stream, body);
      stream.received(bytes.length);
      stream.open(() => {
        method.hooks?.admit?.(stream, bytes);
        return method.open(bytes, stream);
      });
      stream.halfClosed();
    } catch (error) {
      stream.end(statusOfError(error, 'stream'));
    }
  }

  /** The status of a stream's answer is that of its first message. What is no request has the error of any call, as in etcd. */
  async #answerStream(stream: GatewayStream): Promise<GatewayAnswer> {
    await stream.ready();
    const { status } = stream;
    if (!stream.idle) return { status: 200, headers: jsonHeaders, body: linesOf(stream, this.#options.loop) };
    stream.close();
    if (status === undefined || status.code === GrpcCode.OK) return { status: 200, headers: {}, body: EMPTY_BYTES };
    return stream.opened ? streamFailure(status) : failure(status);
  }

  /** Hands JSON values to a stream, no faster than its answers are taken. */
  async #feed(stream: GatewayStream, body: Uint8Array): Promise<void> {
    const { loop, messageBytesMax } = this.#options;
    const { route, task, signal } = stream;
    const text = new JsonText(body, loop);
    try {
      for (let requests = 1; await loop.run(task, text.more(), signal); requests += 1) {
        stream.message(await loop.run(task, messageOfJson(route.request, text, messageBytesMax, loop), signal));
        await stream.room();
        if (stream.status !== undefined || stream.ended) return;
        if (requests % REQUESTS_EACH === 0) await loop.pause(task, signal);
      }
    } catch (error) {
      const { code, message } = statusOfError(error, 'stream');
      stream.end({ code, message: `Failed to decode request: ${message}` });
    }
  }

  /** The message of a request with one. A body without a value is a message without fields, as in etcd. */
  async #requestMessage(call: GatewayCall, body: Uint8Array): Promise<Uint8Array> {
    const { loop, messageBytesMax } = this.#options;
    if (body.length > SMALL_BYTES && !call.reserveAnswer(body.length))
      throw new StatusError(NO_ROOM.code, NO_ROOM.message);
    const text = new JsonText(body, loop);
    function* read(): PureJob<Uint8Array> {
      if (!(yield* text.more())) return EMPTY_BYTES;
      return yield* messageOfJson(call.route.request, text, messageBytesMax, loop);
    }
    return await loop.run(call.task, read(), call.signal);
  }
}
