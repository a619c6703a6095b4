import { BboltError } from '@engram/bbolt';
import { bytesSource } from '@engram/bbolt/testing';
import { ImportError } from '@engram/importer';
import { Prng } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import {
  alarm,
  at,
  type Buckets,
  databaseFile,
  EMPTY,
  hashed,
  lease,
  put,
  removed,
  restored,
  snapshotOf,
  text,
} from './databases.ts';

/** The fault with which a file is refused. Any other error is one of the test. */
async function faultOf(file: Uint8Array, options: Parameters<typeof restored>[1] = {}): Promise<string> {
  try {
    await restored(file, options);
    return 'taken';
  } catch (error) {
    if (error instanceof ImportError || error instanceof BboltError) return error.fault;
    throw error;
  }
}

const wide = { skipHashCheck: true };
const key = Array.from({ length: 400 }, (_, more) => put(more + 2, `key/${more}`, { value: 'v'.repeat(50) }));

test('a snapshot that is cut is refused, wherever', async () => {
  const whole = await snapshotOf({ key });
  for (let bytes = 0; bytes < whole.length; bytes += 512) {
    const cut = whole.subarray(0, bytes);
    expect(await faultOf(cut), `${bytes} of ${whole.length} bytes`).toBe('no-hash');
    expect(await faultOf(cut, wide), `${bytes} of ${whole.length} bytes, without its hash`).toBe(
      bytes === whole.length - 32 ? 'taken' : 'cut',
    );
  }
  for (const bytes of [1, 31, 32, 33, 63]) {
    const fault = await faultOf(whole.subarray(0, whole.length - bytes));
    expect(fault, `${bytes} bytes less`).toBe('no-hash');
  }
  // 512 bytes less, and it looks like one with a hash.
  expect(await faultOf(whole.subarray(0, whole.length - 512))).toBe('wrong-hash');
});

test('a snapshot with any other byte is refused', async () => {
  const whole = await snapshotOf({ key: key.slice(0, 20) });
  const prng = new Prng(5);
  for (let flip = 0; flip < 400; flip += 1) {
    const place = prng.below(whole.length);
    const damaged = Buffer.from(whole);
    damaged[place] = damaged[place]! ^ (1 << prng.below(8));
    expect(await faultOf(damaged), `byte ${place}`).toBe('wrong-hash');
  }
});

test('without its hash, a file with other bytes is refused in order, or what it says is a history', async () => {
  const file = await databaseFile({ key: key.slice(0, 20), lease: [lease(5n, 60)], alarm: [alarm(3n, 1)] });
  const prng = new Prng(6);
  const faults = new Set<string>();
  for (let flip = 0; flip < 1_000; flip += 1) {
    const damaged = Buffer.from(file);
    for (let more = 0; more < 1 + prng.below(3); more += 1) {
      const place = prng.below(file.length);
      damaged[place] = damaged[place]! ^ (1 << prng.below(8));
    }
    faults.add(await faultOf(damaged, wide));
  }
  expect([...faults]).toEqual(expect.arrayContaining(['taken', 'damaged']));
});

test('a file that becomes shorter while it is read is cut', async () => {
  const file = await snapshotOf({ key });
  let left = 3;
  const source = bytesSource(file);
  const shrinking = {
    bytes: source.bytes,
    read: async (offset: number, bytes: number, signal: AbortSignal): Promise<Uint8Array> => {
      left -= 1;
      const read = await source.read(offset, bytes, signal);
      return left > 0 ? read : read.subarray(0, read.length - 1);
    },
  };
  await expect(restored(shrinking, wide)).rejects.toMatchObject({ fault: 'cut' });
  left = 1;
  await expect(restored(shrinking)).rejects.toMatchObject({ fault: 'cut' });
});

describe('a file that is not for this store', () => {
  const without = (name: string): Buckets =>
    Object.fromEntries(Object.entries(EMPTY).filter(([other]) => other !== name));
  test.each<readonly [why: string, fault: string, file: () => Promise<Uint8Array>]>([
    ['no bbolt file', 'not-bbolt', async () => hashed(Buffer.alloc(8192, 'x'))],
    ['nothing', 'cut', async () => hashed(new Uint8Array(0))],
    ['a bbolt file of another program', 'not-etcd', async () => hashed(await databaseFile({ things: [] }, {}))],
    ['no bucket of keys', 'not-etcd', async () => hashed(await databaseFile({}, without('key')))],
    ['no meta data', 'not-etcd', async () => hashed(await databaseFile({}, without('meta')))],
    ['a bucket of a later etcd', 'foreign-version', async () => snapshotOf({ novel: [] })],
    ['a later minor version', 'foreign-version', async () => snapshotOf({ meta: [text('storageVersion', '3.8.0')] })],
    ['a later major version', 'foreign-version', async () => snapshotOf({ meta: [text('storageVersion', '4.0.0')] })],
    ['a version that is none', 'foreign-version', async () => snapshotOf({ meta: [text('storageVersion', 'x')] })],
    ['an unknown alarm', 'foreign-version', async () => snapshotOf({ alarm: [alarm(1n, 3)] })],
  ])('%s: %s', async (_why, fault, file) => {
    expect(await faultOf(await file())).toBe(fault);
  });

  test.each(['3.5.0', '3.6.0', '3.7.0'])('storage version %s is known', async (version) => {
    expect(await faultOf(await snapshotOf({ meta: [text('storageVersion', version)] }))).toBe('taken');
  });
});

