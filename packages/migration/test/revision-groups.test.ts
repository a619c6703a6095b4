import { etcdserverpb as pb, mvccpb } from '@engram/wire';
import { expect, test } from 'vitest';
import { RevisionGroups } from '../src/revision-groups.ts';

const event = (modRevision: number, key: string, value = ''): mvccpb.Event => ({
  type: 0,
  kv: { ...mvccpb.newKeyValue(), key: Buffer.from(key), value: Buffer.from(value), modRevision, version: 1 },
  prevKv: undefined,
});
const message = (fragment: boolean, ...events: mvccpb.Event[]): pb.WatchResponse => ({
  ...pb.newWatchResponse(),
  fragment,
  events,
});

test('fragments are put together over messages, and several revisions of one message are told apart', () => {
  const groups = new RevisionGroups(5);
  expect([...groups.take(message(true, event(5, 'a')))]).toEqual([]);
  expect([...groups.take(message(true, event(5, 'b'), event(6, 'a')))].map(({ revision }) => revision)).toEqual([5]);
  const rest = [...groups.take(message(false, event(6, 'b'), event(7, 'a')))];
  expect(rest.map(({ revision, changes }) => [revision, changes.length])).toEqual([
    [6, 2],
    [7, 1],
  ]);
});

test('one revision has a bound in bytes, which later ones do not share', () => {
  const groups = new RevisionGroups(2, false, 1000);
  for (let at = 2; at < 10; at += 1)
    expect([...groups.take(message(false, event(at, 'a', 'x'.repeat(500))))]).toHaveLength(1);
  const large = (): unknown => [
    ...groups.take(message(true, event(10, 'a', 'x'.repeat(500)), event(10, 'b', 'x'.repeat(500)))),
  ];
  expect(large).toThrow('revision 10 has more than 1000 bytes');
});

test('only the first revision may be missing, and only where that is said', () => {
  expect([...new RevisionGroups(5, true).take(message(false, event(6, 'a')))]).toHaveLength(1);
  expect(() => [...new RevisionGroups(5, true).take(message(false, event(7, 'a')))]).toThrow('shows revision 7');
  expect(() => [...new RevisionGroups(5).take(message(false, event(6, 'a')))]).toThrow(
    'shows revision 6, and 5 is due',
  );
  const later = new RevisionGroups(5, true);
  expect([...later.take(message(false, event(5, 'a')))]).toHaveLength(1);
  expect(() => [...later.take(message(false, event(7, 'a')))]).toThrow('shows revision 7, and 6 is due');
});
