import { GrpcCode } from '@engram/core';
import {
  dropMessage,
  type Message,
  messageBytes,
  type RpcStatus,
  type UnaryMethod,
  STOPPED,
  SUCCEEDED,
  statusOfError,
} from '@engram/wire';
import type { Admissible } from '../h2/admission.ts';
import { ownBytes } from '../own-bytes.ts';
import { SENT_MESSAGE_MAX_BYTES, answerTooLarge } from '../status.ts';
import type { GrpcHead } from './grpc-head.ts';
import { GrpcStream } from './grpc-stream.ts';

/** grpc-go's status (server.go, processUnaryRPC). */
const noMessage: RpcStatus = { code: GrpcCode.UNKNOWN, message: 'EOF' };

const nothing = Buffer.alloc(0);

/** A call of a unary method, from its head to its answer. A handler that answers synchronously costs no promise. */
export class UnaryCall extends GrpcStream implements Admissible {
  protected readonly cutShortCode = GrpcCode.UNKNOWN;
  readonly #method: UnaryMethod;
  #request: Buffer | undefined;
  #compressed = false;
  #reservedBytes = 0;
  /** Of the request, once the handler has begun. */
  #runningBytes = 0;
  /** The handler waits for other clients. */
  #waits = false;

  constructor(id: number, head: GrpcHead, method: UnaryMethod) {
    super(id, head);
    this.#method = method;
  }

  start(): void {
    // Inflated only now, so that a waiting call holds only its compressed bytes.
    const request = this.#compressed && this.#request !== undefined ? this.inflated(this.#request) : this.#request;
    if (request === undefined) return;
    this.holdRequest(0);
    this.started();
    this.received(request.length);
    this.#runningBytes = request.length;
    let answer: Message | Promise<Message>;
    try {
      this.#method.hooks?.admit?.(this, request);
      answer = this.#method.handle(request, this);
    } catch (error) {
      this.watchHandled();
      this.fail(statusOfError(error, 'unary'));
      this.#giveBack();
      return;
    }
    const nowMs = this.watchHandled();
    if (answer instanceof Promise) this.#succeedLater(answer);
    else {
      this.#succeed(answer, nowMs);
      this.#giveBack();
    }
  }

  /** False if the call has ended, because the client no longer waits. Reserved bytes count until the handler returns. */
  reserveAnswer(bytes: number): boolean {
    if (this.finished) return false;
    this.holdAnswer(bytes);
    if (this.host.admission.mayAnswer) return true;
    this.holdAnswer(-bytes);
    return false;
  }

  /** As `reserveAnswer`, of an answer that is made whether or not there is room. */
  holdAnswer(bytes: number): void {
    if (this.finished) return;
    this.host.sender.reserve(bytes);
    this.#reservedBytes += bytes;
  }

  waits(waiting: boolean): void {
    if (waiting === this.#waits) return;
    this.#waits = waiting;
    const { admission, draining } = this.host;
    if (!waiting) admission.entered(this.#runningBytes);
    else {
      this.#request = nothing; // the chunk that it is a view of
      admission.left(this.#runningBytes);
      if (draining) this.stop();
    }
  }

  /** Others finish: they end by themselves. */
  override stop(): void {
    if (this.#waits) this.cutOff(STOPPED);
  }

  override stays(): void {
    if (this.#request !== undefined) this.#request = ownBytes(this.#request);
  }

  /** grpc-go ignores everything after the first message. */
  protected override get satisfied(): boolean {
    return this.#request !== undefined;
  }

  protected message(request: Buffer, compressed: boolean): void {
    this.#request = request;
    this.#compressed = compressed;
    this.holdRequest(request.length);
  }

  protected requestEnded(): void {
    if (this.#request === undefined) this.fail(noMessage);
    else this.host.admission.admit(this);
  }

  protected override ended(): void {
    this.#request = undefined;
  }

  #succeedLater(answer: Promise<Message>): void {
    const { admission } = this.host;
    admission.entered(this.#runningBytes);
    const returned = (): void => {
      this.#giveBack();
      this.waits(false);
      admission.left(this.#runningBytes);
    };
    answer.then(
      (message) => {
        this.#succeed(message);
        returned();
      },
      (error: unknown) => {
        this.fail(statusOfError(error, 'unary'));
        returned();
      },
    );
  }

  /** Releases the reservation: the answer now counts by itself, or there is none. */
  #giveBack(): void {
    if (this.#reservedBytes === 0) return;
    this.host.sender.reserve(-this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #succeed(message: Message, nowMs?: number): void {
    const bytes = messageBytes(message);
    if (bytes > SENT_MESSAGE_MAX_BYTES) {
      dropMessage(message);
      this.fail(answerTooLarge(bytes));
      return;
    }
    if (this.finished) {
      dropMessage(message);
      return;
    }
    this.sentMessage(bytes);
    this.handled(SUCCEEDED, nowMs);
    const { messages, host } = this.connection;
    if (messages.unary(this, message, bytes)) return;
    messages.message(this, message, bytes);
    host.sender.finish(this);
  }
}
