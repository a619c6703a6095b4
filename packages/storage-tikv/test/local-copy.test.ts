import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logPosition } from '@engram/core';
import { type LogBatch, type Storage, StorageOpenError, StorageUnavailableError } from '@engram/storage';
import { never, record, sealOf, stream } from '@engram/storage/testing';
import { describe, expect, test, vi } from 'vitest';
import { LogKeys } from '../src/format/log-keys.ts';
import type { TikvStorage } from '@engram/storage-tikv';
import { clusterId, TikvBed } from './tikv-bed.ts';

const at = logPosition;
const first = sealOf(1);
const keys = new LogKeys('test');

const batchOf = (from: number, count: number, salt = 0): LogBatch => ({
  first: at(from),
  records: Array.from({ length: count }, (_, index) => record(1000 * salt + from + index, 60)),
});

async function append(storage: Storage, batch: LogBatch, seal = first): Promise<void> {
  expect(await storage.log.append(batch, seal)).toEqual({ kind: 'committed' });
}

/** A log of ten records in three batches, and a node that has a copy of it, closed. */
async function filled(): Promise<TikvBed> {
  const bed = await TikvBed.make({ local: 'disk' });
  const storage = await bed.open();
  await storage.log.seal(first);
  for (const batch of [batchOf(1, 4), batchOf(5, 1), batchOf(6, 5)]) await append(storage, batch);
  await storage[Symbol.asyncDispose]();
  return bed;
}

async function readAll(storage: Storage): Promise<Uint8Array[]> {
  const seen: Uint8Array[] = [];
  for await (const { records } of storage.log.read(at(1), never)) seen.push(...records);
  return seen;
}

function expectRecords(seen: readonly Uint8Array[], due: readonly LogBatch[]): void {
  const wanted = due.flatMap(({ records }) => records);
  expect(seen.length).toBe(wanted.length);
  expect(wanted.findIndex((bytes, index) => Buffer.compare(bytes, seen[index]!) !== 0)).toBe(-1);
}

/** Counts the read requests to stores from this call on. */
function readsSince(bed: TikvBed): () => number {
  const count = (): number =>
    bed.cluster.calls.filter(({ command }) => ['Get', 'BatchGet', 'Scan'].includes(command)).length;
  const before = count();
  return () => count() - before;
}

const ten = [batchOf(1, 4), batchOf(5, 1), batchOf(6, 5)];
const positions = Array.from({ length: 10 }, (_, index) => at(index + 1));

