import {
  AssertionError,
  type VersionMeta,
  compareBytes,
  leaseId,
  logPosition,
  NO_LEASE,
  NO_REVISION,
  revision,
  utf8,
} from '@engram/core';
import { finish, StepPace, unhurried } from '@engram/loop';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CheckpointHeader,
  CheckpointWriter,
  CoderError,
  decodeCheckpointEntries,
  decodeCheckpointHeader,
  encodeCheckpointHeader,
} from '../index.ts';
import { leaseIds, naturals } from './arbitraries.ts';

interface Entry {
  readonly key: Uint8Array;
  readonly versions: readonly VersionMeta[];
}

const drafts = fc.record({
  mod: fc.integer({ min: 1, max: 2 ** 45 }),
  age: naturals,
  sub: fc.nat({ max: 130 }),
  version: naturals,
  lease: leaseIds,
  tombstone: fc.boolean(),
  position: naturals,
  bytes: fc.nat({ max: 2 ** 31 }),
});

const versionLists = fc
  .uniqueArray(drafts, { minLength: 1, maxLength: 6, selector: (draft) => draft.mod })
  .map((list) =>
    list
      .sort((left, right) => left.mod - right.mod)
      .map(({ mod, age, sub, version, lease, tombstone, position, bytes }): VersionMeta => {
        const at = { modRevision: revision(mod), sub, position: logPosition(position), bytes, tombstone };
        if (tombstone) return { ...at, createRevision: revision(0), version: 0, lease: NO_LEASE };
        return { ...at, createRevision: revision(Math.max(mod - age, 0)), version, lease };
      }),
  );

// Short keys use few different bytes, so that they share prefixes. One key in ten is long.
const keys = fc.oneof(
  { weight: 9, arbitrary: fc.array(fc.constantFrom(0, 97, 98, 255), { maxLength: 12 }).map((b) => Uint8Array.from(b)) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 900, maxLength: 3000 }) },
);

const entryLists: fc.Arbitrary<Entry[]> = fc
  .uniqueArray(keys, { maxLength: 40, comparator: (left, right) => compareBytes(left, right) === 0 })
  .map((list) => list.sort(compareBytes))
  .chain((list) => fc.tuple(...list.map((key) => versionLists.map((versions) => ({ key, versions })))));

function encode(entries: readonly Entry[], chunkBytes: number): Uint8Array[] {
  const writer = new CheckpointWriter(chunkBytes);
  const chunks: Uint8Array[] = [];
  for (const { key, versions } of entries) {
    const chunk = writer.add(key, versions);
    if (chunk !== undefined) chunks.push(chunk);
  }
  const last = writer.finish();
  if (last !== undefined) chunks.push(last);
  return chunks;
}

/** Decodes a chunk in one go. */
function read(chunk: Uint8Array, visit: (key: Uint8Array, versions: readonly VersionMeta[]) => void): void {
  finish(decodeCheckpointEntries(chunk, visit, unhurried));
}

function decode(chunks: readonly Uint8Array[]): Entry[] {
  const entries: Entry[] = [];
  for (const chunk of chunks) {
    read(chunk, (key, versions) => entries.push({ key: key.slice(), versions }));
  }
  return entries;
}

const one: VersionMeta = {
  createRevision: revision(2),
  modRevision: revision(2),
  sub: 0,
  version: 1,
  lease: NO_LEASE,
  tombstone: false,
  position: logPosition(1),
  bytes: 30,
};

