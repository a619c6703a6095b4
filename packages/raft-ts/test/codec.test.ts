import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ConfChange,
  type ConfState,
  confState,
  type Entry,
  type HardState,
  logIndex,
  type Message,
  nodeId,
  type NodeId,
  type Payload,
  type EntryId,
  RaftError,
  type Snapshot,
  term,
  decodeEntry,
  decodeHardState,
  decodeMessage,
  decodeSnapshot,
  encodeEntry,
  encodeHardState,
  encodeMessage,
  encodeSnapshot,
} from '@engram/raft-ts';
import { generatedContract } from '@engram/protobuf/contract';
import { loadRoot, messageSet } from '@engram/protobuf/schema';
import * as raftpb from '../src/codec/gen/raftpb.ts';

const set = messageSet('raft');
const schema = loadRoot(set);

generatedContract(set, { raftpb });

const small = fc.nat({ max: 300 });
const large = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const number = fc.oneof(small, large);
const someId: fc.Arbitrary<NodeId> = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map(nodeId);
const blob = fc.uint8Array({ maxLength: 40 });
const change: fc.Arbitrary<ConfChange> = fc.record({
  kind: fc.constantFrom('add-voter', 'add-learner', 'remove', 'update'),
  node: someId,
  context: blob,
});
const payload: fc.Arbitrary<Payload> = fc.oneof(
  blob.map((data) => ({ kind: 'normal' as const, data })),
  change.map((one) => ({ kind: 'conf-change' as const, change: one })),
);
const place: fc.Arbitrary<EntryId> = fc.record({ index: number.map(logIndex), term: number.map(term) });
const conf: fc.Arbitrary<ConfState> = fc
  .uniqueArray(someId, { maxLength: 6 })
  .chain((all) => fc.nat({ max: all.length }).map((cut) => confState(all.slice(0, cut), all.slice(cut))));
const snapshot: fc.Arbitrary<Snapshot> = fc.record({
  index: fc.integer({ min: 1, max: 2 ** 40 }).map(logIndex),
  term: small.map(term),
  conf,
  data: blob,
});

/** Entries behind a place, with terms that don't go down. */
const entriesBehind = (prevIndex: number, prevTerm: number): fc.Arbitrary<readonly Entry[]> =>
  fc.array(fc.record({ payload, by: fc.nat({ max: 2 }) }), { maxLength: 5 }).map((list) => {
    let last = Math.max(1, prevTerm);
    return list.map(({ payload: one, by }, at) => {
      last += by;
      return { ...one, index: logIndex(prevIndex + 1 + at), term: term(last) };
    });
  });

const head = fc.record({ from: someId, to: someId });
const termed = fc.record({ from: someId, to: someId, term: fc.integer({ min: 400, max: 2 ** 50 }).map(term) });
const of = <Fields extends object>(
  base: fc.Arbitrary<object>,
  fields: { [K in keyof Fields]: fc.Arbitrary<Fields[K]> },
) => fc.tuple(base, fc.record(fields)).map(([one, other]) => ({ ...one, ...other }) as unknown as Message);

const message: fc.Arbitrary<Message> = fc.oneof(
  of(termed, {
    type: fc.constantFrom('vote' as const, 'pre-vote' as const),
    lastIndex: number,
    lastTerm: number,
    transfer: fc.boolean(),
    committed: place,
  }),
  of(termed, {
    type: fc.constantFrom('vote-response' as const, 'pre-vote-response' as const),
    granted: fc.boolean(),
    committed: place,
  }),
  fc.tuple(small, small).chain(([prevIndex, prevTerm]) =>
    of(termed, {
      type: fc.constant('append' as const),
      prevIndex: fc.constant(prevIndex),
      prevTerm: fc.constant(prevTerm),
      entries: entriesBehind(prevIndex, prevTerm),
      commit: number,
    }),
  ),
  of(termed, {
    type: fc.constant('append-response' as const),
    index: number,
    rejection: fc.option(place, { nil: undefined }),
  }),
  of(termed, { type: fc.constant('heartbeat' as const), commit: number, readRound: number }),
  of(termed, { type: fc.constant('heartbeat-response' as const), readRound: number }),
  of(termed, { type: fc.constant('snapshot' as const), snapshot }),
  of(termed, { type: fc.constant('timeout-now' as const) }),
  of(head, { type: fc.constant('propose' as const), payloads: fc.array(payload, { minLength: 1, maxLength: 4 }) }),
  of(head, { type: fc.constant('read-index' as const), context: blob }),
  of(termed, { type: fc.constant('read-index-response' as const), index: number, context: blob }),
  of(head, { type: fc.constant('transfer-leader' as const), target: someId }),
);

