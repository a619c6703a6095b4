// The ports that every storage adapter implements.
export type { Log, LogBatch, AppendOutcome } from './src/log.ts';
export type { Values, Checkpoint, Storage, StorageSize } from './src/values.ts';
export { StorageCorruptError, StorageOpenError } from './src/storage-error.ts';
