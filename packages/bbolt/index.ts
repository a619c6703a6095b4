// Writing.
export { type BboltFile, bboltFile } from './src/bbolt-file.ts';
export { type BucketContent, smallBucket } from './src/bucket-content.ts';
export type { SharedTime } from './src/tree-writer.ts';

// Reading.
export { BboltReader, type BucketEntry, READER_LIMITS, type ReaderLimits } from './src/bbolt-reader.ts';
export { BboltError, type BboltFault } from './src/bbolt-error.ts';
export type { ByteSource } from './src/byte-source.ts';
