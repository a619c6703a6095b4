import { EVENT_DELETE, EVENT_PUT, type EventGroup, type EventType, rangeContains, revision, utf8 } from '@engram/core';
import { putGroup } from '@engram/core/testing';
import { Scheduler, SimClock } from '@engram/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DROP_DELETES, DROP_NOTHING, DROP_PUTS, GroupShares } from '../src/events/group-shares.ts';
import { LargeGroup } from '../src/events/large-group.ts';
import { EVENT_US } from '../src/slice-limits.ts';
import { Sliced } from '../src/sliced.ts';
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

/** A `Sliced` that visits `eventsMax` events between two turns, its clock, and a count of the turns. */
function slicedBy(eventsMax: number): { readonly sliced: Sliced; readonly clock: SimClock; turns: number } {
  const clock = new SimClock({ scheduler: new Scheduler() });
  const made = { sliced: new Sliced(clock, eventsMax * EVENT_US), clock, turns: 0 };
  expect(made.sliced.eventsMax).toBe(eventsMax);
  const { soon } = clock;
  clock.soon = (fire) => {
    made.turns += 1;
    soon.call(clock, fire);
  };
  return made;
}

const KEYS = ['a', 'ab', 'abc', 'b', 'ba', 'bc', 'c', 'z', '\0', '\u007f'];
const PATTERNS = ['a', 'b', 'ab', 'a*', 'b*', '*', 'ab*', 'a..b', 'ab..bc', 'y', '\0', 'a..z'];
const changes = fc
  .shuffledSubarray(KEYS, { minLength: 1 })
  .chain((keys) => fc.tuple(fc.constant(keys), fc.infiniteStream(fc.boolean()), fc.boolean()))
  .map(([keys, deleted, sorted]) =>
    (sorted ? keys.toSorted() : keys).map((key) => (deleted.next().value === true ? `-${key}` : key)),
  );
const filter = fc.constantFrom(DROP_NOTHING, DROP_PUTS, DROP_DELETES, DROP_PUTS | DROP_DELETES);

test('what a range gets is what asking each event would find, and the same for ordinary groups', async () => {
  const asked = fc.array(fc.tuple(fc.constantFrom(...PATTERNS), filter), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(changes, asked, fc.integer({ min: 1, max: 9 }), async (changes, asked, eventsMax) => {
      const group = groupOf(changes);
      const { sliced, clock } = slicedBy(eventsMax);
      const large = await clock.run(LargeGroup.of(group, sliced));
      const ordinary = new GroupShares(group);
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
        const share = await clock.run(large.share(stretches, filter));
        const expected = ordinary.of(matched, filter);
        expect(share && { ...share, groups: share.groups.map(text) }).toEqual(
          expected && { ...expected, groups: expected.groups.map(text) },
        );
        if (matched.length === events.length && filter === DROP_NOTHING) expect(share?.groups[0]).toBe(group);
      }
    }),
  );
});

test('those who match the same get the same array, whatever they asked for', async () => {
  const { sliced } = slicedBy(1_000);
  const large = await LargeGroup.of(groupOf(['-a', '-ab', '-b', '-ba', '-c']), sliced);
  const share = (pattern: string, filter = DROP_NOTHING) => large.share(large.within(range(pattern)), filter);
  const ofB = await share('b*');
  expect(await share('b..c')).toBe(ofB);
  expect(await share('b*', DROP_PUTS)).toBe(ofB);
  expect(await share('b*', DROP_DELETES)).toBeUndefined();
  expect((await share('*'))?.groups).toBe((await share('a..d'))?.groups);
});

test('a whole deletion is one run; a transaction has one for each operation', async () => {
  const { sliced } = slicedBy(1_000);
  const runs = async (changes: readonly string[]): Promise<number> =>
    (await LargeGroup.of(groupOf(changes), sliced)).runs;
  expect(await runs(['a', 'b', 'c'])).toBe(1);
  expect(await runs(['b', 'c', 'a', 'd', '-aa'])).toBe(3);
});

test('nothing walks over all events in one go', async () => {
  const made = slicedBy(160);
  const keys = Array.from({ length: 16_000 }, (_, at) => `-k${String(at).padStart(6, '0')}`);
  const large = await made.clock.run(LargeGroup.of(groupOf(keys), made.sliced));
  expect(made.turns).toBe(100);
  const stretches = large.within(range('k0..k008000'));
  await made.clock.run(large.share(stretches, DROP_NOTHING));
  expect(made.turns).toBe(150);
  expect(large.cutEvents).toBe(8_000);
  await made.clock.run(large.share(stretches, DROP_NOTHING));
  await made.clock.run(large.share(large.within(range('*')), DROP_PUTS));
  expect([made.turns, large.cutEvents]).toEqual([150, 8_000]);
});

test('what is kept for others is bounded', async () => {
  const { sliced } = slicedBy(1_000);
  const large = await LargeGroup.of(groupOf(['a', 'b', 'c', 'd']), sliced);
  const share = async (pattern: string): Promise<boolean> => {
    const stretches = large.within(range(pattern));
    const had = large.has(stretches);
    await large.share(stretches, DROP_NOTHING);
    return had;
  };
  const patterns = ['a..d', 'a..c', 'b..d', 'a..d', 'c..z', 'a..d', 'c..z', '*'];
  const had: boolean[] = [];
  for (const pattern of patterns) had.push(await share(pattern));
  expect(had).toEqual([false, false, false, true, false, false, true, true]);
});
