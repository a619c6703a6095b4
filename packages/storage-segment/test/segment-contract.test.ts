import { directoryContract, groupedReadsContract, logContract, valuesContract } from '@engram/storage/contract';
import { SegmentBed } from './segment-bed.ts';

logContract('segments', () => SegmentBed.make());
valuesContract('segments', () => SegmentBed.make());
groupedReadsContract('segments', () => SegmentBed.make());
directoryContract('segments', () => SegmentBed.make(), 'ACKNOWLEDGED');
// Segments so small that most appends begin a new one, and the cleaner has work.
logContract('small segments', () => SegmentBed.make(4096));
valuesContract('small segments', () => SegmentBed.make(4096));
// The durability for a copy of data that is kept elsewhere.
const unsynced = (): Promise<SegmentBed> => SegmentBed.make(64 << 20, { durability: 'none' });
logContract('segments without sync', unsynced);
valuesContract('segments without sync', unsynced);
directoryContract('segments without sync', unsynced, 'ACKNOWLEDGED');
