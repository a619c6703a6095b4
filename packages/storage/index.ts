// The ports that every storage adapter implements.
export { type Log, type LogBatch, type AppendOutcome, batchFrom, endOf, recordBytes } from './src/log.ts';
export type { Values, Checkpoint, Storage, StorageSize } from './src/values.ts';
export {
  type ImageBase,
  type ImagePart,
  type ImageStatus,
  type LocalShare,
  noImageBase,
  type LogHolder,
  type SharedImage,
  type Trimmed,
} from './src/shared-image.ts';
export {
  StorageCorruptError,
  StorageOpenError,
  StorageClosedError,
  StorageFailedError,
  StorageFencedError,
  StorageTimestampError,
  StorageDivergedError,
  StorageTrimmedError,
  StorageUnavailableError,
} from './src/storage-error.ts';
export { WallMarks } from './src/wall-marks.ts';
// The adapter in memory, and its faults.
export { MemoryStorage } from './src/memory-storage.ts';
export { MemoryDisk } from './src/memory-disk.ts';
export {
  type FaultPlan,
  type FaultChances,
  type AppendFault,
  type StorageOperation,
  InjectedFault,
  seededFaults,
} from './src/fault-plan.ts';
// Parts for adapters.
export {
  AcknowledgedMark,
  type AcknowledgedState,
  decodeMarks,
  MARK_FILE_BYTES,
  type MarkFile,
  type MarkParts,
} from './src/acknowledged-mark.ts';
export {
  decodeNumberList,
  decodeNumbers,
  encodeNumberList,
  encodeNumbers,
  type Numbers,
} from './src/numbers.ts';
export { type RecordRequest, RecordRequests } from './src/record-requests.ts';
export { Lifetime } from './src/lifetime.ts';
export { isFenced, sameBatch, takesOver } from './src/sealing.ts';
