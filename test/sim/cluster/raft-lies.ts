import { EMPTY_BYTES } from '@engram/core';
import { encodePeerMessage, memberId, type PeerMessage } from '@engram/election';
import { type Message, nodeId } from '@engram/raft-ts';
import type { Prng } from '@engram/sim';
import { CLUSTER_ID } from './member-life.ts';

/** Who lies to whom, and what the receiver knows. */
export interface LieLine {
  readonly from: bigint;
  readonly to: bigint;
  /** A member in whose name nobody else may speak. */
  readonly other: bigint;
  readonly term: number;
  /** The leader that the receiver follows. 0: none. */
  readonly leader: bigint;
  /** The receiver is a voter, as far as it knows. */
  readonly votes: boolean;
}

/** A message of a member that does not keep the rules. */
export interface RaftLie {
  readonly what: string;
  readonly bytes: Uint8Array;
  /** It comes over the connection that the receiver has made. */
  readonly dialed: boolean;
  /** No receiver may take it. Otherwise it may be taken, and must do no harm. */
  readonly refused: boolean;
  /** The receiver's term may be as high as this afterwards. */
  readonly termMax: number;
}

/** Beyond what a receiver takes for a term. */
const TERMS_OUT_OF_REACH = [2 ** 33, 2 ** 52, 2 ** 53 - 1] as const;
const FAR = [10_000, 2 ** 31, 2 ** 53 - 1] as const;

interface Made {
  readonly message: Uint8Array | PeerMessage | object;
  readonly refused?: boolean;
  readonly dialed?: boolean;
  readonly termMax?: number;
}

type Maker = (random: Prng, line: LieLine) => Made | undefined;

const bytesOf = (random: Prng, most: number): Uint8Array =>
  Uint8Array.from({ length: random.below(most) }, () => random.below(256));

const raft = (message: object): PeerMessage => ({
  kind: 'raft',
  clusterId: CLUSTER_ID,
  storageHealthy: true,
  message: message as Message, // only numbers without their brands
});

const head = ({ from, to, term }: LieLine) => ({ from: nodeId(from), to: nodeId(to), term });
const NOWHERE = { index: 0, term: 0 };
/** A log that no receiver is behind. More is not claimed: a vote for a member that lacks committed entries is the end of them. */
const SHORT_LOG = { lastIndex: 0, lastTerm: 0, committed: NOWHERE };

