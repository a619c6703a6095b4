/** etcd's services over a store, as a table of methods for a transport. */
export { etcdServices } from './src/etcd-services.ts';
export type { Limits, ServicesOptions } from './src/services-options.ts';
// This member's view of its cluster.
export type { Cluster, ClusterChanges, ClusterCounts, ClusterView, Member, MemberAdded } from './src/cluster-view.ts';
export { PromotionCounts } from './src/promotion-counts.ts';
export { LoneMember, type LoneMemberOptions } from './src/lone-member.ts';
export type { AuthSettings, TokenSettings } from './src/auth/authenticator.ts';
export { type ClientRequests, ServiceCounts } from './src/service-counts.ts';
export { CallTracing } from './src/call-tracing.ts';
export { HealthStatus } from './src/health-status.ts';
export { checkForwardedTxn } from './src/txn-check.ts';
