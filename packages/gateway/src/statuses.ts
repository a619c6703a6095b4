import { GrpcCode } from '@engram/core';
import type { RpcStatus } from '@engram/wire';

/** The client holds more of the process than it may. */
export const NO_ROOM: RpcStatus = { code: GrpcCode.RESOURCE_EXHAUSTED, message: 'etcdserver: too many requests' };

/** grpc-go's text for a method that is not in the table. */
export function notServed(path: string, isServed: (service: string) => boolean): RpcStatus {
  const [, service = '', method = ''] = path.split('/');
  const message = isServed(service) ? `unknown method ${method} for service ${service}` : `unknown service ${service}`;
  return { code: GrpcCode.UNIMPLEMENTED, message };
}
