import type { RpcStatus } from '@engram/wire';
import type { RequestHead } from '../h2/request-head.ts';
import { Stream } from '../h2/stream.ts';
import { headFields } from '../http/head-fields.ts';
import type { CallConnection } from './call-connection.ts';

/**
 * A request that is not gRPC where only gRPC is served: refused when it is whole. With another content type it gets
 * grpc-go's answer, in gRPC's form; a plain request, without one, gets the reason as text.
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

  data(): void {}

  halfClosed(): void {
    const { sender } = this.#connection.host;
    if (this.#plain) {
      const headers = { 'content-type': 'text/plain; charset=utf-8' };
      sender.control(sender.headers.frames(this.id, headFields(415, headers), false));
      sender.queue(this, Buffer.from(`${this.#status.message}\n`));
    }
    sender.finish(this);
  }

  writeEnd(): void {
    const { host, messages } = this.#connection;
    const { code, message } = this.#status;
    if (this.#plain) host.sender.endData(this);
    else host.sender.control(messages.trailersOnly(this.id, 415, code, message));
  }

  aborted(): void {}
}
