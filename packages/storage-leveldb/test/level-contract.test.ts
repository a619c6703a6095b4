import { directoryContract, logContract, valuesContract } from '@engram/storage/contract';
import { LevelBed } from './level-bed.ts';

logContract('leveldb', () => LevelBed.make());
valuesContract('leveldb', () => LevelBed.make());
directoryContract('leveldb', () => LevelBed.make(), 'acknowledged');
