import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type LogPosition, logPosition } from '@engram/core';
import { endOf, type LogBatch, StorageDivergedError } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import type { TikvStorage } from '@engram/storage-tikv';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { batchOf, record } from './sim-bed.ts';
import { TikvBed } from './tikv-bed.ts';

const first = sealOf(1);
const second = sealOf(2, 9n);

let bed: TikvBed;
beforeEach(async () => {
  bed = await TikvBed.make();
});
afterEach(() => bed[Symbol.asyncDispose]());

/** A leader that has appended three batches, as it passes them on. */
async function leader(): Promise<{ readonly storage: TikvStorage; readonly batches: readonly LogBatch[] }> {
  const storage = await bed.open({ local: { kind: 'memory' } });
  await storage.log.seal(first);
  const batches: LogBatch[] = [];
  for (const batch of [batchOf(1, 3), batchOf(4), batchOf(5, 6)]) {
    await storage.log.append(batch, first);
    batches.push({ ...batch, chain: storage.log.chainAt!(endOf(batch)) });
  }
  return { storage, batches };
}

/** A follower that has read the log, which is empty. */
async function follower(local: 'disk' | 'memory'): Promise<TikvStorage> {
  const storage = await bed.open(local === 'memory' ? { local: { kind: 'memory' } } : {});
  expect(await read(storage, 1)).toEqual([]);
  return storage;
}

async function read(storage: TikvStorage, from: number): Promise<number[]> {
  const values: number[] = [];
  for await (const { records } of storage.log.read(logPosition(from), never)) {
    for (const bytes of records) values.push(Buffer.from(bytes).readUInt32LE());
  }
  return values;
}

/** The batch, with another first record. */
const changed = ({ first: at, records }: LogBatch, chain?: Uint8Array): LogBatch => ({
  first: at,
  records: [record(999), ...records.slice(1)],
  chain,
});

describe.each(['disk', 'memory'] as const)('a node with its bytes in %s', (local) => {
  test('takes what its leader passes on, and has the leader’s chain', async () => {
    const storage = await follower(local);
    const { batches } = await leader();
    for (const batch of batches) await storage.values.adopt!(batch);
    expect(storage.log.chainAt!(logPosition(7))).toEqual(batches[2]!.chain);
    expect(await storage.log.seal(second)).toBe(7);
  });

  test('refuses a batch that is not the leader’s', async () => {
    const storage = await follower(local);
    const { batches } = await leader();
    await storage.values.adopt!(batches[0]!);
    const refused = storage.values.adopt!(changed(batches[1]!, batches[1]!.chain));
    await expect(refused).rejects.toThrow(StorageDivergedError);
    await expect(refused).rejects.toThrow('this node differs from its cluster, and must start anew');
  });

  test('refuses a batch behind one that is not the leader’s', async () => {
    const storage = await follower(local);
    const { batches } = await leader();
    // An older leader passes no chain on: then the difference shows with the next chain.
    await storage.values.adopt!(changed(batches[0]!));
    await expect(storage.values.adopt!(batches[1]!)).rejects.toThrow(StorageDivergedError);
  });

  test('does not take over a log that is not its own', async () => {
    const storage = await follower(local);
    const { batches } = await leader();
    await storage.values.adopt!(batches[0]!);
    await storage.values.adopt!(changed(batches[1]!));
    await storage.values.adopt!({ ...batches[2]!, chain: undefined });
    await expect(storage.log.seal(second)).rejects.toThrow(StorageDivergedError);
  });

  test('does not read on behind what is not in the log', async () => {
    const storage = await follower(local);
    const { batches } = await leader();
    await storage.values.adopt!(changed(batches[0]!));
    await expect(read(storage, 4)).rejects.toThrow(StorageDivergedError);
  });

  test('does not take over a log that ends before what it has taken', async () => {
    const storage = await follower(local);
    const { batches } = await leader();
    for (const batch of batches) await storage.values.adopt!(batch);
    await storage.values.adopt!(batchOf(7));
    await expect(storage.log.seal(second)).rejects.toThrow(StorageDivergedError);
  });
});

test('a node that differs has lost its copy when it starts again, and has the log then', async () => {
  const storage = await follower('disk');
  const { batches } = await leader();
  await storage.values.adopt!(batches[0]!);
  await storage.values.adopt!(changed(batches[1]!));
  await expect(storage.values.adopt!(batches[2]!)).rejects.toThrow(StorageDivergedError);
  await storage[Symbol.asyncDispose]();
  const again = await bed.open();
  const values = again.values as {
    getMany(at: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]>;
  };
  expect(await read(again, 1)).toEqual([1, 2, 3, 4, 5, 6]);
  const [bytes] = await values.getMany([logPosition(4)], never);
  expect(Buffer.from(bytes!).readUInt32LE()).toBe(4);
  expect(again.log.chainAt!(logPosition(7))).toEqual(batches[2]!.chain);
});

test('a chain of another length, from a later version, is not compared', async () => {
  const storage = await follower('memory');
  const { batches } = await leader();
  for (const batch of batches) await storage.values.adopt!({ ...batch, chain: new Uint8Array(32) });
  expect(await storage.log.seal(second)).toBe(7);
});

test('a part of a batch is not compared, nor what comes behind it until a chain is known again', async () => {
  const storage = await follower('memory');
  const { batches } = await leader();
  await storage.values.adopt!(batches[0]!);
  await storage.values.adopt!({ ...batches[1]!, chain: undefined });
  await storage.values.adopt!(batches[2]!);
  expect(await storage.log.seal(second)).toBe(7);
});

test('a node that is told that it differs has no copy at its next start', async () => {
  const storage = await follower('disk');
  const { batches } = await leader();
  for (const batch of batches) await storage.values.adopt!(batch);
  const mark = join(bed.path, 'copy', 'mark');
  await storage[Symbol.asyncDispose]();
  const again = await bed.open();
  expect(existsSync(mark)).toBe(true);
  const error = await again.values.giveUp!('its hash is another one');
  expect(error).toBeInstanceOf(StorageDivergedError);
  expect(error.message).toContain('its hash is another one');
  await again[Symbol.asyncDispose]();
  expect(existsSync(mark)).toBe(false);
});
