import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BboltError, BboltReader, type BucketEntry, type ByteSource } from '@engram/bbolt';
import { bytesSource } from '@engram/bbolt/testing';
import { fnv1a } from '../src/format.ts';
import { RUN_BYTES_MAX } from '../src/tree-reader.ts';
import { entriesOf, fileOf, never, writtenByBbolt } from './files.ts';

const PAGE = 4096;
const RUN_PAGES = RUN_BYTES_MAX / PAGE;
const LEAVES = 8 * RUN_PAGES + 10;

type Pair = readonly [key: string, value: string];

const named = (at: number): string => `k${String(at).padStart(5, '0')}`;

/** A leaf for each: pages 2 to LEAVES + 1. Every branch has children enough for a run. */
const leaves = (count = LEAVES): readonly Pair[] =>
  Array.from({ length: count }, (_, at) => [named(at), `${at}`.padEnd(3_000, 'v')]);

interface Read {
  readonly offset: number;
  readonly bytes: number;
}

/** A source that notes its reads. */
function noting(file: Uint8Array): { readonly source: ByteSource; readonly reads: Read[] } {
  const reads: Read[] = [];
  return { source: bytesSource(file, (offset, bytes) => void reads.push({ offset, bytes })), reads };
}

/** The bytes of a file that are in more than one of the reads. */
function readTwice(reads: readonly Read[]): number {
  let end = 0;
  let twice = 0;
  for (const { offset, bytes } of reads.toSorted((left, right) => left.offset - right.offset)) {
    twice += Math.max(0, Math.min(end, offset + bytes) - offset);
    end = Math.max(end, offset + bytes);
  }
  return twice;
}

const pairs = (entries: readonly BucketEntry[]): readonly Pair[] =>
  entries.map(({ key, value }) => [Buffer.from(key).toString(), Buffer.from(value).toString()]);

/** The same pages in other places: page `n` goes to `places[n - 2]`. Whatever names a page, names its new place. */
function moved(file: Buffer, places: readonly number[]): Buffer {
  const to = (id: number): number => (id < 2 ? id : places[id - 2]!);
  const result = Buffer.alloc(file.length);
  const renamed = (at: number): void =>
    void result.writeBigUInt64LE(BigInt(to(Number(result.readBigUInt64LE(at)))), at);
  for (let id = 0; id < file.length / PAGE; id += 1) file.copy(result, to(id) * PAGE, id * PAGE, (id + 1) * PAGE);
  for (const meta of [16, PAGE + 16]) {
    renamed(meta + 16);
    result.writeBigUInt64LE(fnv1a(result.subarray(meta, meta + 56)), meta + 56);
  }
  for (let id = 2; id < file.length / PAGE; id += 1) {
    const page = to(id) * PAGE;
    renamed(page);
    const flags = result.readUInt16LE(page + 8);
    for (let at = 0; at < result.readUInt16LE(page + 10); at += 1) {
      const element = page + 16 + at * 16;
      if (flags === 1) renamed(element + 8);
      // The value of a bucket begins with its root.
      else if (result.readUInt32LE(element) === 1) {
        renamed(element + result.readUInt32LE(element + 4) + result.readUInt32LE(element + 8));
      }
    }
  }
  return result;
}

test('leaves that lie one behind the other are read together, each byte once, and no more at once than a run has', async () => {
  const { source, reads } = noting(await fileOf({ key: leaves() }));
  const reader = await BboltReader.open(source, never);
  reads.splice(0);
  expect(pairs(await entriesOf(reader, 'key'))).toEqual(leaves());
  expect(readTwice(reads)).toBe(0);
  expect(Math.max(...reads.map(({ bytes }) => bytes))).toBe(RUN_BYTES_MAX);
  // The runs, and the branches.
  expect(reads.length).toBeLessThan(LEAVES / 8);
});

test('a page larger than a run is read whole, and so are its neighbours', async () => {
  const large: readonly Pair[] = [
    ...leaves(3),
    [named(10), 'x'.repeat(3 * RUN_BYTES_MAX)],
    [named(11), 'y'],
    [named(12), 'z'.repeat(PAGE)],
  ];
  const { source, reads } = noting(await fileOf({ key: large }));
  const reader = await BboltReader.open(source, never);
  reads.splice(0);
  expect(pairs(await entriesOf(reader, 'key'))).toEqual(large);
  expect(readTwice(reads)).toBe(0);
});

