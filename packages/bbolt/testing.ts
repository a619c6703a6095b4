export { bytesSource, readBuckets } from './src/testing/read-buckets.ts';
export { unshared } from './src/testing/unshared.ts';
