import { AssertionError, logPosition } from '@engram/core';
import { describe, expect, test } from 'vitest';
import { type Storage, StorageClosedError, StorageCorruptError } from '../index.ts';
import {
  appendAll,
  first,
  loadChunks,
  openSealed,
  plainBytes,
  readAll,
  record,
  records,
  reopen,
  type StorageBed,
} from './storage-bed.ts';
import { never, stream } from './storage-steps.ts';

const at = logPosition;

/** The contract of `Values`. `makeBed` is called once for each test. */
export function valuesContract(name: string, makeBed: () => Promise<StorageBed>): void {
  describe(`${name}: values`, () => {
    describe('getMany', () => {
      test('keeps the order, with what is asked for twice', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(5), records(5, 6)]);
        for (const positions of [[], [1], [10, 1, 10, 5, 6], [3, 2, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]) {
          expect(await get(storage, positions)).toEqual(positions.map((position) => record(position)));
        }
      });

      test('of thousands, near each other and far apart', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(
          storage,
          Array.from({ length: 10 }, (_, index) => records(1000, 1 + index * 1000, 100)),
        );
        // A prime step visits every position once, in an irregular order.
        const shuffled = Array.from({ length: 10_000 }, (_, index) => 1 + ((index * 7919) % 10_000));
        const sparse = Array.from({ length: 100 }, (_, index) => 1 + index * 100);
        const run = Array.from({ length: 3000 }, (_, index) => 2000 + index);
        for (const positions of [shuffled, sparse, run]) {
          const seen = await get(storage, positions);
          const wrong = positions.findIndex(
            (position, index) => Buffer.compare(seen[index]!, record(position, 100)) !== 0,
          );
          expect(wrong).toBe(-1);
        }
      });

      test('rejects for one that is not there, and names it', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(5)]);
        await expect(get(storage, [1, 6, 2])).rejects.toThrow(StorageCorruptError);
        await expect(get(storage, [1, 6, 2])).rejects.toThrow(/\b6\b/);
      });

      test('takes records of every length', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const lengths = [0, 1, 2, 4095, 4096, 4097, 70_000, 1 << 20];
        await appendAll(storage, [lengths.map((length, index) => record(index + 1, length))]);
        const seen = await get(storage, [1, 2, 3, 4, 5, 6, 7, 8]);
        expect(seen.map((bytes) => bytes.length)).toEqual(lengths);
        expect(seen.every((bytes, index) => Buffer.compare(bytes, record(index + 1, lengths[index])) === 0)).toBe(true);
      });

      test('goes on while the log is appended to', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(100)]);
        const append = appendAll(storage, [records(100, 101), records(100, 201)], at(101));
        expect(await get(storage, [1, 50, 100])).toEqual([record(1), record(50), record(100)]);
        await append;
        expect(await get(storage, [300, 1])).toEqual([record(300), record(1)]);
      });

      test('rejects with the reason of a signal', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(1)]);
        const reason = new Error('no longer wanted');
        await expect(storage.values.getMany([at(1)], AbortSignal.abort(reason))).rejects.toBe(reason);
      });

      test('finds the bytes after the storage was opened again', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(20)]);
        expect(await get(await reopen(bed, storage), [20, 1])).toEqual([record(20), record(1)]);
      });
    });

    test.each([false, true])('peek gives the record or says nothing, inline: %s', async (inline) => {
      await using bed = await makeBed();
      const storage = await openSealed(bed);
      await appendAll(storage, [records(3)]);
      for (const position of [1, 2, 3]) {
        const seen = storage.values.peek(at(position), inline);
        if (seen !== undefined) expect(plainBytes(seen)).toEqual(record(position));
      }
      expect(storage.values.peek(at(4), inline)).toBeUndefined();
    });

    describe('drop', () => {
      test('leaves everything else, and may be repeated', async () => {
        await using bed = await makeBed();
        let storage = await openSealed(bed);
        const [, behind] = await appendAll(storage, [records(6), records(2, 7)]);
        await storage.values.saveCheckpoint(at(7), stream([]));
        await storage.values.drop([at(1), at(3), at(5)]);
        await storage.values.drop([at(1), at(3), at(3)]);
        await storage.values.drop([]);
        expect(await get(storage, [2, 4, 6])).toEqual([record(2), record(4), record(6)]);
        storage = await reopen(bed, storage);
        expect(await get(storage, [6, 4, 2])).toEqual([record(6), record(4), record(2)]);
        expect(await readAll(storage, at(7))).toEqual([behind]);
        await storage.values.drop([at(1), at(2)]);
        expect(await get(storage, [4, 6])).toEqual([record(4), record(6)]);
      });

      test('of what a replay needs is an assertion', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(4)]);
        await expect(storage.values.drop([at(1)])).rejects.toThrow(AssertionError);
        await storage.values.saveCheckpoint(at(3), stream([]));
        await expect(storage.values.drop([at(1), at(3)])).rejects.toThrow(AssertionError);
        expect(await get(storage, [1, 3])).toEqual([record(1), record(3)]);
      });

      test('of every record keeps the end of the log', async () => {
        await using bed = await makeBed();
        const before = await openSealed(bed);
        await appendAll(before, [records(9)]);
        await before.values.saveCheckpoint(at(10), stream(records(1)));
        await before.values.drop(records(9).map((_, index) => at(index + 1)));
        const storage = await reopen(bed, before);
        expect(await readAll(storage, at(10))).toEqual([]);
        expect(await storage.log.seal(first)).toBe(10);
        await appendAll(storage, [records(1, 10)], at(10));
        expect(await get(storage, [10])).toEqual([record(10)]);
      });

      test('of many at a time', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(5000)]);
        await storage.values.saveCheckpoint(at(5001), stream([]));
        const odd = Array.from({ length: 2500 }, (_, index) => at(1 + index * 2));
        await storage.values.drop(odd);
        const even = odd.map((position) => position + 1);
        expect((await get(storage, even)).length).toBe(2500);
      });
    });

    describe('checkpoints', () => {
      test('a new storage has none', async () => {
        await using bed = await makeBed();
        expect(await (await bed.open()).values.loadCheckpoint()).toBeUndefined();
      });

      test.each([
        { chunks: [], why: 'none' },
        { chunks: [new Uint8Array(0)], why: 'an empty one' },
        { chunks: records(300, 1, 50), why: 'more than a byte counts' },
        { chunks: records(6, 1, 256 * 1024), why: 'large ones' },
      ])('comes back chunk by chunk: $why', async ({ chunks }) => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(3)]);
        await storage.values.saveCheckpoint(at(2), stream(chunks));
        expectChunks(await loadChunks(storage), chunks);
        const opened = await reopen(bed, storage);
        expect((await opened.values.loadCheckpoint())?.from).toBe(2);
        expectChunks(await loadChunks(opened), chunks);
      });

      test('a newer one replaces it', async () => {
        await using bed = await makeBed();
        let storage = await openSealed(bed);
        await appendAll(storage, [records(8)]);
        for (const from of [1, 4, 4, 9]) {
          await storage.values.saveCheckpoint(at(from), stream(records(from)));
          expect(await loadChunks(storage)).toEqual(records(from));
          storage = await reopen(bed, storage);
          expect((await storage.values.loadCheckpoint())?.from).toBe(from);
          expect(await loadChunks(storage)).toEqual(records(from));
        }
      });

      test('one whose chunks fail half way leaves the one before, and the next one succeeds', async () => {
        await using bed = await makeBed();
        let storage = await openSealed(bed);
        await appendAll(storage, [records(8)]);
        await storage.values.saveCheckpoint(at(2), stream(records(5)));
        const reason = new Error('the index is gone');
        const failing = async function* (): AsyncGenerator<Uint8Array> {
          yield* records(20, 100, 100_000);
          throw reason;
        };
        await expect(storage.values.saveCheckpoint(at(8), failing())).rejects.toBe(reason);
        expect(await loadChunks(storage)).toEqual(records(5));
        storage = await reopen(bed, storage);
        expect((await storage.values.loadCheckpoint())?.from).toBe(2);
        expect(await loadChunks(storage)).toEqual(records(5));
        await storage.values.saveCheckpoint(at(8), stream(records(2)));
        expect(await loadChunks(await reopen(bed, storage))).toEqual(records(2));
      });

      test('one that is being read stays whole while it is replaced', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(8)]);
        const chunks = records(30, 1, 100_000);
        await storage.values.saveCheckpoint(at(2), stream(chunks));
        const checkpoint = await storage.values.loadCheckpoint();
        let seen = 0;
        for await (const chunk of checkpoint!.chunks(never)) {
          if (seen === 0) await storage.values.saveCheckpoint(at(5), stream(records(2)));
          expect(Buffer.compare(chunk, chunks[seen]!)).toBe(0);
          seen += 1;
        }
        expect(seen).toBe(30);
        expect(await loadChunks(storage)).toEqual(records(2));
      });

      test('appends go on while one is saved, and it does not hold them', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(2)]);
        const slow = async function* (): AsyncGenerator<Uint8Array> {
          yield record(1);
          await appendAll(storage, [records(3, 3)], at(3));
          yield record(2);
        };
        await storage.values.saveCheckpoint(at(3), slow());
        expect(await loadChunks(storage)).toEqual(records(2));
        expect(await readAll(storage, at(3))).toEqual([{ first: 3, records: records(3, 3) }]);
      });

      test.each([
        { from: 6, why: 'beyond the end of the log' },
        { from: 2, why: 'before the last one' },
      ])('one from $from is an assertion: $why', async ({ from }) => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(4)]);
        await storage.values.saveCheckpoint(at(3), stream(records(1)));
        await expect(storage.values.saveCheckpoint(at(from), stream([]))).rejects.toThrow(AssertionError);
        expect(await loadChunks(storage)).toEqual(records(1));
      });

      test('two at a time are an assertion', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const one = storage.values.saveCheckpoint(at(1), stream(records(2)));
        await expect(storage.values.saveCheckpoint(at(1), stream([]))).rejects.toThrow(AssertionError);
        await one;
        expect(await loadChunks(storage)).toEqual(records(2));
      });

      test('reading one ends with the reason of the signal', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await storage.values.saveCheckpoint(at(1), stream(records(30, 1, 100_000)));
        const stop = new AbortController();
        const reason = new Error('no longer wanted');
        const checkpoint = await storage.values.loadCheckpoint();
        const reading = async (): Promise<void> => {
          for await (const chunk of checkpoint!.chunks(stop.signal)) if (chunk.length > 0) stop.abort(reason);
        };
        await expect(reading()).rejects.toBe(reason);
      });
    });

    test('size counts what is there', async () => {
      await using bed = await makeBed();
      const before = await openSealed(bed);
      await appendAll(before, [records(1000, 1, 1000), records(1000, 1001, 1000)]);
      const storage = await reopen(bed, before);
      const { totalBytes, inUseBytes } = storage.values.size();
      expect(totalBytes).toBeGreaterThan(1_900_000);
      expect(inUseBytes).toBeGreaterThan(1_900_000);
      expect(inUseBytes).toBeLessThan(2_200_000);
      expect(totalBytes).toBeGreaterThanOrEqual(inUseBytes);
    });

    describe('disposal', () => {
      test('waits for a checkpoint that is being saved', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        let release = (): void => {};
        const released = new Promise<void>((resolve) => (release = resolve));
        const gated = async function* (): AsyncGenerator<Uint8Array> {
          yield record(1);
          await released;
          yield record(2);
        };
        const saving = storage.values.saveCheckpoint(at(1), gated());
        const disposing = storage[Symbol.asyncDispose]();
        release();
        await Promise.all([saving, disposing]);
        expect(await loadChunks(await bed.open())).toEqual(records(2));
      });

      test('waits for a read that is under way', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        await appendAll(storage, [records(1000)]);
        const all = Array.from({ length: 1000 }, (_, index) => at(index + 1));
        const [seen] = await Promise.all([storage.values.getMany(all, never), storage[Symbol.asyncDispose]()]);
        expect(seen.length).toBe(1000);
      });

      test('makes every use a clear error', async () => {
        await using bed = await makeBed();
        const storage = await openSealed(bed);
        const { values } = storage;
        await storage[Symbol.asyncDispose]();
        await expect(values.getMany([at(1)], never)).rejects.toThrow(StorageClosedError);
        await expect(values.drop([])).rejects.toThrow(StorageClosedError);
        await expect(values.saveCheckpoint(at(1), stream([]))).rejects.toThrow(StorageClosedError);
        await expect(values.loadCheckpoint()).rejects.toThrow(StorageClosedError);
        for (const inline of [false, true]) expect(values.peek(at(1), inline)).toBeUndefined();
      });
    });
  });
}

async function get(storage: Storage, positions: readonly number[]): Promise<Uint8Array[]> {
  const seen = await storage.values.getMany(positions.map(at), never);
  return seen.map(plainBytes);
}

// Not `toEqual`, which takes seconds for this many bytes.
function expectChunks(seen: readonly Uint8Array[] | undefined, chunks: readonly Uint8Array[]): void {
  expect(seen?.length).toBe(chunks.length);
  expect(chunks.findIndex((chunk, index) => Buffer.compare(chunk, seen![index]!) !== 0)).toBe(-1);
}
