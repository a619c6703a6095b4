import type { RpcStatus } from '@engram/wire';
import type { RequestHead } from '../h2/request-head.ts';
import { Stream } from '../h2/stream.ts';
import type { CallConnection } from './call-connection.ts';

/**
 * A request that is not gRPC on a port that serves only gRPC. It is refused when it is complete, with grpc-go's answer
 * in gRPC's form. A request without a content type also gets the reason as a body, so that a user who tries the port
 * with an HTTP client sees it.
 */
export class NotGrpc extends Stream {
  readonly #connection: CallConnection;
  readonly #plain: boolean;
  readonly #status: RpcStatus;
  readonly contentLength: number;

  constructor(id: number, connection: CallConnection, head: RequestHead, status: RpcStatus) {
    super(id, connection.host.sender.initialWindow);
    this.#connection = connection;
    this.#plain = head.contentType === '';
    this.#status = status;
    this.contentLength = head.contentLength;
  }

  data(_bytes: Buffer, _start: number, end: number): number {
    return end;
  }

  halfClosed(): void {
    const { host, messages } = this.#connection;
    const { code, message } = this.#status;
    if (this.#plain) {
      host.sender.control(messages.headWithStatus(this.id, 415, code, message));
      host.sender.queue(this, Buffer.from(`${message}\n`));
    }
    host.sender.finish(this);
  }

  writeEnd(): void {
    const { host, messages } = this.#connection;
    const { code, message } = this.#status;
    if (this.#plain) host.sender.endData(this);
    else host.sender.control(messages.trailersOnly(this.id, 415, code, message));
  }

  aborted(): void {}
}
