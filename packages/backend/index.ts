// The store that etcd's API is served from.
export { Scrub, type ScrubCounts, type ScrubOptions } from './src/replica/scrub.ts';
export type { BackendSettings } from './src/backend-settings.ts';
export {
  openBackend,
  openReplica,
  recoverReplica,
  Backend,
  type BackendCluster,
  type BackendOptions,
  type LeadershipEnd,
} from './src/backend.ts';
export type {
  Store,
  NodeStore,
  LocalStore,
  AppliedReads,
  ListForm,
  Proposals,
  RangeResult,
  PagedRangeResult,
  PutResult,
  DeleteRangeResult,
  TxnResult,
  OpResult,
  LeaseView,
  LeaseDetails,
  LeaseGrant,
  Alarm,
  HashKvResult,
  StoreStatus,
  StoreImage,
  Login,
} from './src/store.ts';
export type { AuthListener, AuthView } from './src/apply/auth-store.ts';
export { accessAtOnce, accessOf, permitKeys, permitRoot, permitUser } from './src/auth/permits.ts';
export { type Caller, type Origin, nodeItself } from './src/caller.ts';
export { CONFIRMED_WITHIN_MS, confirmedLately } from './src/confirmed-lately.ts';
export type { CommittedWrite } from './src/apply/committed-write.ts';
export type { ReadBatch } from './src/apply/batch-reader.ts';
export { Replica } from './src/replica/replica.ts';
export type { PartsFrom, SharedImageOptions } from './src/image/shared-image.ts';
export { CurrentLeadership } from './src/lead/current-leadership.ts';
export { Following } from './src/lead/following.ts';
export type { Leadership } from './src/lead/leadership.ts';
export { isRecallable, recallDecided, recallTxn } from './src/read/recall-txn.ts';
export type { NodeStats } from './src/node-stats.ts';
export type { StoreObserver } from './src/observer.ts';
export type { OnRecovery, RecoveryProgress } from './src/replica/recovery-progress.ts';
export { ALARM_NOSPACE, ALARM_CORRUPT } from './src/apply/replicated-state.ts';
export { isReadOnly, readsSerializable, txnCost } from './src/quota.ts';
