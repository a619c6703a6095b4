// A storage in a directory of its own, for a node with a disk.
export { openSegmentStorage, type SegmentStorageOptions } from './src/open.ts';
// For tests: the same storage on a file system of their own, which may lose what is not durable.
export { openOn } from './src/open.ts';
export type { Ground } from './src/ground.ts';
export type { SegmentStorage } from './src/segment-storage.ts';
// Files that survive a crash, for callers that keep a small file beside a storage.
export { nodeFileSystem } from './src/disk/node-file-system.ts';
export type { BulkReader, FileSystem, OpenMode, ByteRange, StorageFile } from './src/disk/file-system.ts';
export type { Meta, MetaWrite } from './src/manifest/meta.ts';
