import { type Clock, GrpcCode } from '@engram/core';
import { decode, encode } from '@engram/protobuf';
import { TikvError } from '../errors.ts';
import type { Observer } from '../observer.ts';
import type { Error as RegionError } from '../proto/gen/errorpb.ts';
import type { ContextInit } from '../proto/gen/kvrpcpb.ts';
import { endError } from '../runtime/call.ts';
import { BatchStream } from '../transport/batch-stream.ts';
import type { TikvCommand } from '../transport/commands.ts';
import { type Channel, isTransportError, type Transport, TransportError } from '../transport/transport.ts';

const HEALTH_TIMEOUT_MS = 1_000;
/** How long a store is asked last after a failure. */
const AVOID_MS = 1_000;
/** Minimal time between health checks of a silent store. Callers that look at `silent` start them. */
const PROBE_MS = 500;
const HEALTH_REQUEST = new Uint8Array(0);
/** grpc.health.v1.HealthCheckResponse with SERVING. */
const SERVING = 1;

/** The connection to one store at one address: its stream of commands, unary calls for other commands, and its health. */
export class StoreLink {
  readonly storeId: number;
  readonly address: string;
  readonly #transport: Transport;
  readonly #secure: boolean;
  readonly #clock: Clock;
  readonly #observer: Observer;
  #channel: Channel | undefined;
  #stream: BatchStream | undefined;
  #avoidUntilMs = 0;
  #silent = false;
  #probeFromMs = 0;
  #checking = false;
  #closed = false;

  constructor(
    storeId: number,
    address: string,
    options: { transport: Transport; secure: boolean; clock: Clock; observer: Observer },
  ) {
    this.storeId = storeId;
    this.address = address;
    this.#transport = options.transport;
    this.#secure = options.secure;
    this.#clock = options.clock;
    this.#observer = options.observer;
  }

  /** Whether other stores should be asked before this one. */
  get avoided(): boolean {
    return this.#clock.nowMs() < this.#avoidUntilMs || this.silent;
  }

  /**
   * Whether the store did not answer requests and a health check. Such a store is not taken for a leader, even if other peers
   * name it. Another request to it would cost a timeout, so a background health check probes it. It stays silent until it
   * answers a health check or a request.
   */
  get silent(): boolean {
    if (this.#silent && this.#clock.nowMs() >= this.#probeFromMs) void this.#check();
    return this.#silent;
  }

  /** Rejects with TransportError, or with TikvError if the signal fires or the answer is damaged. */
  async send<
    Request extends { readonly context?: ContextInit | undefined },
    Response extends { readonly regionError: RegionError | undefined },
  >(
    command: TikvCommand<Request, Response>,
    request: Request,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    try {
      if (command.field === undefined) return await this.#unary(command, request, deadlineMs, signal);
      this.#stream ??= this.#openStream();
      const response = await this.#stream.send(
        command.field,
        command.request,
        command.response,
        request,
        deadlineMs,
        signal,
      );
      this.#silent = false;
      return response;
    } catch (error) {
      if (isTransportError(error)) this.#failed(error);
      throw error;
    }
  }

  async #unary<
    Request extends { readonly context?: ContextInit | undefined },
    Response extends { readonly regionError: RegionError | undefined },
  >(
    command: TikvCommand<Request, Response>,
    request: Request,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    try {
      const timeoutMs = Math.max(1, deadlineMs - this.#clock.nowMs());
      return decode(
        command.response,
        await this.#connected().unary(command.method, encode(command.request, request), { timeoutMs, signal }),
      );
    } catch (error) {
      if (signal?.aborted) throw endError(signal);
      if (isTransportError(error) || error instanceof TikvError) throw error;
      throw new TikvError('protocol-error', command.name, { cause: error });
    }
  }

  #connected(): Channel {
    if (this.#closed) throw new TransportError(GrpcCode.UNAVAILABLE, 'the store has moved', { unsent: true });
    this.#channel ??= this.#transport.connect(this.address, this.#secure);
    return this.#channel;
  }

  #openStream(): BatchStream {
    const stream = new BatchStream(this.#connected(), this.#clock, this.#observer, this.storeId, {
      end: () => {
        if (this.#stream !== stream) return;
        this.#stream = undefined;
        this.#disconnect();
      },
      silent: () => void this.#check(),
    });
    return stream;
  }

  /** The next use makes a new channel, which reads credentials again and does not wait for the old channel's backoff. */
  #disconnect(): void {
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.close();
  }

  #failed(error: TransportError): void {
    if (error.grpc === GrpcCode.RESOURCE_EXHAUSTED || error.grpc === GrpcCode.UNIMPLEMENTED) return;
    this.#avoidUntilMs = this.#clock.nowMs() + AVOID_MS;
    if (error.grpc === GrpcCode.DEADLINE_EXCEEDED) void this.#check();
  }

  /** Checks the store's health. TiKV does not answer some failed requests, so a timeout alone does not show a dead store. */
  async #check(): Promise<void> {
    if (this.#checking || this.#closed) return;
    this.#checking = true;
    try {
      if (await this.isAlive()) {
        this.#avoidUntilMs = 0;
        this.#silent = false;
        return;
      }
      this.#silent = true;
      this.#probeFromMs = this.#clock.nowMs() + PROBE_MS;
      if (this.#stream === undefined) this.#disconnect();
      else this.#stream.fail(new TransportError(GrpcCode.UNAVAILABLE, 'the store does not answer'));
    } finally {
      this.#checking = false;
    }
  }

  /** Asks grpc.health.v1. A store that answers UNIMPLEMENTED is alive. */
  async isAlive(): Promise<boolean> {
    try {
      const answer = await this.#connected().unary('/grpc.health.v1.Health/Check', HEALTH_REQUEST, {
        timeoutMs: HEALTH_TIMEOUT_MS,
      });
      return answer.length === 0 || answer[1] === SERVING;
    } catch (error) {
      return isTransportError(error) && error.grpc === GrpcCode.UNIMPLEMENTED;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.fail(new TransportError(GrpcCode.UNAVAILABLE, 'the store has moved, or the client is closed'));
    this.#disconnect();
  }
}
