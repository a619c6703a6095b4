// The words of the store, and the ports to the outside world. Every package uses them.
export { assert, AssertionError, unreachable } from './src/assert.ts';
export { type Revision, revision, nextRevision, FIRST_REVISION, NO_REVISION } from './src/revision.ts';
export {
  type LogPosition,
  logPosition,
  nextLogPosition,
  type Epoch,
  epoch,
  type Seal,
  NEW_LOG_SEAL,
  sameSeal,
} from './src/log-position.ts';
export { type Int64, isInt64 } from './src/int64.ts';
export type { VersionMeta } from './src/version-meta.ts';
export { type LeaseId, leaseId, NO_LEASE } from './src/lease-id.ts';
export { EMPTY_BYTES, compareBytes, equalBytes, keyText, keyBytes, keySuccessor, utf8 } from './src/bytes.ts';
export {
  type KeyRange,
  pointRange,
  prefixRange,
  isPoint,
  isUnbounded,
  isEmptyRange,
  rangeContains,
} from './src/key-range.ts';
export {
  EVENT_PUT,
  EVENT_DELETE,
  type EventType,
  type KvEvent,
  type EventGroup,
  type CommittedBatch,
} from './src/event.ts';
export {
  type Txn,
  type Op,
  type RangeOp,
  rangeOp,
  type PutOp,
  putOp,
  type DeleteRangeOp,
  type TxnOp,
  type Compare,
  CompareResult,
  CompareTarget,
  SortOrder,
  SortTarget,
} from './src/txn.ts';
export { type ByteList, ByteViews } from './src/byte-views.ts';
export type { PagedBytes } from './src/paged-bytes.ts';
export { Fifo } from './src/fifo.ts';
export { LinkedQueue, type Queued } from './src/linked-queue.ts';
export { addressShare } from './src/address-share.ts';
export { HolderShares } from './src/holder-shares.ts';
export { SharedBudget, Share, type SharedBudgetOptions } from './src/shared-budget.ts';
export { ClientBudgets, type ClientBounds } from './src/client-budgets.ts';
export { SequenceRing } from './src/sequence-ring.ts';
export { parseGoDuration, formatGoDuration } from './src/go-duration.ts';
export { systemErrorCode } from './src/system-error.ts';
export { EngramError, type ErrorCode, GrpcCode, errorTable, isEngramError } from './src/errors.ts';
export { FaultError } from './src/fault-error.ts';
export { type AnswerAccount, AnswerRoom } from './src/answer-room.ts';
export type { Clock, Timer, Random, Logger } from './src/ports.ts';
export {
  type Span,
  type SpanAttributes,
  type SpanKind,
  type SpanValue,
  type TracedCall,
  type Tracer,
  noTracer,
} from './src/tracer.ts';
export {
  type TraceContext,
  parseTraceparent,
  traceparentOf,
  encodeTraceContext,
  decodeTraceContext,
} from './src/trace-context.ts';
export { whenLate, whenThere } from './src/when-there.ts';
export { sleep, endsWithin, withDeadline } from './src/waits.ts';
export { Waiters } from './src/waiters.ts';
export { Mutex } from './src/mutex.ts';
export { Limiter } from './src/limiter.ts';
export type { EndedWrite } from './src/ended-write.ts';
export { drawId, joinU64, splitU64 } from './src/u64.ts';
