// Between services and transports.
export type {
  LongMessage,
  Message,
  RpcStatus,
  CallContext,
  CallHead,
  CallHooks,
  CallUser,
  Interceptor,
  UnaryMethod,
  StreamCall,
  StreamHandler,
  BidiMethod,
  ServerStreamMethod,
  Method,
  MethodTable,
} from './src/rpc.ts';
export { intercepted, callUnary } from './src/interceptor.ts';
export {
  StatusError,
  statusOf,
  statusOfError,
  SUCCEEDED,
  CANCELLED,
  DEADLINE_EXCEEDED,
  STOPPED,
} from './src/status.ts';

// The hot paths: requests into operations, answers from encoded KeyValues.
export {
  decodeRange,
  decodePut,
  decodeDeleteRange,
  decodeTxn,
  decodeTxnWithin,
  CutTxn,
  emptyOp,
} from './src/messages/requests.ts';
export { encodeTxn } from './src/messages/txn-request.ts';
export { HeaderEncoder, type HeaderIdentity } from './src/messages/header.ts';
export { encodeAnswer, encodeRangeChunk } from './src/messages/kv-responses.ts';
export type {
  Answer,
  RangeAnswer,
  PagedRangeAnswer,
  PutAnswer,
  DeleteRangeAnswer,
  TxnAnswer,
} from './src/messages/answer.ts';
export { snapshotResponse } from './src/messages/snapshot-response.ts';
export {
  encodeEvents,
  encodeWatchResponse,
  encodeWatchFragments,
  joinWatchFragments,
  type EncodedEvents,
  type WatchHead,
} from './src/messages/watch-responses.ts';
export { decodeKeepAlive, encodeKeepAlive } from './src/messages/lease-keep-alive.ts';
export { messageBytes, joinMessage, gatherMessage, dropMessage, isLong } from './src/messages/message.ts';

// The messages, one namespace for each protobuf package. For every message X: an interface X, encodeX and decodeX.
export * as etcdserverpb from './src/gen/etcdserverpb.ts';
export * as mvccpb from './src/gen/mvccpb.ts';
export * as authpb from './src/gen/authpb.ts';
export * as leasepb from './src/gen/leasepb.ts';
export * as v3lockpb from './src/gen/v3lockpb.ts';
export * as v3electionpb from './src/gen/v3electionpb.ts';
export * as healthpb from './src/gen/grpc-health-v1.ts';
export * as reflectionpb from './src/gen/grpc-reflection-v1.ts';
export { type Init, WireError } from '@engram/protobuf';

// The tables of their JSON form. For every message X: XJson.
export * as etcdserverpbJson from './src/gen/etcdserverpb-json.ts';
export * as v3lockpbJson from './src/gen/v3lockpb-json.ts';
export * as v3electionpbJson from './src/gen/v3electionpb-json.ts';

// The .proto files themselves, for clients that ask a server for them.
export { protoFiles, type ProtoFile } from './src/gen/descriptors.ts';