describe('a copy', () => {
  test('gives records without asking a store, and the log up to its end', async () => {
    await using bed = await filled();
    const storage = await bed.open();
    const reads = readsSince(bed);
    expectRecords(await storage.values.getMany(positions, never), ten);
    expect(reads()).toBe(0);
    expectRecords(await readAll(storage), ten);
    // TiKV is read only for the end of the log: the region of the next segment, that of the last one, and its owner.
    expect(reads()).toBeLessThanOrEqual(3);
    expect(bed.logger.warnings).toEqual([]);
  });

  test('takes in what another node has appended, from a read and from what it is given', async () => {
    await using bed = await filled();
    const storage = await bed.open();
    const leader = await bed.open({ local: { kind: 'memory' } });
    const seal = sealOf(2, 5n);
    await leader.log.seal(seal);
    const more = [batchOf(11, 3), batchOf(14, 2), batchOf(16, 4)];
    for (const batch of more) await append(leader, batch, seal);
    await storage.values.adopt!(more[0]!);
    const reads = readsSince(bed);
    expectRecords(await storage.values.getMany([at(11), at(12), at(13)], never), [more[0]!]);
    expect(reads()).toBe(0);
    expectRecords(await readAll(storage), [...ten, ...more]);
    await storage[Symbol.asyncDispose]();
    const again = await bed.open();
    const opened = readsSince(bed);
    const behind = Array.from({ length: 9 }, (_, index) => at(index + 11));
    expectRecords(await again.values.getMany(behind, never), more);
    expect(opened()).toBe(0);
    expect(bed.logger.warnings).toEqual([]);
  });

  test('fetches by itself what is missing before a batch that it is given', async () => {
    await using bed = await filled();
    const storage = await bed.open();
    const leader = await bed.open({ local: { kind: 'memory' } });
    const seal = sealOf(2, 5n);
    await leader.log.seal(seal);
    const more = [batchOf(11, 3), batchOf(14, 2), batchOf(16, 4)];
    for (const batch of more) await append(leader, batch, seal);
    await storage.values.adopt!(more[2]!);
    // The records are found at once, in memory or in TiKV.
    expectRecords(await storage.values.getMany([at(14), at(16)], never), [
      { first: at(14), records: [more[1]!.records[0]!, more[2]!.records[0]!] },
    ]);
    await storage.values.saveCheckpoint(at(20), stream([record(1)]));
    const reads = readsSince(bed);
    expectRecords(await storage.values.getMany([at(13), at(14), at(15)], never), [
      { first: at(13), records: [more[0]!.records[2]!, ...more[1]!.records] },
    ]);
    expect(reads()).toBe(0);
  });

  test('that cannot get what it lacks takes no checkpoint behind it now, and the node goes on', async () => {
    await using bed = await filled();
    const storage = await bed.open();
    const leader = await bed.open({ local: { kind: 'memory' } });
    const seal = sealOf(2, 5n);
    await leader.log.seal(seal);
    const more = [batchOf(11, 3), batchOf(14, 2)];
    for (const batch of more) await append(leader, batch, seal);
    const away = vi.spyOn(bed.client, 'snapshot').mockRejectedValue(new Error('nobody answers'));
    await storage.values.adopt!(more[1]!);
    const saved = storage.values.saveCheckpoint(at(16), stream([record(1)]));
    await expect(saved).rejects.toBeInstanceOf(StorageUnavailableError);
    away.mockRestore();
    await storage.values.saveCheckpoint(at(11), stream([record(1)]));
  });

  test('may be given the same again, and out of order', async () => {
    await using bed = await filled();
    const storage = await bed.open();
    for (const batch of [...ten, ...ten.toReversed()]) await storage.values.adopt!(batch);
    expectRecords(await readAll(storage), ten);
    expectRecords(await storage.values.getMany(positions, never), ten);
  });

  test('is complete at a node that appends without having read', async () => {
    await using bed = await filled();
    await rm(join(bed.path, 'copy'), { recursive: true });
    const storage = await bed.open();
    await storage.log.seal(first);
    await append(storage, batchOf(11, 2));
    await storage.values.saveCheckpoint(at(13), stream([]));
    const reads = readsSince(bed);
    expectRecords(await storage.values.getMany(positions, never), ten);
    expect(reads()).toBe(0);
  });
});

describe('a disk that hangs', () => {
  const QUEUE_BYTES = 1 << 20;

  /** The storage whose copy takes no append from `hang` on until `resume`. */
  async function hanging(bed: TikvBed): Promise<{ storage: TikvStorage; hang: () => void; resume: () => void }> {
    const { local } = bed;
    expect.assert(local.kind === 'disk');
    const hung = Promise.withResolvers<void>();
    let held: Promise<void> | undefined;
    const openStorage = async (path: string): Promise<Storage> => {
      const copy = await local.openStorage(path);
      const append = copy.log.append.bind(copy.log);
      vi.spyOn(copy.log, 'append').mockImplementation(async (...args) => {
        await held;
        return await append(...args);
      });
      return copy;
    };
    const storage = await bed.open({ local: { ...local, openStorage, queueBytesMax: QUEUE_BYTES } });
    return {
      storage,
      hang: () => {
        held = hung.promise;
      },
      resume: hung.resolve,
    };
  }

  test('keeps no reader of the log waiting: batches that wait for it are in memory', async () => {
    await using bed = await filled();
    const { storage, hang, resume } = await hanging(bed);
    await storage.log.seal(first);
    hang();
    const more = [batchOf(11, 3), batchOf(14, 2)];
    for (const batch of more) await append(storage, batch);
    expectRecords(await readAll(storage), [...ten, ...more]);
    const seen: LogBatch[] = [];
    for await (const batch of storage.log.read(at(12), never)) seen.push(batch);
    expect(seen.map((batch) => batch.first)).toEqual([12, 14]);
    expectRecords(
      seen.flatMap(({ records }) => records),
      [{ first: at(12), records: more[0]!.records.slice(1) }, more[1]!],
    );
    resume();
  });

  test('keeps nobody waiting who hands over batches, and takes them later', async () => {
    await using bed = await filled();
    const { storage, hang, resume } = await hanging(bed);
    const leader = await bed.open({ local: { kind: 'memory' } });
    const seal = sealOf(2, 5n);
    await leader.log.seal(seal);
    hang();
    // More than may wait in memory for the disk.
    const more = Array.from({ length: 24 }, (_, index) => ({
      first: at(11 + index),
      records: [record(11 + index, 100 << 10)],
    }));
    for (const batch of more) {
      await append(leader, batch, seal);
      await storage.values.adopt!(batch);
      expect(storage.queuedBytes).toBeLessThan(QUEUE_BYTES + 2 * (100 << 10));
    }
    expect(storage.queuedBytes).toBeGreaterThan(QUEUE_BYTES);
    expect(bed.logger.warnings).toEqual(['the disk of the copy of the log does not keep up']);
    expectRecords(await storage.values.getMany([at(11), at(34)], never), [
      { first: at(11), records: [more[0]!.records[0]!, more[23]!.records[0]!] },
    ]);
    resume();
    await storage.values.saveCheckpoint(at(35), stream([record(1)]));
    const reads = readsSince(bed);
    expectRecords(await storage.values.getMany([at(34)], never), [more[23]!]);
    expect(reads()).toBe(0);
  });
});

