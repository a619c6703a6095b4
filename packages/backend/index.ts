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
} from './src/store.ts';
