// The process that crash.test.ts kills.
import { realClock, TestLogger } from '@engram/sim';
import { appendUntilKilled } from '@engram/storage/testing';
import { openLevelDbStorage } from '@engram/storage-leveldb';

const [path, batchMax] = process.argv.slice(2);
const logger = new TestLogger();
const storage = await openLevelDbStorage({ path: path!, cacheBytes: 8 << 20, clock: realClock, logger });
await appendUntilKilled(storage, Number(batchMax));
