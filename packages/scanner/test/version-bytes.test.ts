import { encodePutRecord } from '@engram/coder';
import { ByteViews, keyBytes, leaseId, logPosition, revision } from '@engram/core';
import { Loop, StepPace, type Task } from '@engram/loop';
import { RecordCache, VersionBytes } from '@engram/scanner';
import { SimClock } from '@engram/sim';
import {
  MemoryStorage,
  StorageClosedError,
  StorageTrimmedError,
  StorageUnavailableError,
  type Values,
} from '@engram/storage';
import { expect, test } from 'vitest';

const loop = new Loop({ clock: new SimClock() });
const RANGE: Task = { work: 'client', caller: 'a client', stage: 'range' };
const never = new AbortController().signal;
const wanted = [logPosition(1)];

function failing(error: Error): VersionBytes {
  const { values } = new MemoryStorage();
  const broken: Values = Object.assign(Object.create(values), {
    peek: () => undefined,
    getMany: () => Promise.reject(error),
  });
  return new VersionBytes(new RecordCache(1000), broken);
}

test.each(['getMany', 'many', 'collect', 'passing'] as const)(
  '%s: what is gone with its log, or does not come, is to be asked for again, and a node that stops says so',
  async (way) => {
    const trimmed = new StorageTrimmedError('gone');
    const read = (bytes: VersionBytes): unknown =>
      way === 'collect'
        ? loop.run(RANGE, bytes.collect(new Float64Array(wanted), new ByteViews(), loop, never))
        : way === 'many'
          ? loop.run(RANGE, bytes.many(wanted, loop, never))
          : bytes[way](wanted, never);
    const error: unknown = await Promise.resolve(read(failing(trimmed))).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'Timeout', cause: trimmed });
    const silent = new StorageUnavailableError('no answer');
    const late: unknown = await Promise.resolve(read(failing(silent))).catch((reason: unknown) => reason);
    expect(late).toMatchObject({ code: 'Timeout', cause: silent });
    const closed = new StorageClosedError('the node stops');
    const stopped: unknown = await Promise.resolve(read(failing(closed))).catch((reason: unknown) => reason);
    expect(stopped).toMatchObject({ code: 'Stopped', cause: closed });
    const other = new Error('anything else');
    await expect(Promise.resolve(read(failing(other)))).rejects.toBe(other);
  },
);

test('versions that were read one by one lie in a row once a list has read them', () => {
  const cache = new RecordCache(1 << 20);
  const bytes = new VersionBytes(cache, new MemoryStorage().values);
  const positions = Float64Array.from({ length: 100 }, (_, at) => at + 1);
  const ofPosition = (position: number): Uint8Array => new Uint8Array(20).fill(position);
  // 37 and 100 have no common divisor, so this order has every position once.
  for (let at = 0; at < 100; at += 1) {
    const position = ((at * 37) % 100) + 1;
    cache.add(logPosition(position), ofPosition(position));
  }
  const list = (): ByteViews => {
    const listed = new ByteViews();
    expect(loop.run(RANGE, bytes.collect(positions, listed, loop, never))).toBeUndefined();
    return listed;
  };
  const first = list();
  expect(first.breaks(0, 100, 7)).toBe(99);
  const second = list();
  expect(second.breaks(0, 100, 7)).toBe(0);
  for (const listed of [first, second]) expect([...listed]).toEqual([...positions].map(ofPosition));
  // A list that is in a row stays where it is.
  const { bytes: held } = cache;
  for (let again = 0; again < 1000; again += 1) list();
  expect(cache.bytes).toBe(held);
});

test.each(['many', 'collect'] as const)(
  '%s: others have their turn while versions go from a read into the cache',
  async (way) => {
    let turns = 0;
    const clock = new SimClock();
    const soon = clock.soon.bind(clock);
    clock.soon = (fire) => {
      turns += 1;
      soon(fire);
    };
    const sliced = new Loop({ clock, pace: new StepPace(100) });
    const record = encodePutRecord(0, {
      key: keyBytes('k'),
      createRevision: revision(1),
      modRevision: revision(1),
      version: 1,
      value: new Uint8Array(10),
      lease: leaseId(0n),
    });
    const values: Values = Object.assign(Object.create(new MemoryStorage().values), {
      peek: () => undefined,
      getMany: (positions: readonly unknown[]) => Promise.resolve(positions.map(() => record)),
    });
    const bytes = new VersionBytes(new RecordCache(1 << 20), values);
    const positions = Array.from({ length: 1000 }, (_, at) => logPosition(at + 1));
    const into = new ByteViews();
    const lookUp = (): unknown =>
      way === 'many'
        ? sliced.run(RANGE, bytes.many(positions, sliced, never))
        : sliced.run(RANGE, bytes.collect(new Float64Array(positions), into, sliced, never));
    await lookUp();
    // A look at each, and a copy of each behind the read.
    expect(turns).toBeGreaterThanOrEqual(30);
    turns = 0;
    await lookUp();
    expect(turns, 'of the cache').toBeGreaterThanOrEqual(8);
  },
);
