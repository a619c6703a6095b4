import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BboltError, type BboltFault, BboltReader, READER_LIMITS } from '@engram/bbolt';
import { bytesSource } from '@engram/bbolt/testing';
import { fnv1a } from '../src/format.ts';
import { entriesOf, fileOf, never, readAll, writtenByBbolt } from './files.ts';

const PAGE = 4096;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** 40 leaves below one branch: pages 2 to 41, the branch 42, the root 43. */
const wide = (): Promise<Buffer> =>
  fileOf({ key: Array.from({ length: 160 }, (_, at) => [`k${String(at).padStart(4, '0')}`, 'v'.repeat(990)]) });

async function faultOf(file: Uint8Array, limits = READER_LIMITS): Promise<readonly [BboltFault, string]> {
  try {
    const reader = await BboltReader.open(bytesSource(file), never, limits);
    for (const name of reader.names) await entriesOf(reader, text(name));
  } catch (error) {
    if (error instanceof BboltError) return [error.fault, error.message];
    throw error;
  }
  throw new Error('the file is read');
}

/** Changes a meta page, with a checksum that fits. */
function changeMeta(file: Buffer, page: number, pageBytes: number, change: (meta: Buffer) => void): void {
  const meta = file.subarray(page * pageBytes + 16, page * pageBytes + 80);
  change(meta);
  meta.writeBigUInt64LE(fnv1a(meta.subarray(0, 56)), 56);
}

function changeMetas(file: Buffer, change: (meta: Buffer) => void): void {
  for (const page of [0, 1]) changeMeta(file, page, PAGE, change);
}

describe('a file that bbolt wrote', () => {
  test.each([
    { name: 'pages-4096', keys: 600 },
    { name: 'pages-16384', keys: 400 },
  ])('is read whole: $name, with inline buckets, overflows and free pages', async ({ name, keys }) => {
    const reader = await BboltReader.open(bytesSource(writtenByBbolt(name)), never);
    expect(reader.names.map(text)).toEqual(['auth', 'key', 'meta']);
    expect(await entriesOf(reader, 'auth')).toEqual([]);
    const meta = await entriesOf(reader, 'meta');
    expect(meta.map(({ key, value }) => [text(key), text(value)])).toEqual([['storageVersion', '3.6.0']]);
    const living = Array.from({ length: keys }, (_, at) => at).filter((at) => at % 10 >= 4);
    const entries = await entriesOf(reader, 'key');
    expect(entries.map(({ key }) => Number(text(key)))).toEqual(living);
    for (const [at, { value }] of entries.entries()) {
      const key = living[at]!;
      expect(Buffer.from(value).equals(Buffer.alloc(key % 977 === 0 ? 9_000 : key % 300, key & 0xff))).toBe(true);
    }
  });

  test('is refused where a bucket is within a bucket', async () => {
    expect((await faultOf(writtenByBbolt('nested')))[0]).toBe('nested');
  });

  test('is read from the older meta where the newer was not written to its end', async () => {
    const file = writtenByBbolt('pages-4096');
    const [first, second] = [0, 1].map((page) => file.readBigUInt64LE(page * PAGE + 16 + 48)) as [bigint, bigint];
    const newer = first > second ? 0 : 1;
    file[newer * PAGE + 16 + 50]! ^= 1;
    // The transaction before deleted nothing yet.
    expect(await entriesOf(await BboltReader.open(bytesSource(file), never), 'key')).toHaveLength(600);
  });

  test('is read where its first meta is damaged, whatever the size of its pages', async () => {
    const file = writtenByBbolt('pages-16384');
    file.fill(0, 0, 80);
    expect((await BboltReader.open(bytesSource(file), never)).names).toHaveLength(3);
  });
});

test('a bucket that is not there has no entries to read', async () => {
  const reader = await BboltReader.open(bytesSource(await fileOf({ a: [['k', 'v']] })), never);
  expect(reader.entries(Buffer.from('b'), never)).toBeUndefined();
  expect((await entriesOf(reader, 'a')).map(({ key }) => text(key))).toEqual(['k']);
});

test('a read ends with the reason of its signal', async () => {
  const gone = new AbortController();
  const reader = await BboltReader.open(bytesSource(await wide()), gone.signal);
  const pages = reader.entries(Buffer.from('key'), gone.signal)!;
  await pages.next();
  gone.abort(new Error('gone'));
  await expect(pages.next()).rejects.toThrow('gone');
});

