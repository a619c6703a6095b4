// The process that a `Checker` talks to. LevelDB ends the process on some damage.
import { openSegmentStorage } from '@engram/storage-segment';
import { answerChecks } from '@engram/storage/testing';
import { realClock, realRandom } from '@engram/sim';

answerChecks((path, logger) =>
  openSegmentStorage({ path, clock: realClock, random: realRandom, logger, segmentBytes: 16 << 10 }),
);
