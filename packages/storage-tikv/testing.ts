// The formats of the log in TiKV, for tests that look at what the stores hold.
export {
  type BatchHeader,
  type BatchPart,
  decodeBatch,
  decodePart,
  type StoredBatch,
} from './src/format/batch-format.ts';
export { decodeSeal, encodeSeal, type SegmentOwner } from './src/format/seal-record.ts';
export { decodeImageRoot, type ImageRoot } from './src/format/image-root.ts';
export { type LogKey, LogKeys } from './src/format/log-keys.ts';
