import { GrpcCode } from '@engram/core';

/** grpc-gateway's table (runtime/errors.go: HTTPStatusFromCode). Codes that are not in it are 500. */
const statuses: ReadonlyMap<number, number> = new Map([
  [GrpcCode.OK, 200],
  [GrpcCode.CANCELLED, 499],
  [GrpcCode.INVALID_ARGUMENT, 400],
  [GrpcCode.DEADLINE_EXCEEDED, 504],
  [GrpcCode.NOT_FOUND, 404],
  [GrpcCode.ALREADY_EXISTS, 409],
  [GrpcCode.PERMISSION_DENIED, 403],
  [GrpcCode.UNAUTHENTICATED, 401],
  [GrpcCode.RESOURCE_EXHAUSTED, 429],
  [GrpcCode.FAILED_PRECONDITION, 400],
  [GrpcCode.ABORTED, 409],
  [GrpcCode.OUT_OF_RANGE, 400],
  [GrpcCode.UNIMPLEMENTED, 501],
  [GrpcCode.UNAVAILABLE, 503],
]);

export const httpStatusOf = (code: number): number => statuses.get(code) ?? 500;
