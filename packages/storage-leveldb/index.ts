// A storage in a directory of its own, for a node with a disk.
export { openLevelDbStorage, type LevelDbOptions } from './src/open.ts';
