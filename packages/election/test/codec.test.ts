import { epoch, logPosition } from '@engram/core';
import fc from 'fast-check';
import { generatedContract } from '@engram/protobuf/contract';
import { messageSet } from '@engram/protobuf/schema';
import { type Entry, logIndex, type Message, term } from '@engram/raft-ts';
import { describe, expect, test } from 'vitest';
import {
  bootstrapState,
  type ClusterState,
  decodePeerMessage,
  decodeRaftState,
  ElectionError,
  encodePeerMessage,
  encodeRaftState,
  type Member,
  type MemberId,
  memberId,
  type PeerMessage,
  type RaftState,
} from '../index.ts';
import {
  decodeClusterState,
  decodeCommand,
  decodeMemberChange,
  encodeClusterState,
  encodeCommand,
  encodeMemberChange,
} from '../src/codec/cluster-codec.ts';
import * as electionpb from '../src/codec/gen/electionpb.ts';
import { byId } from '../src/cluster/member.ts';
import type { ClusterCommand } from '../src/cluster/command.ts';
import { id, member } from './support/members.ts';

generatedContract(messageSet('election'), { electionpb });

const someId: fc.Arbitrary<MemberId> = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map(memberId);
const text = fc.string({ maxLength: 12 });
const texts = fc.array(text, { maxLength: 3 });
const blob = fc.uint8Array({ maxLength: 20 });
const someMember: fc.Arbitrary<Member> = fc.record({
  id: someId,
  name: text,
  peerUrls: texts,
  clientUrls: texts,
  isLearner: fc.boolean(),
});
const leadership = fc.record({
  epoch: fc.integer({ min: 1, max: 2 ** 50 }).map(epoch),
  holder: someId,
  segment: fc.nat(),
  position: fc.integer({ min: 1, max: 2 ** 50 }).map(logPosition),
});
const command: fc.Arbitrary<ClusterCommand> = fc.oneof(
  leadership.map((one) => ({ kind: 'leadership' as const, leadership: one })),
  fc.record({ kind: fc.constant('attributes' as const), member: someId, name: text, clientUrls: texts }),
  fc.record({ kind: fc.constant('setting' as const), name: text, value: blob }),
);
const removals = fc
  .uniqueArray(fc.tuple(someId, fc.option(texts, { nil: undefined })), { selector: ([one]) => one, maxLength: 3 })
  .map((list) => ({
    removed: list.map(([one]) => one),
    removedUrls: new Map(list.flatMap(([one, urls]) => (urls === undefined ? [] : [[one, urls] as const]))),
  }));
const state: fc.Arbitrary<ClusterState> = fc
  .record({
    clusterId: someId.map((one): bigint => one),
    members: fc.uniqueArray(someMember, { selector: (one) => one.id, maxLength: 4 }).map((list) => list.sort(byId)),
    settings: fc.array(fc.tuple(text, blob), { maxLength: 3 }).map((list) => new Map(list)),
    leadership: fc.option(leadership, { nil: undefined }),
  })
  .chain((one) => removals.map((each) => ({ ...one, ...each })));

const heartbeat: Message = {
  type: 'heartbeat',
  from: id(1),
  to: id(2),
  term: term(3),
  commit: logIndex(4),
  readRound: 0,
};
const entry = (index: number): Entry => ({
  kind: 'normal',
  index: logIndex(index),
  term: term(1),
  data: Uint8Array.of(index),
});

describe('what is encoded is decoded again', () => {
  test('states, commands, changes', () => {
    fc.assert(
      fc.property(state, (one) => {
        expect(decodeClusterState(encodeClusterState(one))).toEqual(one);
      }),
    );
    fc.assert(
      fc.property(command, (one) => {
        expect(decodeCommand(encodeCommand(one))).toEqual(one);
      }),
    );
    expect(decodeMemberChange(encodeMemberChange({ peerUrls: ['http://a:1'] }))).toEqual({ peerUrls: ['http://a:1'] });
  });

  test('the state of a new cluster has the same bytes on all its members', () => {
    const one = bootstrapState(7n, [member(1), member(2)]);
    const other = bootstrapState(7n, [member(2), member(1)]);
    expect(encodeRaftState(one)).toEqual(encodeRaftState(other));
  });

  test("messages, and what a member keeps of Raft's", () => {
    const messages: readonly PeerMessage[] = [
      { kind: 'raft', clusterId: 2n ** 64n - 1n, storageHealthy: false, message: heartbeat },
      { kind: 'raft', clusterId: 1n, storageHealthy: true, message: heartbeat },
      { kind: 'removed', clusterId: 1n, to: id(3) },
      { kind: 'leaving', clusterId: 1n, from: id(3), to: id(1) },
    ];
    for (const one of messages) expect(decodePeerMessage(encodePeerMessage(one))).toEqual(one);
    const kept: RaftState = { ...bootstrapState(7n, [member(1)]), entries: [entry(2), entry(3)] };
    expect(decodeRaftState(encodeRaftState(kept))).toEqual(kept);
  });
});

describe('bytes that are something else are refused', () => {
  const decoders = [decodeClusterState, decodeCommand, decodeMemberChange, decodePeerMessage, decodeRaftState];

  function decodeAny(bytes: Uint8Array): void {
    for (const decode of decoders) {
      try {
        decode(bytes);
      } catch (error) {
        if (!(error instanceof ElectionError) || error.code !== 'bad-bytes') throw error;
      }
    }
  }

  test('random bytes, and bytes that were damaged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => decodeAny(bytes)),
      { numRuns: 3000 },
    );
    const good = [
      encodeClusterState(bootstrapStateOf()),
      encodePeerMessage({ kind: 'raft', clusterId: 1n, storageHealthy: true, message: heartbeat }),
      encodeRaftState({ ...bootstrapState(7n, [member(1)]), entries: [entry(2)] }),
    ];
    fc.assert(
      fc.property(fc.constantFrom(...good), fc.nat(), fc.nat({ max: 255 }), (bytes, at, byte) => {
        const damaged = bytes.slice();
        damaged[at % damaged.length] = byte;
        decodeAny(damaged);
      }),
      { numRuns: 3000 },
    );
  });

  const bootstrapStateOf = (): ClusterState => decodeClusterState(bootstrapState(7n, [member(1)]).snapshot.data);

  test.each([
    { bytes: [], decode: decodeCommand, why: 'an unknown command' },
    { bytes: [], decode: decodeClusterState, why: 'a cluster without an id' },
    { bytes: [8, 1], decode: decodePeerMessage, why: 'without a known body' },
    { bytes: [18, 0], decode: decodePeerMessage, why: 'without a cluster' },
    { bytes: [8, 1, 18, 0], decode: decodePeerMessage, why: 'without sender' },
  ])('$why', ({ bytes, decode, why }) => {
    expect(() => decode(Uint8Array.from(bytes))).toThrow(why);
    expect(() => decode(Uint8Array.from(bytes))).toThrow(ElectionError);
  });

  test('a log with a gap', () => {
    const kept: RaftState = { ...bootstrapState(7n, [member(1)]), entries: [entry(2), entry(4)] };
    expect(() => decodeRaftState(encodeRaftState(kept))).toThrow('a log with a gap');
  });
});
