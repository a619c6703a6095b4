import { crashContract, fullDiskContract } from '@engram/storage/contract';
import { LevelBed } from './level-bed.ts';

const child = { module: new URL('./append-child.ts', import.meta.url) };

crashContract('leveldb', () => LevelBed.make(), child);
fullDiskContract('leveldb', () => LevelBed.make(), child);
