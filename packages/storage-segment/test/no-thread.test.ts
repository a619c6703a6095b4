import { logPosition } from '@engram/core';
import { appendRecords, batches, never, record, sealOf } from '@engram/storage/testing';
import { expect, test, vi } from 'vitest';
import { SegmentBed } from './segment-bed.ts';

vi.mock('node:worker_threads', () => ({
  Worker: class {
    constructor() {
      throw Object.assign(new Error('Worker initialization failure: EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    }
  },
}));

// Threads are counted: a container may have as many as it may have.
test('where the system has no thread left, reads go one by one', async () => {
  await using bed = await SegmentBed.make();
  const storage = await bed.open();
  await storage.log.seal(sealOf(1));
  const end = await appendRecords(storage, 1, batches(10, 100));
  const spread = Array.from({ length: 20 }, (_, index) => 1 + index * 50).filter((position) => position < end);
  for (let time = 0; time < 2; time += 1) {
    const seen = await storage.values.getMany(spread.map(logPosition), never);
    expect(seen.every((bytes, index) => Buffer.compare(bytes, record(spread[index]!)) === 0)).toBe(true);
  }
});
