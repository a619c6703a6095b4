import { directoryContract, groupedReadsContract, logContract, valuesContract } from '@engram/storage/contract';
import { LevelBed } from './level-bed.ts';

logContract('leveldb', () => LevelBed.make());
valuesContract('leveldb', () => LevelBed.make());
groupedReadsContract('leveldb', () => LevelBed.make());
directoryContract('leveldb', () => LevelBed.make(), 'acknowledged');
