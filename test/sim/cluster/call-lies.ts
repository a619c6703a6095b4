import { EMPTY_BYTES, putOp, type Txn } from '@engram/core';
import { peerpb } from '@engram/member/testing';
import type { Prng } from '@engram/sim';
import { encodeTxn } from '@engram/wire';

/** What a member that lies could know of the member that it calls. */
export interface CallLine {
  readonly from: bigint;
  /** Another member, in whose name it may not call. */
  readonly other: bigint;
  readonly epoch: number;
  /** Numbers of writes that the member does not use otherwise. */
  readonly sequence: number;
  /** Makes values and keys unlike those of other lies. */
  readonly name: string;
}

export interface CallLie {
  readonly what: string;
  readonly request: Uint8Array;
  /** Of a call that may write: what the log may have then. */
  readonly txn?: Txn;
  /** The error that the answer must have. Undefined: any, or none. */
  readonly error?: RegExp;
}

const { ADD, REMOVE, UPDATE, PROMOTE } = peerpb.MemberChangeKind;
/** The key of writes that a liar forwards. Clients use it as well. */
const KEY = Uint8Array.of(107);
const UNKNOWN_MEMBER = 0x7777n;

const bytesOf = (random: Prng, most: number): Uint8Array =>
  Uint8Array.from({ length: random.below(most) }, () => random.below(256));

const putOf = (name: string): Txn => ({ compares: [], success: [putOp(KEY, Buffer.from(name))], failure: [] });

/** Writes of any kind, by a member that may not do them, or that nobody can do. */
function hostileWrite(random: Prng): peerpb.RequestInit {
  return random.pick<() => peerpb.RequestInit>([
    () => ({ txn: Uint8Array.of(10, 255, ...bytesOf(random, 40)) }),
    () => ({ compact: { revision: random.pick([-1, 2 ** 40, Number.MAX_SAFE_INTEGER]) } }),
    () => ({ leaseGrant: { id: random.pick([-1n, 5n]), ttlSeconds: 9_000_000_001 } }),
    () => ({ leaseRevoke: { id: random.pick([-7n, 1n << 62n]) } }),
    () => ({ alarm: { member: UNKNOWN_MEMBER, alarm: random.pick([-1, 0, 3, 99]), active: true } }),
    () => ({}),
  ])();
}

function hostileQuestion(random: Prng, { from }: CallLine): peerpb.RequestInit {
  return random.pick<() => peerpb.RequestInit>([
    () => ({ readIndex: {}, sentIn: random.pick([0, 1, Number.MAX_SAFE_INTEGER]) }),
    () => ({ applied: {} }),
    () => ({ leaseKeepAlive: { ids: Array.from({ length: random.below(50) }, (_, at) => BigInt(at) << 40n) } }),
    () => ({ leaseTimeToLive: { id: -3n, keys: true } }),
    () => ({ hashKv: { revision: random.pick([-1, 0, 1, 2 ** 40]), compare: true, expected: random.uint32() } }),
    () => ({ hashKv: { revision: 0, compare: true, expected: 7 } }),
    () => ({
      readIndex: {},
      timeoutMs: random.pick([1, Number.MAX_SAFE_INTEGER]),
      user: 'root',
      authRevision: 2 ** 40,
    }),
    () => ({ memberChange: { kind: ADD, id: from, peerUrls: ['unix:///nowhere'], learner: true } }),
    () => ({ memberChange: { kind: ADD, id: UNKNOWN_MEMBER, peerUrls: [], learner: random.chance(0.5) } }),
    () => ({ memberChange: { kind: REMOVE, id: random.pick([UNKNOWN_MEMBER, (1n << 64n) - 1n]) } }),
    () => ({ memberChange: { kind: REMOVE, id: 0n } }),
    () => ({ memberChange: { kind: UPDATE, id: from, peerUrls: [random.pick(['', 'nonsense', 'http://h:65536'])] } }),
    () => ({ memberChange: { kind: PROMOTE, id: random.pick([from, UNKNOWN_MEMBER]) } }),
    () => ({ memberChange: { kind: 99, id: UNKNOWN_MEMBER } }),
  ])();
}

const makers: readonly ((random: Prng, line: CallLine) => CallLie)[] = [
  (random) => ({ what: 'bytes', request: bytesOf(random, 60) }),

  (random, line) => {
    const whole = peerpb.encodeRequest({ member: line.from, sequence: 0, ...hostileQuestion(random, line) });
    return { what: 'the beginning of a call', request: whole.subarray(0, random.below(whole.length)) };
  },

  // A call in the name of another member would be found by that one in the log.
  (_random, line) => ({
    what: "a write in another member's name",
    request: peerpb.encodeRequest({
      member: line.other,
      sequence: line.sequence,
      settled: line.sequence,
      epoch: line.epoch,
      txn: encodeTxn(putOf(line.name)),
    }),
    // One that does not lead, or no longer, refuses whatever it is.
    error: /^Not(Capable|Leader)$/,
  }),

  (random, line) => ({
    what: 'a write for another leadership',
    request: peerpb.encodeRequest({
      member: line.from,
      sequence: line.sequence,
      settled: line.sequence,
      epoch: line.epoch + random.pick([-1, 1, 1000]),
      txn: encodeTxn(putOf(line.name)),
    }),
    error: /^NotLeader$/,
  }),

  (random, line) => ({
    what: 'a write that nobody can do',
    request: peerpb.encodeRequest({
      member: line.from,
      sequence: line.sequence,
      settled: random.pick([0, line.sequence, line.sequence + 5]),
      epoch: line.epoch,
      ...hostileWrite(random),
    }),
    error: /./,
  }),

  (random, line) => ({
    what: 'a question that nobody asks',
    request: peerpb.encodeRequest({ member: line.from, ...hostileQuestion(random, line) }),
  }),

  // Sent several times, and other writes under the same number: one of them may be done, once.
  (_random, line) => ({
    what: 'a write',
    request: peerpb.encodeRequest({
      member: line.from,
      sequence: line.sequence,
      settled: line.sequence,
      epoch: line.epoch,
      txn: encodeTxn(putOf(line.name)),
    }),
    txn: putOf(line.name),
  }),
];

export const callLie = (random: Prng, line: CallLine): CallLie => random.pick(makers)(random, line);

/** In the place of an answer: bytes, or an answer that says what is not so. */
export function answerLie(random: Prng): Uint8Array {
  return random.pick<() => Uint8Array>([
    () => EMPTY_BYTES,
    () => bytesOf(random, 60),
    () => Uint8Array.of(255, 255, 255),
    () => peerpb.encodeAnswer({ position: Number.MAX_SAFE_INTEGER, epoch: Number.MAX_SAFE_INTEGER }),
    () => peerpb.encodeAnswer({ position: 0, revision: -1, hash: { hash: random.uint32() } }),
    () =>
      peerpb.encodeAnswer({ error: random.pick(['NotLeader', 'Corrupt', 'nonsense', '']), errorText: 'x'.repeat(99) }),
  ])();
}
