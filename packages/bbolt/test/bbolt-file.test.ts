import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BucketContent, bboltFile, smallBucket } from '@engram/bbolt';
import { readBuckets } from '@engram/bbolt/testing';
import { joined, never, time } from './files.ts';

describe('a bbolt file', () => {
  const key = fc.uint8Array({ minLength: 1, maxLength: 40 });
  const value = fc.oneof(
    { weight: 8, arbitrary: fc.uint8Array({ maxLength: 300 }) },
    { weight: 1, arbitrary: fc.nat(20_000).map((length) => new Uint8Array(length).fill(length)) },
  );
  const bucket = fc
    .tuple(
      fc.string({ minLength: 1 }),
      fc.uniqueArray(fc.tuple(key, value), { maxLength: 300, selector: ([id]) => Buffer.from(id).toString('hex') }),
    )
    .map(([name, entries]) => ({ name, entries }));
  const buckets = fc.uniqueArray(bucket, { maxLength: 4, selector: ({ name }) => name });

  test('holds what was put in, in the form that bbolt checks', async () => {
    await fc.assert(
      fc.asyncProperty(buckets, async (contents) => {
        const file = await bboltFile(
          contents.map(({ name, entries }) => smallBucket(Buffer.from(name), entries)),
          time,
          never,
        );
        const bytes = await joined(file.chunks);
        expect(bytes.length).toBe(file.bytes);
        const read = await readBuckets(bytes);
        expect(read.size).toBe(contents.length);
        for (const { name, entries } of contents) {
          const sorted = entries.toSorted(([left], [right]) => Buffer.compare(left, right));
          const expected = sorted.map((entry) => entry.map((part) => Buffer.from(part)));
          expect(read.get(name)).toEqual(expected);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('of many entries has branches over branches, and reads its values in parts', async () => {
    let parts = 0;
    let largest = 0;
    const count = 40_000;
    const content: BucketContent = {
      name: Buffer.from('key'),
      count,
      keyBytes: () => 17,
      putKey: (at, into, offset) => Buffer.from(into.buffer).writeUInt32BE(at, offset + 4),
      valueBytes: (at) => at % 200,
      values: async (from, to) => {
        parts += 1;
        largest = Math.max(largest, to - from);
        return Array.from({ length: to - from }, (_, at) => new Uint8Array((from + at) % 200).fill(7));
      },
    };
    const file = await bboltFile([content], time, never);
    const entries = (await readBuckets(await joined(file.chunks))).get('key')!;
    expect(entries.map(([id]) => id.readUInt32BE(4))).toEqual(Array.from({ length: count }, (_, at) => at));
    expect(entries.every(([, bytes], at) => bytes.length === at % 200)).toBe(true);
    expect(parts).toBeGreaterThan(count / 256 - 1);
    expect(largest).toBeLessThanOrEqual(256);
  });

  test('is planned a part at a time: other work has its turn as soon as it must have it', async () => {
    let planned = 0;
    let longest = 0;
    const lengthOf = (bytes: number): number => {
      planned += 1;
      return bytes;
    };
    const content: BucketContent = {
      name: Buffer.from('lease'),
      count: 20_000,
      keyBytes: () => 8,
      putKey: () => {},
      valueBytes: () => lengthOf(1000),
      values: async () => [],
    };
    const hurried = {
      isOver: () => true,
      pause: async () => {
        longest = Math.max(longest, planned);
        planned = 0;
      },
    };
    await bboltFile([content], hurried, never);
    expect(Math.max(longest, planned)).toBeLessThanOrEqual(256);
  });
});
