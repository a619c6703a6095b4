// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';

export const ConfChangeKind = { ADD_VOTER: 0, ADD_LEARNER: 1, REMOVE: 2, UPDATE: 3 } as const;

export interface Entry {
  term: number;
  index: number;
  data: Uint8Array | undefined;
  change: ConfChange | undefined;
}
export type EntryInit = Init<Entry>;

export const newEntry = (): Entry => ({ term: 0, index: 0, data: undefined, change: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readEntry(r: Reader, message: Entry): Entry {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.term = r.count();
        break;
      case 16:
        message.index = r.count();
        break;
      case 26:
        message.data = r.bytes();
        message.change = undefined;
        break;
      case 34: {
        const outer = r.enter();
        message.change = readConfChange(r, message.change ?? newConfChange());
        r.leave(outer);
        message.data = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeEntry(w: Writer, message: EntryInit): void {
  if (message.change !== undefined) {
    const end = w.length;
    writeConfChange(w, message.change);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.data !== undefined) {
    w.bytes(message.data);
    w.varint(26);
  }
  if (message.index !== undefined && message.index !== 0) {
    w.int64(message.index);
    w.varint(16);
  }
  if (message.term !== undefined && message.term !== 0) {
    w.int64(message.term);
    w.varint(8);
  }
}

export const EntryCodec: Codec<Entry, EntryInit> = {
  write: writeEntry,
  read: (r) => readEntry(r, newEntry()),
};
export const encodeEntry = (message: EntryInit): Uint8Array => encode(EntryCodec, message);
export const decodeEntry = (bytes: Uint8Array): Entry => decode(EntryCodec, bytes);

export interface ConfChange {
  kind: number;
  node: bigint;
  context: Uint8Array;
}
export type ConfChangeInit = Init<ConfChange>;

export const newConfChange = (): ConfChange => ({ kind: 0, node: 0n, context: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readConfChange(r: Reader, message: ConfChange): ConfChange {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.kind = r.int32();
        break;
      case 16:
        message.node = r.bigUint64();
        break;
      case 26:
        message.context = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeConfChange(w: Writer, message: ConfChangeInit): void {
  if (message.context !== undefined && message.context.length > 0) {
    w.bytes(message.context);
    w.varint(26);
  }
  if (message.node !== undefined && message.node !== 0n) {
    w.bigint(message.node);
    w.varint(16);
  }
  if (message.kind !== undefined && message.kind !== 0) {
    w.int64(message.kind);
    w.varint(8);
  }
}

export const ConfChangeCodec: Codec<ConfChange, ConfChangeInit> = {
  write: writeConfChange,
  read: (r) => readConfChange(r, newConfChange()),
};
export const encodeConfChange = (message: ConfChangeInit): Uint8Array => encode(ConfChangeCodec, message);
export const decodeConfChange = (bytes: Uint8Array): ConfChange => decode(ConfChangeCodec, bytes);

export interface ConfState {
  voters: bigint[];
  learners: bigint[];
}
export type ConfStateInit = Init<ConfState>;

export const newConfState = (): ConfState => ({ voters: [], learners: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readConfState(r: Reader, message: ConfState): ConfState {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.voters.push(r.bigUint64());
        break;
      case 10: {
        const outer = r.enterList();
        while (r.more()) message.voters.push(r.bigUint64());
        r.leave(outer);
        break;
      }
      case 16:
        message.learners.push(r.bigUint64());
        break;
      case 18: {
        const outer = r.enterList();
        while (r.more()) message.learners.push(r.bigUint64());
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeConfState(w: Writer, message: ConfStateInit): void {
  if (message.learners !== undefined && message.learners.length > 0) {
    const end = w.length;
    for (let at = message.learners.length - 1; at >= 0; at -= 1) w.bigint(message.learners[at]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.voters !== undefined && message.voters.length > 0) {
    const end = w.length;
    for (let at = message.voters.length - 1; at >= 0; at -= 1) w.bigint(message.voters[at]!);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ConfStateCodec: Codec<ConfState, ConfStateInit> = {
  write: writeConfState,
  read: (r) => readConfState(r, newConfState()),
};
export const encodeConfState = (message: ConfStateInit): Uint8Array => encode(ConfStateCodec, message);
export const decodeConfState = (bytes: Uint8Array): ConfState => decode(ConfStateCodec, bytes);

export interface Snapshot {
  index: number;
  term: number;
  conf: ConfState | undefined;
  data: Uint8Array;
}
export type SnapshotInit = Init<Snapshot>;

export const newSnapshot = (): Snapshot => ({ index: 0, term: 0, conf: undefined, data: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSnapshot(r: Reader, message: Snapshot): Snapshot {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.index = r.count();
        break;
      case 16:
        message.term = r.count();
        break;
      case 26: {
        const outer = r.enter();
        message.conf = readConfState(r, message.conf ?? newConfState());
        r.leave(outer);
        break;
      }
      case 34:
        message.data = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeSnapshot(w: Writer, message: SnapshotInit): void {
  if (message.data !== undefined && message.data.length > 0) {
    w.bytes(message.data);
    w.varint(34);
  }
  if (message.conf !== undefined) {
    const end = w.length;
    writeConfState(w, message.conf);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.term !== undefined && message.term !== 0) {
    w.int64(message.term);
    w.varint(16);
  }
  if (message.index !== undefined && message.index !== 0) {
    w.int64(message.index);
    w.varint(8);
  }
}

export const SnapshotCodec: Codec<Snapshot, SnapshotInit> = {
  write: writeSnapshot,
  read: (r) => readSnapshot(r, newSnapshot()),
};
export const encodeSnapshot = (message: SnapshotInit): Uint8Array => encode(SnapshotCodec, message);
export const decodeSnapshot = (bytes: Uint8Array): Snapshot => decode(SnapshotCodec, bytes);

export interface HardState {
  term: number;
  vote: bigint;
  commit: number;
}
export type HardStateInit = Init<HardState>;

export const newHardState = (): HardState => ({ term: 0, vote: 0n, commit: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHardState(r: Reader, message: HardState): HardState {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.term = r.count();
        break;
      case 16:
        message.vote = r.bigUint64();
        break;
      case 24:
        message.commit = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHardState(w: Writer, message: HardStateInit): void {
  if (message.commit !== undefined && message.commit !== 0) {
    w.int64(message.commit);
    w.varint(24);
  }
  if (message.vote !== undefined && message.vote !== 0n) {
    w.bigint(message.vote);
    w.varint(16);
  }
  if (message.term !== undefined && message.term !== 0) {
    w.int64(message.term);
    w.varint(8);
  }
}

export const HardStateCodec: Codec<HardState, HardStateInit> = {
  write: writeHardState,
  read: (r) => readHardState(r, newHardState()),
};
export const encodeHardState = (message: HardStateInit): Uint8Array => encode(HardStateCodec, message);
export const decodeHardState = (bytes: Uint8Array): HardState => decode(HardStateCodec, bytes);

export interface Message {
  from: bigint;
  to: bigint;
  term: number;
  vote: VoteRequest | undefined;
  preVote: VoteRequest | undefined;
  voteResponse: VoteResponse | undefined;
  preVoteResponse: VoteResponse | undefined;
  append: AppendRequest | undefined;
  appendResponse: AppendResponse | undefined;
  heartbeat: Heartbeat | undefined;
  heartbeatResponse: HeartbeatResponse | undefined;
  snapshot: Snapshot | undefined;
  timeoutNow: TimeoutNow | undefined;
  propose: Propose | undefined;
  readIndex: ReadIndex | undefined;
  readIndexResponse: ReadIndexResponse | undefined;
  transferLeader: TransferLeader | undefined;
}
export type MessageInit = Init<Message>;

export const newMessage = (): Message => ({ from: 0n, to: 0n, term: 0, vote: undefined, preVote: undefined, voteResponse: undefined, preVoteResponse: undefined, append: undefined, appendResponse: undefined, heartbeat: undefined, heartbeatResponse: undefined, snapshot: undefined, timeoutNow: undefined, propose: undefined, readIndex: undefined, readIndexResponse: undefined, transferLeader: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMessage(r: Reader, message: Message): Message {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.from = r.bigUint64();
        break;
      case 16:
        message.to = r.bigUint64();
        break;
      case 24:
        message.term = r.count();
        break;
      case 34: {
        const outer = r.enter();
        message.vote = readVoteRequest(r, message.vote ?? newVoteRequest());
        r.leave(outer);
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 42: {
        const outer = r.enter();
        message.preVote = readVoteRequest(r, message.preVote ?? newVoteRequest());
        r.leave(outer);
        message.vote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 50: {
        const outer = r.enter();
        message.voteResponse = readVoteResponse(r, message.voteResponse ?? newVoteResponse());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 58: {
        const outer = r.enter();
        message.preVoteResponse = readVoteResponse(r, message.preVoteResponse ?? newVoteResponse());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 66: {
        const outer = r.enter();
        message.append = readAppendRequest(r, message.append ?? newAppendRequest());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 74: {
        const outer = r.enter();
        message.appendResponse = readAppendResponse(r, message.appendResponse ?? newAppendResponse());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 82: {
        const outer = r.enter();
        message.heartbeat = readHeartbeat(r, message.heartbeat ?? newHeartbeat());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 90: {
        const outer = r.enter();
        message.heartbeatResponse = readHeartbeatResponse(r, message.heartbeatResponse ?? newHeartbeatResponse());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 98: {
        const outer = r.enter();
        message.snapshot = readSnapshot(r, message.snapshot ?? newSnapshot());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 106: {
        const outer = r.enter();
        message.timeoutNow = readTimeoutNow(r, message.timeoutNow ?? newTimeoutNow());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 114: {
        const outer = r.enter();
        message.propose = readPropose(r, message.propose ?? newPropose());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 122: {
        const outer = r.enter();
        message.readIndex = readReadIndex(r, message.readIndex ?? newReadIndex());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndexResponse = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 130: {
        const outer = r.enter();
        message.readIndexResponse = readReadIndexResponse(r, message.readIndexResponse ?? newReadIndexResponse());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.transferLeader = undefined;
        break;
      }
      case 138: {
        const outer = r.enter();
        message.transferLeader = readTransferLeader(r, message.transferLeader ?? newTransferLeader());
        r.leave(outer);
        message.vote = undefined;
        message.preVote = undefined;
        message.voteResponse = undefined;
        message.preVoteResponse = undefined;
        message.append = undefined;
        message.appendResponse = undefined;
        message.heartbeat = undefined;
        message.heartbeatResponse = undefined;
        message.snapshot = undefined;
        message.timeoutNow = undefined;
        message.propose = undefined;
        message.readIndex = undefined;
        message.readIndexResponse = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMessage(w: Writer, message: MessageInit): void {
  if (message.transferLeader !== undefined) {
    const end = w.length;
    writeTransferLeader(w, message.transferLeader);
    w.varint(w.length - end);
    w.varint(138);
  }
  if (message.readIndexResponse !== undefined) {
    const end = w.length;
    writeReadIndexResponse(w, message.readIndexResponse);
    w.varint(w.length - end);
    w.varint(130);
  }
  if (message.readIndex !== undefined) {
    const end = w.length;
    writeReadIndex(w, message.readIndex);
    w.varint(w.length - end);
    w.varint(122);
  }
  if (message.propose !== undefined) {
    const end = w.length;
    writePropose(w, message.propose);
    w.varint(w.length - end);
    w.varint(114);
  }
  if (message.timeoutNow !== undefined) {
    const end = w.length;
    writeTimeoutNow(w, message.timeoutNow);
    w.varint(w.length - end);
    w.varint(106);
  }
  if (message.snapshot !== undefined) {
    const end = w.length;
    writeSnapshot(w, message.snapshot);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (message.heartbeatResponse !== undefined) {
    const end = w.length;
    writeHeartbeatResponse(w, message.heartbeatResponse);
    w.varint(w.length - end);
    w.varint(90);
  }
  if (message.heartbeat !== undefined) {
    const end = w.length;
    writeHeartbeat(w, message.heartbeat);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (message.appendResponse !== undefined) {
    const end = w.length;
    writeAppendResponse(w, message.appendResponse);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (message.append !== undefined) {
    const end = w.length;
    writeAppendRequest(w, message.append);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (message.preVoteResponse !== undefined) {
    const end = w.length;
    writeVoteResponse(w, message.preVoteResponse);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (message.voteResponse !== undefined) {
    const end = w.length;
    writeVoteResponse(w, message.voteResponse);
    w.varint(w.length - end);
    w.varint(50);
  }
  if (message.preVote !== undefined) {
    const end = w.length;
    writeVoteRequest(w, message.preVote);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.vote !== undefined) {
    const end = w.length;
    writeVoteRequest(w, message.vote);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.term !== undefined && message.term !== 0) {
    w.int64(message.term);
    w.varint(24);
  }
  if (message.to !== undefined && message.to !== 0n) {
    w.bigint(message.to);
    w.varint(16);
  }
  if (message.from !== undefined && message.from !== 0n) {
    w.bigint(message.from);
    w.varint(8);
  }
}

export const MessageCodec: Codec<Message, MessageInit> = {
  write: writeMessage,
  read: (r) => readMessage(r, newMessage()),
};
export const encodeMessage = (message: MessageInit): Uint8Array => encode(MessageCodec, message);
export const decodeMessage = (bytes: Uint8Array): Message => decode(MessageCodec, bytes);

export interface VoteRequest {
  lastIndex: number;
  lastTerm: number;
  transfer: boolean;
  committed: EntryId | undefined;
}
export type VoteRequestInit = Init<VoteRequest>;

export const newVoteRequest = (): VoteRequest => ({ lastIndex: 0, lastTerm: 0, transfer: false, committed: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readVoteRequest(r: Reader, message: VoteRequest): VoteRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.lastIndex = r.count();
        break;
      case 16:
        message.lastTerm = r.count();
        break;
      case 24:
        message.transfer = r.bool();
        break;
      case 34: {
        const outer = r.enter();
        message.committed = readEntryId(r, message.committed ?? newEntryId());
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeVoteRequest(w: Writer, message: VoteRequestInit): void {
  if (message.committed !== undefined) {
    const end = w.length;
    writeEntryId(w, message.committed);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.transfer === true) {
    w.varint(message.transfer ? 1 : 0);
    w.varint(24);
  }
  if (message.lastTerm !== undefined && message.lastTerm !== 0) {
    w.int64(message.lastTerm);
    w.varint(16);
  }
  if (message.lastIndex !== undefined && message.lastIndex !== 0) {
    w.int64(message.lastIndex);
    w.varint(8);
  }
}

export const VoteRequestCodec: Codec<VoteRequest, VoteRequestInit> = {
  write: writeVoteRequest,
  read: (r) => readVoteRequest(r, newVoteRequest()),
};
export const encodeVoteRequest = (message: VoteRequestInit): Uint8Array => encode(VoteRequestCodec, message);
export const decodeVoteRequest = (bytes: Uint8Array): VoteRequest => decode(VoteRequestCodec, bytes);

export interface VoteResponse {
  granted: boolean;
  committed: EntryId | undefined;
}
export type VoteResponseInit = Init<VoteResponse>;

export const newVoteResponse = (): VoteResponse => ({ granted: false, committed: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readVoteResponse(r: Reader, message: VoteResponse): VoteResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.granted = r.bool();
        break;
      case 18: {
        const outer = r.enter();
        message.committed = readEntryId(r, message.committed ?? newEntryId());
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeVoteResponse(w: Writer, message: VoteResponseInit): void {
  if (message.committed !== undefined) {
    const end = w.length;
    writeEntryId(w, message.committed);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.granted === true) {
    w.varint(message.granted ? 1 : 0);
    w.varint(8);
  }
}

export const VoteResponseCodec: Codec<VoteResponse, VoteResponseInit> = {
  write: writeVoteResponse,
  read: (r) => readVoteResponse(r, newVoteResponse()),
};
export const encodeVoteResponse = (message: VoteResponseInit): Uint8Array => encode(VoteResponseCodec, message);
export const decodeVoteResponse = (bytes: Uint8Array): VoteResponse => decode(VoteResponseCodec, bytes);

export interface AppendRequest {
  prevIndex: number;
  prevTerm: number;
  entries: Entry[];
  commit: number;
}
export type AppendRequestInit = Init<AppendRequest>;

export const newAppendRequest = (): AppendRequest => ({ prevIndex: 0, prevTerm: 0, entries: [], commit: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAppendRequest(r: Reader, message: AppendRequest): AppendRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.prevIndex = r.count();
        break;
      case 16:
        message.prevTerm = r.count();
        break;
      case 26: {
        const outer = r.enter();
        message.entries.push(readEntry(r, newEntry()));
        r.leave(outer);
        break;
      }
      case 32:
        message.commit = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAppendRequest(w: Writer, message: AppendRequestInit): void {
  if (message.commit !== undefined && message.commit !== 0) {
    w.int64(message.commit);
    w.varint(32);
  }
  if (message.entries !== undefined && message.entries.length > 0) {
    for (let at = message.entries.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeEntry(w, message.entries[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.prevTerm !== undefined && message.prevTerm !== 0) {
    w.int64(message.prevTerm);
    w.varint(16);
  }
  if (message.prevIndex !== undefined && message.prevIndex !== 0) {
    w.int64(message.prevIndex);
    w.varint(8);
  }
}

export const AppendRequestCodec: Codec<AppendRequest, AppendRequestInit> = {
  write: writeAppendRequest,
  read: (r) => readAppendRequest(r, newAppendRequest()),
};
export const encodeAppendRequest = (message: AppendRequestInit): Uint8Array => encode(AppendRequestCodec, message);
export const decodeAppendRequest = (bytes: Uint8Array): AppendRequest => decode(AppendRequestCodec, bytes);

export interface AppendResponse {
  index: number;
  rejection: EntryId | undefined;
}
export type AppendResponseInit = Init<AppendResponse>;

export const newAppendResponse = (): AppendResponse => ({ index: 0, rejection: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAppendResponse(r: Reader, message: AppendResponse): AppendResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.index = r.count();
        break;
      case 18: {
        const outer = r.enter();
        message.rejection = readEntryId(r, message.rejection ?? newEntryId());
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAppendResponse(w: Writer, message: AppendResponseInit): void {
  if (message.rejection !== undefined) {
    const end = w.length;
    writeEntryId(w, message.rejection);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.index !== undefined && message.index !== 0) {
    w.int64(message.index);
    w.varint(8);
  }
}

export const AppendResponseCodec: Codec<AppendResponse, AppendResponseInit> = {
  write: writeAppendResponse,
  read: (r) => readAppendResponse(r, newAppendResponse()),
};
export const encodeAppendResponse = (message: AppendResponseInit): Uint8Array => encode(AppendResponseCodec, message);
export const decodeAppendResponse = (bytes: Uint8Array): AppendResponse => decode(AppendResponseCodec, bytes);

export interface EntryId {
  index: number;
  term: number;
}
export type EntryIdInit = Init<EntryId>;

export const newEntryId = (): EntryId => ({ index: 0, term: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readEntryId(r: Reader, message: EntryId): EntryId {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.index = r.count();
        break;
      case 16:
        message.term = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeEntryId(w: Writer, message: EntryIdInit): void {
  if (message.term !== undefined && message.term !== 0) {
    w.int64(message.term);
    w.varint(16);
  }
  if (message.index !== undefined && message.index !== 0) {
    w.int64(message.index);
    w.varint(8);
  }
}

export const EntryIdCodec: Codec<EntryId, EntryIdInit> = {
  write: writeEntryId,
  read: (r) => readEntryId(r, newEntryId()),
};
export const encodeEntryId = (message: EntryIdInit): Uint8Array => encode(EntryIdCodec, message);
export const decodeEntryId = (bytes: Uint8Array): EntryId => decode(EntryIdCodec, bytes);

export interface Heartbeat {
  commit: number;
  readRound: number;
}
export type HeartbeatInit = Init<Heartbeat>;

export const newHeartbeat = (): Heartbeat => ({ commit: 0, readRound: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHeartbeat(r: Reader, message: Heartbeat): Heartbeat {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.commit = r.count();
        break;
      case 16:
        message.readRound = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHeartbeat(w: Writer, message: HeartbeatInit): void {
  if (message.readRound !== undefined && message.readRound !== 0) {
    w.int64(message.readRound);
    w.varint(16);
  }
  if (message.commit !== undefined && message.commit !== 0) {
    w.int64(message.commit);
    w.varint(8);
  }
}

export const HeartbeatCodec: Codec<Heartbeat, HeartbeatInit> = {
  write: writeHeartbeat,
  read: (r) => readHeartbeat(r, newHeartbeat()),
};
export const encodeHeartbeat = (message: HeartbeatInit): Uint8Array => encode(HeartbeatCodec, message);
export const decodeHeartbeat = (bytes: Uint8Array): Heartbeat => decode(HeartbeatCodec, bytes);

export interface HeartbeatResponse {
  readRound: number;
}
export type HeartbeatResponseInit = Init<HeartbeatResponse>;

export const newHeartbeatResponse = (): HeartbeatResponse => ({ readRound: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHeartbeatResponse(r: Reader, message: HeartbeatResponse): HeartbeatResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.readRound = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHeartbeatResponse(w: Writer, message: HeartbeatResponseInit): void {
  if (message.readRound !== undefined && message.readRound !== 0) {
    w.int64(message.readRound);
    w.varint(8);
  }
}

export const HeartbeatResponseCodec: Codec<HeartbeatResponse, HeartbeatResponseInit> = {
  write: writeHeartbeatResponse,
  read: (r) => readHeartbeatResponse(r, newHeartbeatResponse()),
};
export const encodeHeartbeatResponse = (message: HeartbeatResponseInit): Uint8Array => encode(HeartbeatResponseCodec, message);
export const decodeHeartbeatResponse = (bytes: Uint8Array): HeartbeatResponse => decode(HeartbeatResponseCodec, bytes);

export interface TimeoutNow {
}
export type TimeoutNowInit = Init<TimeoutNow>;

export const newTimeoutNow = (): TimeoutNow => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTimeoutNow(r: Reader, message: TimeoutNow): TimeoutNow {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTimeoutNow(_w: Writer, _message: TimeoutNowInit): void {
}

export const TimeoutNowCodec: Codec<TimeoutNow, TimeoutNowInit> = {
  write: writeTimeoutNow,
  read: (r) => readTimeoutNow(r, newTimeoutNow()),
};
export const encodeTimeoutNow = (message: TimeoutNowInit): Uint8Array => encode(TimeoutNowCodec, message);
export const decodeTimeoutNow = (bytes: Uint8Array): TimeoutNow => decode(TimeoutNowCodec, bytes);

export interface Propose {
  payloads: Payload[];
}
export type ProposeInit = Init<Propose>;

export const newPropose = (): Propose => ({ payloads: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPropose(r: Reader, message: Propose): Propose {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.payloads.push(readPayload(r, newPayload()));
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePropose(w: Writer, message: ProposeInit): void {
  if (message.payloads !== undefined && message.payloads.length > 0) {
    for (let at = message.payloads.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writePayload(w, message.payloads[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const ProposeCodec: Codec<Propose, ProposeInit> = {
  write: writePropose,
  read: (r) => readPropose(r, newPropose()),
};
export const encodePropose = (message: ProposeInit): Uint8Array => encode(ProposeCodec, message);
export const decodePropose = (bytes: Uint8Array): Propose => decode(ProposeCodec, bytes);

export interface Payload {
  data: Uint8Array | undefined;
  change: ConfChange | undefined;
}
export type PayloadInit = Init<Payload>;

export const newPayload = (): Payload => ({ data: undefined, change: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPayload(r: Reader, message: Payload): Payload {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.data = r.bytes();
        message.change = undefined;
        break;
      case 18: {
        const outer = r.enter();
        message.change = readConfChange(r, message.change ?? newConfChange());
        r.leave(outer);
        message.data = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePayload(w: Writer, message: PayloadInit): void {
  if (message.change !== undefined) {
    const end = w.length;
    writeConfChange(w, message.change);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.data !== undefined) {
    w.bytes(message.data);
    w.varint(10);
  }
}

export const PayloadCodec: Codec<Payload, PayloadInit> = {
  write: writePayload,
  read: (r) => readPayload(r, newPayload()),
};
export const encodePayload = (message: PayloadInit): Uint8Array => encode(PayloadCodec, message);
export const decodePayload = (bytes: Uint8Array): Payload => decode(PayloadCodec, bytes);

export interface ReadIndex {
  context: Uint8Array;
}
export type ReadIndexInit = Init<ReadIndex>;

export const newReadIndex = (): ReadIndex => ({ context: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readReadIndex(r: Reader, message: ReadIndex): ReadIndex {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.context = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeReadIndex(w: Writer, message: ReadIndexInit): void {
  if (message.context !== undefined && message.context.length > 0) {
    w.bytes(message.context);
    w.varint(10);
  }
}

export const ReadIndexCodec: Codec<ReadIndex, ReadIndexInit> = {
  write: writeReadIndex,
  read: (r) => readReadIndex(r, newReadIndex()),
};
export const encodeReadIndex = (message: ReadIndexInit): Uint8Array => encode(ReadIndexCodec, message);
export const decodeReadIndex = (bytes: Uint8Array): ReadIndex => decode(ReadIndexCodec, bytes);

export interface ReadIndexResponse {
  index: number;
  context: Uint8Array;
}
export type ReadIndexResponseInit = Init<ReadIndexResponse>;

export const newReadIndexResponse = (): ReadIndexResponse => ({ index: 0, context: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readReadIndexResponse(r: Reader, message: ReadIndexResponse): ReadIndexResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.index = r.count();
        break;
      case 18:
        message.context = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeReadIndexResponse(w: Writer, message: ReadIndexResponseInit): void {
  if (message.context !== undefined && message.context.length > 0) {
    w.bytes(message.context);
    w.varint(18);
  }
  if (message.index !== undefined && message.index !== 0) {
    w.int64(message.index);
    w.varint(8);
  }
}

export const ReadIndexResponseCodec: Codec<ReadIndexResponse, ReadIndexResponseInit> = {
  write: writeReadIndexResponse,
  read: (r) => readReadIndexResponse(r, newReadIndexResponse()),
};
export const encodeReadIndexResponse = (message: ReadIndexResponseInit): Uint8Array => encode(ReadIndexResponseCodec, message);
export const decodeReadIndexResponse = (bytes: Uint8Array): ReadIndexResponse => decode(ReadIndexResponseCodec, bytes);

export interface TransferLeader {
  target: bigint;
}
export type TransferLeaderInit = Init<TransferLeader>;

export const newTransferLeader = (): TransferLeader => ({ target: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTransferLeader(r: Reader, message: TransferLeader): TransferLeader {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.target = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTransferLeader(w: Writer, message: TransferLeaderInit): void {
  if (message.target !== undefined && message.target !== 0n) {
    w.bigint(message.target);
    w.varint(8);
  }
}

export const TransferLeaderCodec: Codec<TransferLeader, TransferLeaderInit> = {
  write: writeTransferLeader,
  read: (r) => readTransferLeader(r, newTransferLeader()),
};
export const encodeTransferLeader = (message: TransferLeaderInit): Uint8Array => encode(TransferLeaderCodec, message);
export const decodeTransferLeader = (bytes: Uint8Array): TransferLeader => decode(TransferLeaderCodec, bytes);
