import { unreachable } from '@engram/core';
import { type Entry, type Payload, totalBytes } from '../entry.ts';
import { type LogIndex, logIndex, NO_INDEX } from '../log-index.ts';
import type { AppendRequest, AppendResponse, Message, MessageType, VoteRequest, VoteResponse } from '../message.ts';
import { type NodeId, nodeId } from '../node-id.ts';
import type { Place } from '../place.ts';
import { NO_TERM, type Term, term } from '../term.ts';
import { ProtoReader } from './proto-reader.ts';
import { ProtoWriter } from './proto-writer.ts';
import { readEntry, readPayload, readSnapshot, writeEntry, writePayload, writeSnapshot } from './state-codec.ts';

/** The numbers of the bodies in proto/raft.proto. */
const bodies = {
  vote: 4,
  'pre-vote': 5,
  'vote-response': 6,
  'pre-vote-response': 7,
  append: 8,
  'append-response': 9,
  heartbeat: 10,
  'heartbeat-response': 11,
  snapshot: 12,
  'timeout-now': 13,
  propose: 14,
  'read-index': 15,
  'read-index-response': 16,
  'transfer-leader': 17,
} as const satisfies Record<MessageType, number>;

const typeOf = new Map<number, MessageType>();
for (const type of Object.keys(bodies) as MessageType[]) typeOf.set(bodies[type], type);

export function encodeMessage(message: Message): Uint8Array {
  const writer = new ProtoWriter(message.type === 'append' ? totalBytes(message.entries) + 128 : 128);
  writer.message(bodies[message.type], () => writeBody(writer, message));
  if ('term' in message) writer.varint(3, message.term);
  writer.fixed64(2, message.to);
  writer.fixed64(1, message.from);
  return writer.finish();
}

/**
 * Whatever bytes come, the result is a message that some node could have sent: places follow each other, terms don't go
 * down. The payloads are views of `bytes`. A type that this version does not know is `bad-bytes` too.
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const reader = new ProtoReader(bytes, 'Message');
  let from = 0n;
  let to = 0n;
  let messageTerm = 0;
  let type: MessageType | undefined;
  let body: ProtoReader | undefined;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    const known = typeOf.get(field);
    if (field === 1) from = reader.fixed64();
    else if (field === 2) to = reader.fixed64();
    else if (field === 3) messageTerm = reader.varint();
    else if (known === undefined) reader.skip();
    else {
      type = known;
      body = reader.message(known);
    }
  }
  if (from === 0n || to === 0n) throw reader.failure('no sender or no receiver');
  if (type === undefined || body === undefined) throw reader.failure('no known body');
  return readBody(type, body, { from: nodeId(from), to: nodeId(to), term: term(messageTerm) });
}

function writeBody(writer: ProtoWriter, message: Message): void {
  switch (message.type) {
    case 'vote':
    case 'pre-vote':
      writePlace(writer, 4, message.committed);
      writer.bool(3, message.transfer);
      writer.varint(2, message.lastTerm);
      writer.varint(1, message.lastIndex);
      break;
    case 'vote-response':
    case 'pre-vote-response':
      writePlace(writer, 2, message.committed);
      writer.bool(1, message.granted);
      break;
    case 'append':
      writer.varint(4, message.commit);
      for (let at = message.entries.length - 1; at >= 0; at -= 1) {
        writer.message(3, () => writeEntry(writer, message.entries[at]!));
      }
      writer.varint(2, message.prevTerm);
      writer.varint(1, message.prevIndex);
      break;
    case 'append-response':
      if (message.rejection !== undefined) writePlace(writer, 2, message.rejection);
      writer.varint(1, message.index);
      break;
    case 'heartbeat':
      writer.varint(2, message.readRound);
      writer.varint(1, message.commit);
      break;
    case 'heartbeat-response':
      writer.varint(1, message.readRound);
      break;
    case 'snapshot':
      writeSnapshot(writer, message.snapshot);
      break;
    case 'timeout-now':
      break;
    case 'propose':
      for (let at = message.payloads.length - 1; at >= 0; at -= 1) {
        writer.message(1, () => writePayload(writer, message.payloads[at]!, 1, 2));
      }
      break;
    case 'read-index':
      writer.bytes(1, message.context);
      break;
    case 'read-index-response':
      writer.bytes(2, message.context);
      writer.varint(1, message.index);
      break;
    case 'transfer-leader':
      writer.fixed64(1, message.target);
      break;
    default:
      unreachable(message);
  }
}

function writePlace(writer: ProtoWriter, field: number, place: Place): void {
  writer.message(field, () => {
    writer.varint(2, place.term);
    writer.varint(1, place.index);
  });
}

interface Head {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly term: Term;
}

function readBody(type: MessageType, reader: ProtoReader, head: Head): Message {
  const { from, to } = head;
  const hasTerm = type !== 'propose' && type !== 'read-index' && type !== 'transfer-leader';
  if (hasTerm !== head.term > 0) throw reader.failure('a term where none belongs, or none');
  switch (type) {
    case 'vote':
    case 'pre-vote':
      return { ...head, type, ...readVoteRequest(reader) };
    case 'vote-response':
    case 'pre-vote-response':
      return { ...head, type, ...readVoteResponse(reader) };
    case 'append':
      return readAppend(reader, head);
    case 'append-response':
      return readAppendResponse(reader, head);
    case 'heartbeat': {
      const [, commit, readRound] = readNumbers(reader);
      return { ...head, type, commit: logIndex(commit), readRound };
    }
    case 'heartbeat-response':
      return { ...head, type, readRound: readNumbers(reader)[1] };
    case 'snapshot':
      return readSnapshotMessage(reader, head);
    case 'timeout-now':
      readNumbers(reader);
      return { ...head, type };
    case 'propose':
      return { from, to, type, payloads: readPayloads(reader) };
    case 'read-index':
      return { from, to, type, context: readContext(reader, 1).context };
    case 'read-index-response':
      return { ...head, type, ...readContext(reader, 2) };
    case 'transfer-leader':
      return { from, to, type, target: readTarget(reader) };
    default:
      return unreachable(type);
  }
}

type Numbers = [unused: 0, first: number, second: number, third: number];

/** Bodies that are made of numbers alone: each at the number of its field. */
function readNumbers(reader: ProtoReader): Readonly<Numbers> {
  const numbers: Numbers = [0, 0, 0, 0];
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1 || field === 2 || field === 3) numbers[field] = reader.varint();
    else reader.skip();
  }
  return numbers;
}

