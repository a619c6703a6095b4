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
