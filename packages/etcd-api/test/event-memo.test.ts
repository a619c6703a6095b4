import { type EventGroup, revision, utf8 } from '@engram/core';
import { putGroup } from '@engram/core/testing';
import { etcdserverpb, HeaderEncoder, joinMessage, type Message } from '@engram/wire';
import { expect, test } from 'vitest';
import { EventMemo } from '../src/event-memo.ts';

const headers = new HeaderEncoder({ clusterId: 1n, memberId: 2n, raftTerm: 3 });

/** One put; its value long enough that a response refers to the events instead of copying them. */
function group(at: number, prev: boolean): EventGroup {
  const kv = Buffer.concat([utf8('\n\u0001a'), Buffer.from([0x2a, 0x88, 0x27]), Buffer.alloc(5000, at)]);
  return putGroup(revision(at), { key: utf8('a'), kv, prevKv: prev ? kv : undefined });
}

const decoded = (message: Message): etcdserverpb.WatchResponse =>
  etcdserverpb.decodeWatchResponse(joinMessage(message));
const memo = (): EventMemo => new EventMemo((at) => headers.encode(at));

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