describe('a file is refused', () => {
  const uint64 = (value: number): bigint => BigInt(value);
  const secondChild = 42 * PAGE + 16 + 16;
  const renameSecondChild = (file: Buffer, key: string): void => {
    file.write(key, secondChild + file.readUInt32LE(secondChild));
  };

  test.each<{ why: string; fault: BboltFault; says: string; change: (file: Buffer) => unknown }>([
    { why: 'that is empty', fault: 'cut', says: '0 bytes', change: () => Buffer.alloc(0) },
    {
      why: 'that is another kind of file',
      fault: 'not-bbolt',
      says: 'does not begin',
      change: () => Buffer.alloc(64 * 1024, 'no bbolt'),
    },
    { why: 'that was cut by a byte', fault: 'cut', says: 'says 44 pages', change: (file) => file.subarray(0, -1) },
    {
      why: 'that was cut to its first page',
      fault: 'cut',
      says: 'says 44 pages',
      change: (file) => file.subarray(0, PAGE),
    },
    {
      why: 'of another version',
      fault: 'foreign-version',
      says: 'version 3',
      change: (file) => changeMetas(file, (meta) => meta.writeUInt32LE(3, 4)),
    },
    {
      why: 'with two metas that are damaged',
      fault: 'damaged',
      says: 'checksum',
      change: (file) => {
        file[40]! ^= 1;
        file[PAGE + 40]! ^= 1;
      },
    },
    {
      why: 'whose root is a meta page',
      fault: 'damaged',
      says: 'the root is page 1',
      change: (file) => changeMetas(file, (meta) => meta.writeBigUInt64LE(1n, 16)),
    },
    {
      why: 'with pages of a size that no machine has',
      fault: 'damaged',
      says: '5000',
      change: (file) => changeMetas(file, (meta) => meta.writeUInt32LE(5_000, 8)),
    },
    {
      why: 'whose branch is its own child',
      fault: 'damaged',
      says: '42 is reached twice',
      change: (file) => file.writeBigUInt64LE(uint64(42), 42 * PAGE + 16 + 8),
    },
    {
      why: 'whose branch has a child twice',
      fault: 'damaged',
      says: 'page 2 is reached twice',
      change: (file) => file.writeBigUInt64LE(uint64(2), secondChild + 8),
    },
    {
      why: 'whose branch has a child with a key below its own',
      fault: 'damaged',
      says: 'page 3 has keys outside of the bounds',
      change: (file) => renameSecondChild(file, 'k0005'),
    },
    {
      why: 'whose branch has a child with a key of the next',
      fault: 'damaged',
      says: 'page 2 has keys outside of the bounds',
      change: (file) => renameSecondChild(file, 'k0003'),
    },
    {
      why: 'whose branch has a child beyond the end',
      fault: 'damaged',
      says: 'of 44 is in the tree',
      change: (file) => file.writeBigUInt64LE(2n ** 60n, 42 * PAGE + 16 + 8),
    },
    {
      why: 'with a page that has another id',
      fault: 'damaged',
      says: 'page 3 says that it is page 4',
      change: (file) => file.writeBigUInt64LE(uint64(4), 3 * PAGE),
    },
    {
      why: 'with a page that continues over the next',
      fault: 'damaged',
      says: 'reached twice',
      change: (file) => file.writeUInt32LE(1, 3 * PAGE + 12),
    },
    {
      why: 'with a page that continues beyond the end',
      fault: 'damaged',
      says: 'continues beyond',
      change: (file) => file.writeUInt32LE(2 ** 32 - 1, 3 * PAGE + 12),
    },
    {
      why: 'with a page that is no leaf and no branch',
      fault: 'damaged',
      says: 'neither leaf nor branch',
      change: (file) => file.writeUInt16LE(3, 3 * PAGE + 8),
    },
    {
      why: 'with an empty leaf',
      fault: 'damaged',
      says: 'page 3 is empty',
      change: (file) => file.writeUInt16LE(0, 3 * PAGE + 10),
    },
    {
      why: 'with a leaf of more entries than have room',
      fault: 'damaged',
      says: 'has no room for its 300',
      change: (file) => file.writeUInt16LE(300, 3 * PAGE + 10),
    },
    {
      why: 'with an entry that reaches beyond its page',
      fault: 'damaged',
      says: 'outside of it',
      change: (file) => file.writeUInt32LE(PAGE, 3 * PAGE + 16 + 12),
    },
    {
      why: 'with an entry that lies in the elements',
      fault: 'damaged',
      says: 'outside of it',
      change: (file) => file.writeUInt32LE(0, 3 * PAGE + 16 + 4),
    },
    {
      why: 'with an empty key',
      fault: 'damaged',
      says: 'a key of 0 bytes',
      change: (file) => file.writeUInt32LE(0, 3 * PAGE + 16 + 8),
    },
    {
      why: 'with keys that do not ascend',
      fault: 'damaged',
      says: 'do not ascend',
      change: (file) => {
        const at = 3 * PAGE + 16;
        file[at + file.readUInt32LE(at + 4)] = 'z'.charCodeAt(0);
      },
    },
    {
      why: 'with a key twice',
      fault: 'damaged',
      says: 'do not ascend',
      change: (file) => {
        const [first, second] = [3 * PAGE + 16, 3 * PAGE + 16 + 16];
        const key = first + file.readUInt32LE(first + 4);
        file.copy(file, second + file.readUInt32LE(second + 4), key, key + file.readUInt32LE(first + 8));
      },
    },
    {
      why: 'with an entry at the top that is no bucket',
      fault: 'damaged',
      says: 'no bucket',
      change: (file) => file.writeUInt32LE(0, 43 * PAGE + 16),
    },
  ])('$why', async ({ fault, says, change }) => {
    const file = await wide();
    const made = change(file);
    expect(await faultOf(made instanceof Buffer ? made : file)).toEqual([fault, expect.stringContaining(says)]);
  });

  test('with the numbers that tell why', async () => {
    const file = await wide();
    expect(await faultOf(file.subarray(0, -PAGE))).toEqual([
      'cut',
      `the file has ${43 * PAGE} bytes, and says 44 pages of 4096`,
    ]);
    file.writeBigUInt64LE(42n, 42 * PAGE + 16 + 8);
    expect(await faultOf(file)).toEqual(['damaged', 'page 42 is reached twice']);
  });

  test('where a page or the number of its buckets is above a limit', async () => {
    const large = await fileOf({ key: [['k', 'v'.repeat(100_000)]] });
    expect((await faultOf(large, { ...READER_LIMITS, leafBytesMax: 64 * 1024 }))[0]).toBe('too-large');
    expect((await faultOf(await wide(), { ...READER_LIMITS, branchBytesMax: PAGE - 1 }))[0]).toBe('too-large');
    expect((await faultOf(await fileOf({ a: [], b: [] }), { ...READER_LIMITS, bucketsMax: 1 }))[0]).toBe('too-large');
  });

  test('that became shorter after it was opened', async () => {
    const file = await wide();
    let cut = false;
    const source = {
      bytes: file.length,
      read: async (offset: number, bytes: number) => file.subarray(offset, cut ? offset + 10 : offset + bytes),
    };
    const reader = await BboltReader.open(source, never);
    cut = true;
    await expect(entriesOf(reader, 'key')).rejects.toMatchObject({ fault: 'cut' });
  });
});

