// A store that follows an etcd, until it takes its place.
export { Follower, type FollowerOptions, type Lag } from './src/follower.ts';
export { isMigrationError, MigrationError, type MigrationFault } from './src/migration-error.ts';
export type { AuthMark, Change, KeyHead, RevisionChanges, Source, Target } from './src/stores.ts';
export { EtcdClient, type EtcdAddress } from './src/etcd-client.ts';
export { EtcdSource } from './src/etcd-source.ts';
export { EtcdTarget } from './src/etcd-target.ts';
export { type LeaseRenewalOptions, renewLeases } from './src/lease-renewal.ts';
export { type FollowMark, LeadingFollower, type LeadingFollowerOptions } from './src/leading-follower.ts';
export { type FollowingStore, StoreTarget, type StoreTargetOptions } from './src/store-target.ts';
