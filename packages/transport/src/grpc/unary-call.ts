import { GrpcCode } from '@engram/core';
import { type Message, messageBytes, type RpcStatus, type UnaryMethod } from '@engram/wire';
import type { Admissible } from '../h2/admission.ts';
import type { RequestHead } from '../h2/request-head.ts';
import type { StreamHost } from '../h2/stream-host.ts';
import { statusOfError } from '../status.ts';
import { cutShort, GrpcStream } from './grpc-stream.ts';

/** grpc-go's text (stream.go, RecvMsg). */
export const secondMessage: RpcStatus = {
  code: GrpcCode.INTERNAL,
  message: 'cardinality violation: received multiple request messages for unary RPC',
};

/** A call of a unary method, from its head to its answer. A handler that answers at once costs no promise. */
export class UnaryCall extends GrpcStream implements Admissible {
  readonly #method: UnaryMethod;
  #request: Buffer | undefined;

  constructor(id: number, host: StreamHost, head: RequestHead, timeoutMs: number, method: UnaryMethod) {
    super(id, host, head, timeoutMs);
    this.#method = method;
  }

  start(): void {
    const request = this.#request;
    if (request === undefined) return;
    this.started('unary');
    this.received(request.length);
    let answer: Message | Promise<Message>;
    try {
      answer = this.#method.handle(request, this);
    } catch (error) {
      this.fail(statusOfError(error, 'unary'));
      return;
    }
    if (answer instanceof Promise) this.#succeedLater(answer, request.length);
    else this.#succeed(answer);
  }

  protected message(request: Buffer): void {
    if (this.#request === undefined) this.#request = request;
    else this.fail(secondMessage);
  }

  protected requestEnded(): void {
    if (this.#request === undefined) this.fail(cutShort);
    else this.host.admission.admit(this);
  }

  protected override ended(): void {
    this.#request = undefined;
  }

  #succeedLater(answer: Promise<Message>, requestBytes: number): void {
    const { admission } = this.host;
    admission.entered(requestBytes);
    answer.then(
      (message) => {
        this.#succeed(message);
        admission.left(requestBytes);
      },
      (error: unknown) => {
        this.fail(statusOfError(error, 'unary'));
        admission.left(requestBytes);
      },
    );
  }

  #succeed(message: Message): void {
    if (!this.handled(GrpcCode.OK)) return;
    const bytes = messageBytes(message);
    this.sentMessage(bytes);
    this.host.sender.unary(this, message, bytes);
  }
}
