import { EVENT_DELETE, EVENT_PUT, type EventGroup, type KvEvent, revision, utf8 } from '@engram/core';
import { putGroup } from '@engram/core/testing';
import { Loop, StepPace } from '@engram/loop';
import { Scheduler, SimClock } from '@engram/sim';
import { etcdserverpb, HeaderEncoder, joinMessage, type Message, mvccpb } from '@engram/wire';
import { expect, test } from 'vitest';
import { EventMemo } from '../src/event-memo.ts';

const headers = new HeaderEncoder({ clusterId: 1n, memberId: 2n, raftTerm: 3 });

/** One put. Its value is so long that a response refers to the event's bytes instead of copying them. */
function group(at: number, prev: boolean): EventGroup {
  const kv = Buffer.concat([utf8('\n\u0001a'), Buffer.from([0x2a, 0x88, 0x27]), Buffer.alloc(5000, at)]);
  return putGroup(revision(at), { key: utf8('a'), kv, prevKv: prev ? kv : undefined });
}

const decoded = (message: Message): etcdserverpb.WatchResponse =>
  etcdserverpb.decodeWatchResponse(joinMessage(message));
const clock = new SimClock({ scheduler: new Scheduler() });
/** Slices of 4,000 events. */
const loop = new Loop({ clock, pace: new StepPace(4_000) });
const memo = (): EventMemo => new EventMemo((at) => headers.encode(at), loop);

test('watchers of the same id and header get the same response, others the same events behind a head of their own', () => {
  const groups = [group(5, false), group(6, false)];
  const responses = memo();
  const first = responses.response(0, false, groups, 7);
  expect(responses.response(0, false, groups, 7)).toBe(first);
  const other = responses.response(9, false, groups, 7);
  expect(other).not.toBe(first);
  if (!Array.isArray(first) || !Array.isArray(other)) throw new Error('no pieces');
  expect(other.length).toBe(first.length);
  for (let at = 1; at < first.length; at += 1) expect(other[at]).toBe(first[at]);
  expect(decoded(other).watchId).toBe(9);
  expect(decoded(responses.response(0, false, groups, 8)).header?.revision).toBe(8);
  expect(decoded(first).events.map(({ kv }) => kv?.value[0])).toEqual([5, 6]);
});

test('superseded versions are for those who want them', () => {
  const groups = [group(5, false), group(6, true)];
  const responses = memo();
  const plain = decoded(responses.response(0, false, groups, 7));
  const full = decoded(responses.response(0, true, groups, 7));
  expect(plain.events.map(({ prevKv }) => prevKv !== undefined)).toEqual([false, false]);
  expect(full.events.map(({ prevKv }) => prevKv !== undefined)).toEqual([false, true]);
  const none = [group(8, false)];
  expect(responses.response(0, true, none, 8)).toBe(responses.response(0, false, none, 8));
});

test.each([
  { what: 'one revision', groups: () => [group(6, true)] },
  { what: 'several revisions', groups: () => [group(5, false), group(6, true)] },
])('superseded versions of $what are kept from the others, also if they were encoded first', ({ groups: make }) => {
  const groups = make();
  const responses = memo();
  const full = decoded(responses.response(0, true, groups, 7));
  const plain = decoded(responses.response(0, false, groups, 7));
  expect(full.events.at(-1)?.prevKv).toBeDefined();
  expect(plain.events.map(({ prevKv }) => prevKv)).toEqual(groups.map(() => undefined));
});

/** `count` puts or deletions. Every other event has its superseded version. */
function large(count: number, put: boolean, valueBytes = 0): readonly EventGroup[] {
  const events = Array.from({ length: count }, (_, sub): KvEvent => {
    const kv = mvccpb.encodeKeyValue({ key: utf8(`key-${sub}`), modRevision: 9, value: new Uint8Array(valueBytes) });
    const [event] = putGroup(revision(9), {
      key: utf8(`key-${sub}`),
      kv,
      prevKv: sub % 2 === 0 ? kv : undefined,
    }).events;
    return { ...event!, type: put ? EVENT_PUT : EVENT_DELETE, sub };
  });
  return [{ revision: revision(9), events }];
}

test.each([
  { prevKv: false, put: false },
  { prevKv: true, put: false },
  { prevKv: true, put: true },
])('events that were encoded in slices make the same response: $prevKv, $put', async ({ prevKv, put }) => {
  const groups = large(10_000, put);
  const [responses, slowly] = [memo(), memo()];
  const preparing = slowly.prepare(groups, prevKv);
  expect(preparing).toBeInstanceOf(Promise);
  expect(slowly.prepare(groups, prevKv)).toBe(preparing);
  const fired = clock.scheduler.fired;
  await clock.run(preparing!);
  expect(clock.scheduler.fired - fired, 'turns').toBe(3);
  expect(slowly.prepare(groups, prevKv)).toBeUndefined();
  const first = slowly.response(3, prevKv, groups, 9);
  expect(slowly.response(3, prevKv, groups, 9)).toBe(first);
  expect(joinMessage(first)).toEqual(joinMessage(responses.response(3, prevKv, groups, 9)));
});

test('those with and without superseded versions are encoded apart, and together where there is none', async () => {
  const responses = memo();
  const groups = large(1_000, true);
  await clock.run(responses.prepare(groups, true)!);
  expect(responses.prepare(groups, false)).toBeInstanceOf(Promise);
  const none = [{ revision: revision(9), events: groups[0]!.events.filter(({ prevKv }) => prevKv === undefined) }];
  await clock.run(responses.prepare(none, true)!);
  expect(responses.prepare(none, false)).toBeUndefined();
  expect(responses.response(1, false, none, 9)).toBe(responses.response(1, true, none, 9));
});

test('one is encoded at a time, however many wait', async () => {
  const responses = memo();
  const offers = Array.from({ length: 4 }, () => large(10_000, false));
  const all = Promise.all(offers.map((groups) => responses.prepare(groups, false)!));
  let turns = 0;
  do {
    for (let microtasks = 0; microtasks < 20; microtasks += 1) await Promise.resolve();
    expect(clock.waiting).toBeLessThanOrEqual(1);
    turns += 1;
  } while (clock.scheduler.step());
  expect(turns).toBe(13);
  await all;
});

test.each([
  { count: 3_000, valueBytes: 0, bytesMax: 20_000 },
  { count: 3_000, valueBytes: 0, bytesMax: 40_000 },
  { count: 600, valueBytes: 4_000, bytesMax: 100_000 },
  { count: 10, valueBytes: 100_000, bytesMax: 350_000 },
  { count: 10, valueBytes: 100_000, bytesMax: 50_000 },
])('fragments of $count values of $valueBytes bytes, encoded in slices', async ({ count, valueBytes, bytesMax }) => {
  const groups = large(count, true, valueBytes);
  const responses = memo();
  await clock.run(responses.prepare(groups, false)!);
  const fragments = responses.fragments(7, false, groups, 9, bytesMax);
  const parts = fragments.map((message) => ({ bytes: joinMessage(message).length, ...decoded(message) }));
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.map(({ fragment }) => fragment)).toEqual(parts.map((_, at) => at < parts.length - 1));
  for (const { bytes, events, watchId } of parts) {
    expect(bytes < bytesMax || events.length === 1).toBe(true);
    expect(watchId).toBe(7);
  }
  const whole = decoded(memo().response(7, false, groups, 9));
  expect(parts.flatMap(({ events }) => events)).toEqual(whole.events);
  expect(responses.fragments(7, false, groups, 9, 1e9)).toHaveLength(1);
});