describe('a copy that is not of the log', () => {
  test.each([
    {
      which: 'the same position, other records',
      records: ten.map((batch, index) => (index < 2 ? batch : batchOf(6, 5, 1))),
    },
    { which: 'a log that is shorter', records: ten.slice(0, 2) },
    { which: 'a log whose batch ends elsewhere', records: [...ten.slice(0, 2), batchOf(6, 4), batchOf(10, 2)] },
    {
      which: 'an older log with other beginnings, and longer',
      records: [batchOf(1, 4, 3), ...ten.slice(1), batchOf(11, 1)],
    },
  ])('is thrown away: $which', async ({ records }) => {
    await using bed = await filled();
    await using other = await TikvBed.make({ local: 'disk' });
    const writer = await other.open({ local: { kind: 'memory' } });
    await writer.log.seal(first);
    for (const batch of records) await append(writer, batch);
    await cp(join(bed.path, 'copy'), join(other.path, 'copy'), { recursive: true });
    const storage = await other.open();
    expect(other.logger.warnings).toEqual(['the copy is not of this log, and is fetched again']);
    expectRecords(await readAll(storage), records);
    const count = records.reduce((sum, batch) => sum + batch.records.length, 0);
    expectRecords(
      await storage.values.getMany(
        Array.from({ length: count }, (_, index) => at(index + 1)),
        never,
      ),
      records,
    );
    expect(await storage.values.loadCheckpoint()).toBeUndefined();
    await storage[Symbol.asyncDispose]();
    const again = await other.open();
    const reads = readsSince(other);
    expectRecords(await again.values.getMany([at(1)], never), [{ first: at(1), records: [records[0]!.records[0]!] }]);
    expect(reads()).toBe(0);
  });

  test('of another cluster is thrown away, though the records are the same', async () => {
    await using bed = await filled();
    await using other = await TikvBed.make({ local: 'disk' });
    const root = { clusterId: clusterId + 1n, members: [], firstRevision: 1 };
    const writer = await other.open({ local: { kind: 'memory' }, root });
    await writer.log.seal(first);
    for (const batch of ten) await append(writer, batch);
    await cp(join(bed.path, 'copy'), join(other.path, 'copy'), { recursive: true });
    const storage = await other.open({ root });
    const reads = readsSince(other);
    expectRecords(await readAll(storage), ten);
    expect(reads()).toBeGreaterThan(2);
  });

  test('of another prefix is thrown away', async () => {
    await using bed = await filled();
    const storage = await bed.open({ prefix: 'other' });
    expect(await readAll(storage)).toEqual([]);
    expect(await storage.log.seal(first)).toBe(1);
  });
});

