import { memberId } from '@engram/election';
import { expect, test } from 'vitest';
import { wasRemoved } from '../src/start/cluster-data.ts';

const member = (id: bigint, ...peerUrls: readonly string[]) => ({
  id: memberId(id),
  name: `m${id}`,
  peerUrls,
  clientUrls: [],
  isLearner: false,
});
const [a, b, c] = [member(1n, 'http://a:1'), member(2n, 'http://b:1', 'http://b:2'), member(3n, 'http://c:1')];
/** As a version stored it that did not store where removed members were. */
const agreed = { members: [a, c], removed: [memberId(2n)], removedUrls: new Map() };
const whole = { ...agreed, removedUrls: new Map([[b.id, b.peerUrls]]) };

test.each([
  { urls: ['http://b:2', 'http://b:1'], removed: true, why: 'removed, with its URLs in any order' },
  { urls: ['http://b:1'], removed: false, why: 'other URLs' },
  { urls: ['http://a:1'], removed: false, why: 'a member' },
  { urls: ['http://d:1'], removed: false, why: 'a stranger' },
])('$urls: removed $removed ($why)', ({ urls, removed }) => {
  expect(wasRemoved(urls, agreed, [a, b, c])).toBe(removed);
  expect(wasRemoved(urls, whole, [])).toBe(removed);
});

test('a member that was removed and added again at the same URLs is a member', () => {
  const back = member(9n, ...b.peerUrls);
  expect(wasRemoved(b.peerUrls, { ...whole, members: [a, back] }, [a, b, c, back])).toBe(false);
});

test('only the ids in the list of removed ones count, not whoever else had the URLs', () => {
  const forgotten = member(8n, 'http://d:1');
  expect(wasRemoved(forgotten.peerUrls, agreed, [a, b, c, forgotten])).toBe(false);
});

test('where no state says which URLs it had, it is not known as removed', () => {
  expect(wasRemoved(b.peerUrls, agreed, [a, c])).toBe(false);
});
