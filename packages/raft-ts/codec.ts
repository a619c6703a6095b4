// Messages and states as bytes: protobuf, as in proto/raft/raft.proto. Decoding throws RaftError `bad-bytes`.
export { encodeMessage, decodeMessage } from './src/codec/message-codec.ts';
export {
  encodeEntry,
  decodeEntry,
  encodeHardState,
  decodeHardState,
  encodeSnapshot,
  decodeSnapshot,
} from './src/codec/state-codec.ts';
