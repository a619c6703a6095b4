import { logPosition } from '@engram/core';
import { Loop } from '@engram/loop';
import { type Storage, StorageCorruptError } from '@engram/storage';
import { appendRecords, never, record, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import type { FileSystem, StorageFile } from '../src/disk/file-system.ts';
import { nodeGround } from '../src/ground.ts';
import { openOn } from '../src/open.ts';
import { realClock, realRandom, TestLogger } from '@engram/sim';
import { badDisk } from './bad-disk.ts';
import { SegmentBed } from './segment-bed.ts';

const at = logPosition;

/** Counts the reads of records. An inline read, which ends in `readNow`, takes `readMs`. */
class Slow {
  inline = 0;
  elsewhere = 0;
  readMs = 0;
  diskReads = 0;
  /** What is wrong with the reads of `readNow`. */
  breaks: 'error' | 'damage' | 'short' | undefined;
  #nowMs = 0;
  readonly clock = { ...realClock, nowMs: () => this.#nowMs };

  passes(ms: number): void {
    this.#nowMs += ms;
  }

  get fileSystem(): FileSystem {
    const { fileSystem } = nodeGround;
    return {
      ...fileSystem,
      diskReads: () => this.diskReads,
      open: async (path, mode) => {
        const file = await fileSystem.open(path, mode);
        return path.endsWith('.seg') ? this.#file(file) : file;
      },
    };
  }

  #file(file: StorageFile): StorageFile {
    const read = file.read.bind(file);
    const readNow = file.readNow.bind(file);
    return Object.assign(file, {
      read: (target: Uint8Array, offset: number, inline?: boolean) => {
        if (inline !== true) this.elsewhere += 1;
        return read(target, offset, inline);
      },
      readNow: (target: Uint8Array, offset: number) => {
        this.inline += 1;
        this.passes(this.readMs);
        if (this.breaks === 'error') throw new Error('no such page');
        const count = readNow(target, offset);
        if (this.breaks === 'damage') target[target.length - 1]! ^= 1;
        return this.breaks === 'short' ? count - 1 : count;
      },
    });
  }
}

/** A new storage on the bed, sealed. */
async function openSlow(bed: SegmentBed, slow: Slow): Promise<Storage> {
  const ground = { ...nodeGround, fileSystem: slow.fileSystem };
  const storage = await openOn(ground, {
    path: bed.path,
    clock: slow.clock,
    random: realRandom,
    logger: new TestLogger(),
  });
  await storage.log.seal(sealOf(1));
  return storage;
}

test('few records are read inline while that is fast, and elsewhere for a second where it is not', async () => {
  await using bed = await SegmentBed.make();
  const slow = new Slow();
  await using storage = await openSlow(bed, slow);
  await appendRecords(storage, 1, [100]);
  const get = async (times: number): Promise<readonly [inline: number, elsewhere: number]> => {
    const before = [slow.inline, slow.elsewhere] as const;
    for (let time = 0; time < times; time += 1) await storage.values.getMany([at(7)], never);
    return [slow.inline - before[0], slow.elsewhere - before[1]];
  };
  expect(await get(20)).toEqual([20, 0]);
  // A single slow read may have waited for the processor.
  slow.readMs = 30;
  await get(1);
  slow.readMs = 0.002;
  expect(await get(50)).toEqual([50, 0]);
  // Nothing came from the disk: other programs had the processor.
  slow.readMs = 0.2;
  expect(await get(50)).toEqual([50, 0]);
  slow.readMs = 0.002;
  await get(50);
  slow.diskReads = 8;
  slow.readMs = 0.2;
  const [inline, elsewhere] = await get(50);
  expect(inline).toBeLessThan(10);
  expect(elsewhere).toBe(50 - inline);
  slow.readMs = 0.002;
  expect(await get(5)).toEqual([0, 5]);
  slow.passes(1000);
  expect(await get(5)).toEqual([5, 0]);
});

test('a record is read at once while that is fast, a share of the time at most, and not where it is slow', async () => {
  await using bed = await SegmentBed.make();
  const slow = new Slow();
  await using storage = await openSlow(bed, slow);
  await appendRecords(storage, 1, [100]);
  const [expected] = await storage.values.getMany([at(7)], never);
  expect(storage.values.peek(at(7))).toBeUndefined();
  expect(storage.values.peek(at(7), true)).toEqual(expected);
  expect(storage.values.peek(at(7000), true)).toBeUndefined();
  const peeked = (times: number): number => {
    let found = 0;
    for (let time = 0; time < times; time += 1) if (storage.values.peek(at(7), true) !== undefined) found += 1;
    return found;
  };
  // A millisecond of every four.
  slow.passes(4);
  slow.readMs = 1 / 64;
  expect(peeked(200)).toBe(64);
  slow.passes(4);
  expect(peeked(200)).toBe(64);
  // From the disk: not for a second.
  slow.passes(4);
  slow.diskReads = 8;
  slow.readMs = 0.3;
  expect(peeked(50)).toBeLessThan(5);
  slow.readMs = 0.01;
  slow.passes(4);
  expect(peeked(5)).toBe(0);
  slow.passes(1000);
  expect(peeked(5)).toBe(5);
});

test('what cannot be read at once is read by others, who say why', async () => {
  await using bed = await SegmentBed.make();
  const slow = new Slow();
  await using storage = await openSlow(bed, slow);
  await appendRecords(storage, 1, [10]);
  slow.breaks = 'error';
  expect(storage.values.peek(at(7), true)).toBeUndefined();
  slow.breaks = 'damage';
  expect(storage.values.peek(at(7), true)).toBeUndefined();
  slow.breaks = 'short';
  expect(storage.values.peek(at(7), true)).toBeUndefined();
  slow.breaks = undefined;
  expect(storage.values.peek(at(7), true)).toBeDefined();
  // The time of a failed read counts.
  slow.breaks = 'error';
  slow.readMs = 1;
  expect(storage.values.peek(at(7), true)).toBeUndefined();
  slow.breaks = undefined;
  expect(storage.values.peek(at(7), true)).toBeUndefined();
  slow.passes(4);
  expect(storage.values.peek(at(7), true)).toBeDefined();
});

test('a record that cannot be read takes none of those with it that others ask for', async () => {
  let bad = Number.POSITIVE_INFINITY;
  const ground = badDisk((asked) => {
    if (asked.operation !== 'read' || !asked.path.endsWith('.seg')) return undefined;
    return asked.from <= bad && bad < asked.to ? 'EIO' : undefined;
  });
  await using bed = await SegmentBed.make(64 << 20, { ground });
  const storage = await bed.open();
  await storage.log.seal(sealOf(1));
  const records = Array.from({ length: 2100 }, (_, index) => record(1 + index, 200));
  await storage.log.append({ first: at(1), records }, sealOf(1));
  // In the eighth record, behind the headers of the file and the frame.
  bad = 72 + 7 * 208 + 100;
  const get = (...positions: number[]): Promise<readonly Uint8Array[]> =>
    storage.values.getMany(positions.map(at), never);
  // While these are read, the others gather: they are neighbours, and read at once.
  const many = get(...Array.from({ length: 20 }, (_, index) => 100 + index * 100));
  const outcomes = await Promise.allSettled([get(7), get(8, 9, 10, 11), get(9), get(10)]);
  await many;
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  for (const [index, position] of [7, 8, 9, 10].entries()) {
    const outcome = outcomes[index]!;
    if (outcome.status === 'fulfilled') expect(outcome.value).toEqual([record(position, 200)]);
    else expect(outcome.reason).toBeInstanceOf(StorageCorruptError);
  }
  await expect(get(8)).rejects.toThrow('EIO');
});

test.each([300_000, 100_000])('a record of %i bytes keeps no memory of others alive', async (bytes) => {
  await using bed = await SegmentBed.make();
  await using storage = await openSlow(bed, new Slow());
  await storage.log.append(
    { first: at(1), records: [record(1, bytes), record(2, bytes), record(3, bytes)] },
    sealOf(1),
  );
  // Neighbours, of which short ones are read at once.
  const [first, , third] = await storage.values.getMany([at(1), at(2), at(3)], never);
  const [second] = await storage.values.getMany([at(2)], never);
  for (const [index, read] of [first, second, third].entries()) {
    expect(Buffer.compare(read!, record(index + 1, bytes))).toBe(0);
    expect(read!.buffer.byteLength).toBeLessThan(bytes + 100);
  }
});

test('many records that come at once are given away in slices of the loop', async () => {
  await using bed = await SegmentBed.make();
  let now = 0;
  // Each look at the clock takes half a millisecond.
  const loop = new Loop({ clock: { ...realClock, nowMs: () => (now += 0.5) } });
  let turns = Number.NaN;
  let over = false;
  const countTurns = (): void => {
    if (over) return;
    turns += 1;
    setImmediate(countTurns);
  };
  const bulkReader: FileSystem['bulkReader'] = () => ({
    ready: true,
    async read(places, use) {
      const bytes = Buffer.concat(
        await Promise.all(
          places.map(async ({ file, offset, length }) => {
            const part = new Uint8Array(length);
            await file.read(part, offset);
            return part;
          }),
        ),
      );
      turns = -1;
      countTurns();
      await use(bytes);
      bytes.fill(0); // as the next read would
      return 0;
    },
    close: async () => {},
  });
  const ground = { ...nodeGround, fileSystem: { ...nodeGround.fileSystem, bulkReader } };
  const options = { path: bed.path, clock: realClock, random: realRandom, logger: new TestLogger(), loop };
  await using storage = await openOn(ground, options);
  await storage.log.seal(sealOf(1));
  const records = Array.from({ length: 40 }, (_, index) => record(index, 30_000));
  await storage.log.append({ first: at(1), records }, sealOf(1));
  // Every second one, so that none are neighbours.
  const wanted = Array.from({ length: 20 }, (_, index) => at(2 * index + 1));
  const read = await storage.values.getMany(wanted, never);
  over = true;
  expect(turns).toBeGreaterThan(2);
  for (const [index, bytes] of read.entries()) expect(Buffer.compare(bytes, records[2 * index]!)).toBe(0);
});
