import { type KeyRange, revision } from '@engram/core';
import { KeyIndex } from '@engram/index';
import { Prng } from '@engram/sim';
import { expect, test } from 'vitest';
import { countLive } from './collect.ts';
import { put, reload, tombstone } from './metas.ts';

const ALL: KeyRange = { key: new Uint8Array(0), end: Uint8Array.of(0) };
const SEED = Number(process.env['SEED'] ?? 20_261_124);

/**
 * Keys above 16 KiB that differ in their last two bytes. So a separator of two such keys is about as long, and needs a
 * page too.
 */
function largeKey(at: number): Uint8Array {
  const key = new Uint8Array(16_500).fill(97);
  key[16_498] = at >>> 8;
  key[16_499] = at & 0xff;
  return key;
}

test('an index says before that it has no room for another key', () => {
  const index = new KeyIndex({ keyPagesMax: 64, nodeRows: 4 });
  let keys = 0;
  for (; index.hasRoomFor(1); keys += 1) {
    index.append(largeKey(keys), put(keys + 2));
  }
  index.verify();
  expect(keys, 'a page each, and one for each pair of leaves').toBeGreaterThan(30);
  expect(keys).toBeLessThan(64);
  expect(index.hasRoomFor(0)).toBe(true);
  // Existing keys can still change.
  index.append(largeKey(0), put(keys + 2, { version: 2, create: 2 }));
  index.append(largeKey(1), tombstone(keys + 3));
  index.verify();
});

test('small keys share pages, so many fit', () => {
  const index = new KeyIndex({ keyPagesMax: 64 });
  for (let at = 0; at < 10_000; at += 1) {
    expect(index.hasRoomFor(1)).toBe(true);
    index.append(Uint8Array.of(107, at >>> 8, at & 0xff), put(at + 2));
  }
  expect(index.hasRoomFor(32), 'two pages for each, were each of them large').toBe(false);
});

/** Groups of large keys with small keys between them. A separator of two nodes may be one byte or 16 KiB. */
function mixedKeys(): Uint8Array[] {
  const keys: Uint8Array[] = [];
  for (let group = 0; group < 12; group += 1) {
    for (let at = 0; at < 5; at += 1) {
      keys.push(Uint8Array.of(group, 1, at));
      const large = largeKey(at);
      large[0] = group;
      keys.push(large);
    }
  }
  return keys;
}

/** Appends as many of the keys as there are pages for, the reserve included. Returns their number. */
function fill(index: KeyIndex, keys: readonly Uint8Array[]): number {
  for (const [at, key] of keys.entries()) {
    try {
      index.append(key, put(at + 2));
    } catch {
      return at;
    }
  }
  return keys.length;
}

test(`keys leave a table without a free page, in any order (SEED=${SEED})`, () => {
  let without = 0;
  for (let run = 0; run < 30; run += 1) {
    const prng = new Prng(SEED + run);
    const options = { keyPagesMax: 30 + prng.below(30), nodeRows: 4 };
    const all = prng.shuffled(mixedKeys());
    const added = fill(new KeyIndex(options), all);
    // The failed `append` of the key that did not fit has changed that index, because `hasRoomFor` was not called.
    const keys = all.slice(0, added);
    const index = new KeyIndex(options);
    expect(fill(index, keys)).toBe(added);
    if (added < all.length) without += 1;
    index.verify();
    // Small keys first: their removal frees no page, and a separator of large keys needs one.
    const leaving = prng.shuffled(keys).sort((left, right) => left.length - right.length);
    for (const [gone, key] of leaving.entries()) {
      const mod = added + 2 + gone;
      index.append(key, tombstone(mod));
      expect(index.compact(revision(mod + 1), 10, [])).toBe(true);
      if (gone % 8 === 0) index.verify();
      expect(index.liveKeys).toBe(added - gone - 1);
    }
    index.verify();
    expect(index.versions).toBe(0);
    expect(index.hasRoomFor(1), 'their pages are used again').toBe(true);
  }
  expect(without, 'tables that were full').toBeGreaterThan(25);
});

test('what writes could fill, a start can load', () => {
  const options = { keyPagesMax: 1280, nodeRows: 64 };
  const index = new KeyIndex(options);
  let keys = 0;
  const add = (at: number): void => {
    index.append(largeKey(at), put(keys + 2));
    keys += 1;
  };
  // Leaves of 56 keys, as a start makes them. Then the keys between them fill the leaves.
  for (let at = 0; keys < 1090; at += 1) if (at % 8 !== 3) add(at);
  for (let at = 3; index.hasRoomFor(1) && at < 1240; at += 8) add(at);
  expect(index.hasRoomFor(1)).toBe(false);
  const loader = KeyIndex.loader(options);
  reload(index, loader);
  const loaded = loader.finish();
  loaded.verify();
  expect(countLive(loaded, ALL, revision(keys + 2))).toBe(keys);
});

test('what writes could fill with short separators, a start can load with long ones', () => {
  const options = { keyPagesMax: 2560, nodeRows: 64 };
  const index = new KeyIndex(options);
  let keys = 0;
  const add = (key: Uint8Array): void => {
    index.append(key, put(keys + 2));
    keys += 1;
  };
  // A leaf for each group of 56 keys, so that one byte separates two leaves.
  for (let at = 0; index.hasRoomFor(2); at += 1) {
    const key = largeKey(at);
    key[0] = 1 + Math.floor(at / 56);
    add(key);
  }
  expect(index.hasRoomFor(1)).toBe(true);
  // A key before them all: the leaves that a start makes begin and end within the groups.
  add(Uint8Array.of(0));
  const loader = KeyIndex.loader(options);
  reload(index, loader);
  const loaded = loader.finish();
  loaded.verify();
  expect(countLive(loaded, ALL, revision(keys + 2))).toBe(keys);
});