function readPlace(reader: ProtoReader): Place {
  const [, index, ofTerm] = readNumbers(reader);
  return { index: logIndex(index), term: term(ofTerm) };
}

const NOWHERE: Place = { index: NO_INDEX, term: NO_TERM };

function readVoteRequest(reader: ProtoReader): Omit<VoteRequest, keyof Head | 'type'> {
  let lastIndex = 0;
  let lastTerm = 0;
  let transfer = false;
  let committed = NOWHERE;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) lastIndex = reader.varint();
    else if (field === 2) lastTerm = reader.varint();
    else if (field === 3) transfer = reader.bool();
    else if (field === 4) committed = readPlace(reader.message('Place'));
    else reader.skip();
  }
  return { lastIndex: logIndex(lastIndex), lastTerm: term(lastTerm), transfer, committed };
}

function readVoteResponse(reader: ProtoReader): Omit<VoteResponse, keyof Head | 'type'> {
  let granted = false;
  let committed = NOWHERE;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) granted = reader.bool();
    else if (field === 2) committed = readPlace(reader.message('Place'));
    else reader.skip();
  }
  return { granted, committed };
}

function readAppend(reader: ProtoReader, head: Head): AppendRequest {
  let prevIndex = 0;
  let prevTerm = 0;
  let commit = 0;
  const entries: Entry[] = [];
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) prevIndex = reader.varint();
    else if (field === 2) prevTerm = reader.varint();
    else if (field === 3) entries.push(readEntry(reader.message('Entry')));
    else if (field === 4) commit = reader.varint();
    else reader.skip();
  }
  let lastTerm = prevTerm;
  for (const [at, entry] of entries.entries()) {
    if (entry.index !== prevIndex + 1 + at) throw reader.failure('entries with a gap');
    if (entry.term < lastTerm) throw reader.failure('terms that go down');
    lastTerm = entry.term;
  }
  if (lastTerm > head.term) throw reader.failure('an entry of a term to come');
  return {
    ...head,
    type: 'append',
    prevIndex: logIndex(prevIndex),
    prevTerm: term(prevTerm),
    entries,
    commit: logIndex(commit),
  };
}

function readAppendResponse(reader: ProtoReader, head: Head): AppendResponse {
  let index = 0;
  let rejection: AppendResponse['rejection'];
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) index = reader.varint();
    else if (field === 2) rejection = readPlace(reader.message('Place'));
    else reader.skip();
  }
  return { ...head, type: 'append-response', index: logIndex(index), rejection };
}

function readSnapshotMessage(reader: ProtoReader, head: Head): Message {
  const snapshot = readSnapshot(reader);
  if (snapshot.index === 0 || snapshot.term > head.term) throw reader.failure('a snapshot of nothing, or of later');
  return { ...head, type: 'snapshot', snapshot };
}

function readPayloads(reader: ProtoReader): readonly Payload[] {
  const payloads: Payload[] = [];
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) payloads.push(readPayload(reader.message('Payload')));
    else reader.skip();
  }
  if (payloads.length === 0) throw reader.failure('nothing is proposed');
  return payloads;
}

/** Context in field `contextField`, index in the one before it, if there is one. */
function readContext(
  reader: ProtoReader,
  contextField: 1 | 2,
): { readonly index: LogIndex; readonly context: Uint8Array } {
  let index = 0;
  let context: Uint8Array = new Uint8Array(0);
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === contextField) context = reader.bytes();
    else if (field === 1) index = reader.varint();
    else reader.skip();
  }
  return { index: logIndex(index), context };
}

function readTarget(reader: ProtoReader): NodeId {
  let target = 0n;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) target = reader.fixed64();
    else reader.skip();
  }
  if (target === 0n) throw reader.failure('no target');
  return nodeId(target);
}
