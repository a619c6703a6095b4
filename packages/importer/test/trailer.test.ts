import { BboltError, type ByteSource } from '@engram/bbolt';
import { bytesSource } from '@engram/bbolt/testing';
import { beforeAll, expect, test } from 'vitest';
import { ImportError } from '../src/import-error.ts';
import { databaseIn } from '../src/trailer.ts';
import { never, put, restored, snapshotOf } from './databases.ts';

/** The bytes that are hashed at a time. */
const PART = 256 << 10;
let whole: Buffer;
let boundaries: readonly number[];

beforeAll(async () => {
  whole = await snapshotOf({
    key: Array.from({ length: 300 }, (_, at) => put(at + 2, `key/${at}`, { value: 'v'.repeat(2_000) })),
  });
  boundaries = [PART, 2 * PART, whole.length - 32];
  expect(whole.length).toBeGreaterThan(2 * PART + 64);
});

async function faultOf(file: ByteSource): Promise<string> {
  try {
    await databaseIn(file, false, never);
    return 'taken';
  } catch (error) {
    if (error instanceof ImportError || error instanceof BboltError) return error.fault;
    throw error;
  }
}

test('a snapshot that becomes shorter while it is hashed is refused, at each boundary of what is read together', async () => {
  for (const boundary of boundaries) {
    for (const cut of [boundary - 1, boundary, boundary + 1]) {
      const file: ByteSource = {
        bytes: whole.length,
        read: async (offset, bytes) => whole.subarray(offset, Math.max(offset, Math.min(offset + bytes, cut))),
      };
      const isCutInItsHash = cut >= whole.length - 32;
      expect(await faultOf(file), `cut at ${cut}`).toBe(isCutInItsHash ? 'wrong-hash' : 'cut');
    }
  }
});

test('another byte on either side of a boundary is found', async () => {
  expect(await faultOf(bytesSource(whole))).toBe('taken');
  for (const boundary of [0, ...boundaries, whole.length]) {
    for (const place of [boundary - 1, boundary].filter((at) => at >= 0 && at < whole.length)) {
      const changed = Buffer.from(whole);
      changed[place]! ^= 1;
      expect(await faultOf(bytesSource(changed)), `byte ${place}`).toBe('wrong-hash');
    }
  }
});

test('a source that reads into the memory it is given makes the same store', async () => {
  let given = 0;
  const file: ByteSource = {
    bytes: whole.length,
    read: async (offset, bytes, _signal, into) => {
      if (into === undefined) return whole.slice(offset, offset + bytes);
      given += 1;
      // What was there before is overwritten.
      into.fill(0xff);
      into.set(whole.subarray(offset, offset + bytes));
      return into.subarray(0, bytes);
    },
  };
  expect((await restored(file)).report).toEqual((await restored(whole)).report);
  expect(given).toBeGreaterThan(2);
});
