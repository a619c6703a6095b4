// A store as its log says, in the plainest way: what a simulated node is judged by.
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