describe('a copy that is damaged', () => {
  test.each([
    { damage: 'no mark', change: (copy: string) => rm(join(copy, 'mark')) },
    { damage: 'a mark that says nothing', change: (copy: string) => writeFile(join(copy, 'mark'), '{"format":1}') },
    {
      damage: 'a mark ahead of it',
      change: (copy: string) => changeMark(copy, (mark) => ({ ...mark, position: 900 })),
    },
    {
      damage: 'a mark with another chain',
      change: (copy: string) => changeMark(copy, (mark) => ({ ...mark, chain: '0'.repeat(32) })),
    },
    { damage: 'no storage', change: (copy: string) => rm(join(copy, 'log'), { recursive: true }) },
    {
      damage: 'a storage without its manifest',
      change: (copy: string) => rm(join(copy, 'log', 'meta'), { recursive: true }),
    },
  ])('is fetched again: $damage', async ({ change }) => {
    await using bed = await filled();
    await change(join(bed.path, 'copy'));
    const storage = await bed.open();
    expectRecords(await readAll(storage), ten);
    expectRecords(await storage.values.getMany(positions, never), ten);
    await storage.log.seal(first);
    await append(storage, batchOf(11, 1));
    await storage[Symbol.asyncDispose]();
    const again = await bed.open();
    const reads = readsSince(bed);
    expectRecords(await again.values.getMany([...positions, at(11)], never), [...ten, batchOf(11, 1)]);
    expect(reads()).toBe(0);
  });

  test.each([
    { damage: 'is gone', change: (file: string) => rm(file) },
    { damage: 'ends early', change: (file: string) => truncate(file, 3000) },
    { damage: 'is empty', change: (file: string) => truncate(file, 0) },
    { damage: 'holds zeros', change: (file: string) => writeFile(file, Buffer.alloc(6000)) },
  ])('is fetched again: its checkpoint $damage', async ({ change }) => {
    await using bed = await filled();
    const storage = await bed.open();
    await storage.values.saveCheckpoint(at(8), stream([record(1, 5000), record(2, 500)]));
    await storage[Symbol.asyncDispose]();
    const folder = join(bed.path, 'copy', 'log');
    const [checkpoint] = (await readdir(folder)).filter((name) => name.endsWith('.ckpt'));
    await change(join(folder, checkpoint!));
    const again = await bed.open();
    expect(await again.values.loadCheckpoint()).toBeUndefined();
    expectRecords(await readAll(again), ten);
    expect(bed.logger.warnings).toEqual(['the copy of the log is damaged, and fetched again']);
  });

  test('and is given up takes no checkpoint, and no caller fails for it', async () => {
    await using bed = await filled();
    const { local } = bed;
    expect.assert(local.kind === 'disk');
    const openStorage = async (path: string): Promise<Storage> => {
      const storage = await local.openStorage(path);
      vi.spyOn(storage.log, 'append').mockRejectedValue(new Error('no space is left'));
      return storage;
    };
    const storage = await bed.open({ local: { ...local, openStorage } });
    await storage.log.seal(first);
    await append(storage, batchOf(11, 2));
    await storage.values.saveCheckpoint(at(13), stream([record(1)]));
    await storage.values.drop([at(2)]);
    expectRecords(await storage.values.getMany([at(2), at(12)], never), [
      { first: at(1), records: [ten[0]!.records[1]!, batchOf(12, 1).records[0]!] },
    ]);
    await storage[Symbol.asyncDispose]();
    expectRecords(await readAll(await bed.open()), [...ten, batchOf(11, 2)]);
  });

  test('while it is open costs questions to TiKV, and nothing else', async () => {
    await using bed = await filled();
    const storage = await bed.open();
    const segment = join(bed.path, 'copy', 'log', '0000000000000001.seg');
    const bytes = await readFile(segment);
    for (let place = 200; place < bytes.length; place += 97) bytes[place]! ^= 0xff;
    await writeFile(segment, bytes);
    expectRecords(await storage.values.getMany(positions, never), ten);
    expectRecords(await readAll(storage), ten);
    expect(bed.logger.warnings).toContain('the copy of the log is damaged: TiKV is asked instead');
  });

  test('a directory that somebody holds is refused', async () => {
    await using bed = await filled();
    await bed.open();
    const error: unknown = await bed.open().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StorageOpenError);
    expect(error).toMatchObject({ reason: 'locked' });
  });
});

