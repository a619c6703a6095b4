import { encode } from '@engram/protobuf';
import { type ConfState, NO_CONF } from '../conf-state.ts';
import type { ConfChange, Entry, Payload } from '../entry.ts';
import type { HardState } from '../hard-state.ts';
import { logIndex } from '../log-index.ts';
import { nodeId, sortedIds } from '../node-id.ts';
import type { Snapshot } from '../snapshot.ts';
import { term } from '../term.ts';
import { badBytes, decodeOrRefuse } from './bad-bytes.ts';
import * as raftpb from './gen/raftpb.ts';

/** Indexed by the numbers of ConfChange.Kind. */
const changeKinds: readonly ConfChange['kind'][] = ['add-voter', 'add-learner', 'remove', 'update'];

export const encodeEntry = (entry: Entry): Uint8Array => encode(raftpb.EntryCodec, entryForm(entry));

/** The entry's bytes are a view of `bytes`. */
export const decodeEntry = (bytes: Uint8Array): Entry => entryOf(decodeOrRefuse(raftpb.EntryCodec, bytes));

export function encodeHardState({ term: current, vote, commit }: HardState): Uint8Array {
  return raftpb.encodeHardState({ term: current, vote: vote ?? 0n, commit });
}

export function decodeHardState(bytes: Uint8Array): HardState {
  const form = decodeOrRefuse(raftpb.HardStateCodec, bytes);
  return {
    term: term(form.term),
    vote: form.vote === 0n ? undefined : nodeId(form.vote),
    commit: logIndex(form.commit),
  };
}

export const encodeSnapshot = (snapshot: Snapshot): Uint8Array => encode(raftpb.SnapshotCodec, snapshotForm(snapshot));

/** The snapshot's data is a view of `bytes`. */
export const decodeSnapshot = (bytes: Uint8Array): Snapshot => snapshotOf(decodeOrRefuse(raftpb.SnapshotCodec, bytes));

export function entryForm(entry: Entry): raftpb.EntryInit {
  return { ...payloadForm(entry), term: entry.term, index: entry.index };
}

export function entryOf(form: raftpb.Entry): Entry {
  if (form.index === 0) throw badBytes('an entry without a place');
  return { ...payloadOf(form), term: term(form.term), index: logIndex(form.index) };
}

export function payloadForm(payload: Payload): raftpb.PayloadInit {
  if (payload.kind === 'normal') return { data: payload.data };
  const { kind, node, context } = payload.change;
  return { change: { kind: changeKinds.indexOf(kind), node, context } };
}

export function payloadOf({ data, change }: Pick<raftpb.Payload, 'data' | 'change'>): Payload {
  if (change !== undefined) return { kind: 'conf-change', change: changeOf(change) };
  if (data === undefined) throw badBytes('an unknown payload');
  return { kind: 'normal', data };
}

export function snapshotForm({ index, term: ofTerm, conf, data }: Snapshot): raftpb.SnapshotInit {
  return { index, term: ofTerm, conf: { voters: [...conf.voters], learners: [...conf.learners] }, data };
}

export function snapshotOf(form: raftpb.Snapshot): Snapshot {
  const conf = form.conf === undefined ? NO_CONF : confOf(form.conf);
  return { index: logIndex(form.index), term: term(form.term), conf, data: form.data };
}

function changeOf({ kind, node, context }: raftpb.ConfChange): ConfChange {
  const known = changeKinds[kind];
  // If this node ignored the change, its membership would differ from that of the other nodes.
  if (known === undefined) throw badBytes(`an unknown change of the membership, ${kind}`);
  if (node === 0n) throw badBytes('a change of the membership without a node');
  return { kind: known, node: nodeId(node), context };
}

function confOf({ voters, learners }: raftpb.ConfState): ConfState {
  const all = new Set([...voters, ...learners]);
  if (all.size !== voters.length + learners.length || all.has(0n)) throw badBytes('a member twice, or without id');
  return { voters: sortedIds(voters.map(nodeId)), learners: sortedIds(learners.map(nodeId)) };
}