const entry: fc.Arbitrary<Entry> = fc
  .tuple(payload, fc.integer({ min: 1, max: 2 ** 50 }), number)
  .map(([one, index, ofTerm]) => ({ ...one, index: logIndex(index), term: term(ofTerm) }));
const hardState: fc.Arbitrary<HardState> = fc.record({
  term: number.map(term),
  vote: fc.option(someId, { nil: undefined }),
  commit: number.map(logIndex),
});

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

describe('what is encoded is decoded again', () => {
  test('messages', () => {
    fc.assert(
      fc.property(message, (one) => {
        expect(decodeMessage(encodeMessage(one))).toEqual(one);
      }),
    );
  });

  test('entries, hard states, snapshots', () => {
    fc.assert(
      fc.property(entry, (one) => {
        expect(decodeEntry(encodeEntry(one))).toEqual(one);
      }),
    );
    fc.assert(
      fc.property(hardState, (one) => {
        expect(decodeHardState(encodeHardState(one))).toEqual(one);
      }),
    );
    fc.assert(
      fc.property(snapshot, (one) => {
        expect(decodeSnapshot(encodeSnapshot(one))).toEqual(one);
      }),
    );
  });

  test('an entry of a megabyte', () => {
    const data = new Uint8Array(1 << 20).fill(7);
    const one: Entry = { kind: 'normal', index: logIndex(3), term: term(2), data };
    const decoded = decodeEntry(encodeEntry(one));
    expect(decoded.kind === 'normal' && Buffer.compare(decoded.data, data)).toBe(0);
  });
});

describe('the bytes are those of proto/raft/raft.proto', () => {
  const roundTrip = (type: string, bytes: Uint8Array): Uint8Array => {
    const codec = schema.lookupType(`raftpb.${type}`);
    return codec.encode(codec.decode(bytes)).finish();
  };

  test('another implementation reads them, and what it writes is read', () => {
    fc.assert(
      fc.property(message, (one) => {
        expect(decodeMessage(roundTrip('Message', encodeMessage(one)))).toEqual(one);
      }),
    );
    fc.assert(
      fc.property(entry, (one) => {
        expect(decodeEntry(roundTrip('Entry', encodeEntry(one)))).toEqual(one);
      }),
    );
    fc.assert(
      fc.property(snapshot, (one) => {
        expect(decodeSnapshot(roundTrip('Snapshot', encodeSnapshot(one)))).toEqual(one);
      }),
    );
    fc.assert(
      fc.property(hardState, (one) => {
        expect(decodeHardState(roundTrip('HardState', encodeHardState(one)))).toEqual(one);
      }),
    );
  });

  test('it sees the same values', () => {
    const bytes = encodeMessage({
      type: 'append',
      from: nodeId(2n ** 64n - 1n),
      to: nodeId(2n),
      term: term(9),
      prevIndex: logIndex(4),
      prevTerm: term(3),
      entries: [
        { kind: 'normal', index: logIndex(5), term: term(8), data: new Uint8Array([1, 2]) },
        {
          kind: 'conf-change',
          index: logIndex(6),
          term: term(9),
          change: { kind: 'remove', node: nodeId(7n), context: new Uint8Array([3]) },
        },
      ],
      commit: logIndex(2 ** 53 - 1),
    });
    const codec = schema.lookupType('raftpb.Message');
    expect(codec.toObject(codec.decode(bytes), { longs: String, enums: String, bytes: Array })).toEqual({
      from: '18446744073709551615',
      to: '2',
      term: '9',
      append: {
        prev_index: '4',
        prev_term: '3',
        commit: '9007199254740991',
        entries: [
          { index: '5', term: '8', data: [1, 2] },
          { index: '6', term: '9', change: { kind: 'REMOVE', node: '7', context: [3] } },
        ],
      },
    });
  });

  test('fields of a later version are passed over', () => {
    const known = encodeMessage({
      type: 'heartbeat',
      from: nodeId(1n),
      to: nodeId(2n),
      term: term(3),
      commit: logIndex(4),
      readRound: 5,
    });
    // Field 90: a varint, 91: eight bytes, 92: a message, 93: four bytes.
    const bytes = new Uint8Array([...known, ...hex('d0 05 01 d9 05 0000000000000001 e2 05 02 08 01 ed 05 00000001')]);
    expect(decodeMessage(bytes)).toEqual({ from: 1n, to: 2n, term: 3, type: 'heartbeat', commit: 4, readRound: 5 });
  });
});

