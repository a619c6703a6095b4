export { bytesSource, readBuckets } from './src/testing/read-buckets.ts';
