// What a `Checker` talks to. A process of its own, because LevelDB ends the process on some damage.
import { openSegmentStorage } from '@engram/storage-segment';
import { answerChecks } from '@engram/storage/testing';
import { clock, random } from './segment-bed.ts';

answerChecks((path, logger) => openSegmentStorage({ path, clock, random, logger, segmentBytes: 16 << 10 }));