/** What a follower may send without claiming to be elected, and without acknowledging or voting what it must not. */
const ofFollower: Readonly<Record<string, Maker>> = {
  bytes: (random) => ({ message: Uint8Array.of(255, ...bytesOf(random, 40)), refused: true }),

  'the beginning of a message': (random, line) => {
    const whole = encodePeerMessage(raft({ ...head(line), type: 'heartbeat-response', readRound: 0 }));
    return { message: whole.subarray(0, random.between(1, whole.length - 1)), refused: true };
  },

  'a message of another cluster': (_random, line) => ({
    message: { ...raft({ ...head(line), type: 'heartbeat-response', readRound: 0 }), clusterId: 5n },
    refused: true,
  }),

  "a message in another member's name": (random, line) => ({
    message: raft({
      ...head(line),
      from: nodeId(line.other),
      ...random.pick([
        { type: 'heartbeat', commit: 0, readRound: 0 },
        { type: 'vote', ...SHORT_LOG, transfer: true },
        { type: 'append', prevIndex: 0, prevTerm: 0, entries: [], commit: 0 },
        { type: 'append-response', index: 0, rejection: undefined },
      ]),
      term: line.term + random.below(3),
    }),
    refused: true,
  }),

  'a term out of reach': (random, line) => ({
    message: raft({
      ...head(line),
      ...random.pick([
        { type: 'vote', ...SHORT_LOG, transfer: true },
        { type: 'pre-vote', ...SHORT_LOG, transfer: false },
        { type: 'heartbeat', commit: 0, readRound: 0 },
        { type: 'append', prevIndex: 0, prevTerm: 0, entries: [], commit: 0 },
        { type: 'append-response', index: 0, rejection: undefined },
        { type: 'heartbeat-response', readRound: 0 },
        { type: 'vote-response', granted: false, committed: NOWHERE },
      ]),
      term: random.pick(TERMS_OUT_OF_REACH),
    }),
    refused: true,
  }),

  // Where a leader is known, whoever votes for another one waits: nothing is deposed.
  'a vote that no election needs': (random, line) => {
    const term = line.term + random.below(4);
    return { message: raft({ ...head(line), type: 'vote', term, ...SHORT_LOG, transfer: false }), termMax: term };
  },

  'a pre-vote with any log': (random, line) => {
    const place = { index: random.pick([0, 1, ...FAR]), term: random.pick([0, 1, line.term, line.term + 3]) };
    const log = { lastIndex: place.index, lastTerm: place.term, committed: NOWHERE, transfer: false };
    return { message: raft({ ...head(line), type: 'pre-vote', term: line.term + random.below(4), ...log }) };
  },

  'an answer to no vote': (random, line) => {
    const earlier = { ...head(line), type: 'vote-response', term: Math.max(0, line.term - 1), granted: true };
    const next = { ...head(line), type: 'pre-vote-response', term: line.term + 1, granted: true };
    // Whoever asks for votes has the liar's word in the next term, and campaigns there.
    return { message: raft({ ...random.pick([earlier, next]), committed: NOWHERE }), termMax: line.term + 1 };
  },

  'the word of a second leader': (random, line) => {
    if (line.leader === 0n || line.leader === line.from) return undefined;
    const conf = { voters: [nodeId(line.from)], learners: [] };
    const snapshot = { index: random.pick([1, ...FAR.slice(0, 2)]), term: line.term, conf, data: EMPTY_BYTES };
    return {
      message: raft({
        ...head(line),
        ...random.pick([
          { type: 'heartbeat', commit: random.pick([0, 1, ...FAR]), readRound: random.below(3) },
          { type: 'append', prevIndex: random.below(40), prevTerm: 1, entries: [], commit: random.pick([0, ...FAR]) },
          { type: 'snapshot', snapshot },
          { type: 'timeout-now' },
        ]),
      }),
      refused: true,
    };
  },

  'the word of an earlier leader': (random, line) => ({
    message: raft({
      ...head(line),
      term: Math.max(0, line.term - 1),
      ...random.pick([
        { type: 'heartbeat', commit: random.pick(FAR), readRound: 1 },
        { type: 'append', prevIndex: 0, prevTerm: 0, entries: [], commit: random.pick(FAR) },
      ]),
    }),
  }),

  'entries that nobody can read': (random, line) => {
    const prevIndex = random.below(40);
    const place = { term: line.term + 1, index: prevIndex + 1 };
    const entry = random.pick([
      { kind: 'normal', ...place, data: Uint8Array.of(0x7a, 0) },
      {
        kind: 'conf-change',
        ...place,
        change: { kind: 'add-learner', node: nodeId(77n), context: Uint8Array.of(255) },
      },
    ]);
    const term = line.term + 1;
    const append = { ...head(line), type: 'append', term, prevIndex, prevTerm: 1, entries: [entry], commit: 0 };
    return { message: raft(append), refused: true };
  },

  'entries that follow nothing': (random, line) => {
    const prevIndex = random.below(40);
    const entries = [
      { kind: 'normal', term: line.term + 1, index: prevIndex + random.between(2, 9), data: EMPTY_BYTES },
    ];
    const append = { ...head(line), type: 'append', term: line.term + 1, prevIndex, prevTerm: 1, entries, commit: 0 };
    return { message: raft(append), refused: true };
  },

  'a snapshot that nobody can read': (random, line) => {
    const conf = { voters: random.chance(0.5) ? [nodeId(line.from)] : [], learners: [] };
    const snapshot = { index: random.pick(FAR), term: line.term + 1, conf, data: Uint8Array.of(255, 1) };
    return { message: raft({ ...head(line), type: 'snapshot', term: line.term + 1, snapshot }), refused: true };
  },

  'an acknowledgement of nothing': (random, line) => {
    const rejection = random.chance(0.5) ? { index: random.pick([0, 1, ...FAR]), term: random.below(40) } : undefined;
    return { message: raft({ ...head(line), type: 'append-response', index: random.pick([0, 1, ...FAR]), rejection }) };
  },

  'an answer to no heartbeat': (random, line) => ({
    message: raft({ ...head(line), type: 'heartbeat-response', readRound: random.pick(FAR) }),
  }),

  'a proposal that is not its own': (random, line) => {
    const change = {
      kind: random.pick(['remove', 'add-voter', 'update']),
      node: nodeId(line.other),
      context: EMPTY_BYTES,
    };
    const data = random.pick([Uint8Array.of(0x7a, 0), EMPTY_BYTES, bytesOf(random, 30)]);
    const payload = random.chance(0.5) ? { kind: 'normal', data } : { kind: 'conf-change', change };
    const { from, to } = head(line);
    return { message: raft({ from, to, type: 'propose', payloads: [payload] }), refused: true };
  },

  'what no member sends': (random, line) => {
    const { from, to, term } = head(line);
    return {
      message: raft(
        random.pick([
          { from, to, type: 'transfer-leader', target: from },
          { from, to, type: 'read-index', context: bytesOf(random, 9) },
          { from, to, term, type: 'read-index-response', index: random.below(40), context: bytesOf(random, 9) },
        ]),
      ),
      refused: true,
    };
  },

  'the question of a removed member': (_random, { from, to }) => ({
    message: { kind: 'leaving', clusterId: CLUSTER_ID, from: memberId(from), to: memberId(to) },
  }),

  'a dismissal': (random, { to, leader, other, votes }) => {
    const message = { kind: 'removed', clusterId: CLUSTER_ID, to: memberId(random.chance(0.2) ? other : to) };
    // Who hears of no leader believes whoever it has dialed: a removed member learns of its removal in no other way.
    return leader === 0n || !votes ? { message, refused: true, dialed: false } : { message, refused: true };
  },
};

