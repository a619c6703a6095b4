import { GrpcCode } from '@engram/core';
import { ErrorCode } from '@engram/http2';
import { type CallLeads, subtypeOf } from './grpc/call-leads.ts';
import { quoted } from './grpc/echoed.ts';
import { NotGrpc } from './grpc/not-grpc.ts';
import type { Lead, Leads } from './h2/lead.ts';
import type { RequestHead } from './h2/request-head.ts';
import type { StreamHost } from './h2/stream-host.ts';
import { HttpExchange } from './http/http-exchange.ts';
import type { PlainHttp } from './http/plain-http.ts';
import type { ServeOptions } from './serve-options.ts';

/**
 * Routes requests. As in etcd, a request that is not gRPC goes to the HTTP handler under TLS and is refused in plain
 * text.
 */
export class RequestLeads implements Leads {
  readonly #options: ServeOptions;
  readonly #host: StreamHost;
  readonly #calls: CallLeads;
  readonly #http: Lead;

  constructor(options: ServeOptions, host: StreamHost, calls: CallLeads, plain: PlainHttp) {
    this.#options = options;
    this.#host = host;
    this.#calls = calls;
    this.#http = { open: (streamId, head) => new HttpExchange(streamId, plain, host, head) };
  }

  find(head: RequestHead): Lead {
    if (head.tooLarge) return this.#reset(ErrorCode.FRAME_SIZE_ERROR);
    if (head.fault !== undefined) return this.#reset(ErrorCode.PROTOCOL_ERROR);
    const { protocols } = this.#options;
    if (protocols === 'http') return this.#http;
    const subtype = subtypeOf(head.contentType);
    if (subtype !== undefined) return this.#calls.find(head, subtype);
    // As in etcd, gRPC's server refuses what looks like its own: grpc-web, for one.
    const plain = this.#host.secure && protocols === 'both' && !head.contentType.includes('application/grpc');
    return plain ? this.#http : this.#notGrpc(head);
  }

  #notGrpc({ contentType }: RequestHead): Lead {
    const message = `invalid gRPC request content-type ${quoted(contentType)}`;
    const status = { code: GrpcCode.INVALID_ARGUMENT, message };
    return { open: (streamId, head) => new NotGrpc(streamId, this.#calls.connection, head, status) };
  }

  #reset(errorCode: number): Lead {
    return {
      open: (streamId) => {
        this.#host.resetClosed(streamId, errorCode);
        return undefined;
      },
    };
  }
}
