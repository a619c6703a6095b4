import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { finish, unhurried } from '@engram/loop';
import { type LogBatch, type Storage, StorageDivergedError } from '@engram/storage';
import { never, record, sealOf } from '@engram/storage/testing';
import { describe, expect, test } from 'vitest';
import { chainBehind } from '../src/format/batch-format.ts';
import { type Chain, emptyChain } from '../src/format/chain.ts';
import { LocalCopy } from '../src/copy/local-copy.ts';
import { at, first } from './sim-bed.ts';
import { clusterId, TikvBed } from './tikv-bed.ts';

const batchOf = (from: number, count: number, salt = 0): LogBatch => ({
  first: at(from),
  records: Array.from({ length: count }, (_, index) => record(1000 * salt + from + index, 60)),
});
const ten = [batchOf(1, 4), batchOf(5, 6)];

async function append(storage: Storage, batch: LogBatch, seal = first): Promise<void> {
  expect(await storage.log.append(batch, seal)).toEqual({ kind: 'committed' });
}

async function readAll(storage: Storage): Promise<Uint8Array[]> {
  const seen: Uint8Array[] = [];
  for await (const { records } of storage.log.read(at(1), never)) seen.push(...records);
  return seen;
}

/** A log of ten records, and a node that has a copy of it, closed. */
async function filled(): Promise<TikvBed> {
  const bed = await TikvBed.make({ local: 'disk' });
  const storage = await bed.open();
  await storage.log.seal(first);
  for (const batch of ten) await append(storage, batch);
  await storage[Symbol.asyncDispose]();
  return bed;
}

describe('a copy that has a batch which is not in the log', () => {
  /** A node that was given a foreign batch at 11, where another one has appended its own. */
  async function diverged(bed: TikvBed) {
    const storage = await bed.open();
    const leader = await bed.open({ local: { kind: 'memory' } });
    const seal = sealOf(2, 5n);
    await leader.log.seal(seal);
    await storage.values.adopt!(batchOf(11, 3, 9));
    await append(leader, batchOf(11, 3), seal);
    await append(leader, batchOf(14, 2), seal);
    return storage;
  }

  async function expectNew(bed: TikvBed): Promise<void> {
    const again = await bed.open();
    const due = [...ten, batchOf(11, 3), batchOf(14, 2)].flatMap(({ records }) => records);
    expect((await readAll(again)).map((bytes) => Buffer.from(bytes))).toEqual(due.map((bytes) => Buffer.from(bytes)));
    expect(bed.logger.warnings.join()).toMatch(/the copy of the log is given up/);
  }

  test('keeps its node from leading, and is not used again', async () => {
    await using bed = await filled();
    const storage = await diverged(bed);
    const end = await storage.log.seal(sealOf(3, 6n));
    expect(end).toBe(16);
    const reading = async (): Promise<void> => {
      for await (const _ of storage.log.read(at(14), never));
    };
    await expect(reading()).rejects.toThrow(StorageDivergedError);
    await storage[Symbol.asyncDispose]();
    await expectNew(bed);
  });

  test('refuses what is read from the log, and is not used again', async () => {
    await using bed = await filled();
    const storage = await diverged(bed);
    await expect(readAll(storage)).rejects.toThrow(StorageDivergedError);
    await storage[Symbol.asyncDispose]();
    await expectNew(bed);
  });

  test('ends its node for what it is, where the disk does not let its mark go', async () => {
    await using bed = await filled();
    if (bed.local.kind !== 'disk') throw new Error('a bed with a disk');
    const storage = await diverged(bed);
    const mark = join(bed.local.path, 'mark');
    // A folder is refused as any file of a disk that can only be read is.
    await rm(mark);
    await mkdir(mark);
    // The copy fetches what is before this batch, for which nobody waits.
    await storage.values.adopt!(batchOf(17, 1));
    await expect.poll(() => bed.logger.warnings.join()).toMatch(/the mark of the copy of the log cannot be removed/);
    await expect(readAll(storage)).rejects.toThrow(StorageDivergedError);
    await storage[Symbol.asyncDispose]();
  });

  test('takes no batch of the log that does not continue it, and loses its mark', async () => {
    await using bed = await TikvBed.make();
    if (bed.local.kind !== 'disk') throw new Error('a bed with a disk');
    const { path, openStorage } = bed.local;
    const empty = emptyChain(clusterId);
    const { logger } = bed;
    const options = { path, openStorage, queueBytesMax: 1 << 20, clusterId, prefix: 'test', empty, logger };
    const copy = await LocalCopy.create(options, { from: at(1), chain: empty });
    const behind = (batch: LogBatch): Chain => finish(chainBehind(empty, batch, unhurried));
    const foreign = behind(batchOf(1, 4, 9));
    copy.offer(batchOf(1, 4), behind(batchOf(1, 4)));
    await copy.written();
    const header = { part: 0, parts: 1, segment: 2, seal: first, first: at(5), count: 1, logBytes: 1 };
    const next = { ...batchOf(5, 1), header: { ...header, previous: foreign, chain: foreign } };
    expect(() => copy.offer(next, foreign)).toThrow(/the batch at 5 of the log does not continue the copy/);
    expect(copy.failed).toBe(true);
    await copy.close();
    expect(await readdir(path)).not.toContain('mark');
    expect(await LocalCopy.open(options)).toBeUndefined();
  });
});
