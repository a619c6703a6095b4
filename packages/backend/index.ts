// The store that etcd's API is served from.
export { openBackend, Backend, type BackendOptions } from './src/backend.ts';
export type {
  Store,
  RangeResult,
  PutResult,
  DeleteRangeResult,
  TxnResult,
  OpResult,
  LeaseView,
  Alarm,
  HashKvResult,
  StoreStatus,
  StoreImage,
} from './src/store.ts';
export type { StoreObserver } from './src/observer.ts';
export { ALARM_NOSPACE, ALARM_CORRUPT } from './src/replicated-state.ts';
export { txnCost } from './src/quota.ts';
