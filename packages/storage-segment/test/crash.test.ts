import { type AppendingChild, crashContract, fullDiskContract } from '@engram/storage/contract';
import { SegmentBed } from './segment-bed.ts';

const LARGE = 64 << 20;
const SMALL = 16 << 10;

const child = (segmentBytes: number): AppendingChild => ({
  module: new URL('./append-child.ts', import.meta.url),
  more: [String(segmentBytes)],
});

crashContract('one segment', () => SegmentBed.make(LARGE), child(LARGE));
crashContract('many segments, rewritten meanwhile', () => SegmentBed.make(SMALL), child(SMALL));
fullDiskContract('segments', () => SegmentBed.make(LARGE), child(LARGE));