describe('a history that etcd does not write', () => {
  const [a2, a3] = [put(2, 'a'), put(3, 'a', { create: 2, version: 2 })];
  const compacted = [text('finishedCompactRev', at(3))];
  test.each<readonly [why: string, buckets: Buckets]>([
    ['does not begin', { key: [put(3, 'a')] }],
    ['lacks a revision', { key: [a2, put(4, 'b')] }],
    ['lacks the first change of a revision', { key: [a2, put(3, 'b', { sub: 1 })] }],
    ['lacks a change within a revision', { key: [put(2, 'a'), put(2, 'b', { sub: 2 })] }],
    ['lacks a revision above its compaction', { key: [a2, put(5, 'b')], meta: compacted }],
    ['lacks the version that the compaction kept', { key: [put(4, 'a', { create: 2, version: 3 })], meta: compacted }],
    ['begins at the revision of an empty store', { key: [put(1, 'a')] }],
    ['begins at no revision', { key: [put(0, 'a')] }],
    ['has a change twice', { key: [a2, [at(2, 0, 't'), removed(2, 'a')[1]]] }],
    ['has a second change of a key in one revision', { key: [a2, removed(2, 'a', 1)] }],
    [
      'has a second change of a key in a compacted revision',
      { key: [a2, put(2, 'a', { sub: 1 }), a3], meta: compacted },
    ],
    ['has two changes in one place', { key: [a2, removed(2, 'b')], meta: compacted }],
    ['says that a key that lives was created later', { key: [a2, put(3, 'a', { create: 3, version: 2 })] }],
    ['deletes what is not there', { key: [removed(2, 'a')] }],
    ['deletes twice', { key: [a2, removed(3, 'a'), removed(4, 'a')] }],
    ['leaves out a version', { key: [a2, put(3, 'a', { create: 2, version: 3 })] }],
    ['creates a key anew that lives', { key: [a2, put(3, 'a')] }],
    ['goes on with a key that was deleted', { key: [a2, removed(3, 'a'), put(4, 'a', { create: 2, version: 2 })] }],
    ['says another revision in the value', { key: [put(2, 'a', { mod: 3 })] }],
    ['has version 0', { key: [put(2, 'a', { version: 0 })], meta: compacted }],
    ['creates a key later than its version', { key: [put(2, 'a', { create: 3 })], meta: compacted }],
    ['has an empty key', { key: [put(2, '')] }],
    ['deletes an empty key', { key: [removed(2, '')], meta: compacted }],
    ['has a revision without a key above its compaction', { key: [[at(2), new Uint8Array(0)]] }],
    ['has a value that is no KeyValue', { key: [[at(2), Buffer.from([0xff])]] }],
    ['has a key that is too short', { key: [[at(2).subarray(0, 16), a2[1]]] }],
    ['has a key that is too long', { key: [[at(2, 0, 'tt'), a2[1]]] }],
    ['has another mark than that of a deletion', { key: [[at(2, 0, 'x'), a2[1]]] }],
    ['has another sign in a key', { key: [[at(2).fill('-'.charCodeAt(0), 8, 9), a2[1]]] }],
    ['has a revision above all numbers', { key: [[at(2n ** 63n), a2[1]]] }],
    ['has a compact revision that is none', { meta: [text('finishedCompactRev', 'x')] }],
    ['has a lease under another id', { lease: [[lease(6n, 60)[0], lease(5n, 60)[1]]] }],
    ['has the lease 0', { lease: [lease(0n, 60)] }],
    ['has a lease without time', { lease: [lease(5n, 0)] }],
    ['has a lease that is none', { lease: [[lease(5n, 1)[0], Buffer.from([0xff])]] }],
  ])('it %s', async (_why, buckets) => {
    expect(await faultOf(await snapshotOf(buckets))).toBe('damaged');
  });

  test('a revision may not be raised above all numbers', async () => {
    expect(await faultOf(await snapshotOf({ key: [a2] }), { bumpRevision: Number.MAX_SAFE_INTEGER })).toBe('too-large');
  });
});
