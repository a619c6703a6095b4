import {
  AssertionError,
  keyText,
  type LogPosition,
  leaseId,
  NO_LEASE,
  pointRange,
  prefixRange,
  revision,
  utf8,
} from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import { KeyIndex, NO_VERSION } from '@engram/index';
import { expect, test } from 'vitest';
import { collect, countLive } from './collect.ts';
import { metaOf, put, tombstone } from './metas.ts';

const FOREVER = Number.POSITIVE_INFINITY;
const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };
const key = utf8('/registry/pods/default/web');

/** Mod revisions that are held, newest first. */
function heldMods(index: KeyIndex, of: Uint8Array): number[] {
  const mods: number[] = [];
  for (let slot = index.head(of); slot !== NO_VERSION; slot = index.previous(slot)) mods.push(index.modRevision(slot));
  return mods;
}

function indexOf(history: string): KeyIndex {
  const index = new KeyIndex();
  for (const [at, change] of [...history].entries()) {
    const mod = at + 2;
    if (change === 'p') index.append(key, put(mod));
    else if (change === 'd') index.append(key, tombstone(mod));
    else index.append(utf8('another key'), put(mod));
  }
  return index;
}

// Histories begin at revision 2; p puts the key, d deletes it, - changes another key.
test.each([
  { history: 'ppp', at: 3, kept: [4, 3], why: 'the newest put stays, and what is newer' },
  { history: 'ppp', at: 4, kept: [4], why: 'compacting at the newest keeps it readable' },
  { history: 'ppp-', at: 5, kept: [4], why: 'the newest put stays, however old' },
  { history: 'ppp', at: 1, kept: [4, 3, 2], why: 'nothing is that old' },
  { history: 'ppd', at: 4, kept: [4], why: 'a tombstone exactly there stays: a watch may start there' },
  { history: 'ppd-', at: 5, kept: [], why: 'an older tombstone goes, and the key with it' },
  { history: 'ppd', at: 3, kept: [4, 3], why: 'a newer tombstone and what it deleted stay' },
  { history: 'pdp', at: 3, kept: [4, 3], why: 'a tombstone exactly there stays also below a newer version' },
  { history: 'pd-p', at: 4, kept: [5], why: 'an older tombstone goes from below a newer version' },
  { history: 'pdp', at: 4, kept: [4], why: 'a tombstone is superseded like any version' },
  { history: 'pdpdpd-', at: 7, kept: [7], why: 'only the last tombstone lies there' },
  { history: 'pdpdpd-', at: 8, kept: [], why: 'none of many tombstones stays' },
  { history: 'dd', at: 2, kept: [3, 2], why: 'a deletion of what is not there is kept like any other' },
  { history: 'd-', at: 3, kept: [], why: 'and goes like any other' },
])('$history compacted at $at keeps $kept: $why', ({ history, at, kept }) => {
  const whole = indexOf(history);
  const dropped: LogPosition[] = [];
  expect(whole.compact(revision(at), FOREVER, dropped)).toBe(true);
  expect(heldMods(whole, key)).toEqual(kept);
  expect(dropped).toHaveLength(indexOf(history).versions - whole.versions);

  const portions = indexOf(history);
  const also: LogPosition[] = [];
  while (!portions.compact(revision(at), 1, also)) portions.verify();
  expect(heldMods(portions, key)).toEqual(kept);
  expect(also).toEqual(dropped);
});

test('a tombstone that one compaction kept goes with the next', () => {
  const index = indexOf('ppd-');
  index.compact(revision(4), FOREVER, []);
  expect(heldMods(index, key)).toEqual([4]);
  index.compact(revision(5), FOREVER, []);
  expect(index.head(key)).toBe(NO_VERSION);
});