/** What only an elected member, or one that was asked by the leader, may send: a receiver cannot know that it was not. */
const ofLeader: Readonly<Record<string, Maker>> = {
  'the heartbeat of an election that nobody won': (random, line) => {
    const term = line.term + random.between(1, 3);
    return { message: raft({ ...head(line), type: 'heartbeat', term, commit: 0, readRound: 0 }), termMax: term };
  },

  'an append of an election that nobody won': (random, line) => {
    const term = line.term + random.between(1, 3);
    const place = { prevIndex: random.below(40), prevTerm: random.below(line.term + 1), entries: [], commit: 0 };
    return { message: raft({ ...head(line), type: 'append', term, ...place }), termMax: term };
  },

  'a vote as if the leader had asked for it': (random, line) => {
    const term = line.term + random.between(1, 3);
    return { message: raft({ ...head(line), type: 'vote', term, ...SHORT_LOG, transfer: true }), termMax: term };
  },

  'an answer of a later term': (random, line) => {
    const term = line.term + random.between(1, 3);
    const answer = random.pick([
      { type: 'append-response', index: 0, rejection: undefined },
      { type: 'heartbeat-response', readRound: 0 },
      { type: 'vote-response', granted: false, committed: NOWHERE },
      { type: 'pre-vote-response', granted: false, committed: NOWHERE },
    ]);
    return { message: raft({ ...head(line), ...answer, term }), termMax: term };
  },
};

/** A lie of a follower, or one with which it claims to be elected. Undefined if there is none for this receiver. */
export function raftLie(random: Prng, line: LieLine, claims: boolean): RaftLie | undefined {
  const makers = claims ? ofLeader : ofFollower;
  const what = random.pick(Object.keys(makers));
  const made = makers[what]!(random, line);
  if (made === undefined) return undefined;
  const { message, refused = false, dialed = random.chance(0.5), termMax = line.term } = made;
  const bytes = message instanceof Uint8Array ? message : encodePeerMessage(message as PeerMessage);
  return { what, bytes, dialed, refused, termMax };
}
