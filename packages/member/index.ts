// One member of a cluster, wired over ports.
export { ClusterMember } from './src/cluster-member.ts';
export type { ClusterMemberOptions } from './src/cluster-member-options.ts';
export type { Introduction } from './src/given-members.ts';
export type { CorruptionIntervals } from './src/corruption-check.ts';
export { startLoneMember, Member, type MemberOptions, type MemberIdentity } from './src/member.ts';
export type { AuthSettings } from '@engram/etcd-api';
// The way to the other members.
export {
  type PeerAdmission,
  type PeerCaller,
  PeerError,
  type PeerFault,
  type PeerAddress,
  type PeerNetwork,
  type Peers,
  type PeerService,
  type Speaker,
} from './src/peers.ts';
export { defaultImagePolicy, ImageKeeper, type ImagePolicy } from './src/image-keeper.ts';
export type { CompactionRetention } from './src/auto-compaction.ts';
export { StartProgress, startPhases, type StartPhase } from './src/start-progress.ts';
export { HealthChecks, livezChecks, readyzChecks, type HealthCheck, type CheckOutcome } from './src/health-checks.ts';
