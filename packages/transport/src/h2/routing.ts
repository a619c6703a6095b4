import { GrpcCode } from '@engram/core';
import { type BidiMethod, ErrorCode, type RpcStatus, type ServerStreamMethod, type UnaryMethod } from '@engram/wire';
import { binaryFaultOf } from '../grpc/binary-metadata.ts';
import { quoted } from '../grpc/echoed.ts';
import { parseTimeout } from '../grpc/timeout.ts';
import { DEADLINE_EXCEEDED, unimplemented } from '../status.ts';
import type { RequestHead } from './request-head.ts';
import type { ServerContext } from './server-context.ts';

export type Route =
  | { readonly kind: 'unary'; readonly method: UnaryMethod; readonly timeoutMs: number }
  | {
      readonly kind: 'streaming';
      readonly method: BidiMethod | ServerStreamMethod;
      readonly timeoutMs: number;
    }
  /** A gRPC call that is answered with its status at once. */
  | { readonly kind: 'refuse'; readonly httpStatus: number; readonly status: RpcStatus }
  /** Not gRPC where only gRPC is served: answered when the request is whole. */
  | { readonly kind: 'not-grpc'; readonly status: RpcStatus }
  | { readonly kind: 'http' }
  | { readonly kind: 'reset'; readonly errorCode: number };

const grpcContentType = 'application/grpc';
/** A longer one is not repeated in the answer: nobody has a codec of that name. */
const SUBTYPE_MAX_LENGTH = 64;

/**
 * Where a request leads, by grpc-go's rules in grpc-go's order and with its texts (internal/transport/http2_server.go,
 * operateHeaders; server.go, handleStream). Under TLS what is not gRPC goes to the HTTP handler, as in etcd; in plain
 * text it is refused, as in etcd.
 */
export function routeOf(head: RequestHead, server: ServerContext, secure: boolean): Route {
  if (head.tooLarge) return { kind: 'reset', errorCode: ErrorCode.FRAME_SIZE_ERROR };
  if (head.fault !== undefined) return { kind: 'reset', errorCode: ErrorCode.PROTOCOL_ERROR };
  if (server.protocols === 'http') return { kind: 'http' };
  const subtype = subtypeOf(head.contentType);
  if (subtype === undefined) {
    if (secure && server.protocols === 'both') return { kind: 'http' };
    const message = `invalid gRPC request content-type ${quoted(head.contentType)}`;
    return { kind: 'not-grpc', status: { code: GrpcCode.INVALID_ARGUMENT, message } };
  }
  const gzip = head.grpcEncoding === 'gzip';
  if (gzip || subtype !== '') {
    const contentType =
      subtype === '' || subtype.length > SUBTYPE_MAX_LENGTH ? grpcContentType : `${grpcContentType}+${subtype}`;
    head.answerForm = { contentType, gzip };
  }
  const timeout = head.grpcTimeout === undefined ? { ms: -1 } : parseTimeout(head.grpcTimeout);
  if ('fault' in timeout) return refuse(400, GrpcCode.INTERNAL, timeout.fault);
  const fault = binaryFault(head);
  if (fault !== undefined) return refuse(400, GrpcCode.INTERNAL, fault);
  if (head.authority === '' && head.find('host') === undefined) {
    return refuse(400, GrpcCode.INTERNAL, 'no host or :authority header present');
  }
  if (head.method !== 'POST') {
    const message = `Received a HEADERS frame with :method ${quoted(head.method)} which should be POST`;
    return refuse(405, GrpcCode.INTERNAL, message);
  }
  if (timeout.ms === 0) return { kind: 'refuse', httpStatus: 200, status: DEADLINE_EXCEEDED };
  const method = server.method(head.path);
  if (method === undefined) {
    return { kind: 'refuse', httpStatus: 200, status: unimplemented(head.path, server.knowsService) };
  }
  if (!gzip && head.grpcEncoding !== '' && head.grpcEncoding !== 'identity') {
    const message = `grpc: Decompressor is not installed for grpc-encoding ${quoted(head.grpcEncoding)}`;
    return refuse(200, GrpcCode.UNIMPLEMENTED, message);
  }
  if (method.kind === 'unary') return { kind: 'unary', method, timeoutMs: timeout.ms };
  return { kind: 'streaming', method, timeoutMs: timeout.ms };
}

/** What stands behind `application/grpc` and a `+` or `;`; undefined for what is no gRPC. */
function subtypeOf(contentType: string): string | undefined {
  if (contentType === grpcContentType) return '';
  const mark = contentType[grpcContentType.length];
  if (!contentType.startsWith(grpcContentType) || (mark !== '+' && mark !== ';')) return undefined;
  return contentType.slice(grpcContentType.length + 1);
}

/** Binary metadata is nobody's to read here, but grpc-go refuses what is no base64. */
function binaryFault(head: RequestHead): string | undefined {
  for (const field of head.fields) {
    const { name, value } = field;
    const fault = name.endsWith('-bin') ? binaryFaultOf(field) : undefined;
    if (fault === undefined) continue;
    return `malformed binary metadata ${quoted(value)} in header ${quoted(name)}: ${fault}`;
  }
  return undefined;
}

function refuse(httpStatus: number, code: number, message: string): Route {
  return { kind: 'refuse', httpStatus, status: { code, message } };
}