const seedFiles = [writtenByBbolt('pages-4096'), writtenByBbolt('nested'), writtenByBbolt('pages-16384')];
/** A byte, more often one that matters: of the metas, or of the head of a page. */
const place = (file: Buffer): fc.Arbitrary<number> =>
  fc.oneof(
    fc.nat(file.length - 1),
    fc.nat(160).map((at) => (at < 80 ? at : PAGE + at - 80)),
    fc.tuple(fc.nat(file.length / PAGE - 1), fc.nat(80)).map(([page, at]) => page * PAGE + at),
  );
const changed = fc.nat(seedFiles.length - 1).chain((seed) => {
  const file = seedFiles[seed]!;
  const change = fc.oneof(
    fc.tuple(fc.constant('byte' as const), place(file), fc.nat(255)),
    fc.tuple(fc.constant('cut' as const), fc.nat(file.length), fc.constant(0)),
    fc.tuple(fc.constant('page' as const), fc.nat(file.length / PAGE - 1), fc.nat(file.length / PAGE - 1)),
  );
  return fc.tuple(fc.constant(seed), fc.array(change, { minLength: 1, maxLength: 6 }), fc.boolean());
});

test('whatever bytes change, a file is read or refused, and no bucket takes more reads than the file has bytes', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(changed, async ([seed, changes, fitting]) => {
      let file = Buffer.from(seedFiles[seed]!);
      for (const [kind, from, to] of changes) {
        if (kind === 'byte' && from < file.length) file[from] = to;
        else if (kind === 'cut') file = file.subarray(0, from);
        else if (kind === 'page' && from * PAGE < file.length)
          file.copy(file, to * PAGE, from * PAGE, (from + 1) * PAGE);
      }
      const pageBytes = seed === 2 ? 16_384 : PAGE;
      if (fitting && file.length >= 2 * pageBytes) {
        for (const page of [0, 1]) changeMeta(file, page, pageBytes, () => {});
      }
      let read = 0;
      const source = bytesSource(file, (offset, bytes) => {
        expect(offset + bytes).toBeLessThanOrEqual(file.length);
        read += bytes;
      });
      const result = await readAll(source);
      if (result instanceof BboltError) refused += 1;
      const buckets = result instanceof BboltError ? READER_LIMITS.bucketsMax : result.size;
      expect(read).toBeLessThanOrEqual(1_000 + file.length * (1 + buckets));
    }),
    { numRuns: 300 },
  );
  expect(refused).toBeGreaterThan(50);
});