test.each([
  { lease: NO_LEASE, why: 'no lease' },
  { lease: leaseId(1n), why: 'low word only' },
  { lease: leaseId(1n << 32n), why: 'high word only' },
  { lease: leaseId(-1n), why: 'all bits' },
  { lease: leaseId(-(2n ** 63n)), why: 'lowest' },
  { lease: leaseId(2n ** 63n - 1n), why: 'highest' },
  { lease: leaseId(0x7587_9a3c_ffff_fffen), why: 'a low word that is negative by itself' },
])('gives back what it was given, lease $lease: $why', ({ lease }) => {
  const index = new KeyIndex();
  const meta = {
    ...put(2 ** 52 + 1, { sub: 2 ** 31 - 1, version: 2 ** 40, create: 2 ** 52 - 1, lease }),
    bytes: 2 ** 32 - 1,
  };
  const slot = index.append(key, meta);
  expect(metaOf(index, slot)).toEqual(meta);
  expect(index.hasLease(slot)).toBe(lease !== NO_LEASE);
  expect(index.liveBytes).toBe(2 ** 32 - 1);
});

test('readers below the newest revision do not see what is pending', () => {
  const index = indexOf('pp');
  const created = utf8('/registry/pods/default/zzz');
  index.append(created, put(5));
  index.append(key, tombstone(6));
  expect(index.liveKeys).toBe(1);
  expect(countLive(index, ALL, revision(4))).toBe(1);
  expect(index.modRevision(index.at(key, revision(4)))).toBe(3);
  expect(index.at(created, revision(4))).toBe(NO_VERSION);
  expect(collect(index, ALL, revision(5), 10).map((slot) => keyText(index.key(slot)))).toEqual([
    keyText(key),
    keyText(created),
  ]);
});

test('what its caller does with key and meta afterwards does not matter', () => {
  const index = new KeyIndex();
  const mine = utf8('mine');
  const meta = { ...put(2) };
  const slot = index.append(mine, meta);
  mine.fill(0);
  meta.bytes = 0;
  index.key(slot).fill(0);
  expect(keyText(index.key(slot))).toBe('mine');
  expect(index.bytes(index.head(utf8('mine')))).toBe(put(2).bytes);
});

test.each([
  { bad: (index: KeyIndex) => index.append(key, put(3)), why: 'a second change in the same revision' },
  { bad: (index: KeyIndex) => index.append(key, put(2)), why: 'a revision in the past' },
  { bad: (index: KeyIndex) => index.append(key, { ...put(4), bytes: 2 ** 32 }), why: 'too many bytes' },
  { bad: (index: KeyIndex) => index.append(key, { ...put(4), bytes: -1 }), why: 'too few bytes' },
  { bad: (index: KeyIndex) => index.append(key, { ...put(4), sub: 2 ** 31 }), why: 'a sub that does not fit' },
  { bad: (index: KeyIndex) => index.append(key, { ...tombstone(4), lease: leaseId(1n) }), why: 'a leased tombstone' },
  { bad: (index: KeyIndex) => index.undo(index.previous(index.head(key))), why: 'undone from below the head' },
  {
    bad: (index: KeyIndex) => {
      index.compact(revision(3), 10, []);
      index.undo(index.head(key));
    },
    why: 'undone below a compaction',
  },
  {
    bad: (index: KeyIndex) => {
      index.append(utf8('other'), put(4));
      index.append(utf8('other'), put(5));
      index.undo(index.head(key));
    },
    why: 'undone out of order',
  },
  { bad: (index: KeyIndex) => index.compact(revision(3), 0, []), why: 'a compaction that would never end' },
  { bad: () => new KeyIndex({ nodeRows: 2 }), why: 'nodes too small to split' },
  { bad: () => new KeyIndex({ nodeRows: 7 }), why: 'nodes of an odd size' },
])('refuses $why', ({ bad }) => {
  const index = indexOf('pp');
  expect(() => bad(index)).toThrow(AssertionError);
  index.verify();
});

