import { GrpcCode } from '@engram/core';
import {
  type BidiMethod,
  dropMessage,
  type Message,
  messageBytes,
  type RpcStatus,
  type ServerStreamMethod,
  type StreamCall,
  type StreamHandler,
  STOPPED,
  SUCCEEDED,
  statusOfError,
} from '@engram/wire';
import type { Admissible, Crowded } from '../h2/admission.ts';
import { INFLATED_TOKEN_BYTES, STREAM_QUEUE_HIGH_BYTES, STREAMED_ANSWER_BYTES } from '../h2/limits.ts';
import { ownBytes } from '../own-bytes.ts';
import { STREAM_LOW_MARK_BYTES } from '../serve-options.ts';
import { SENT_MESSAGE_MAX_BYTES, answerTooLarge } from '../status.ts';
import type { GrpcHead } from './grpc-head.ts';
import { GrpcStream } from './grpc-stream.ts';

// grpc-go's texts (stream.go, RecvMsg).
const secondMessage: RpcStatus = {
  code: GrpcCode.INTERNAL,
  message: 'cardinality violation: received multiple request messages for non-client-streaming RPC',
};
const noMessage: RpcStatus = {
  code: GrpcCode.INTERNAL,
  message: 'cardinality violation: received no request message from non-client-streaming RPC',
};

/** A call of a method that sends a stream of messages and may receive one. */
export class StreamingCall extends GrpcStream implements Admissible, Crowded, StreamCall {
  override readonly counted = true;
  protected readonly cutShortCode = GrpcCode.INTERNAL;
  readonly #method: BidiMethod | ServerStreamMethod;
  /** The request of a server stream, as received. */
  #request: Buffer | undefined;
  #compressed = false;
  #handler: StreamHandler | undefined;
  #aboveMark = false;
  #reserved = false;

  constructor(id: number, head: GrpcHead, method: BidiMethod | ServerStreamMethod) {
    super(id, head);
    this.#method = method;
  }

  get queuedBytes(): number {
    return (this.queue?.bytes ?? 0) + this.batchBytes + this.flyingBytes;
  }

  override get congested(): boolean {
    return this.queuedBytes > STREAM_QUEUE_HIGH_BYTES;
  }

  override opened(): void {
    if (this.host.draining) this.stop();
    else if (this.#method.kind === 'bidi') this.start();
  }

  holdsBack(): boolean {
    return false;
  }

  override stays(): void {
    if (this.#request !== undefined) this.#request = ownBytes(this.#request);
  }

  get crowded(): boolean {
    // The first messages were counted when the call was admitted.
    if (this.#reserved || !this.host.admission.isCrowded(this)) return false;
    this.host.admission.awaitRoom(this);
    return true;
  }

  roomMade(): void {
    if (!this.finished) this.#guard((handler) => handler.drained());
  }

  /** What a server stream counts for before its first message does not count while it waits for other clients. */
  waits(waiting: boolean): void {
    if (!waiting || !this.#reserved) return;
    this.#unreserve();
    this.host.admission.advance();
  }

  send(message: Message): void {
    if (this.finished) {
      dropMessage(message);
      return;
    }
    const bytes = messageBytes(message);
    if (bytes > SENT_MESSAGE_MAX_BYTES) {
      dropMessage(message);
      this.fail(answerTooLarge(bytes));
      return;
    }
    this.#unreserve();
    this.sentMessage(bytes);
    this.connection.messages.message(this, message, bytes);
    if (!this.#aboveMark && this.queuedBytes > STREAM_LOW_MARK_BYTES) this.#aboveMark = true;
  }

  end(status?: RpcStatus): void {
    this.fail(status ?? SUCCEEDED);
  }

  override stop(): void {
    this.fail(STOPPED);
  }

  override sent(): void {
    if (this.finished || this.queuedBytes > STREAM_LOW_MARK_BYTES) return;
    this.host.receive.creditStream(this);
    if (!this.#aboveMark) return;
    this.#aboveMark = false;
    this.#guard((handler) => handler.drained());
  }

  protected message(request: Buffer, compressed: boolean): void {
    if (this.#method.kind === 'bidi') {
      const message = compressed ? this.#inflate(request) : request;
      if (message === undefined) return;
      this.received(message.length);
      try {
        this.#handler?.message(message);
      } catch (error) {
        this.fail(statusOfError(error, 'stream'));
      }
    } else if (this.#request === undefined) {
      this.#request = request;
      this.#compressed = compressed;
      this.holdRequest(request.length);
    } else {
      this.fail(secondMessage);
    }
  }

  protected requestEnded(): void {
    if (this.#method.kind === 'server-stream') this.host.admission.admit(this);
    else if (!this.finished) this.#guard((handler) => handler.halfClosed());
  }

  protected override ended(): void {
    this.#request = undefined;
    this.host.admission.leaveRoom(this);
    this.#unreserve();
    // Deferred, because the handler itself may have ended the call, and it must receive one event at a time.
    queueMicrotask(() => this.#guard((handler) => handler.closed()));
  }

  start(): void {
    const method = this.#method;
    if (method.kind === 'server-stream' && this.#request === undefined) {
      this.fail(noMessage);
      return;
    }
    const request = this.#compressed && this.#request !== undefined ? this.#inflate(this.#request) : this.#request;
    if (this.finished) return;
    this.started();
    if (method.kind === 'server-stream') this.#reserve();
    try {
      if (method.kind === 'bidi') {
        method.hooks?.admit?.(this, undefined);
        this.#handler = method.open(this);
      } else if (request !== undefined) {
        this.received(request.length);
        method.hooks?.admit?.(this, request);
        this.#handler = method.open(request, this);
      }
    } catch (error) {
      this.fail(statusOfError(error, 'stream'));
    }
    this.watchHandled();
    this.#request = undefined;
    if (this.finished || method.kind === 'bidi') return;
    this.holdRequest(0);
    this.#guard((handler) => handler.halfClosed());
  }

  #reserve(): void {
    this.#reserved = true;
    this.host.sender.reserve(STREAMED_ANSWER_BYTES);
  }

  #unreserve(): void {
    if (!this.#reserved) return;
    this.#reserved = false;
    this.host.sender.reserve(-STREAMED_ANSWER_BYTES);
  }

  /** Synchronous, unlike in unary calls: messages of streams are short, and the client pays tokens for long ones. */
  #inflate(compressed: Buffer): Buffer | undefined {
    const message = this.inflated(compressed);
    const bytes = message?.length ?? this.connection.server.messageMaxBytes;
    this.host.spend(bytes / INFLATED_TOKEN_BYTES, 'compressed messages');
    return message;
  }

  #guard(call: (handler: StreamHandler) => void): void {
    if (this.#handler === undefined) return;
    try {
      call(this.#handler);
    } catch (error) {
      this.fail(statusOfError(error, 'stream'));
    }
  }
}
