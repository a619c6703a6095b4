import { directoryContract, logContract, valuesContract } from '@engram/storage/contract';
import { SegmentBed } from './segment-bed.ts';

logContract('segments', () => SegmentBed.make());
valuesContract('segments', () => SegmentBed.make());
directoryContract('segments', () => SegmentBed.make(), 'ACKNOWLEDGED');
// So small that most appends begin a segment, and the cleaner has work.
logContract('small segments', () => SegmentBed.make(4096));
valuesContract('small segments', () => SegmentBed.make(4096));
