import { logPosition } from '@engram/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StorageCorruptError } from '../index.ts';
import type { StorageBed } from './storage-bed.ts';
import { appendRecords, never, record, sealOf } from './storage-steps.ts';

const at = logPosition;

/** The contract of an engine that reads the records of many calls together. */
export function groupedReadsContract(name: string, makeBed: () => Promise<StorageBed>): void {
  describe(`${name}: calls of getMany at a time`, () => {
    test('of all sizes get each their own records', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      await storage.log.seal(sealOf(1));
      await appendRecords(storage, 1, [1000, 1000]);
      const sizes = fc.oneof(
        fc.nat({ max: 3 }),
        fc.integer({ min: 250, max: 260 }),
        fc.integer({ min: 500, max: 900 }),
      );
      const requests = sizes.chain((size) =>
        fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: size, maxLength: size, size: 'max' }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(requests, { maxLength: 12 }), async (lists) => {
          const answers = await Promise.all(lists.map((list) => storage.values.getMany(list.map(at), never)));
          for (const [index, list] of lists.entries()) {
            const answer = answers[index]!;
            expect(answer.length).toBe(list.length);
            expect(list.findIndex((position, i) => Buffer.compare(answer[i]!, record(position)) !== 0)).toBe(-1);
          }
        }),
        { numRuns: 25 },
      );
    });

    test('one that fails and one that is abandoned leave their neighbours alone', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      await storage.log.seal(sealOf(1));
      await appendRecords(storage, 1, [1000]);
      const all = Array.from({ length: 1000 }, (_, index) => at(index + 1));
      const stop = new AbortController();
      const reason = new Error('no longer wanted');
      const abandoned = storage.values.getMany([...all, ...all], stop.signal);
      const failing = storage.values.getMany([at(1), at(5000), ...all], never);
      const neighbours = [storage.values.getMany(all, never), storage.values.getMany([at(7)], never)];
      stop.abort(reason);
      await expect(abandoned).rejects.toBe(reason);
      await expect(failing).rejects.toThrow(StorageCorruptError);
      const [many, one] = await Promise.all(neighbours);
      expect(many?.length).toBe(1000);
      expect(one?.map((bytes) => bytes.length)).toEqual([record(7).length]);
    });

    test('a small one overtakes the rest of a large one', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      await storage.log.seal(sealOf(1));
      await appendRecords(storage, 1, [1000]);
      const order: string[] = [];
      const large = Array.from({ length: 10_000 }, (_, index) => at(1 + (index % 1000)));
      await Promise.all([
        storage.values.getMany(large, never).then(() => order.push('large')),
        storage.values.getMany([at(1)], never).then(() => order.push('small')),
      ]);
      expect(order).toEqual(['small', 'large']);
    });
  });
}
