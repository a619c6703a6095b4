import { EVENT_DELETE, EVENT_PUT, type EventGroup, type EventType, rangeContains, revision, utf8 } from '@engram/core';
import { putGroup } from '@engram/core/testing';
import { finish, type PureJob, StepPace, unhurried } from '@engram/loop';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DROP_DELETES, DROP_NOTHING, DROP_PUTS, GroupSubsets } from '../src/events/group-subsets.ts';
import { LargeGroup } from '../src/events/large-group.ts';
import { range, text } from './fakes.ts';

function groupOf(changes: readonly string[]): EventGroup {
  const events = changes.map((change, sub) => {
    const deleted = change.startsWith('-');
    const [event] = putGroup(revision(7), { key: utf8(deleted ? change.slice(1) : change), kv: utf8('') }).events;
    const type: EventType = deleted ? EVENT_DELETE : EVENT_PUT;
    return { ...event!, type, sub };
  });
  return { revision: revision(7), events };
}

/** Does the job in slices of so many events. Returns the result, and how often the job gave way. */
function inSlices<Result>(pace: StepPace, job: PureJob<Result>): { readonly result: Result; readonly turns: number } {
  for (let turns = 0; ; turns += 1) {
    pace.begin();
    const step = job.next();
    if (step.done === true) return { result: step.value, turns };
  }
}

const STRIDE = 16;
const largeOf = (changes: readonly string[]): LargeGroup => finish(LargeGroup.of(groupOf(changes), unhurried, STRIDE));

const KEYS = ['a', 'ab', 'abc', 'b', 'ba', 'bc', 'c', 'z', '\0', '\u007f'];
const PATTERNS = ['a', 'b', 'ab', 'a*', 'b*', '*', 'ab*', 'a..b', 'ab..bc', 'y', '\0', 'a..z'];
const changes = fc
  .shuffledSubarray(KEYS, { minLength: 1 })
  .chain((keys) => fc.tuple(fc.constant(keys), fc.infiniteStream(fc.boolean()), fc.boolean()))
  .map(([keys, deleted, sorted]) =>
    (sorted ? keys.toSorted() : keys).map((key) => (deleted.next().value === true ? `-${key}` : key)),
  );
const filter = fc.constantFrom(DROP_NOTHING, DROP_PUTS, DROP_DELETES, DROP_PUTS | DROP_DELETES);

test('what a range gets is what asking each event would find, and the same for ordinary groups', () => {
  const asked = fc.array(fc.tuple(fc.constantFrom(...PATTERNS), filter), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(changes, asked, fc.integer({ min: 1, max: 9 }), (changes, asked, stride) => {
      const group = groupOf(changes);
      const pace = new StepPace(stride);
      const large = inSlices(pace, LargeGroup.of(group, pace, stride)).result;
      const ordinary = new GroupSubsets(group);
      for (const [pattern, filter] of asked) {
        const { events } = group;
        const matched = [...events.keys()].filter((at) => rangeContains(range(pattern), events[at]!.key));
        const stretches = large.within(range(pattern));
        const indices: number[] = [];
        for (let at = 0; at < stretches.length; at += 2) {
          for (let index = stretches[at]!; index < stretches[at + 1]!; index += 1) indices.push(index);
        }
        expect(indices).toEqual(matched);
        if (matched.length === 0) continue;
        const subset = inSlices(pace, large.subset(stretches, filter)).result;
        const expected = ordinary.of(matched, filter);
        expect(subset && { ...subset, groups: subset.groups.map(text) }).toEqual(
          expected && { ...expected, groups: expected.groups.map(text) },
        );
        if (matched.length === events.length && filter === DROP_NOTHING) expect(subset?.groups[0]).toBe(group);
      }
    }),
  );
});

test('those who match the same get the same array, whatever they asked for', () => {
  const large = largeOf(['-a', '-ab', '-b', '-ba', '-c']);
  const subset = (pattern: string, filter = DROP_NOTHING) => finish(large.subset(large.within(range(pattern)), filter));
  const ofB = subset('b*');
  expect(subset('b..c')).toBe(ofB);
  expect(subset('b*', DROP_PUTS)).toBe(ofB);
  expect(subset('b*', DROP_DELETES)).toBeUndefined();
  expect(subset('*')?.groups).toBe(subset('a..d')?.groups);
});

test('a whole deletion is one run; a transaction has one for each operation', () => {
  expect(largeOf(['a', 'b', 'c']).runs).toBe(1);
  expect(largeOf(['b', 'c', 'a', 'd', '-aa']).runs).toBe(3);
});

test('nothing walks over all events in one go', () => {
  const pace = new StepPace(160);
  const keys = Array.from({ length: 16_000 }, (_, at) => `-k${String(at).padStart(6, '0')}`);
  const made = inSlices(pace, LargeGroup.of(groupOf(keys), pace, STRIDE));
  expect(made.turns).toBe(100);
  const large = made.result;
  const stretches = large.within(range('k0..k008000'));
  expect(inSlices(pace, large.subset(stretches, DROP_NOTHING)).turns).toBe(50);
  expect(large.cutEvents).toBe(8_000);
  expect(inSlices(pace, large.subset(stretches, DROP_NOTHING)).turns).toBe(0);
  expect(inSlices(pace, large.subset(large.within(range('*')), DROP_PUTS)).turns).toBe(0);
  expect(large.cutEvents).toBe(8_000);
});

test('what is kept for others is bounded', () => {
  const large = largeOf(['a', 'b', 'c', 'd']);
  const subset = (pattern: string): boolean => {
    const stretches = large.within(range(pattern));
    const had = large.has(stretches);
    finish(large.subset(stretches, DROP_NOTHING));
    return had;
  };
  const patterns = ['a..d', 'a..c', 'b..d', 'a..d', 'c..z', 'a..d', 'c..z', '*'];
  expect(patterns.map(subset)).toEqual([false, false, false, true, false, false, true, true]);
});
