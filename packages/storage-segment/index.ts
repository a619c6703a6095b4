// A storage in a directory of its own, for a node that has a disk.
export { openSegmentStorage, type SegmentStorageOptions } from './src/open.ts';