describe('entries of a checkpoint', () => {
  test('are the same wherever their decoding gives way, also after each key', () => {
    const entries = Array.from({ length: 40 }, (_, at) => ({ key: utf8(`key${at}`.padEnd(8, '-')), versions: [one] }));
    entries.sort((left, right) => Buffer.compare(left.key, right.key));
    const [chunk] = encode(entries, 1 << 18);
    for (const steps of [0, 7]) {
      const pace = new StepPace(steps);
      const seen: Entry[] = [];
      const decoding = decodeCheckpointEntries(
        chunk!,
        (key, versions) => seen.push({ key: key.slice(), versions }),
        pace,
      );
      let slices = 1;
      for (; decoding.next().done !== true; slices += 1) pace.begin();
      expect(seen).toEqual(entries);
      expect(slices).toBe(steps === 0 ? 41 : 6);
    }
  });

  test('survive the round trip, in chunks of any size', () => {
    fc.assert(
      fc.property(entryLists, fc.constantFrom(1, 50, 1000, 1 << 18), (entries, chunkBytes) => {
        const chunks = encode(entries, chunkBytes);
        expect(decode(chunks)).toEqual(entries);
        if (chunkBytes === 1) expect(chunks.length).toBe(entries.length);
      }),
    );
  });

  test('a writer that is reused has nothing of the chunk before', () => {
    const writer = new CheckpointWriter(1);
    const first = writer.add(utf8('aaa'), [one]);
    const second = writer.add(utf8('aab'), [one]);
    expect(decode([second!])).toEqual([{ key: utf8('aab'), versions: [one] }]);
    expect(decode([first!])).toEqual([{ key: utf8('aaa'), versions: [one] }]);
    expect(writer.finish()).toBeUndefined();
  });

  test('a key may lie inside a page, and its versions come one by one', () => {
    const writer = new CheckpointWriter(1);
    const write = (meta: VersionMeta): void => {
      const { modRevision, createRevision, version, sub, lease, tombstone, position, bytes } = meta;
      writer.version(modRevision, createRevision, version, sub, lease, tombstone, position, bytes);
    };
    const second = { ...one, modRevision: revision(3), version: 2, position: logPosition(2) };
    writer.begin(utf8('xxabcyy'), 2, 5, 2);
    write(one);
    expect(() => writer.end(), 'fewer than said').toThrow(AssertionError);
    expect(() => writer.begin(utf8('b'), 0, 1, 1), 'inside another').toThrow(AssertionError);
    write(second);
    expect(() => write(second), 'more than said').toThrow(AssertionError);
    expect(decode([writer.end()!])).toEqual([{ key: utf8('abc'), versions: [one, second] }]);
  });

  test('the caller may fill the same objects again', () => {
    const writer = new CheckpointWriter();
    const version = { ...one };
    const key = utf8('a');
    writer.add(key, [version]);
    key[0] = 0x62;
    version.version = 9;
    writer.add(key, [version]);
    expect(decode([writer.finish()!]).map(({ key: [byte], versions }) => [byte, versions[0]?.version])).toEqual([
      [0x61, 1],
      [0x62, 9],
    ]);
  });

  test.each([
    { keys: ['b', 'a'], why: 'descending' },
    { keys: ['a', 'a'], why: 'twice' },
    { keys: ['aa', 'a'], why: 'a prefix after' },
  ])('keys $keys are an assertion: $why', ({ keys }) => {
    expect(() =>
      encode(
        keys.map((key) => ({ key: utf8(key), versions: [one] })),
        1,
      ),
    ).toThrow(/ascend/);
  });

  test.each([
    { versions: [], why: 'none' },
    { versions: [one, one], why: 'the same revision twice' },
    { versions: [{ ...one, modRevision: revision(3) }, one], why: 'newest first' },
    { versions: [{ ...one, createRevision: revision(3) }], why: 'created after it was changed' },
  ])('versions are an assertion: $why', ({ versions }) => {
    expect(() => encode([{ key: utf8('k'), versions }], 1)).toThrow(/version/);
  });

  test('whatever is cut off gives whole entries or CoderError', () => {
    fc.assert(
      fc.property(entryLists, fc.nat(), (entries, at) => {
        const whole = encode(entries, 1 << 18)[0];
        if (whole === undefined) return;
        const seen: Entry[] = [];
        try {
          read(whole.subarray(0, at % whole.length), (key, versions) => seen.push({ key: key.slice(), versions }));
        } catch (error) {
          expect(error).toBeInstanceOf(CoderError);
        }
        expect(seen).toEqual(entries.slice(0, seen.length));
      }),
    );
  });

  test('arbitrary bytes decode or throw CoderError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          read(Uint8Array.of(2, ...bytes), () => {});
        } catch (error) {
          expect(error).toBeInstanceOf(CoderError);
        }
      }),
    );
  });
});

const headers: fc.Arbitrary<CheckpointHeader> = fc.record({
  revision: naturals.map(revision),
  compactRevision: fc.oneof(fc.constant(NO_REVISION), fc.nat().map(revision)),
  nextPosition: naturals.map(logPosition),
  leases: fc.array(fc.record({ id: leaseIds, ttlSeconds: naturals, remainingSeconds: naturals })),
  alarms: fc.array(fc.record({ memberId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), alarm: naturals })),
  auth: fc.oneof(fc.constant(new Uint8Array(0)), fc.uint8Array({ maxLength: 300 })),
});

describe('the header of a checkpoint', () => {
  test('survives the round trip', () => {
    fc.assert(
      fc.property(headers, (header) => {
        expect(decodeCheckpointHeader(encodeCheckpointHeader(header))).toEqual(header);
      }),
    );
  });

  test('any front of it is refused', () => {
    fc.assert(
      fc.property(headers, fc.nat(), (header, at) => {
        const whole = encodeCheckpointHeader(header);
        expect(() => decodeCheckpointHeader(whole.subarray(0, at % whole.length))).toThrow(CoderError);
      }),
    );
  });

  test('of a later format is refused by name', () => {
    const header = { revision: revision(1), compactRevision: NO_REVISION, nextPosition: logPosition(1) };
    const bytes = encodeCheckpointHeader({
      ...header,
      leases: [{ id: leaseId(1n), ttlSeconds: 1, remainingSeconds: 1 }],
      alarms: [],
      auth: new Uint8Array(0),
    });
    bytes[1] = 3;
    expect(() => decodeCheckpointHeader(bytes)).toThrow(/format 3 where 1 and 2 are known/);
  });

  test('without users and roles has the bytes of the format before them', () => {
    const header = { revision: revision(7), compactRevision: NO_REVISION, nextPosition: logPosition(9) };
    const bytes = encodeCheckpointHeader({ ...header, leases: [], alarms: [], auth: new Uint8Array(0) });
    expect(Buffer.from(bytes).toString('hex')).toBe('01010700090000');
    const withAuth = encodeCheckpointHeader({ ...header, leases: [], alarms: [], auth: Uint8Array.of(5, 6) });
    expect(Buffer.from(withAuth).toString('hex')).toBe('01020700090000020506');
  });

  test('is no chunk of entries, nor the other way', () => {
    const chunk = encode([{ key: utf8('k'), versions: [one] }], 1)[0]!;
    expect(() => decodeCheckpointHeader(chunk)).toThrow(/another kind/);
    const header = { revision: revision(1), compactRevision: NO_REVISION, nextPosition: logPosition(1) };
    const bytes = encodeCheckpointHeader({ ...header, leases: [], alarms: [], auth: new Uint8Array(0) });
    expect(() => read(bytes, () => {})).toThrow(/another kind/);
  });
});
