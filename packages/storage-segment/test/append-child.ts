// The process that crash.test.ts kills.
import { realClock, realRandom, TestLogger } from '@engram/sim';
import { appendUntilKilled } from '@engram/storage/testing';
import { openSegmentStorage } from '@engram/storage-segment';

const [path, batchMax, segmentBytes] = process.argv.slice(2);
const parts = { clock: realClock, random: realRandom, logger: new TestLogger() };
const storage = await openSegmentStorage({ path: path!, ...parts, segmentBytes: Number(segmentBytes) });
await appendUntilKilled(storage, Number(batchMax));
