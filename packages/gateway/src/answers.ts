import { GrpcCode } from '@engram/core';
import type { RpcStatus } from '@engram/wire';
import type { GatewayAnswer } from './gateway-request.ts';
import { httpStatusOf } from './http-status.ts';

const errorHeaders = { 'content-type': 'application/json' };
/** What grpc-gateway answers a call with that has had an answer. */
export const jsonHeaders = { ...errorHeaders, 'grpc-metadata-content-type': 'application/grpc' };

/** An error as grpc-gateway has it (runtime/errors.go: DefaultHTTPErrorHandler). */
export function failure(status: RpcStatus): GatewayAnswer {
  const headers =
    status.code === GrpcCode.UNAUTHENTICATED
      ? { ...errorHeaders, 'www-authenticate': status.message.replace(/[^\x20-\x7e]/g, '?') }
      : errorHeaders;
  return { status: httpStatusOf(status.code), headers, body: Buffer.from(JSON.stringify(errorOf(status))) };
}

/** The error of a stream that has sent nothing. */
export const streamFailure = (status: RpcStatus): GatewayAnswer => ({
  status: httpStatusOf(status.code),
  headers: errorHeaders,
  body: Buffer.from(errorLine(status)),
});

/** The last line of a stream that has failed. */
export const errorLine = (status: RpcStatus): string => `${JSON.stringify({ error: errorOf(status) })}\n`;

/** Without text there is no field, as with every default. */
const errorOf = ({ code, message }: RpcStatus): object => (message === '' ? { code } : { code, message });