test('keys of every length, up to more than a request may carry', () => {
  const index = new KeyIndex();
  const lengths = [0, 1, 2, 5, 6, 7, 253, 254, 255, 256, 257, 16_381, 16_382, 16_383, 65_533, 65_535, 1_572_864];
  const keys = lengths.map((length) => new Uint8Array(length).fill(0x61));
  for (const [at, each] of keys.entries()) index.append(each, put(at + 2));
  index.verify();
  const found = collect(index, { key: new Uint8Array(0), end: Uint8Array.of(0) }, revision(100), 100);
  expect(found.map((slot) => index.key(slot).length)).toEqual(lengths);
  for (const [at, each] of keys.entries()) expect(index.modRevision(index.head(each))).toBe(at + 2);
  for (const [at, each] of keys.entries()) index.append(each, tombstone(at + 102));
  index.compact(revision(1_000), FOREVER, []);
  expect(index.versions).toBe(0);
  expect(index.memoryBytes).toBeLessThan(8 << 20);
  index.append(keys.at(-1)!, put(1_001));
  expect(index.key(index.head(keys.at(-1)!)).length).toBe(1_572_864);
});

test('ranges at their edges', () => {
  const index = new KeyIndex({ nodeRows: 4 });
  const names = ['a', 'a\0', 'a\0\0', 'aa', 'b', 'b\xff', 'b\xff\xff', 'c', '\xff', '\xff\xff'];
  for (const [at, name] of names.entries()) index.append(Buffer.from(name, 'latin1'), put(at + 2));
  const at = revision(100);
  const namesIn = (from: string, end: string) =>
    collect(index, { key: Buffer.from(from, 'latin1'), end: Buffer.from(end, 'latin1') }, at, 100).map((slot) =>
      keyText(index.key(slot)),
    );
  expect(namesIn('a', '')).toEqual(['a']);
  expect(namesIn('a', 'a\0')).toEqual(['a']);
  expect(namesIn('a', 'b')).toEqual(['a', 'a\0', 'a\0\0', 'aa']);
  expect(namesIn('b', 'c')).toEqual(['b', 'b\xff', 'b\xff\xff']);
  expect(namesIn('b\xff', '\0')).toEqual(['b\xff', 'b\xff\xff', 'c', '\xff', '\xff\xff']);
  expect(namesIn('', '\0')).toEqual(names);
  expect(namesIn('c', 'a')).toEqual([]);
  expect(namesIn('a', 'a')).toEqual([]);
  expect(countLive(index, prefixRange(Uint8Array.of(0xff)), at)).toBe(2);
  expect(countLive(index, pointRange(utf8('aa')), at)).toBe(1);
  expect(countLive(index, pointRange(utf8('ab')), at)).toBe(0);
  expect(collect(index, ALL, at, 0)).toEqual([]);
});

test('an empty index answers everything', () => {
  for (const index of [new KeyIndex(), KeyIndex.loader().finish()]) {
    expect(index.head(key)).toBe(NO_VERSION);
    expect(index.at(key, revision(9))).toBe(NO_VERSION);
    expect(countLive(index, ALL, revision(9))).toBe(0);
    expect(collect(index, ALL, revision(9), 9)).toEqual([]);
    expect(finish(index.changes(ALL, revision(0), revision(9), unhurried))).toEqual([]);
    expect(index.walk(new Uint8Array(0), 9, () => expect.unreachable())).toBeUndefined();
    expect(index.survey(new Uint8Array(0), 9, () => expect.unreachable())).toBeUndefined();
    expect(index.compact(revision(9), 1, [])).toBe(true);
    index.append(key, put(10));
    index.verify();
  }
});

test.each([
  { load: [['b', 2] as const, ['a', 3] as const], why: 'keys out of order' },
  { load: [['a', 3] as const, ['a', 3] as const], why: 'versions out of order' },
])('a loader refuses $why', ({ load }) => {
  const loader = KeyIndex.loader();
  expect(() => {
    for (const [name, mod] of load) loader.add(utf8(name), put(mod));
  }).toThrow('out of order');
});
