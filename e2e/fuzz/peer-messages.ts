import { encodePeerMessage, memberId } from '@engram/election';
import { type ConfChange, type Entry, type Message, nodeId } from '@engram/raft-ts';
import type { Prng } from '@engram/sim';

/** Who sends, to whom, and what the receiver could expect. */
export interface Line {
  readonly clusterId: bigint;
  readonly from: bigint;
  readonly to: bigint;
  readonly term: number;
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

const number = (field: number, value: bigint | number): Buffer =>
  Buffer.concat([varint(BigInt(field * 8)), varint(BigInt(value))]);

const bytes = (field: number, content: Uint8Array): Buffer =>
  Buffer.concat([varint(BigInt(field * 8 + 2)), varint(BigInt(content.length)), content]);

const some = (prng: Prng, most: number): Buffer => {
  const made = Buffer.alloc(prng.below(most));
  for (let at = 0; at < made.length; at += 1) made[at] = prng.below(256);
  return made;
};

/** proto/peer/link.proto: Hello. */
export const hello = ({ clusterId, from, to }: Line): Buffer =>
  Buffer.concat([number(1, clusterId), number(2, from), number(3, to)]);

/** proto/peer/link.proto: Frame. */
export function frame(parts: {
  readonly hello?: Uint8Array;
  readonly messages?: readonly Uint8Array[];
  readonly calls?: readonly { readonly number: number; readonly request: Uint8Array }[];
  readonly cancelled?: readonly number[];
  readonly ping?: number;
}): Buffer {
  return Buffer.concat([
    ...(parts.hello === undefined ? [] : [bytes(1, parts.hello)]),
    ...(parts.messages ?? []).map((message) => bytes(2, message)),
    ...(parts.calls ?? []).map((call) => bytes(3, Buffer.concat([number(1, call.number), bytes(2, call.request)]))),
    ...(parts.cancelled ?? []).map((call) => number(4, call)),
    ...(parts.ping === undefined ? [] : [number(5, parts.ping)]),
  ]);
}

/** proto/peer/link.proto: FollowRequest. */
export const followRequest = (line: Line, from: number): Buffer =>
  Buffer.concat([bytes(1, hello(line)), number(2, from)]);

/** proto/peer/peer.proto: Request, with a call of any kind. None that a member may legally have others removed with. */
export function request(prng: Prng, { from, term }: Line): Buffer {
  const liar = prng.chance(0.2) ? BigInt(prng.below(9)) : from;
  const key = Buffer.from('evil');
  const put = bytes(2, bytes(2, Buffer.concat([bytes(1, key), bytes(2, key)])));
  const puts = (): Buffer => bytes(10, Buffer.concat(Array.from({ length: 1 + prng.below(2) }, () => put)));
  const calls: readonly (() => Buffer)[] = [
    puts,
    puts,
    puts,
    () => bytes(10, some(prng, 60)),
    () => bytes(11, number(1, prng.below(3) - 1)),
    () => bytes(12, Buffer.concat([number(1, prng.below(5) - 1), number(2, prng.below(5) - 1)])),
    () => bytes(13, number(1, prng.below(5))),
    () => bytes(14, Buffer.concat([number(1, 1), number(1, 2)])),
    () => bytes(15, number(1, prng.below(5))),
    () => bytes(16, Buffer.concat([number(1, from), number(2, prng.below(5) - 1), number(3, prng.below(2))])),
    () => bytes(17, Buffer.alloc(0)),
    () =>
      bytes(18, Buffer.concat([number(1, 2 * prng.below(2)), number(2, 77), bytes(3, Buffer.from('unix:///nowhere'))])),
    () => bytes(19, Buffer.alloc(0)),
    () => bytes(40 + prng.below(20), some(prng, 20)),
    () => some(prng, 40),
  ];
  const head = [number(1, liar), number(2, prng.below(40)), number(3, prng.below(3)), number(7, term), number(8, term)];
  return Buffer.concat([...head, calls[prng.below(calls.length)]!()]);
}

const FAR = [2 ** 31, 2 ** 40, 2 ** 52, 2 ** 53 - 1] as const;

/** A message of the election: of any kind, well-formed or not, mostly with numbers near those of the receiver. */
export function message(prng: Prng, line: Line): Uint8Array {
  const { clusterId } = line;
  const bad = prng.below(20);
  if (bad === 0) return some(prng, 60);
  if (bad === 1) return encodePeerMessage({ kind: 'removed', clusterId, to: memberId(line.to) });
  if (bad === 2)
    return encodePeerMessage({ kind: 'leaving', clusterId, from: memberId(line.from), to: memberId(line.to) });
  const encoded = encodePeerMessage({ kind: 'raft', clusterId, storageHealthy: true, message: raft(prng, line) });
  if (bad === 3) encoded[prng.below(encoded.length)] = prng.below(256);
  return encoded;
}

function raft(prng: Prng, line: Line): Message {
  const to = nodeId(line.to);
  const from = nodeId(prng.chance(0.1) ? BigInt(1 + prng.below(9)) : line.from);
  const far = (): number => FAR[prng.below(FAR.length)]!;
  const index = (): number => (prng.chance(0.1) ? far() : prng.below(40));
  const term = (): number => (prng.chance(0.1) ? far() : Math.max(1, line.term + prng.below(4) - 1));
  const head = { from, to, term: term() };
  const committed = { index: index(), term: term() };
  const place = { lastIndex: index(), lastTerm: term(), transfer: prng.chance(0.5), committed };
  const granted = prng.chance(0.7);
  const made: readonly (() => object)[] = [
    () => ({ ...head, type: 'vote', ...place }),
    () => ({ ...head, type: 'pre-vote', ...place }),
    () => ({ ...head, type: 'vote-response', granted, committed }),
    () => ({ ...head, type: 'pre-vote-response', granted, committed }),
    () => {
      const prevIndex = index();
      return {
        ...head,
        type: 'append',
        prevIndex,
        prevTerm: term(),
        entries: entries(prng, prevIndex, head.term),
        commit: index(),
      };
    },
    () => ({ ...head, type: 'append-response', index: index(), rejection: prng.chance(0.5) ? committed : undefined }),
    () => ({ ...head, type: 'heartbeat', commit: index(), readRound: prng.below(5) }),
    () => ({ ...head, type: 'heartbeat-response', readRound: prng.below(5) }),
    () => {
      const conf = { voters: [from], learners: [] };
      return { ...head, type: 'snapshot', snapshot: { index: index(), term: term(), conf, data: some(prng, 30) } };
    },
    () => ({ ...head, type: 'timeout-now' }),
    () => ({ from, to, type: 'propose', payloads: [{ kind: 'normal', data: some(prng, 30) }] }),
    () => ({ from, to, type: 'propose', payloads: [{ kind: 'conf-change', change: change(prng) }] }),
    () => ({ from, to, type: 'transfer-leader', target: from }),
    () => ({ from, to, type: 'read-index', context: some(prng, 9) }),
    () => ({ ...head, type: 'read-index-response', index: index(), context: some(prng, 9) }),
  ];
  return made[prng.below(made.length)]!() as Message; // only numbers without their brands
}

function change(prng: Prng): ConfChange {
  const kinds = ['add-learner', 'update'] as const;
  return { kind: kinds[prng.below(2)]!, node: nodeId(BigInt(1 + prng.below(9))), context: some(prng, 20) };
}

function entries(prng: Prng, prevIndex: number, term: number): readonly Entry[] {
  return Array.from({ length: prng.below(3) }, (_, at) => {
    const place = { term, index: prevIndex + 1 + at };
    const entry: object = prng.chance(0.3)
      ? { kind: 'conf-change', ...place, change: change(prng) }
      : { kind: 'normal', ...place, data: prng.chance(0.5) ? new Uint8Array(0) : some(prng, 20) };
    return entry as Entry;
  });
}
