/** Key to versions: the MVCC authority of a node. */
export { KeyIndex, type CountedSlice, type KeyIndexOptions } from './src/key-index.ts';
export type { IndexLoader } from './src/index-loader.ts';
export { NO_VERSION, type VersionSlot } from './src/version-slot.ts';
