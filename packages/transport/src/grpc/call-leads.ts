import { GrpcCode } from '@engram/core';
import { type Method, type RpcStatus, DEADLINE_EXCEEDED } from '@engram/wire';
import type { Lead } from '../h2/lead.ts';
import type { RequestHead } from '../h2/request-head.ts';
import type { Stream } from '../h2/stream.ts';
import { unimplemented } from '../status.ts';
import type { AnswerForm } from './answer-frames.ts';
import { binaryFaultOf } from './binary-metadata.ts';
import type { CallConnection } from './call-connection.ts';
import { GrpcHead } from './grpc-head.ts';
import { quoted } from './echoed.ts';
import { StreamingCall } from './streaming-call.ts';
import { parseTimeout } from './timeout.ts';
import { UnaryCall } from './unary-call.ts';

const grpcContentType = 'application/grpc';
/** A longer subtype is not repeated in the answer, because no codec has such a name. */
const SUBTYPE_MAX_LENGTH = 64;

/** Maps the head of a gRPC call on a connection to its target. */
export class CallLeads {
  readonly connection: CallConnection;

  constructor(connection: CallConnection) {
    this.connection = connection;
  }

  /**
   * Applies grpc-go's rules in grpc-go's order and with its texts (internal/transport/http2_server.go, operateHeaders;
   * server.go, handleStream).
   */
  find(head: RequestHead, subtype: string): Lead {
    const { connection } = this;
    const { methods, knowsService } = connection.server;
    const form = answerForm(subtype, head.grpcEncoding);
    const refuse = (httpStatus: number, code: number, message: string): Lead =>
      new Refusal(connection, httpStatus, { code, message }, form);
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
    if (timeout.ms === 0) return new Refusal(connection, 200, DEADLINE_EXCEEDED, form);
    const served = methods.get(head.path);
    if (served === undefined) return new Refusal(connection, 200, unimplemented(head.path, knowsService), form);
    if (!['', 'identity', 'gzip'].includes(head.grpcEncoding)) {
      const message = `grpc: Decompressor is not installed for grpc-encoding ${quoted(head.grpcEncoding)}`;
      return refuse(200, GrpcCode.UNIMPLEMENTED, message);
    }
    return new CallLead(new GrpcHead(connection, head, served, timeout.ms, form), served.method);
  }
}

/** A call of a method. */
class CallLead implements Lead {
  readonly #head: GrpcHead;
  readonly #method: Method;

  constructor(head: GrpcHead, method: Method) {
    this.#head = head;
    this.#method = method;
  }

  open(streamId: number): Stream {
    const method = this.#method;
    return method.kind === 'unary'
      ? new UnaryCall(streamId, this.#head, method)
      : new StreamingCall(streamId, this.#head, method);
  }
}

/** A call that is answered at once, with its status only. */
class Refusal implements Lead {
  readonly #connection: CallConnection;
  readonly #httpStatus: number;
  readonly #status: RpcStatus;
  readonly #form: AnswerForm | undefined;

  constructor(connection: CallConnection, httpStatus: number, status: RpcStatus, form: AnswerForm | undefined) {
    this.#connection = connection;
    this.#httpStatus = httpStatus;
    this.#status = status;
    this.#form = form;
  }

  open(streamId: number, _head: RequestHead, endStream: boolean): undefined {
    const { host, messages } = this.#connection;
    const { code, message } = this.#status;
    host.spend(1, 'refused calls');
    host.refuse(streamId, messages.trailersOnly(streamId, this.#httpStatus, code, message, this.#form), endStream);
  }
}

/** Undefined for the default form. */
function answerForm(subtype: string, encoding: string): AnswerForm | undefined {
  const gzip = encoding === 'gzip';
  if (!gzip && subtype === '') return undefined;
  const named = subtype !== '' && subtype.length <= SUBTYPE_MAX_LENGTH;
  return { contentType: named ? `${grpcContentType}+${subtype}` : grpcContentType, gzip };
}

/** The text after `application/grpc` and a `+` or `;`; undefined if the content type is not gRPC. */
export function subtypeOf(contentType: string): string | undefined {
  if (contentType === grpcContentType) return '';
  const mark = contentType[grpcContentType.length];
  if (!contentType.startsWith(grpcContentType) || (mark !== '+' && mark !== ';')) return undefined;
  return contentType.slice(grpcContentType.length + 1);
}

/** Engram reads no binary metadata, but refuses invalid base64 as grpc-go does. */
function binaryFault(head: RequestHead): string | undefined {
  for (const field of head.fields) {
    const { name, value } = field;
    const fault = name.endsWith('-bin') ? binaryFaultOf(field) : undefined;
    if (fault === undefined) continue;
    return `malformed binary metadata ${quoted(value)} in header ${quoted(name)}: ${fault}`;
  }
  return undefined;
}
