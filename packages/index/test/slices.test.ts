import { type KeyRange, revision, utf8 } from '@engram/core';
import { finish, StepPace, type Turn } from '@engram/loop';
import { KeyIndex, type VersionSlot } from '@engram/index';
import { describe, expect, test } from 'vitest';
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
  const walked = (key: Uint8Array): undefined => void seen.walk.push(Buffer.from(key).toString());
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

describe('reads of the past are sliced by the versions that they pass, also within a leaf', () => {
  const HISTORY = 100;
  /** Changes are sorted, in runs of this many. */
  const SORTED_TOGETHER = 256;
  const NAMES = Array.from({ length: 40 }, (_, at) => keyOf(at));
  const FIRST = revision(NAMES.length + 1);
  const index = new KeyIndex();
  for (let mod = 2; mod < 2 + HISTORY * NAMES.length; mod += 1)
    index.append(NAMES[(mod - 2) % NAMES.length]!, put(mod));
  const newest = revision(1 + HISTORY * NAMES.length);

  /** Each question ends a slice. */
  class Noting implements Turn {
    readonly asked: number[] = [];
    shouldYield(steps = 1): boolean {
      this.asked.push(steps);
      return true;
    }
  }

  function check({ asked }: Noting, passed: number, most = 64 + HISTORY + 1): void {
    expect(asked.reduce((sum, steps) => sum + steps, 0)).toBeGreaterThanOrEqual(passed);
    expect(Math.max(...asked)).toBeLessThanOrEqual(most);
  }

  test('a count', () => {
    const turn = new Noting();
    let live = 0;
    for (let key: Uint8Array | undefined = ALL.key; key !== undefined; ) {
      const counted = index.countSome({ key, end: ALL.end }, FIRST, turn);
      live += counted.live;
      key = counted.next;
    }
    expect(live).toBe(NAMES.length);
    check(turn, NAMES.length * (HISTORY - 1));
  });

  test('a list', () => {
    const turn = new Noting();
    const found: VersionSlot[] = [];
    for (let key: Uint8Array | undefined = ALL.key; key !== undefined; ) {
      key = index.collectSome({ key, end: ALL.end }, FIRST, NAMES.length - found.length, turn, found);
      if (found.length === NAMES.length) break;
    }
    expect(found.map((slot) => index.modRevision(slot))).toEqual(NAMES.map((_, at) => at + 2));
    check(turn, (NAMES.length - 1) * (HISTORY - 1));
  });

  test('changes of long ago, and all of them', () => {
    for (const to of [FIRST, newest]) {
      const turn = new Noting();
      const found = finish(index.changes(ALL, revision(2), to, turn));
      expect(found.map((slot) => index.modRevision(slot))).toEqual(Array.from({ length: to - 1 }, (_, at) => at + 2));
      check(turn, NAMES.length * (HISTORY - 1), SORTED_TOGETHER);
    }
  });

  test('walks and surveys, as far as their visits say what they took', () => {
    for (const how of ['walk', 'survey'] as const) {
      const turn = new Noting();
      let seen = 0;
      for (let key: Uint8Array | undefined = ALL.key; key !== undefined; ) {
        const each = (): number => {
          seen += 1;
          return HISTORY;
        };
        key = index[how](key, Number.POSITIVE_INFINITY, each, turn);
      }
      expect(seen).toBe(NAMES.length);
      expect(turn.asked).toEqual(NAMES.map(() => HISTORY));
    }
  });
});
