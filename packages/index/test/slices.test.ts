import { type KeyRange, revision, utf8 } from '@engram/core';
import { StepPace } from '@engram/loop';
import { KeyIndex, type VersionSlot } from '@engram/index';
import { expect, test } from 'vitest';
import { put, tombstone } from './metas.ts';

const ALL: KeyRange = { key: new Uint8Array(0), end: Uint8Array.of(0) };
const KEYS = 10_000;
const keyOf = (at: number): Uint8Array => utf8(`key-${String(at).padStart(5, '0')}`);

function indexOf(versions: number): KeyIndex {
  const index = new KeyIndex();
  let mod = 1;
  for (let version = 0; version < versions; version += 1) {
    for (let at = 0; at < KEYS; at += 1) {
      mod += 1;
      index.append(keyOf(at), put(mod));
    }
  }
  return index;
}

function slicesOfCount(index: KeyIndex, at: number, steps: number): number {
  let slices = 0;
  for (let key: Uint8Array | undefined = ALL.key; key !== undefined; slices += 1) {
    key = index.countSome({ key, end: ALL.end }, revision(at), new StepPace(steps)).next;
  }
  return slices;
}

test('a count at the newest revision is one slice, and none of what it counts is looked at', () => {
  const index = indexOf(2);
  expect(slicesOfCount(index, 2 * KEYS + 1, 50)).toBe(1);
});

test('a count at an old revision is sliced by what has changed since', () => {
  const index = indexOf(2);
  // A step for each key whose head is newer, and for each leaf.
  const slices = slicesOfCount(index, KEYS + 1, 200);
  expect(slices).toBeGreaterThanOrEqual(KEYS / 400);
  expect(slices).toBeLessThanOrEqual((KEYS * 1.2) / 100);
});

test('passing over what is gone is sliced as well', () => {
  const index = indexOf(1);
  for (let at = 0; at < KEYS; at += 1) if (at % 40 !== 0) index.append(keyOf(at), tombstone(KEYS + 2 + at));
  const found: VersionSlot[] = [];
  let slices = 0;
  for (let key: Uint8Array | undefined = ALL.key; key !== undefined; slices += 1) {
    key = index.collectSome({ key, end: ALL.end }, revision(3 * KEYS), KEYS, new StepPace(20), found);
  }
  expect(found).toHaveLength(KEYS / 40);
  expect(slices).toBeGreaterThanOrEqual(5);
});

test('walks, surveys and compactions stop when they should yield, and go on where they stopped', () => {
  const index = new KeyIndex({ nodeRows: 4 });
  const names = Array.from({ length: 40 }, (_, at) => keyOf(at));
  for (const [at, name] of names.entries()) index.append(name, put(at + 2));
  const seen = { walk: [] as string[], survey: [] as string[] };
  const most = { walk: 0, survey: 0 };
  const visit = (how: 'walk' | 'survey', each: (from: Uint8Array, turn: StepPace) => Uint8Array | undefined): void => {
    for (let key: Uint8Array | undefined = ALL.key; key !== undefined; ) {
      const before = seen[how].length;
      key = each(key, new StepPace(3));
      most[how] = Math.max(most[how], seen[how].length - before);
    }
  };
  const walked = (key: Uint8Array): void => void seen.walk.push(Buffer.from(key).toString());
  visit('walk', (from, turn) => index.walk(from, Number.POSITIVE_INFINITY, walked, turn));
  visit('survey', (from, turn) =>
    index.survey(
      from,
      Number.POSITIVE_INFINITY,
      (page, start, end) => void seen.survey.push(Buffer.from(page.subarray(start, end)).toString()),
      turn,
    ),
  );
  const all = names.map((name) => Buffer.from(name).toString());
  expect(seen).toEqual({ walk: all, survey: all });
  expect(most).toEqual({ walk: 3, survey: 3 });

  for (const [at, name] of names.entries()) index.append(name, at % 2 === 0 ? put(at + 50) : tombstone(at + 50));
  const dropped: number[] = [];
  let slices = 1;
  for (; !index.compact(revision(100), Number.POSITIVE_INFINITY, dropped as never, new StepPace(3)); slices += 1) {
    expect(dropped.length).toBeLessThanOrEqual(3 * 2 * slices);
  }
  expect(dropped).toHaveLength(60);
  expect(slices).toBeGreaterThanOrEqual(14);
  index.verify();
});