test('wherever the pages are, the entries are the same, and each byte is read once', async () => {
  const file = await fileOf({ key: leaves(), other: leaves(90) });
  const pages = file.length / PAGE - 2;
  const order = fc
    .array(fc.tuple(fc.nat(pages - 1), fc.nat(pages - 1), fc.integer({ min: 1, max: RUN_PAGES + 3 })), {
      maxLength: 12,
    })
    .map((moves) => {
      const ids = Array.from({ length: pages }, (_, at) => at + 2);
      for (const [from, to, count] of moves) ids.splice(to, 0, ...ids.splice(from, count));
      return ids;
    });
  await fc.assert(
    fc.asyncProperty(order, async (places) => {
      const { source, reads } = noting(moved(file, places));
      const reader = await BboltReader.open(source, never);
      for (const [name, wanted] of [
        ['key', leaves()],
        ['other', leaves(90)],
      ] as const) {
        reads.splice(0);
        expect(pairs(await entriesOf(reader, name))).toEqual(wanted);
        expect(readTwice(reads)).toBe(0);
      }
    }),
    { numRuns: 40 },
  );
});

test('a file that becomes shorter is refused as cut, at each boundary of what is read together', async () => {
  // Some leaves continue in further pages, within runs and at their ends.
  const wanted = leaves().map(([key, value], at) => [key, at % 9 === 0 ? value.repeat(3) : value] as const);
  const file = await fileOf({ key: wanted });
  let end = file.length;
  let found: Pair[] = [];
  let reads: (Read & { readonly given: number })[] = [];
  const source: ByteSource = {
    bytes: file.length,
    read: async (offset, bytes) => {
      reads.push({ offset, bytes, given: found.length });
      return file.slice(offset, Math.max(offset, Math.min(offset + bytes, end)));
    },
  };
  const reader = await BboltReader.open(source, never);
  const read = async (): Promise<unknown> => {
    found = [];
    reads = [];
    try {
      for await (const page of reader.entries(Buffer.from('key'), never)!) found.push(...pairs(page));
      return undefined;
    } catch (error) {
      return error;
    }
  };
  expect(await read()).toBeUndefined();
  expect(found).toEqual(wanted);
  const whole = reads;
  const boundaries = new Set(whole.flatMap(({ offset, bytes }) => [offset, offset + PAGE, offset + bytes]));
  expect(boundaries.size).toBeGreaterThan(40);
  for (const boundary of boundaries) {
    for (const cut of [boundary - 1, boundary, boundary + 1]) {
      const first = whole.find(({ offset, bytes }) => offset + bytes > cut);
      end = cut;
      const refused = await read();
      const what = `cut at ${cut}`;
      // What was given before is right, and is all that was read whole.
      expect(found, what).toEqual(wanted.slice(0, first?.given ?? wanted.length));
      if (first === undefined) expect(refused, what).toBeUndefined();
      else expect(refused instanceof BboltError && refused.fault, what).toBe('cut');
    }
  }
});

test('a page that two branches name is not read again with a run', async () => {
  const file = await fileOf({ key: leaves(300) });
  const branches = Array.from({ length: file.length / PAGE }, (_, id) => id).filter(
    (id) => id >= 2 && file.readUInt16LE(id * PAGE + 8) === 1,
  );
  const [first, second] = branches as [number, number];
  const childAt = (branch: number, at: number): number => branch * PAGE + 16 + at * 16 + 8;
  // The children of the second branch, from the third on, are the last ones of the first branch.
  const count = file.readUInt16LE(first * PAGE + 10);
  const last = file.readBigUInt64LE(childAt(first, count - 1));
  file.writeBigUInt64LE(last - 2n, childAt(second, 0));
  file.writeBigUInt64LE(last - 1n, childAt(second, 1));
  file.writeBigUInt64LE(last, childAt(second, 2));
  const { source, reads } = noting(file);
  const reader = await BboltReader.open(source, never);
  reads.splice(0);
  await expect(entriesOf(reader, 'key')).rejects.toMatchObject({
    fault: 'damaged',
    message: expect.stringContaining('reached twice'),
  });
  expect(readTwice(reads)).toBe(0);
});

test('a key that belongs below the next branch is refused, also in the last leaf of its own', async () => {
  const file = await fileOf({ key: leaves(300) });
  const branch = Array.from({ length: file.length / PAGE }, (_, id) => id).find(
    (id) => id >= 2 && file.readUInt16LE(id * PAGE + 8) === 1,
  )!;
  const count = file.readUInt16LE(branch * PAGE + 10);
  const last = Number(file.readBigUInt64LE(branch * PAGE + 16 + (count - 1) * 16 + 8));
  // The only entry of its leaf is above the key of its branch, and the leaf after it is as it was.
  const element = last * PAGE + 16;
  file.write(named(299), element + file.readUInt32LE(element + 4));
  const reader = await BboltReader.open(bytesSource(file), never);
  await expect(entriesOf(reader, 'key')).rejects.toMatchObject({
    fault: 'damaged',
    message: `page ${last} has keys outside of the bounds of its branch`,
  });
});

test('a file of bbolt itself, whose pages are in no order, is read once', async () => {
  const file = writtenByBbolt('pages-4096');
  const { source, reads } = noting(file);
  const reader = await BboltReader.open(source, never);
  reads.splice(0);
  expect(await entriesOf(reader, 'key')).toHaveLength(360);
  expect(readTwice(reads)).toBe(0);
});
