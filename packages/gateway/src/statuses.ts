import { AssertionError, GrpcCode } from '@engram/core';
import { type RpcStatus, statusOf } from '@engram/wire';

export const SUCCEEDED: RpcStatus = { code: GrpcCode.OK, message: '' };
/** Go's text for a context whose caller has gone (context.Canceled). */
export const CANCELLED: RpcStatus = { code: GrpcCode.CANCELLED, message: 'context canceled' };
/** The status of a call when the server stops. Never OK: clients take that for a broken watch. */
export const STOPPED: RpcStatus = { code: GrpcCode.UNAVAILABLE, message: 'etcdserver: server stopped' };
/** Go's text for a context whose deadline passed (context.DeadlineExceeded). */
export const EXPIRED: RpcStatus = { code: GrpcCode.DEADLINE_EXCEEDED, message: 'context deadline exceeded' };
/** The client holds more of the process than it may. */
export const NO_ROOM: RpcStatus = { code: GrpcCode.RESOURCE_EXHAUSTED, message: 'etcdserver: too many requests' };

/** The status that a client gets for an error of a handler. A failed assertion also ends the process. */
export function statusOfError(error: unknown, kind: 'unary' | 'stream'): RpcStatus {
  if (error instanceof AssertionError) {
    queueMicrotask(() => {
      throw error;
    });
  }
  return statusOf(error, kind);
}

/** grpc-go's text for a method that is not in the table. */
export function unimplemented(path: string, isServed: (service: string) => boolean): RpcStatus {
  const [, service = '', method = ''] = path.split('/');
  const message = isServed(service) ? `unknown method ${method} for service ${service}` : `unknown service ${service}`;
  return { code: GrpcCode.UNIMPLEMENTED, message };
}
