import { type Codec, decode, encode } from '@engram/protobuf';
import * as linkpb from './gen/linkpb.ts';

export const EXCHANGE = '/engram.Peer/Exchange';
export const FOLLOW = '/engram.Peer/Follow';

const serializer =
  <Form, FormInit>(codec: Codec<Form, FormInit>) =>
  (form: FormInit): Buffer => {
    const bytes = encode(codec, form);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
const deserializer =
  <Form, FormInit>(codec: Codec<Form, FormInit>) =>
  (bytes: Buffer): Form =>
    decode(codec, bytes);

const frames = { serialize: serializer(linkpb.FrameCodec), deserialize: deserializer(linkpb.FrameCodec) };
const answers = { serialize: serializer(linkpb.AnswersCodec), deserialize: deserializer(linkpb.AnswersCodec) };
const followRequests = {
  serialize: serializer(linkpb.FollowRequestCodec),
  deserialize: deserializer(linkpb.FollowRequestCodec),
};
export const batches = { serialize: serializer(linkpb.BatchesCodec), deserialize: deserializer(linkpb.BatchesCodec) };

export const peerService = {
  exchange: {
    path: EXCHANGE,
    requestStream: true,
    responseStream: true,
    requestSerialize: frames.serialize,
    requestDeserialize: frames.deserialize,
    responseSerialize: answers.serialize,
    responseDeserialize: answers.deserialize,
  },
  follow: {
    path: FOLLOW,
    requestStream: false,
    responseStream: true,
    requestSerialize: followRequests.serialize,
    requestDeserialize: followRequests.deserialize,
    responseSerialize: batches.serialize,
    responseDeserialize: batches.deserialize,
  },
};

/** The message limit is far above a write of 1.5 MiB, because a batch of the log may be one large transaction. */
export const channelOptions = {
  'grpc.max_receive_message_length': 512 * 1024 * 1024,
  'grpc.max_send_message_length': 512 * 1024 * 1024,
  // After packets were lost for a second, TCP waits as long again before it sends. Members that need each other's votes reach
  // each other sooner over a new connection. A connection that is silent for an election timeout is closed.
  'grpc.keepalive_time_ms': 500,
  'grpc.keepalive_timeout_ms': 1000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.enable_retries': 0,
  // Clients of one address share a connection by default. An attempt that was given up fails minutes later, and would fail then
  // what a newer client attempts.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
};
