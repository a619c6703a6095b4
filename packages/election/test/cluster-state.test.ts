import { expect, test } from 'vitest';
import { afterMemberChange, newCluster } from '../src/cluster/cluster-state.ts';
import { decodeClusterState, encodeClusterState } from '../src/codec/cluster-codec.ts';
import { id, member } from './support/members.ts';

const context = new Uint8Array();
const founders = newCluster(1n, [member(1), member(2), member(3)]);

test('a removed member is remembered with its peer URLs, whatever became of the entries that named them', () => {
  const state = afterMemberChange(founders, { kind: 'remove', node: id(3), context }, { peerUrls: [] });
  expect(state.removed).toEqual([id(3)]);
  expect(state.removedUrls.get(id(3))).toEqual(member(3).peerUrls);
  expect(decodeClusterState(encodeClusterState(state))).toEqual(state);
});

test('the URLs of members that are no longer remembered are forgotten with them', () => {
  let state = founders;
  for (let at = 0; at < 1100; at += 1) {
    const node = id(100 + at);
    state = afterMemberChange(state, { kind: 'add-learner', node, context }, { peerUrls: [`http://m:${at}`] });
    state = afterMemberChange(state, { kind: 'remove', node, context }, { peerUrls: [] });
  }
  expect(state.removed).toHaveLength(1024);
  expect([...state.removedUrls.keys()]).toEqual(state.removed);
  expect(state.removedUrls.get(id(1199))).toEqual(['http://m:1099']);
});
