// The seam between services and transports.
export type {
  Message,
  RpcStatus,
  CallContext,
  UnaryMethod,
  StreamCall,
  StreamHandler,
  BidiMethod,
  ServerStreamMethod,
  Method,
  MethodTable,
} from './src/rpc.ts';
export { StatusError, statusOf } from './src/status.ts';

// The messages, one namespace for each protobuf package: for every message X an interface X, encodeX and decodeX.
export * as etcdserverpb from './src/gen/etcdserverpb.ts';
export * as mvccpb from './src/gen/mvccpb.ts';
export * as authpb from './src/gen/authpb.ts';
export * as v3lockpb from './src/gen/v3lockpb.ts';
export * as v3electionpb from './src/gen/v3electionpb.ts';
export * as healthpb from './src/gen/grpc-health-v1.ts';
export { services } from './src/gen/services.ts';
export { WireError } from './src/protobuf/wire-error.ts';
export type { Init } from './src/protobuf/init.ts';
