import type { ErrorCode } from '@engram/core';
import { describe, expect, test } from 'vitest';
import type { ClusterState, Member } from '../index.ts';
import { newCluster } from '../src/cluster/cluster-state.ts';
import {
  type MemberHealth,
  type MemberRequest,
  type MembershipRules,
  refusalOf,
} from '../src/membership/membership-rules.ts';
import { id, member } from './support/members.ts';

const strict: MembershipRules = { strict: true, learnersMax: 1 };
const lenient: MembershipRules = { strict: false, learnersMax: 1 };

interface Case {
  readonly members: readonly Member[];
  readonly removed?: readonly number[];
  readonly request: MemberRequest;
  readonly rules?: MembershipRules;
  /** Members that are not connected to member 1. */
  readonly down?: readonly number[];
  /** Members that are connected, but for less than five seconds. */
  readonly young?: readonly number[];
  readonly lagging?: readonly number[];
  readonly code: ErrorCode | undefined;
  readonly why: string;
}

const unstarted = (number: number): Member => member(number, { name: '', clientUrls: [] });
const learner = (number: number): Member => member(number, { isLearner: true });
const three = [member(1), member(2), member(3)];
const add = (number: number, isLearner = false): MemberRequest => ({
  kind: 'add',
  id: id(number),
  peerUrls: [`http://127.0.0.1:${number}`],
  isLearner,
});

const cases: readonly Case[] = [
  { members: three, request: add(4), code: undefined, why: 'three of four are there' },
  { members: three, request: add(4), down: [3], code: 'Unhealthy', why: 'two of four are no majority' },
  { members: three, request: add(4), young: [3], code: 'Unhealthy', why: 'a connection must have lasted' },
  { members: three, request: add(4, true), down: [3], code: 'Unhealthy', why: 'etcd counts a learner there too' },
  { members: three, request: add(4), down: [3], rules: lenient, code: undefined, why: 'nobody asked' },
  {
    members: [...three, member(4)],
    request: add(5),
    down: [4],
    code: undefined,
    why: 'three of five are a majority',
  },
  { members: [member(1)], request: add(2), code: undefined, why: 'a lone member may get company' },
  {
    members: [member(1), unstarted(2)],
    request: add(3),
    code: 'MemberNotEnoughStarted',
    why: 'one of three has started',
  },
  { members: [member(1), unstarted(2)], request: add(3, true), down: [2], code: 'Unhealthy', why: 'one of three' },
  { members: three, request: { ...add(3) }, code: 'MemberExist', why: 'its id is taken' },
  {
    members: three,
    request: { kind: 'add', id: id(4), peerUrls: ['http://new:1', 'http://127.0.0.1:2'], isLearner: false },
    code: 'PeerURLExist',
    why: "a URL is member 2's",
  },
  {
    members: three,
    request: { kind: 'add', id: id(4), peerUrls: ['unix:///nowhere'], isLearner: true },
    code: 'MemberBadURLs',
    why: 'no member can dial a unix socket',
  },
  {
    members: three,
    request: { kind: 'add', id: id(4), peerUrls: [], isLearner: true },
    code: 'MemberBadURLs',
    why: 'it has no URL',
  },
  { members: three, removed: [4], request: add(4), code: 'MemberNotFound', why: 'it was a member' },
  { members: [...three, learner(4)], request: add(5, true), code: 'TooManyLearners', why: 'one is the limit' },
  {
    members: [...three, learner(4)],
    request: add(5, true),
    rules: { strict: true, learnersMax: 2 },
    code: undefined,
    why: 'two are the limit',
  },
  { members: [...three, learner(4)], request: add(5), code: undefined, why: 'the limit is for learners' },
  { members: three, request: { kind: 'remove', id: id(9) }, code: 'MemberNotFound', why: 'unknown' },
  { members: three, request: { kind: 'remove', id: id(3) }, code: undefined, why: 'two are left' },
  { members: three, request: { kind: 'remove', id: id(1) }, code: undefined, why: 'the leader may go' },
  { members: three, request: { kind: 'remove', id: id(3) }, down: [3], code: undefined, why: 'it is down anyway' },
  {
    members: three,
    request: { kind: 'remove', id: id(3) },
    down: [2],
    code: 'Unhealthy',
    why: 'the majority needs it',
  },
  {
    members: three,
    request: { kind: 'remove', id: id(1) },
    down: [2],
    code: 'Unhealthy',
    why: 'the majority needs the leader',
  },
  {
    members: three,
    request: { kind: 'remove', id: id(3) },
    down: [2],
    rules: lenient,
    code: undefined,
    why: 'nobody asked',
  },
  {
    members: [member(1)],
    request: { kind: 'remove', id: id(1) },
    code: 'MemberNotEnoughStarted',
    why: 'nobody is left',
  },
  {
    members: [member(1), member(2), unstarted(3), unstarted(4)],
    request: { kind: 'remove', id: id(2) },
    code: 'MemberNotEnoughStarted',
    why: 'one of three has started',
  },
  {
    members: [...three, learner(4)],
    request: { kind: 'remove', id: id(4) },
    down: [2, 3],
    code: undefined,
    why: 'a learner always may',
  },
  { members: three, request: { kind: 'update', id: id(9), peerUrls: [] }, code: 'MemberNotFound', why: 'unknown' },
  {
    members: three,
    request: { kind: 'update', id: id(3), peerUrls: ['http://127.0.0.1:3', 'unix://a b'] },
    code: 'MemberBadURLs',
    why: 'no member can dial one of them',
  },
  {
    members: three,
    request: { kind: 'update', id: id(3), peerUrls: ['http://127.0.0.1:2'] },
    code: 'PeerURLExist',
    why: "it is member 2's",
  },
  {
    members: three,
    request: { kind: 'update', id: id(3), peerUrls: ['http://127.0.0.1:3', 'http://new:1'] },
    code: undefined,
    why: 'its own URL it may keep',
  },
  { members: three, request: { kind: 'promote', id: id(9) }, code: 'MemberNotFound', why: 'unknown' },
  { members: three, request: { kind: 'promote', id: id(3) }, code: 'MemberNotLearner', why: 'it is a voter' },
  {
    members: [...three, learner(4)],
    request: { kind: 'promote', id: id(4) },
    lagging: [4],
    code: 'LearnerNotReady',
    why: 'it lags',
  },
  { members: [...three, learner(4)], request: { kind: 'promote', id: id(4) }, code: undefined, why: 'it is ready' },
  {
    members: [member(1), unstarted(2), unstarted(3), unstarted(5), learner(4)],
    request: { kind: 'promote', id: id(4) },
    code: 'MemberNotEnoughStarted',
    why: 'two of five have started',
  },
];

function stateOf({ members, removed = [] }: Case): ClusterState {
  return { ...newCluster(1n, members), removed: removed.map(id) };
}

function healthOf({ down = [], young = [], lagging = [] }: Case): MemberHealth {
  const among = (numbers: readonly number[], one: bigint): boolean => numbers.map(id).some((other) => other === one);
  return {
    self: id(1),
    isConnected: (one) => !among(down, one),
    isConnectedForLong: (one) => !among(down, one) && !among(young, one),
    isCaughtUp: (one) => !among(lagging, one),
  };
}

describe('a change of the membership', () => {
  test.each(cases)('$request.kind $request.id is $code: $why', (one) => {
    expect(refusalOf(stateOf(one), one.request, one.rules ?? strict, healthOf(one))).toBe(one.code);
  });
});