describe('bytes that are no message are refused, whatever they are', () => {
  const decoders = [decodeMessage, decodeEntry, decodeHardState, decodeSnapshot];

  /** Decodes, or throws RaftError `bad-bytes`; any other error fails the test. */
  function decodeAny(bytes: Uint8Array): void {
    for (const decode of decoders) {
      try {
        decode(bytes);
      } catch (error) {
        if (!(error instanceof RaftError) || error.code !== 'bad-bytes') throw error;
      }
    }
  }

  test('random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => decodeAny(bytes)),
      { numRuns: 5000 },
    );
  });

  test('messages with bytes changed, cut off, or doubled', () => {
    const damage = fc.record({ at: fc.nat({ max: 200 }), byte: fc.nat({ max: 255 }), cut: fc.nat({ max: 200 }) });
    fc.assert(
      fc.property(message, fc.array(damage, { minLength: 1, maxLength: 4 }), fc.boolean(), (one, damages, double) => {
        const encoded = encodeMessage(one);
        let bytes = double ? new Uint8Array([...encoded, ...encoded]) : new Uint8Array(encoded);
        for (const { at, byte, cut } of damages) {
          if (bytes.length > 0) bytes[at % bytes.length] = byte;
          if (cut < 20) bytes = bytes.slice(0, bytes.length - cut);
        }
        decodeAny(bytes);
      }),
      { numRuns: 5000 },
    );
  });

  test('a message cut off anywhere, but for whole fields of it, is refused', () => {
    fc.assert(
      fc.property(message, (one) => {
        const bytes = encodeMessage(one);
        // The body comes last, with its length.
        for (let end = 0; end < bytes.length; end += 1) {
          expect(() => decodeMessage(bytes.subarray(0, end))).toThrow(RaftError);
        }
      }),
    );
  });

  const from1 = '08 01';
  const to2 = '10 02';

  test.each([
    { bytes: '', fault: 'without sender', why: 'nothing' },
    { bytes: from1, fault: 'without sender or receiver', why: 'no receiver' },
    { bytes: `${from1} ${to2} 18 05`, fault: 'without a known body', why: 'no body' },
    { bytes: `${from1} ${to2} 18 05 d2 0f 00`, fault: 'without a known body', why: 'a body of a later version' },
    { bytes: `${from1} ${to2} 52 00`, fault: 'without a known body', why: 'a heartbeat without a term' },
    { bytes: `${from1} ${to2} 18 05 72 05 0a 03 0a 01 61`, fault: 'a term where none', why: 'a proposal with a term' },
    { bytes: `${from1} ${to2} 72 00`, fault: 'a proposal of nothing', why: 'no payload' },
    { bytes: `${from1} ${to2} 72 02 0a 00`, fault: 'an unknown payload', why: 'a payload of a later version' },
    { bytes: `${from1} ${to2} 18 05 42 06 1a 04 08 01 10 01`, fault: 'an unknown payload', why: 'an entry of nothing' },
    { bytes: `${from1} ${to2} 18 05 42 08 1a 06 08 01 10 03 1a 00`, fault: 'a gap', why: 'an entry behind a gap' },
    { bytes: `${from1} ${to2} 18 05 42 08 1a 06 08 06 10 01 1a 00`, fault: 'a term to come', why: 'term 6 in term 5' },
    { bytes: `${from1} ${to2} 18 05 42 0a 10 03 1a 06 08 01 10 01 1a 00`, fault: 'go down', why: 'term 1 behind 3' },
    { bytes: `${from1} ${to2} 18 05 62 00`, fault: 'a snapshot of nothing', why: 'place 0' },
    { bytes: `${from1} ${to2} 18 05 62 04 08 01 10 06`, fault: 'or of later', why: 'a snapshot of term 6 in term 5' },
    { bytes: `${from1} ${to2} 18 05 62 08 08 01 1a 04 0a 02 07 07`, fault: 'a member twice', why: 'voter 7 twice' },
    { bytes: `${from1} ${to2} 72 06 0a 04 12 02 08 04`, fault: 'an unknown change', why: 'kind 4' },
    { bytes: `${from1} ${to2} 72 06 0a 04 12 02 08 02`, fault: 'without a node', why: 'nobody is removed' },
    { bytes: `${from1} ${to2} 8a 01 00`, fault: 'a transfer to nobody', why: 'no target' },
    { bytes: `${from1} ${to2} 18 ff ff ff ff ff ff ff 1f 52 00`, fault: '2^53', why: 'a term of 56 bits' },
    {
      bytes: `${from1} ${to2} 18 ff ff ff ff ff ff ff ff ff ff 01 52 00`,
      fault: 'wire-format',
      why: 'a varint too long',
    },
    { bytes: `${from1} ${to2} 18 05 52 05 08`, fault: 'wire-format', why: 'cut off' },
  ])('$why: $fault', ({ bytes, fault }) => {
    expect(() => decodeMessage(hex(bytes))).toThrow(fault);
    expect(() => decodeMessage(hex(bytes))).toThrow(RaftError);
  });
});
