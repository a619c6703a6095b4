import { unreachable } from '@engram/core';
import { encode } from '@engram/protobuf';
import { logIndex, NO_INDEX } from '../log-index.ts';
import type { AppendRequest, Message, SnapshotMessage } from '../message.ts';
import { type NodeId, nodeId } from '../node-id.ts';
import type { EntryId } from '../entry-id.ts';
import { NO_TERM, type Term, term } from '../term.ts';
import { badBytes, decodeOrRefuse } from './bad-bytes.ts';
import * as raftpb from './gen/raftpb.ts';
import { entryForm, entryOf, payloadForm, payloadOf, snapshotForm, snapshotOf } from './state-codec.ts';

export function encodeMessage(message: Message): Uint8Array {
  const { from, to } = message;
  return encode(raftpb.MessageCodec, { from, to, term: 'term' in message ? message.term : 0, ...bodyForm(message) });
}

/**
 * For any bytes, the result is a message that some node could have sent: indexes are consecutive, and terms don't go down.
 * All other bytes are `bad-bytes`, also a message type that this version does not know. The payloads are views of `bytes`.
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const form = decodeOrRefuse(raftpb.MessageCodec, bytes);
  if (form.from === 0n || form.to === 0n) throw badBytes('a message without sender or receiver');
  const parties = { from: nodeId(form.from), to: nodeId(form.to) };
  const message = form.term === 0 ? forwarded(form, parties) : withTerm(form, { ...parties, term: term(form.term) });
  if (message === undefined) throw badBytes('a message without a known body, or with a term where none belongs');
  return message;
}

function bodyForm(message: Message): raftpb.MessageInit {
  switch (message.type) {
    case 'vote':
      return { vote: message };
    case 'pre-vote':
      return { preVote: message };
    case 'vote-response':
      return { voteResponse: message };
    case 'pre-vote-response':
      return { preVoteResponse: message };
    case 'append': {
      const { prevIndex, prevTerm, entries, commit } = message;
      return { append: { prevIndex, prevTerm, entries: entries.map(entryForm), commit } };
    }
    case 'append-response':
      return { appendResponse: { index: message.index, rejection: message.rejection } };
    case 'heartbeat':
      return { heartbeat: message };
    case 'heartbeat-response':
      return { heartbeatResponse: message };
    case 'snapshot':
      return { snapshot: snapshotForm(message.snapshot) };
    case 'timeout-now':
      return { timeoutNow: {} };
    case 'propose':
      return { propose: { payloads: message.payloads.map(payloadForm) } };
    case 'read-index':
      return { readIndex: message };
    case 'read-index-response':
      return { readIndexResponse: message };
    case 'transfer-leader':
      return { transferLeader: message };
    default:
      return unreachable(message);
  }
}

interface Parties {
  readonly from: NodeId;
  readonly to: NodeId;
}

interface Head extends Parties {
  readonly term: Term;
}

/** The messages that followers forward to their leader. */
function forwarded(form: raftpb.Message, parties: Parties): Message | undefined {
  const { propose, readIndex, transferLeader } = form;
  if (propose !== undefined) {
    if (propose.payloads.length === 0) throw badBytes('a proposal of nothing');
    return { ...parties, type: 'propose', payloads: propose.payloads.map(payloadOf) };
  }
  if (readIndex !== undefined) return { ...parties, type: 'read-index', context: readIndex.context };
  if (transferLeader !== undefined) {
    if (transferLeader.target === 0n) throw badBytes('a transfer to nobody');
    return { ...parties, type: 'transfer-leader', target: nodeId(transferLeader.target) };
  }
  return undefined;
}

function withTerm(form: raftpb.Message, head: Head): Message | undefined {
  if (form.append !== undefined) return appendOf(form.append, head);
  if (form.appendResponse !== undefined) {
    const { index, rejection } = form.appendResponse;
    const refused = rejection === undefined ? undefined : entryIdOf(rejection);
    return { ...head, type: 'append-response', index: logIndex(index), rejection: refused };
  }
  if (form.heartbeat !== undefined) {
    const { commit, readRound } = form.heartbeat;
    return { ...head, type: 'heartbeat', commit: logIndex(commit), readRound };
  }
  if (form.heartbeatResponse !== undefined) {
    return { ...head, type: 'heartbeat-response', readRound: form.heartbeatResponse.readRound };
  }
  if (form.vote !== undefined) return { ...head, type: 'vote', ...requestOf(form.vote) };
  if (form.preVote !== undefined) return { ...head, type: 'pre-vote', ...requestOf(form.preVote) };
  if (form.voteResponse !== undefined) return { ...head, type: 'vote-response', ...responseOf(form.voteResponse) };
  if (form.preVoteResponse !== undefined) {
    return { ...head, type: 'pre-vote-response', ...responseOf(form.preVoteResponse) };
  }
  if (form.snapshot !== undefined) return snapshotMessageOf(form.snapshot, head);
  if (form.timeoutNow !== undefined) return { ...head, type: 'timeout-now' };
  if (form.readIndexResponse !== undefined) {
    const { index, context } = form.readIndexResponse;
    return { ...head, type: 'read-index-response', index: logIndex(index), context };
  }
  return undefined;
}

function requestOf({ lastIndex, lastTerm, transfer, committed }: raftpb.VoteRequest) {
  return { lastIndex: logIndex(lastIndex), lastTerm: term(lastTerm), transfer, committed: entryIdOf(committed) };
}

function responseOf({ granted, committed }: raftpb.VoteResponse) {
  return { granted, committed: entryIdOf(committed) };
}

function entryIdOf(id: raftpb.EntryId | undefined): EntryId {
  if (id === undefined) return { index: NO_INDEX, term: NO_TERM };
  return { index: logIndex(id.index), term: term(id.term) };
}

function appendOf({ prevIndex, prevTerm, entries, commit }: raftpb.AppendRequest, head: Head): AppendRequest {
  let lastTerm = prevTerm;
  for (const [at, entry] of entries.entries()) {
    if (entry.index !== prevIndex + 1 + at) throw badBytes('entries with a gap');
    if (entry.term < lastTerm) throw badBytes('terms that go down');
    lastTerm = entry.term;
  }
  if (lastTerm > head.term) throw badBytes('an entry of a term to come');
  return {
    ...head,
    type: 'append',
    prevIndex: logIndex(prevIndex),
    prevTerm: term(prevTerm),
    entries: entries.map(entryOf),
    commit: logIndex(commit),
  };
}

function snapshotMessageOf(form: raftpb.Snapshot, head: Head): SnapshotMessage {
  if (form.index === 0 || form.term > head.term) throw badBytes('a snapshot of nothing, or of later');
  return { ...head, type: 'snapshot', snapshot: snapshotOf(form) };
}
