import { epoch, putOp, rangeOp } from '@engram/core';
import { Prng, SimClock, TestLogger } from '@engram/sim';
import { MemoryStorage, StorageCorruptError } from '@engram/storage';
import { beforeEach, expect, test } from 'vitest';
import { type Backend, nodeItself, openBackend, Scrub } from '../index.ts';

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };

let clock: SimClock;
let logger: TestLogger;
let storage: MemoryStorage;
let backend: Backend;
let damage: Error[];

beforeEach(async () => {
  clock = new SimClock();
  logger = new TestLogger();
  storage = new MemoryStorage({ cold: true });
  damage = [];
  const random = new Prng(1);
  backend = await clock.run(
    openBackend({
      storage,
      epoch: epoch(1),
      memberId: 1n,
      clock,
      random,
      logger,
      onFatal: (error) => damage.push(error),
    }),
  );
});

function scrubOf(bytesPerSecond = 1e6, pauseMs = 1000): Scrub {
  const { replica } = backend;
  const onReplayDamage = (error: Error): void => void damage.push(error);
  return new Scrub({ replica, storage, bytesPerSecond, pauseMs, onReplayDamage, clock, logger });
}

async function put(key: string, value: string): Promise<void> {
  await clock.run(backend.txn({ compares: [], success: [putOp(utf8(key), utf8(value))], failure: [] }, nodeItself));
}

test('reads back every version that a reader may ask for, and what the next start reads, again and again', async () => {
  for (let count = 0; count < 300; count += 1) await put(`k${count % 7}`, `value ${count}`);
  await clock.run(backend.compact(200, true, nodeItself));
  const { from } = (await storage.values.loadCheckpoint())!;
  await using scrub = scrubOf();
  await clock.pass(1500);
  expect(scrub.counts).toMatchObject({ damaged: 0, passes: 1 });
  // The versions from 201 to 301, the newest of each of 7 keys at 200, and the log behind the checkpoint.
  expect(scrub.counts.records).toBe(101 + 7 + (backend.replica.applied - from));
  await clock.pass(1500);
  expect(scrub.counts.passes).toBe(2);
  expect(backend.replica.pins.size).toBe(0);
});

test('one key of very many versions is read in parts, each once', async () => {
  for (let count = 0; count < 1001; count += 1) await put('k', `value ${count}`);
  await using scrub = scrubOf();
  await clock.pass(1500);
  expect(scrub.counts).toMatchObject({ records: 2002, damaged: 0, passes: 1 });
});

test('a compaction does not wait for the rest of a scrub that has read long versions', async () => {
  for (let count = 0; count < 3; count += 1) await put('k', 'v'.repeat(10_000));
  await using scrub = scrubOf(1000);
  // The log of 30 seconds is read, and the versions, of 30 seconds more.
  await clock.pass(45_000);
  expect(scrub.counts).toMatchObject({ records: 6, passes: 0 });
  expect(backend.replica.pins.size).toBe(0);
  // It is the pins below its revision that a compaction waits for.
  await clock.run(backend.compact(backend.revision, true, nodeItself));
  expect(backend.replica.state.index.versions).toBe(1);
});

test('a key that goes while its versions are read takes none of the next key along', async () => {
  for (let count = 0; count < 300; count += 1) await put('k', 'v'.repeat(100));
  await put('l', 'value');
  await using scrub = scrubOf(1000, 100_000);
  // The log of about 40 seconds is read, and the newest 200 versions of the first key.
  await clock.pass(145_000);
  const { records } = scrub.counts;
  expect(records).toBe(301 + 200);
  const range = { key: utf8('k'), end: new Uint8Array(0) };
  const deletion = { kind: 'delete-range', range, prevKv: false } as const;
  await clock.run(backend.txn({ compares: [], success: [deletion], failure: [] }, nodeItself));
  await put('m', 'value');
  await clock.run(backend.compact(backend.revision, true, nodeItself));
  await clock.pass(60_000);
  // Those of the two keys that are left.
  expect(scrub.counts).toMatchObject({ records: records + 2, passes: 1 });
});

test('finds a record that has changed, counts it, goes on with the others, and raises nothing', async () => {
  for (let count = 0; count < 500; count += 1) await put(`k${count}`, 'value');
  const { values } = storage;
  const read = values.getMany.bind(values);
  const bad = new Set([17, 400]);
  values.getMany = async (positions, signal) => {
    const found = positions.find((position) => bad.has(position));
    if (found !== undefined) throw new StorageCorruptError(`record ${found} is damaged`, 'here');
    return await read(positions, signal);
  };
  await using scrub = scrubOf();
  await clock.pass(1500);
  expect(scrub.counts).toMatchObject({ records: 998, damaged: 2, passes: 1 });
  expect(damage).toEqual([]);
  expect(logger.warnings).toEqual(['storage is damaged', 'storage is damaged']);
});

test('a log that cannot be read twice is damage; one that can be read the second time is not', async () => {
  for (let count = 0; count < 10; count += 1) await put(`k${count}`, 'value');
  const { log } = storage;
  const read = log.read.bind(log);
  let failures = 1;
  log.read = (from, signal) => {
    if (failures === 0) return read(from, signal);
    failures -= 1;
    throw new StorageCorruptError('a frame', 'here');
  };
  await using scrub = scrubOf();
  await clock.pass(1500);
  expect(scrub.counts).toMatchObject({ damaged: 0, passes: 1 });
  failures = 2;
  await clock.pass(1500);
  expect(scrub.counts).toMatchObject({ damaged: 1, passes: 2 });
  expect(damage).toHaveLength(1);
});

test('reads no faster than it may, and lets compaction go on', async () => {
  for (let count = 0; count < 100; count += 1) await put(`k${count}`, 'v'.repeat(1000));
  await using scrub = scrubOf(10_000);
  await clock.pass(6000);
  expect(scrub.counts.bytes).toBeGreaterThan(30_000);
  expect(scrub.counts.bytes).toBeLessThan(160_000); // a turn ends behind its batch
  expect(scrub.counts.passes).toBe(0);
  for (let count = 0; count < 100; count += 1) await put(`k${count}`, 'new');
  await clock.run(backend.compact(150, true, nodeItself));
  await clock.pass(60_000);
  expect(scrub.counts).toMatchObject({ damaged: 0 });
  expect(scrub.counts.passes).toBeGreaterThan(0);
});

test('ends at once, also in the middle of a pass', async () => {
  for (let count = 0; count < 100; count += 1) await put(`k${count}`, 'v'.repeat(1000));
  const scrub = scrubOf(100);
  await clock.pass(2000);
  await clock.run(scrub[Symbol.asyncDispose]());
  const { records } = scrub.counts;
  await clock.pass(10_000);
  expect(scrub.counts.records).toBe(records);
  expect([...(await clock.run(Promise.resolve(backend.range(rangeOp(ALL), nodeItself)))).kvs]).toHaveLength(100);
});
