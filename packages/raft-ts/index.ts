// A node, its inputs and its outputs.
export { RawNode } from './src/raw-node.ts';
export type { InitialState } from './src/raft.ts';
export { type RaftOptions, type RaftLimits, defaultLimits } from './src/options.ts';
export type { Ready, Persist, SoftState, ReadState, Role } from './src/ready.ts';
export type { ProposeOutcome, DropReason, ReadOutcome, TransferOutcome } from './src/outcomes.ts';
export type { NodeStatus, FollowerStatus } from './src/status.ts';
export type { ProgressState } from './src/progress.ts';
// The parts of a log.
export type { Entry, NormalEntry, ConfChangeEntry, ConfChange, Payload } from './src/entry.ts';
export { entryBytes } from './src/entry.ts';
export { type ConfState, confState, NO_CONF, isApplicable, isVoter, isMember, quorumSize } from './src/conf-state.ts';
export { type HardState, NEW_HARD_STATE } from './src/hard-state.ts';
export type { Snapshot } from './src/snapshot.ts';
export { type Term, term, NO_TERM } from './src/term.ts';
export { type LogIndex, logIndex, NO_INDEX, indexAfter } from './src/log-index.ts';
export type { EntryId } from './src/entry-id.ts';
export { type NodeId, nodeId } from './src/node-id.ts';
// The port to a log that is persisted, and a log in memory.
export type { LogStorage } from './src/log-storage.ts';
export { MemoryLog } from './src/memory-log.ts';
// The messages between nodes.
export type * from './src/message.ts';
export { RaftError, type RaftErrorCode } from './src/raft-error.ts';
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
