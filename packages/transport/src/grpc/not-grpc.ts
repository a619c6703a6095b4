import type { RpcStatus } from '@engram/wire';
import type { RequestHead } from '../h2/request-head.ts';
import { Stream } from '../h2/stream.ts';
import type { CallConnection } from './call-connection.ts';

/**
 * A request that is not gRPC where only gRPC is served: refused when it is whole, with grpc-go's answer in gRPC's form.
 */
export class NotGrpc extends Stream {
  readonly #connection: CallConnection;
  readonly #status: RpcStatus;
  readonly contentLength: number;

  constructor(id: number, connection: CallConnection, head: RequestHead, status: RpcStatus) {
    super(id, connection.host.sender.initialWindow);
    this.#connection = connection;
    this.#status = status;
    this.contentLength = head.contentLength;
  }

  data(): void {}

  halfClosed(): void {
    this.#connection.host.sender.finish(this);
  }

  writeEnd(): void {
    const { host, messages } = this.#connection;
    const { code, message } = this.#status;
    host.sender.control(messages.trailersOnly(this.id, 415, code, message));
  }

  aborted(): void {}
}
