import { GrpcCode } from '@engram/core';
import type { RpcStatus } from '@engram/wire';
import { echoed, quoted } from './grpc/echoed.ts';

/**
 * The abort reason of call signals. One object for all, because creating one for each call that a reset or a lost
 * connection ends is expensive.
 */
export const CALL_ENDED = new DOMException('the call has ended', 'AbortError');

/** grpc-go's texts for a path without a method (google.golang.org/grpc server.go, handleStream). */
export function unimplemented(path: string, serviceKnown: (service: string) => boolean): RpcStatus {
  const slash = path.lastIndexOf('/');
  if (!path.startsWith('/') || slash < 1) {
    return { code: GrpcCode.UNIMPLEMENTED, message: `malformed method name: ${quoted(path)}` };
  }
  const service = path.slice(1, slash);
  const method = path.slice(slash + 1);
  const message = serviceKnown(service)
    ? `unknown method ${echoed(method)} for service ${service}`
    : `unknown service ${echoed(service)}`;
  return { code: GrpcCode.UNIMPLEMENTED, message };
}

/** The text of grpc-go's receive limit, which clients match on. */
export function messageTooLarge(bytes: number, max: number): RpcStatus {
  return {
    code: GrpcCode.RESOURCE_EXHAUSTED,
    message: `grpc: received message larger than max (${bytes} vs. ${max})`,
  };
}

/** etcd's limit (server/etcdserver/api/v3rpc/grpc.go: maxSendBytes). The length in front of a message has 32 bits. */
export const SENT_MESSAGE_MAX_BYTES = 2 ** 31 - 1;

/** The text of grpc-go's send limit. */
export function answerTooLarge(bytes: number): RpcStatus {
  return {
    code: GrpcCode.RESOURCE_EXHAUSTED,
    message: `grpc: trying to send message larger than max (${bytes} vs. ${SENT_MESSAGE_MAX_BYTES})`,
  };
}
