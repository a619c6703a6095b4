// A store as its log defines it, in the simplest way. Tests compare simulated members with it.
export {
  StoreHistory,
  ModelError,
  type KeyLine,
  type LeaseSpan,
  type LoggedWrite,
  type Mark,
  type ModelAlarm,
  type ModelEvent,
  type ModelKv,
  type StateAt,
} from './src/model/history.ts';
export {
  evaluateRange,
  evaluateTxn,
  type Evaluation,
  type ModelChange,
  type ModelResponse,
  type ModelTxn,
} from './src/model/evaluate.ts';
