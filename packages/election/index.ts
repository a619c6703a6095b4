// The election: its state machine, its effects and its view.
export { Election } from './src/election.ts';
export type { ElectionOptions } from './src/options.ts';
export type { Effect, Ticket, ChangeOutcome, Witness } from './src/effect.ts';
export type { ElectionView } from './src/view.ts';
export type { StorePlace } from './src/tenure.ts';
export { ElectionError, type ElectionErrorCode } from './src/election-error.ts';
// The members, and changes of the membership.
export { type Member, type MemberId, memberId, hasStarted } from './src/cluster/member.ts';
export { type ClusterState, memberOf } from './src/cluster/cluster-state.ts';
export type { StoreLeadership } from './src/cluster/store-leadership.ts';
export { type MemberRequest, type MembershipRules, READY_SHARE } from './src/membership/membership-rules.ts';
export { memberIdOf, clusterIdOf } from './src/cluster/identity.ts';
export { parsePeerUrls } from './src/cluster/peer-urls.ts';
export { bootstrapState } from './src/membership/bootstrap.ts';
export { goOnAlone, type LoneSurvivorOptions, loneSurvivorBatch } from './src/membership/lone-survivor.ts';
// The Raft state of a member, and its storage.
export type { RaftStorage } from './src/raft-storage.ts';
export { type RaftState, type RaftBatch, NEW_RAFT_STATE, afterBatch } from './src/raft-state.ts';
export { encodeRaftState, decodeRaftState } from './src/codec/raft-state-codec.ts';
export { MemoryRaftStorage, MemoryRaftDisk } from './src/memory-raft-storage.ts';
// The messages between members.
export { type PeerMessage, receiverOf } from './src/peer-message.ts';
export { encodePeerMessage, decodePeerMessage } from './src/codec/peer-codec.ts';
// The election on a clock, a network and a storage.
export type { Speaker, Standing } from './src/message-fault.ts';
export { ElectionDriver, type ElectionDriverOptions } from './src/driver/election-driver.ts';
export type { ElectionPorts, ElectionNetwork, ElectionOwner } from './src/driver/election-ports.ts';
