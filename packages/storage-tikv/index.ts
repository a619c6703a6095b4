// The storage of a node whose log is in TiKV.
export { openTikvStorage, type LocalOptions, type TikvStorageOptions } from './src/open.ts';
export type { TikvStorage } from './src/tikv-storage.ts';
export { CheckpointMemory } from './src/copy/local-values.ts';
export type { OpenCopyStorage } from './src/copy/local-copy.ts';
export { defaultSafePoint, type SafePointOptions } from './src/needs/safe-point-keeper.ts';
// The cluster that owns a prefix. A node that starts asks for it first.
export {
  openRoot,
  type ClusterFounding,
  type ClusterRoot,
  type FollowedEtcd,
  type FoundingMember,
  type OpenRootOptions,
} from './src/cluster-root.ts';
// The end of a store's following an etcd.
export { endFollowing, type FollowedRootOptions, newestRoot } from './src/followed-root.ts';
// A prefix that is made the store of a cluster, before its members start.
export {
  checkPrefixIsFree,
  restoreIntoPrefix,
  type PrefixRestoreOptions,
  type RestoredImage,
  type RestorePlace,
} from './src/prefix-restore.ts';
// A member's Raft state in TiKV, for a member without a disk.
export { readRaftStates, TikvRaftStorage, type TikvRaftStorageOptions } from './src/tikv-raft-storage.ts';
// The keys of a cluster, for code that keeps its own values beside the log.
export { LogKeys } from './src/format/log-keys.ts';
// A report for operators of what a cluster has in TiKV.
export { inspectStorage, type InspectOptions, type StorageReport } from './src/inspect.ts';
