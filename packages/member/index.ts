// One member of a cluster, wired over ports.
export { startLoneMember, Member, type MemberOptions, type MemberIdentity } from './src/member.ts';
export type { CompactionRetention } from './src/auto-compaction.ts';
export { HealthChecks, livezChecks, readyzChecks, type HealthCheck, type Outcome } from './src/health-checks.ts';
