// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';

export interface Member {
  id: bigint;
  name: string;
  peerUrls: string[];
  clientUrls: string[];
  isLearner: boolean;
}
export type MemberInit = Init<Member>;

export const newMember = (): Member => ({ id: 0n, name: '', peerUrls: [], clientUrls: [], isLearner: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMember(r: Reader, message: Member): Member {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.bigUint64();
        break;
      case 18:
        message.name = r.string();
        break;
      case 26:
        message.peerUrls.push(r.string());
        break;
      case 34:
        message.clientUrls.push(r.string());
        break;
      case 40:
        message.isLearner = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMember(w: Writer, message: MemberInit): void {
  if (message.isLearner === true) {
    w.varint(message.isLearner ? 1 : 0);
    w.varint(40);
  }
  if (message.clientUrls !== undefined && message.clientUrls.length > 0) {
    for (let at = message.clientUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.clientUrls[at]!);
      w.varint(34);
    }
  }
  if (message.peerUrls !== undefined && message.peerUrls.length > 0) {
    for (let at = message.peerUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.peerUrls[at]!);
      w.varint(26);
    }
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(18);
  }
  if (message.id !== undefined && message.id !== 0n) {
    w.bigint(message.id);
    w.varint(8);
  }
}

export const MemberCodec: Codec<Member, MemberInit> = {
  write: writeMember,
  read: (r) => readMember(r, newMember()),
};
export const encodeMember = (message: MemberInit): Uint8Array => encode(MemberCodec, message);
export const decodeMember = (bytes: Uint8Array): Member => decode(MemberCodec, bytes);

export interface Leadership {
  epoch: number;
  holder: bigint;
  segment: number;
  position: number;
}
export type LeadershipInit = Init<Leadership>;

export const newLeadership = (): Leadership => ({ epoch: 0, holder: 0n, segment: 0, position: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeadership(r: Reader, message: Leadership): Leadership {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.epoch = r.count();
        break;
      case 16:
        message.holder = r.bigUint64();
        break;
      case 24:
        message.segment = r.count();
        break;
      case 32:
        message.position = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeadership(w: Writer, message: LeadershipInit): void {
  if (message.position !== undefined && message.position !== 0) {
    w.int64(message.position);
    w.varint(32);
  }
  if (message.segment !== undefined && message.segment !== 0) {
    w.int64(message.segment);
    w.varint(24);
  }
  if (message.holder !== undefined && message.holder !== 0n) {
    w.bigint(message.holder);
    w.varint(16);
  }
  if (message.epoch !== undefined && message.epoch !== 0) {
    w.int64(message.epoch);
    w.varint(8);
  }
}

export const LeadershipCodec: Codec<Leadership, LeadershipInit> = {
  write: writeLeadership,
  read: (r) => readLeadership(r, newLeadership()),
};
export const encodeLeadership = (message: LeadershipInit): Uint8Array => encode(LeadershipCodec, message);
export const decodeLeadership = (bytes: Uint8Array): Leadership => decode(LeadershipCodec, bytes);

export interface Setting {
  name: string;
  value: Uint8Array;
}
export type SettingInit = Init<Setting>;

export const newSetting = (): Setting => ({ name: '', value: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSetting(r: Reader, message: Setting): Setting {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      case 18:
        message.value = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeSetting(w: Writer, message: SettingInit): void {
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(18);
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const SettingCodec: Codec<Setting, SettingInit> = {
  write: writeSetting,
  read: (r) => readSetting(r, newSetting()),
};
export const encodeSetting = (message: SettingInit): Uint8Array => encode(SettingCodec, message);
export const decodeSetting = (bytes: Uint8Array): Setting => decode(SettingCodec, bytes);

export interface ClusterState {
  clusterId: bigint;
  members: Member[];
  removed: bigint[];
  settings: Setting[];
  leadership: Leadership | undefined;
  removedMembers: RemovedMember[];
}
export type ClusterStateInit = Init<ClusterState>;

export const newClusterState = (): ClusterState => ({ clusterId: 0n, members: [], removed: [], settings: [], leadership: undefined, removedMembers: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readClusterState(r: Reader, message: ClusterState): ClusterState {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.clusterId = r.bigUint64();
        break;
      case 18: {
        const outer = r.enter();
        message.members.push(readMember(r, newMember()));
        r.leave(outer);
        break;
      }
      case 24:
        message.removed.push(r.bigUint64());
        break;
      case 26: {
        const outer = r.enterList();
        while (r.more()) message.removed.push(r.bigUint64());
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.settings.push(readSetting(r, newSetting()));
        r.leave(outer);
        break;
      }
      case 42: {
        const outer = r.enter();
        message.leadership = readLeadership(r, message.leadership ?? newLeadership());
        r.leave(outer);
        break;
      }
      case 50: {
        const outer = r.enter();
        message.removedMembers.push(readRemovedMember(r, newRemovedMember()));
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
export function writeClusterState(w: Writer, message: ClusterStateInit): void {
  if (message.removedMembers !== undefined && message.removedMembers.length > 0) {
    for (let at = message.removedMembers.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeRemovedMember(w, message.removedMembers[at]!);
      w.varint(w.length - end);
      w.varint(50);
    }
  }
  if (message.leadership !== undefined) {
    const end = w.length;
    writeLeadership(w, message.leadership);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.settings !== undefined && message.settings.length > 0) {
    for (let at = message.settings.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeSetting(w, message.settings[at]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (message.removed !== undefined && message.removed.length > 0) {
    const end = w.length;
    for (let at = message.removed.length - 1; at >= 0; at -= 1) w.bigint(message.removed[at]!);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.members !== undefined && message.members.length > 0) {
    for (let at = message.members.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeMember(w, message.members[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.clusterId !== undefined && message.clusterId !== 0n) {
    w.bigint(message.clusterId);
    w.varint(8);
  }
}

export const ClusterStateCodec: Codec<ClusterState, ClusterStateInit> = {
  write: writeClusterState,
  read: (r) => readClusterState(r, newClusterState()),
};
export const encodeClusterState = (message: ClusterStateInit): Uint8Array => encode(ClusterStateCodec, message);
export const decodeClusterState = (bytes: Uint8Array): ClusterState => decode(ClusterStateCodec, bytes);

export interface RemovedMember {
  id: bigint;
  peerUrls: string[];
}
export type RemovedMemberInit = Init<RemovedMember>;

export const newRemovedMember = (): RemovedMember => ({ id: 0n, peerUrls: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRemovedMember(r: Reader, message: RemovedMember): RemovedMember {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.bigUint64();
        break;
      case 18:
        message.peerUrls.push(r.string());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRemovedMember(w: Writer, message: RemovedMemberInit): void {
  if (message.peerUrls !== undefined && message.peerUrls.length > 0) {
    for (let at = message.peerUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.peerUrls[at]!);
      w.varint(18);
    }
  }
  if (message.id !== undefined && message.id !== 0n) {
    w.bigint(message.id);
    w.varint(8);
  }
}

export const RemovedMemberCodec: Codec<RemovedMember, RemovedMemberInit> = {
  write: writeRemovedMember,
  read: (r) => readRemovedMember(r, newRemovedMember()),
};
export const encodeRemovedMember = (message: RemovedMemberInit): Uint8Array => encode(RemovedMemberCodec, message);
export const decodeRemovedMember = (bytes: Uint8Array): RemovedMember => decode(RemovedMemberCodec, bytes);

export interface Attributes {
  member: bigint;
  name: string;
  clientUrls: string[];
}
export type AttributesInit = Init<Attributes>;

export const newAttributes = (): Attributes => ({ member: 0n, name: '', clientUrls: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAttributes(r: Reader, message: Attributes): Attributes {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.member = r.bigUint64();
        break;
      case 18:
        message.name = r.string();
        break;
      case 26:
        message.clientUrls.push(r.string());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAttributes(w: Writer, message: AttributesInit): void {
  if (message.clientUrls !== undefined && message.clientUrls.length > 0) {
    for (let at = message.clientUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.clientUrls[at]!);
      w.varint(26);
    }
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(18);
  }
  if (message.member !== undefined && message.member !== 0n) {
    w.bigint(message.member);
    w.varint(8);
  }
}

export const AttributesCodec: Codec<Attributes, AttributesInit> = {
  write: writeAttributes,
  read: (r) => readAttributes(r, newAttributes()),
};
export const encodeAttributes = (message: AttributesInit): Uint8Array => encode(AttributesCodec, message);
export const decodeAttributes = (bytes: Uint8Array): Attributes => decode(AttributesCodec, bytes);

export interface Command {
  leadership: Leadership | undefined;
  attributes: Attributes | undefined;
  setting: Setting | undefined;
}
export type CommandInit = Init<Command>;

export const newCommand = (): Command => ({ leadership: undefined, attributes: undefined, setting: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCommand(r: Reader, message: Command): Command {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.leadership = readLeadership(r, message.leadership ?? newLeadership());
        r.leave(outer);
        message.attributes = undefined;
        message.setting = undefined;
        break;
      }
      case 18: {
        const outer = r.enter();
        message.attributes = readAttributes(r, message.attributes ?? newAttributes());
        r.leave(outer);
        message.leadership = undefined;
        message.setting = undefined;
        break;
      }
      case 26: {
        const outer = r.enter();
        message.setting = readSetting(r, message.setting ?? newSetting());
        r.leave(outer);
        message.leadership = undefined;
        message.attributes = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCommand(w: Writer, message: CommandInit): void {
  if (message.setting !== undefined) {
    const end = w.length;
    writeSetting(w, message.setting);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.attributes !== undefined) {
    const end = w.length;
    writeAttributes(w, message.attributes);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.leadership !== undefined) {
    const end = w.length;
    writeLeadership(w, message.leadership);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CommandCodec: Codec<Command, CommandInit> = {
  write: writeCommand,
  read: (r) => readCommand(r, newCommand()),
};
export const encodeCommand = (message: CommandInit): Uint8Array => encode(CommandCodec, message);
export const decodeCommand = (bytes: Uint8Array): Command => decode(CommandCodec, bytes);

export interface MemberChange {
  peerUrls: string[];
}
export type MemberChangeInit = Init<MemberChange>;

export const newMemberChange = (): MemberChange => ({ peerUrls: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberChange(r: Reader, message: MemberChange): MemberChange {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.peerUrls.push(r.string());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberChange(w: Writer, message: MemberChangeInit): void {
  if (message.peerUrls !== undefined && message.peerUrls.length > 0) {
    for (let at = message.peerUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.peerUrls[at]!);
      w.varint(10);
    }
  }
}

export const MemberChangeCodec: Codec<MemberChange, MemberChangeInit> = {
  write: writeMemberChange,
  read: (r) => readMemberChange(r, newMemberChange()),
};
export const encodeMemberChange = (message: MemberChangeInit): Uint8Array => encode(MemberChangeCodec, message);
export const decodeMemberChange = (bytes: Uint8Array): MemberChange => decode(MemberChangeCodec, bytes);

export interface PeerMessage {
  clusterId: bigint;
  raft: Uint8Array | undefined;
  removed: bigint | undefined;
  storageUnhealthy: boolean;
  leaving: Leaving | undefined;
}
export type PeerMessageInit = Init<PeerMessage>;

export const newPeerMessage = (): PeerMessage => ({ clusterId: 0n, raft: undefined, removed: undefined, storageUnhealthy: false, leaving: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPeerMessage(r: Reader, message: PeerMessage): PeerMessage {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.clusterId = r.bigUint64();
        break;
      case 18:
        message.raft = r.bytes();
        message.removed = undefined;
        message.leaving = undefined;
        break;
      case 24:
        message.removed = r.bigUint64();
        message.raft = undefined;
        message.leaving = undefined;
        break;
      case 32:
        message.storageUnhealthy = r.bool();
        break;
      case 42: {
        const outer = r.enter();
        message.leaving = readLeaving(r, message.leaving ?? newLeaving());
        r.leave(outer);
        message.raft = undefined;
        message.removed = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePeerMessage(w: Writer, message: PeerMessageInit): void {
  if (message.leaving !== undefined) {
    const end = w.length;
    writeLeaving(w, message.leaving);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.storageUnhealthy === true) {
    w.varint(message.storageUnhealthy ? 1 : 0);
    w.varint(32);
  }
  if (message.removed !== undefined) {
    w.bigint(message.removed);
    w.varint(24);
  }
  if (message.raft !== undefined) {
    w.bytes(message.raft);
    w.varint(18);
  }
  if (message.clusterId !== undefined && message.clusterId !== 0n) {
    w.bigint(message.clusterId);
    w.varint(8);
  }
}

export const PeerMessageCodec: Codec<PeerMessage, PeerMessageInit> = {
  write: writePeerMessage,
  read: (r) => readPeerMessage(r, newPeerMessage()),
};
export const encodePeerMessage = (message: PeerMessageInit): Uint8Array => encode(PeerMessageCodec, message);
export const decodePeerMessage = (bytes: Uint8Array): PeerMessage => decode(PeerMessageCodec, bytes);

export interface Leaving {
  from: bigint;
  to: bigint;
}
export type LeavingInit = Init<Leaving>;

export const newLeaving = (): Leaving => ({ from: 0n, to: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaving(r: Reader, message: Leaving): Leaving {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.from = r.bigUint64();
        break;
      case 16:
        message.to = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaving(w: Writer, message: LeavingInit): void {
  if (message.to !== undefined && message.to !== 0n) {
    w.bigint(message.to);
    w.varint(16);
  }
  if (message.from !== undefined && message.from !== 0n) {
    w.bigint(message.from);
    w.varint(8);
  }
}

export const LeavingCodec: Codec<Leaving, LeavingInit> = {
  write: writeLeaving,
  read: (r) => readLeaving(r, newLeaving()),
};
export const encodeLeaving = (message: LeavingInit): Uint8Array => encode(LeavingCodec, message);
export const decodeLeaving = (bytes: Uint8Array): Leaving => decode(LeavingCodec, bytes);

export interface RaftState {
  hardState: Uint8Array;
  snapshot: Uint8Array;
  entries: Uint8Array[];
}
export type RaftStateInit = Init<RaftState>;

export const newRaftState = (): RaftState => ({ hardState: EMPTY_BYTES, snapshot: EMPTY_BYTES, entries: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRaftState(r: Reader, message: RaftState): RaftState {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.hardState = r.bytes();
        break;
      case 18:
        message.snapshot = r.bytes();
        break;
      case 26:
        message.entries.push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRaftState(w: Writer, message: RaftStateInit): void {
  if (message.entries !== undefined && message.entries.length > 0) {
    for (let at = message.entries.length - 1; at >= 0; at -= 1) {
      w.bytes(message.entries[at]!);
      w.varint(26);
    }
  }
  if (message.snapshot !== undefined && message.snapshot.length > 0) {
    w.bytes(message.snapshot);
    w.varint(18);
  }
  if (message.hardState !== undefined && message.hardState.length > 0) {
    w.bytes(message.hardState);
    w.varint(10);
  }
}

export const RaftStateCodec: Codec<RaftState, RaftStateInit> = {
  write: writeRaftState,
  read: (r) => readRaftState(r, newRaftState()),
};
export const encodeRaftState = (message: RaftStateInit): Uint8Array => encode(RaftStateCodec, message);
export const decodeRaftState = (bytes: Uint8Array): RaftState => decode(RaftStateCodec, bytes);
