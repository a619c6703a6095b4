// Versions of keys, encoded as clients receive them.
export {
  type KeyValue,
  type KeyValueMeta,
  encodeKeyValue,
  keyValueSize,
  writeKeyValue,
  decodeKeyValue,
  decodeKeyValueMeta,
  keyValueValue,
  withoutValue,
} from './src/key-value.ts';
// Records of the log.
export {
  type LogRecord,
  encodeRecord,
  decodeRecord,
  encodePutRecord,
  encodeDeleteRecord,
  recordKv,
} from './src/log-record.ts';
// Checkpoints of the index.
export {
  type CheckpointHeader,
  type CheckpointLease,
  encodeCheckpointHeader,
  encodeLongCheckpointHeader,
  decodeCheckpointHeader,
} from './src/checkpoint.ts';
export { CheckpointWriter, decodeCheckpointEntries } from './src/checkpoint-entries.ts';
export { encodeCheckpointGarbage, decodeCheckpointGarbage, isCheckpointGarbage } from './src/checkpoint-garbage.ts';
export { ByteReader } from './src/byte-reader.ts';
export { ByteWriter } from './src/byte-writer.ts';
export { CoderError } from './src/coder-error.ts';
