import { type ConfState, NO_CONF } from '../conf-state.ts';
import type { ConfChange, Entry, Payload } from '../entry.ts';
import type { HardState } from '../hard-state.ts';
import { logIndex } from '../log-index.ts';
import { nodeId, sortedIds } from '../node-id.ts';
import type { Snapshot } from '../snapshot.ts';
import { term } from '../term.ts';
import { ProtoReader } from './proto-reader.ts';
import { ProtoWriter } from './proto-writer.ts';

/** The numbers of proto/raft.proto. */
const changeKinds: readonly ConfChange['kind'][] = ['add-voter', 'add-learner', 'remove', 'update'];

export function encodeEntry(entry: Entry): Uint8Array {
  const writer = new ProtoWriter(entry.kind === 'normal' ? entry.data.length + 32 : 64);
  writeEntry(writer, entry);
  return writer.finish();
}

/** The entry's bytes are a view of `bytes`. */
export function decodeEntry(bytes: Uint8Array): Entry {
  return readEntry(new ProtoReader(bytes, 'Entry'));
}

export function encodeHardState(state: HardState): Uint8Array {
  const writer = new ProtoWriter(32);
  writer.varint(3, state.commit);
  writer.fixed64(2, state.vote ?? 0n);
  writer.varint(1, state.term);
  return writer.finish();
}

export function decodeHardState(bytes: Uint8Array): HardState {
  const reader = new ProtoReader(bytes, 'HardState');
  let stateTerm = 0;
  let vote = 0n;
  let commit = 0;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) stateTerm = reader.varint();
    else if (field === 2) vote = reader.fixed64();
    else if (field === 3) commit = reader.varint();
    else reader.skip();
  }
  return { term: term(stateTerm), vote: vote === 0n ? undefined : nodeId(vote), commit: logIndex(commit) };
}

export function encodeSnapshot(snapshot: Snapshot): Uint8Array {
  const writer = new ProtoWriter(snapshot.data.length + 256);
  writeSnapshot(writer, snapshot);
  return writer.finish();
}

/** The snapshot's data is a view of `bytes`. */
export function decodeSnapshot(bytes: Uint8Array): Snapshot {
  return readSnapshot(new ProtoReader(bytes, 'Snapshot'));
}

export function writeEntry(writer: ProtoWriter, entry: Entry): void {
  writePayload(writer, entry, 3, 4);
  writer.varint(2, entry.index);
  writer.varint(1, entry.term);
}

export function readEntry(reader: ProtoReader): Entry {
  let entryTerm = 0;
  let index = 0;
  let payload: Payload | undefined;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) entryTerm = reader.varint();
    else if (field === 2) index = reader.varint();
    else if (field === 3) payload = { kind: 'normal', data: reader.bytes() };
    else if (field === 4) payload = { kind: 'conf-change', change: readChange(reader.message('ConfChange')) };
    else reader.skip();
  }
  if (payload === undefined || index === 0) throw reader.failure('an entry without a place or payload');
  return { ...payload, term: term(entryTerm), index: logIndex(index) };
}

/** A payload's two forms have numbers of their own in each message. */
export function writePayload(writer: ProtoWriter, payload: Payload, dataField: number, changeField: number): void {
  if (payload.kind === 'normal') {
    writer.bytes(dataField, payload.data);
    return;
  }
  const { change } = payload;
  writer.message(changeField, () => {
    writer.bytes(3, change.context);
    writer.fixed64(2, change.node);
    writer.varint(1, changeKinds.indexOf(change.kind));
  });
}

export function readPayload(reader: ProtoReader): Payload {
  let payload: Payload | undefined;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) payload = { kind: 'normal', data: reader.bytes() };
    else if (field === 2) payload = { kind: 'conf-change', change: readChange(reader.message('ConfChange')) };
    else reader.skip();
  }
  if (payload === undefined) throw reader.failure('an unknown payload');
  return payload;
}

export function writeSnapshot(writer: ProtoWriter, snapshot: Snapshot): void {
  writer.bytes(4, snapshot.data);
  writer.message(3, () => {
    writer.packedFixed64(2, snapshot.conf.learners);
    writer.packedFixed64(1, snapshot.conf.voters);
  });
  writer.varint(2, snapshot.term);
  writer.varint(1, snapshot.index);
}

export function readSnapshot(reader: ProtoReader): Snapshot {
  let index = 0;
  let snapshotTerm = 0;
  let conf = NO_CONF;
  let data: Uint8Array = new Uint8Array(0);
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) index = reader.varint();
    else if (field === 2) snapshotTerm = reader.varint();
    else if (field === 3) conf = readConf(reader.message('ConfState'));
    else if (field === 4) data = reader.bytes();
    else reader.skip();
  }
  return { index: logIndex(index), term: term(snapshotTerm), conf, data };
}

function readChange(reader: ProtoReader): ConfChange {
  let kind = 0;
  let node = 0n;
  let context: Uint8Array = new Uint8Array(0);
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) kind = reader.varint();
    else if (field === 2) node = reader.fixed64();
    else if (field === 3) context = reader.bytes();
    else reader.skip();
  }
  const known = changeKinds[kind];
  // Passing over it would leave this node with another membership than the others.
  if (known === undefined) throw reader.failure(`an unknown change of the membership, ${kind}`);
  if (node === 0n) throw reader.failure('a change of the membership without a node');
  return { kind: known, node: nodeId(node), context };
}

function readConf(reader: ProtoReader): ConfState {
  const voters: bigint[] = [];
  const learners: bigint[] = [];
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) reader.repeatedFixed64(voters);
    else if (field === 2) reader.repeatedFixed64(learners);
    else reader.skip();
  }
  const all = new Set([...voters, ...learners]);
  if (all.size !== voters.length + learners.length || all.has(0n))
    throw reader.failure('a member twice, or without id');
  return { voters: sortedIds(voters.map(nodeId)), learners: sortedIds(learners.map(nodeId)) };
}
