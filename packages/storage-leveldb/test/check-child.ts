// The process that a `Checker` talks to. LevelDB ends the process on some damage.
import { openLevelDbStorage } from '@engram/storage-leveldb';
import { answerChecks } from '@engram/storage/testing';
import { realClock } from '@engram/sim';

answerChecks((path, logger) => openLevelDbStorage({ path, cacheBytes: 8 << 20, clock: realClock, logger }));
