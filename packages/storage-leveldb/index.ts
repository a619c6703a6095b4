// A storage in a directory of its own, for a node with a disk.
export { openLevelDbStorage, type LevelDbOptions } from './src/open.ts';
// What LevelDB's errors mean, for whoever keeps something in one.
export { isLevelDamage, levelOpenFailure } from './src/leveldb-error.ts';
