// Between services and transports.
export type {
  LongMessage,
  Message,
  RpcStatus,
  CallContext,
  CallHead,
  UnaryMethod,
  StreamCall,
  StreamHandler,
  BidiMethod,
  ServerStreamMethod,
  Method,
  MethodTable,
} from './src/rpc.ts';
export { StatusError, statusOf } from './src/status.ts';

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
export {
  encodeAnswer,
  encodeRangeChunk,
  type Answer,
  type RangeAnswer,
  type PagedRangeAnswer,
  type PutAnswer,
  type DeleteRangeAnswer,
  type TxnAnswer,
} from './src/messages/kv-responses.ts';
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
export { type Init, WireError } from '@engram/protobuf';

// HTTP/2 without a socket: frames and header blocks.
export {
  CLIENT_PREFACE,
  DEFAULT_HEADER_TABLE_BYTES,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  LARGEST_STREAM_ID,
  LARGEST_WINDOW_BYTES,
  SettingId,
} from './src/http2/constants.ts';
export { Http2Error } from './src/http2/http2-error.ts';
export { FrameReader } from './src/http2/frame-reader.ts';
export {
  goAwayFrame,
  headersFrames,
  pingFrame,
  putFrameHeader,
  putUint32,
  readUint32,
  rstStreamFrame,
  settingsAckFrame,
  settingsFrame,
  windowUpdateFrame,
} from './src/http2/frame-writer.ts';
export { readSettings } from './src/http2/settings.ts';
export { HeaderField, HeaderName } from './src/http2/header-field.ts';
export { HpackDecoder, type FieldSink } from './src/http2/hpack-decoder.ts';
export { HpackEncoder, type FieldToEncode } from './src/http2/hpack-encoder.ts';
