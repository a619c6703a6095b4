// The storage of a node whose log is in TiKV.
export { openTikvStorage, type LocalOptions, type TikvStorageOptions } from './src/open.ts';
export type { TikvStorage } from './src/tikv-storage.ts';
export { CheckpointMemory } from './src/local-values.ts';
export type { OpenCopyStorage } from './src/local-copy.ts';
export { defaultSafePoint, type SafePointOptions } from './src/safe-point-keeper.ts';
// Whose a prefix is: asked first, when a node starts.
export {
  openRoot,
  type ClusterFounding,
  type ClusterRoot,
  type FoundingMember,
  type OpenRootOptions,
  type RevisionOrigin,
} from './src/cluster-root.ts';
// A member's Raft state, where it has no disk of its own.
export { readRaftStates, TikvRaftStorage, type TikvRaftStorageOptions } from './src/tikv-raft-storage.ts';
// The keys of a cluster, for those who keep something of their own beside the log.
export { LogKeys } from './src/log-keys.ts';
// What a cluster has in TiKV, for people.
export { inspectStorage, type InspectOptions, type StorageReport } from './src/inspect.ts';
