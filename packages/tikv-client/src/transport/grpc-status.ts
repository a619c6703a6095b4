import { GrpcCode } from '@engram/core';
import { ErrorCode } from '@engram/http2';
import type { Fields, StreamEnd } from '../http2/client-stream.ts';
import { TransportError } from './transport.ts';

/** The error of a call whose stream has ended so; undefined for the status OK. `head`: what the server answered first. */
export function statusOf(end: StreamEnd, head: Fields | undefined): TransportError | undefined {
  switch (end.kind) {
    case 'complete':
      return statusOfTrailers(end.trailers, head);
    case 'reset':
      return statusOfReset(end.code);
    case 'refused':
      return new TransportError(GrpcCode.UNAVAILABLE, 'the server leaves and has not taken the call', { lost: true });
    case 'lost': {
      const { established, tls, cause } = end;
      const what = established ? 'Connection dropped' : 'No connection established. Last error';
      return new TransportError(GrpcCode.UNAVAILABLE, `${what}: ${textOf(cause)}`, {
        cause,
        unsent: !established,
        tls,
        lost: true,
      });
    }
  }
}

function statusOfTrailers(trailers: Fields, head: Fields | undefined): TransportError | undefined {
  const status = trailers.get('grpc-status');
  if (status === undefined) return statusOfHttp(head?.get(':status'));
  if (status === '0') return undefined;
  const code = /^\d{1,2}$/.test(status) ? Number(status) : GrpcCode.UNKNOWN;
  return new TransportError(code, percentDecode(trailers.get('grpc-message') ?? ''));
}

/** An answer without a gRPC status, often of a proxy (gRPC's doc/http-grpc-status-mapping.md). */
function statusOfHttp(status: string | undefined): TransportError {
  if (status === '200') return new TransportError(GrpcCode.UNKNOWN, 'the server ended the call without a status');
  const code = codesOfHttp.get(status ?? '') ?? GrpcCode.UNKNOWN;
  return new TransportError(code, `the server answered with HTTP status ${status}`);
}

const codesOfHttp: ReadonlyMap<string, number> = new Map([
  ['400', GrpcCode.INTERNAL],
  ['401', GrpcCode.UNAUTHENTICATED],
  ['403', GrpcCode.PERMISSION_DENIED],
  ['404', GrpcCode.UNIMPLEMENTED],
  ['429', GrpcCode.UNAVAILABLE],
  ['502', GrpcCode.UNAVAILABLE],
  ['503', GrpcCode.UNAVAILABLE],
  ['504', GrpcCode.UNAVAILABLE],
]);

/** gRPC over HTTP/2, Errors. */
function statusOfReset(code: number): TransportError {
  const grpc = codesOfReset.get(code) ?? GrpcCode.INTERNAL;
  return new TransportError(grpc, `the stream was reset with code ${code}`);
}

const codesOfReset: ReadonlyMap<number, number> = new Map([
  [ErrorCode.REFUSED_STREAM, GrpcCode.UNAVAILABLE],
  [ErrorCode.CANCEL, GrpcCode.CANCELLED],
  [ErrorCode.ENHANCE_YOUR_CALM, GrpcCode.RESOURCE_EXHAUSTED],
  [ErrorCode.INADEQUATE_SECURITY, GrpcCode.PERMISSION_DENIED],
]);

/** The bytes of `text`, percent-encoded or not, as UTF-8. What is no UTF-8 is kept as it came. */
function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An attempt on several addresses fails with an error without words, which has the errors of each. */
function textOf(error: Error): string {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ');
}
