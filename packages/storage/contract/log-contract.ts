import { AssertionError, logPosition, NEW_LOG_SEAL } from '@engram/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LogBatch, type Storage, StorageClosedError, StorageCorruptError, StorageFencedError } from '../index.ts';
import {
  appendAll,
  first,
  openSealed,
  plain,
  readAll,
  record,
  records,
  reopen,
  type StorageBed,
} from './storage-bed.ts';
import { holderContract } from './holder-contract.ts';
import { never, sealOf } from './storage-steps.ts';

const at = logPosition;

/** The contract of `Log`. `makeBed` is called once for each test. */
export function logContract(name: string, makeBed: () => Promise<StorageBed>): void {
  describe(`${name}: log`, () => {
    test('a new one is empty and begins at 1', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      expect(await readAll(storage)).toEqual([]);
      expect(await storage.log.seal(first)).toBe(1);
    });

    test('a new one is sealed by epoch 0', async () => {
      await using bed = await makeBed();
      const storage = await bed.open();
      expect(await storage.log.append({ first: at(1), records: records(1) }, NEW_LOG_SEAL)).toEqual({
        kind: 'committed',
      });
    });

    test('gives back the batches that were appended, before and after it is opened again', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      const batches = await appendAll(storage, [records(3), records(1, 4), records(200, 5)]);
      expect(await readAll(storage)).toEqual(batches);
      expect(await readAll(await reopen(bed, storage))).toEqual(batches);
    });

    test('reads from any position what lies behind it', async () => {
      const lengths = fc.array(fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 7 }), { maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(lengths, async (batchLengths) => {
          await using bed = await makeBed();
          let number = 0;
          const contents = batchLengths.map((batch) =>
            batch.map((length) => {
              number += 1;
              return record(number, length);
            }),
          );
          let storage = await openSealed(bed);
          const batches = await appendAll(storage, contents);
          for (let from = 1; from <= number + 1; from += 1) {
            expect(await readAll(storage, at(from))).toEqual(behind(batches, from));
          }
          storage = await reopen(bed, storage);
          expect(await readAll(storage)).toEqual(batches);
          expect(await storage.log.seal(first)).toBe(number + 1);
        }),
        { numRuns: 15 },
      );
    });

    test('goes on behind the end after it was opened again', async () => {
      await using bed = await makeBed();
      let storage = await openSealed(bed);
      const before = await appendAll(storage, [records(5)]);
      storage = await reopen(bed, storage);
      const after = await appendAll(storage, [records(2, 6)], await storage.log.seal(first));
      expect(after[0]?.first).toBe(6);
      expect(await readAll(await reopen(bed, storage))).toEqual([...before, ...after]);
    });

    test('takes records of 4 MiB', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      const large = [record(1, 4 << 20), record(2, 10), record(3, 4 << 20)];
      const batches = await appendAll(storage, [large, records(1, 4)]);
      // Not `toEqual`, which takes seconds for this many bytes.
      const seen = await readAll(await reopen(bed, storage));
      expect(seen.map(shape)).toEqual(batches.map(shape));
      for (const [index, bytes] of large.entries()) {
        expect(Buffer.compare(seen[0]!.records[index]!, bytes)).toBe(0);
      }
    });

    test.each([
      { position: 3, why: 'a gap' },
      { position: 1, why: 'an overlap' },
      { position: 0, why: 'before the log begins' },
    ])('a batch at $position of a log that ends before 2 is an assertion: $why', async ({ position }) => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      const batches = await appendAll(storage, [records(1)]);
      const wrong: LogBatch = { first: at(position), records: records(2, 7) };
      await expect(storage.log.append(wrong, first)).rejects.toThrow(AssertionError);
      expect(await readAll(storage)).toEqual(batches);
      await appendAll(storage, [records(1, 2)], at(2));
    });

    test('an empty batch is an assertion', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      await expect(storage.log.append({ first: at(1), records: [] }, first)).rejects.toThrow(AssertionError);
    });

    test('two appends at a time are an assertion, and the first is not harmed', async () => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      const one = storage.log.append({ first: at(1), records: records(1) }, first);
      await expect(storage.log.append({ first: at(2), records: records(1, 2) }, first)).rejects.toThrow(AssertionError);
      expect(await one).toEqual({ kind: 'committed' });
      expect(await readAll(storage)).toEqual([{ first: 1, records: records(1) }]);
    });

    describe('epochs', () => {
      test('an older one is fenced, and nothing of it is written', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const batches = await appendAll(storage, [records(2)]);
        expect(await storage.log.seal(sealOf(5))).toBe(3);
        const late: LogBatch = { first: at(3), records: records(1, 9) };
        expect(await storage.log.append(late, first)).toEqual({ kind: 'fenced' });
        expect(await storage.log.append(late, sealOf(4))).toEqual({ kind: 'fenced' });
        expect(await readAll(storage)).toEqual(batches);
        expect(await storage.log.append(late, sealOf(5))).toEqual({ kind: 'committed' });
      });

      test('a deposed writer is fenced wherever it believes the end to be', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await storage.log.seal(sealOf(2));
        await storage.log.append({ first: at(1), records: records(3) }, sealOf(2));
        expect(await storage.log.append({ first: at(1), records: records(1) }, first)).toEqual({ kind: 'fenced' });
      });

      test('the seal is durable', async () => {
        await using bed = await makeBed();
        const before = await openSealed(bed);
        await before.log.seal(sealOf(7));
        const storage = await reopen(bed, before);
        expect(await storage.log.append({ first: at(1), records: records(1) }, sealOf(6))).toEqual({ kind: 'fenced' });
        await expect(storage.log.seal(sealOf(6))).rejects.toThrow(StorageFencedError);
        expect(await storage.log.seal(sealOf(7))).toBe(1);
      });

      test('an older one cannot seal, the same one can again', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await storage.log.seal(sealOf(3));
        await expect(storage.log.seal(sealOf(2))).rejects.toThrow(StorageFencedError);
        expect(await storage.log.seal(sealOf(3))).toBe(1);
        expect(await storage.log.append({ first: at(1), records: records(1) }, sealOf(3))).toEqual({
          kind: 'committed',
        });
      });

      test('the same one of another holder cannot seal, and cannot append', async () => {
        await using bed = await makeBed();
        let storage = await openSealed(bed);
        const other = sealOf(1, first.holder + 1n);
        for (const life of ['before', 'after it was opened again']) {
          await expect(storage.log.seal(other), life).rejects.toThrow(StorageFencedError);
          const outcome = await storage.log.append({ first: at(1), records: records(1) }, other);
          expect(outcome, life).toEqual({ kind: 'fenced' });
          storage = await reopen(bed, storage);
        }
        expect(await readAll(storage)).toEqual([]);
        expect(await storage.log.seal(first)).toBe(1);
        await appendAll(storage, [records(1)]);
      });

      test('epoch 0 of a new log is nobody else’s', async () => {
        await using bed = await makeBed();
        const storage = await bed.open();
        await expect(storage.log.seal(sealOf(0, 1n))).rejects.toThrow(StorageFencedError);
        expect(await storage.log.seal(NEW_LOG_SEAL)).toBe(1);
      });

      test('a holder has all of 64 bits', async () => {
        await using bed = await makeBed();
        const largest = sealOf(3, 2n ** 64n - 1n);
        const before = await bed.open();
        await before.log.seal(largest);
        const storage = await reopen(bed, before);
        await expect(storage.log.seal(sealOf(3, 2n ** 64n - 2n))).rejects.toThrow(StorageFencedError);
        await expect(storage.log.seal(sealOf(3, 2n ** 32n - 1n))).rejects.toThrow(StorageFencedError);
        expect(await storage.log.seal(largest)).toBe(1);
      });

      test('a seal of a newer epoch needs a holder', async () => {
        await using bed = await makeBed();
        const storage = await bed.open();
        await expect(storage.log.seal(sealOf(1, 0n))).rejects.toThrow(AssertionError);
      });

      test('one that has not sealed is an assertion', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const append = storage.log.append({ first: at(1), records: records(1) }, sealOf(2));
        await expect(append).rejects.toThrow(AssertionError);
        expect(await readAll(storage)).toEqual([]);
      });

      test('of two that seal at a time the later one holds', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await Promise.allSettled([storage.log.seal(sealOf(9)), storage.log.seal(sealOf(8))]);
        expect(await storage.log.append({ first: at(1), records: records(1) }, sealOf(8))).toEqual({ kind: 'fenced' });
        expect(await storage.log.append({ first: at(1), records: records(1) }, sealOf(9))).toEqual({
          kind: 'committed',
        });
      });

      test('of two holders that seal one epoch at a time exactly one holds', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const seals = [sealOf(2, 5n), sealOf(2, 6n)];
        const sealed = await Promise.allSettled(seals.map((seal) => storage.log.seal(seal)));
        expect(sealed.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
        const batch: LogBatch = { first: at(1), records: records(1) };
        for (const [index, { status }] of sealed.entries()) {
          const kind = status === 'fulfilled' ? 'committed' : 'fenced';
          expect(await storage.log.append(batch, seals[index]!)).toEqual({ kind });
        }
      });

      test('an append under way is before the seal or fenced', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const append = storage.log.append({ first: at(1), records: records(2) }, first);
        const next = await storage.log.seal(sealOf(2));
        const outcome = await append;
        expect(outcome.kind === 'committed' ? 3 : 1).toBe(next);
        expect(['committed', 'fenced']).toContain(outcome.kind);
        expect((await readAll(storage)).length).toBe(outcome.kind === 'committed' ? 1 : 0);
      });

      test('a read after the seal gives all that was committed before it', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const committed: LogBatch[] = [];
        const seal = async (): Promise<LogBatch[]> => {
          const end = await storage.log.seal(sealOf(2, 9n));
          const seen = await readAll(storage);
          expect(seen.reduce((count, batch) => count + batch.records.length, 1)).toBe(end);
          return seen;
        };
        let sealed: Promise<LogBatch[]> | undefined;
        for (let next = 1; ; next += 2) {
          const batch: LogBatch = { first: at(next), records: records(2, next) };
          const append = storage.log.append(batch, first);
          if (next > 6) sealed ??= seal();
          if ((await append).kind !== 'committed') break;
          committed.push(batch);
        }
        expect(await sealed).toEqual(committed);
      });
    });

    holderContract(makeBed);

    describe('appending again', () => {
      const batch: LogBatch = { first: at(3), records: records(3, 3) };
      const openWithBatch = async (bed: StorageBed): Promise<{ storage: Storage; batches: LogBatch[] }> => {
        const storage = await openSealed(bed);
        const [before] = await appendAll(storage, [records(2)]);
        expect(await storage.log.append(batch, first)).toEqual({ kind: 'committed' });
        return { storage, batches: [before!, batch] };
      };
      const copy: LogBatch = { first: at(3), records: records(3, 3) };

      test('what was appended last changes nothing', async () => {
        await using bed = await makeBed();
        const { storage, batches } = await openWithBatch(bed);
        for (let times = 0; times < 3; times += 1) {
          expect(await storage.log.append(copy, first)).toEqual({ kind: 'committed' });
        }
        expect(await storage.log.seal(first)).toBe(6);
        expect(await storage.log.append(copy, first)).toEqual({ kind: 'committed' });
        expect(await readAll(storage)).toEqual(batches);
        const after = await appendAll(storage, [records(1, 6)], at(6));
        expect(await readAll(await reopen(bed, storage))).toEqual([...batches, ...after]);
      });

      test('what was appended last changes nothing after the storage was opened again', async () => {
        await using bed = await makeBed();
        const opened = await openWithBatch(bed);
        const storage = await reopen(bed, opened.storage);
        expect(await storage.log.seal(first)).toBe(6);
        expect(await storage.log.append(copy, first)).toEqual({ kind: 'committed' });
        expect(await readAll(storage)).toEqual(opened.batches);
        await appendAll(storage, [records(1, 6)], at(6));
      });

      test('what was appended before a later seal is committed still', async () => {
        await using bed = await makeBed();
        const { storage, batches } = await openWithBatch(bed);
        expect(await storage.log.seal(sealOf(2, 9n))).toBe(6);
        expect(await storage.log.append(copy, first)).toEqual({ kind: 'committed' });
        expect(await readAll(storage)).toEqual(batches);
      });

      test.each([
        { records: records(3, 30), why: 'other bytes' },
        { records: records(2, 3), why: 'a part of it' },
        { records: records(4, 3), why: 'more than it' },
        { records: [...records(2, 3), record(5, 25)], why: 'a longer record' },
      ])('another batch in its place is an assertion: $why', async ({ records }) => {
        await using bed = await makeBed();
        const { storage, batches } = await openWithBatch(bed);
        await expect(storage.log.append({ first: at(3), records }, first)).rejects.toThrow(AssertionError);
        expect(await readAll(storage)).toEqual(batches);
        await appendAll(storage, [[record(6)]], at(6));
      });

      test('another batch in its place is fenced after a later seal', async () => {
        await using bed = await makeBed();
        const { storage, batches } = await openWithBatch(bed);
        await storage.log.seal(sealOf(2, 9n));
        const other: LogBatch = { first: at(3), records: records(3, 30) };
        expect(await storage.log.append(other, first)).toEqual({ kind: 'fenced' });
        expect(await readAll(storage)).toEqual(batches);
      });

      test('the same bytes that a later holder appended are not one’s own', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const later = sealOf(2, 9n);
        await storage.log.seal(later);
        const contested: LogBatch = { first: at(1), records: records(2) };
        expect(await storage.log.append(contested, later)).toEqual({ kind: 'committed' });
        expect(await storage.log.append(contested, first)).toEqual({ kind: 'fenced' });
      });

      test('a batch before the last is an assertion', async () => {
        await using bed = await makeBed();
        const { storage } = await openWithBatch(bed);
        await expect(storage.log.append({ first: at(1), records: records(2) }, first)).rejects.toThrow(AssertionError);
      });
    });

    describe('reading', () => {
      test('from the end gives nothing', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(2)]);
        expect(await readAll(storage, at(3))).toEqual([]);
      });

      test('from behind the end rejects: what should be there is lost', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(2)]);
        await expect(readAll(storage, at(4))).rejects.toThrow(StorageCorruptError);
      });

      test('gives the log as it was at the call', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const before = await appendAll(storage, [records(3), records(3, 4)]);
        const reading = storage.log.read(at(1), never);
        let next = 7;
        const seen: LogBatch[] = [];
        await appendAll(storage, [records(1, next)], at(next));
        for await (const batch of reading) {
          next += 1;
          seen.push(plain(batch));
          await appendAll(storage, [records(1, next)], at(next));
        }
        expect(seen).toEqual(before);
        expect((await readAll(storage)).length).toBe(5);
      });

      test('ends with the reason of the signal', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(3), records(3, 4), records(3, 7)]);
        const stop = new AbortController();
        const reason = new Error('no longer wanted');
        const seen: number[] = [];
        const reading = async (): Promise<void> => {
          for await (const batch of storage.log.read(at(1), stop.signal)) {
            seen.push(batch.first);
            stop.abort(reason);
          }
        };
        await expect(reading()).rejects.toBe(reason);
        expect(seen).toEqual([1]);
        await expect(reading()).rejects.toBe(reason);
      });

      test('may stop anywhere, and several may read at a time', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const batches = await appendAll(storage, [records(50), records(50, 51), records(50, 101)]);
        for await (const batch of storage.log.read(at(20), never)) {
          expect(batch.first).toBe(20);
          break;
        }
        expect(await Promise.all([readAll(storage), readAll(storage)])).toEqual([batches, batches]);
      });
    });

    describe('disposal', () => {
      test('waits for an append that is under way', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const append = storage.log.append({ first: at(1), records: records(4) }, first);
        const [outcome] = await Promise.all([append, storage[Symbol.asyncDispose]()]);
        expect(outcome).toEqual({ kind: 'committed' });
        expect(await readAll(await bed.open())).toEqual([{ first: 1, records: records(4) }]);
      });

      test('ends a read that goes on', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        // More bytes than an adapter reads ahead.
        await appendAll(
          storage,
          Array.from({ length: 30 }, (_, index) => records(4, 1 + index * 4, 100_000)),
        );
        const reading = async (): Promise<void> => {
          for await (const batch of storage.log.read(at(1), never)) {
            if (batch.first === 1) await storage[Symbol.asyncDispose]();
          }
        };
        await expect(reading()).rejects.toThrow(StorageClosedError);
      });

      test('twice is nothing, and use after it is a clear error', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await storage[Symbol.asyncDispose]();
        await storage[Symbol.asyncDispose]();
        const append = storage.log.append({ first: at(1), records: records(1) }, first);
        await expect(append).rejects.toThrow(StorageClosedError);
        await expect(storage.log.seal(first)).rejects.toThrow(StorageClosedError);
        await expect(readAll(storage)).rejects.toThrow(StorageClosedError);
      });
    });
  });
}

/** A slow model of what `read` yields. */
function behind(batches: readonly LogBatch[], from: number): LogBatch[] {
  return batches
    .map(({ first, records }) => {
      const passed = Math.max(0, from - first);
      return { first: at(first + passed), records: records.slice(passed) };
    })
    .filter(({ records }) => records.length > 0);
}

function shape(batch: LogBatch): { first: number; lengths: number[] } {
  return { first: batch.first, lengths: batch.records.map((bytes) => bytes.length) };
}
