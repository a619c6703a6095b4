import type { RpcStatus } from '@engram/wire';
import type { RequestHead } from '../h2/request-head.ts';
import { Stream } from '../h2/stream.ts';
import type { CallConnection } from './call-connection.ts';

/**
 * A request that is not gRPC where only gRPC is served: refused when it is whole, with grpc-go's answer in gRPC's form. A
 * plain request, without a content type, gets the reason as a body too: people who try a port with an HTTP client see it.
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