test('TiKV that lost the end of the log while a node runs is noticed by its next read', async () => {
  await using bed = await filled();
  const storage = await bed.open();
  const { mvcc } = bed.cluster;
  for (const position of [1, 5, 6]) mvcc.row(keys.slot(2, position)).writes.splice(0);
  const writer = await bed.open({ local: { kind: 'memory' } });
  const seal = sealOf(2);
  expect(await writer.log.seal(seal)).toBe(1);
  for (const batch of [batchOf(1, 10, 1), batchOf(11, 2, 1)]) await append(writer, batch, seal);
  await expect(readAll(storage)).rejects.toThrow(/does not continue what is known/);
});

test('a checkpoint is of use to the next start, which reads on from it', async () => {
  await using bed = await filled();
  const storage = await bed.open();
  await storage.values.saveCheckpoint(at(6), stream([record(1), record(2)]));
  await storage.values.drop([at(1), at(2), at(5)]);
  await storage[Symbol.asyncDispose]();
  const again = await bed.open();
  expect((await again.values.loadCheckpoint())?.from).toBe(6);
  const seen: number[] = [];
  for await (const batch of again.log.read(at(6), never)) seen.push(batch.first, batch.records.length);
  expect(seen).toEqual([6, 5]);
  expect(bed.logger.warnings).toEqual([]);
});

test('a process that dies behind a checkpoint leaves a copy of use, though its records are dropped', async () => {
  await using bed = await filled();
  const storage = await bed.open();
  await storage.log.seal(first);
  const more = [batchOf(11, 4), batchOf(15, 6)];
  for (const batch of more) await append(storage, batch);
  await storage.values.saveCheckpoint(at(21), stream([record(1)]));
  await storage.values.drop(Array.from({ length: 19 }, (_, index) => at(index + 1)));
  await storage.values.reclaim!();
  await append(storage, batchOf(21, 2));
  await storage.values.getMany([at(22)], never);
  await cp(join(bed.path, 'copy'), join(bed.path, 'left'), { recursive: true });
  await storage[Symbol.asyncDispose]();
  await rm(join(bed.path, 'copy'), { recursive: true });
  await cp(join(bed.path, 'left'), join(bed.path, 'copy'), { recursive: true });
  const again = await bed.open();
  expect((await again.values.loadCheckpoint())?.from).toBe(21);
  const reads = readsSince(bed);
  expectRecords(await again.values.getMany([at(20)], never), [{ first: at(20), records: [more[1]!.records[5]!] }]);
  expect(reads()).toBe(0);
  expect(bed.logger.warnings).toEqual([]);
});

test('without a disk memory holds a bound of bytes, and every record is found', async () => {
  await using bed = await TikvBed.make({ local: 'memory' });
  const storage = await bed.open({ local: { kind: 'memory', bytesMax: 20_000 } });
  await storage.log.seal(first);
  const batches = Array.from({ length: 60 }, (_, index) => batchOf(1 + index * 10, 10));
  for (const batch of batches) await append(storage, batch);
  const order = Array.from({ length: 600 }, (_, index) => at(1 + ((index * 331) % 600)));
  const all = batches.flatMap(({ records }) => records);
  const seen = await storage.values.getMany(order, never);
  expect(order.findIndex((position, index) => Buffer.compare(seen[index]!, all[position - 1]!) !== 0)).toBe(-1);
  const peeked = order.filter((position) => storage.values.peek(position) !== undefined);
  expect(peeked.length).toBeGreaterThan(20);
  expect(peeked.length).toBeLessThan(250);
});

async function changeMark(copy: string, change: (mark: object) => object): Promise<void> {
  const mark: unknown = JSON.parse(await readFile(join(copy, 'mark'), 'utf8'));
  if (typeof mark !== 'object' || mark === null) throw new Error('no mark');
  await writeFile(join(copy, 'mark'), JSON.stringify(change(mark)));
}
