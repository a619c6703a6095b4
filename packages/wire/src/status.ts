import { AssertionError, EngramError, GrpcCode } from '@engram/core';
import { WireError } from '@engram/protobuf';
import type { RpcStatus } from './rpc.ts';

/** Ends a call with a status that is not one of etcd's errors. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly grpc: number;

  constructor(grpc: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.grpc = grpc;
  }
}

export const SUCCEEDED: RpcStatus = { code: GrpcCode.OK, message: '' };
/** Go's text for a context whose caller has gone (context.Canceled). */
export const CANCELLED: RpcStatus = { code: GrpcCode.CANCELLED, message: 'context canceled' };
/** Go's text for a context whose deadline passed (context.DeadlineExceeded). */
export const DEADLINE_EXCEEDED: RpcStatus = { code: GrpcCode.DEADLINE_EXCEEDED, message: 'context deadline exceeded' };
/** The status of a call when the server stops. Never OK: clients take that for a broken watch and do not reconnect. */
export const STOPPED: RpcStatus = { code: GrpcCode.UNAVAILABLE, message: 'etcdserver: server stopped' };

/**
 * The status for an error that a method has thrown. The texts for unreadable requests are grpc-go's: one for unary
 * calls (server.go: processUnaryRPC), one for messages of a stream (rpc_util.go: recv). Any other error is UNKNOWN with
 * its text, as in grpc-go. A broken invariant is rethrown.
 */
export function statusOf(error: unknown, kind: 'unary' | 'stream' = 'unary'): RpcStatus {
  if (error instanceof AssertionError) throw error;
  if (error instanceof EngramError || error instanceof StatusError) {
    return { code: error.grpc, message: error.message };
  }
  if (error instanceof WireError) {
    const what = kind === 'unary' ? 'error unmarshalling request' : 'failed to unmarshal the received message';
    return { code: GrpcCode.INTERNAL, message: `grpc: ${what}: ${error.message}` };
  }
  return { code: GrpcCode.UNKNOWN, message: error instanceof Error ? error.message : String(error) };
}

/** As `statusOf`, for transports: a broken invariant is thrown outside of the call as well, where nobody catches it, and ends the process. */
export function statusOfError(error: unknown, kind: 'unary' | 'stream'): RpcStatus {
  if (error instanceof AssertionError) {
    queueMicrotask(() => {
      throw error;
    });
  }
  return statusOf(error, kind);
}
