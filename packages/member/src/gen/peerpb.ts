// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';

export const MemberChangeKind = { ADD: 0, REMOVE: 1, UPDATE: 2, PROMOTE: 3 } as const;

export interface Request {
  member: bigint;
  sequence: number;
  settled: number;
  user: string;
  authRevision: number;
  timeoutMs: number;
  epoch: number;
  sentIn: number;
  recalls: boolean;
  txn: Uint8Array | undefined;
  compact: Compact | undefined;
  leaseGrant: LeaseGrant | undefined;
  leaseRevoke: LeaseRevoke | undefined;
  leaseKeepAlive: LeaseKeepAlive | undefined;
  leaseTimeToLive: LeaseTimeToLive | undefined;
  alarm: AlarmChange | undefined;
  readIndex: ReadIndex | undefined;
  memberChange: MemberChange | undefined;
  applied: Applied | undefined;
  hashKv: HashKv | undefined;
  trace: Uint8Array;
  authChange: AuthChange | undefined;
  login: Login | undefined;
  node: boolean;
}
export type RequestInit = Init<Request>;

export const newRequest = (): Request => ({ member: 0n, sequence: 0, settled: 0, user: '', authRevision: 0, timeoutMs: 0, epoch: 0, sentIn: 0, recalls: false, txn: undefined, compact: undefined, leaseGrant: undefined, leaseRevoke: undefined, leaseKeepAlive: undefined, leaseTimeToLive: undefined, alarm: undefined, readIndex: undefined, memberChange: undefined, applied: undefined, hashKv: undefined, trace: EMPTY_BYTES, authChange: undefined, login: undefined, node: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRequest(r: Reader, message: Request): Request {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.member = r.bigUint64();
        break;
      case 16:
        message.sequence = r.uint64();
        break;
      case 24:
        message.settled = r.uint64();
        break;
      case 34:
        message.user = r.string();
        break;
      case 40:
        message.authRevision = r.uint64();
        break;
      case 48:
        message.timeoutMs = r.uint64();
        break;
      case 56:
        message.epoch = r.uint64();
        break;
      case 64:
        message.sentIn = r.uint64();
        break;
      case 72:
        message.recalls = r.bool();
        break;
      case 82:
        message.txn = r.bytes();
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      case 90: {
        const outer = r.enter();
        message.compact = readCompact(r, message.compact ?? newCompact());
        r.leave(outer);
        message.txn = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 98: {
        const outer = r.enter();
        message.leaseGrant = readLeaseGrant(r, message.leaseGrant ?? newLeaseGrant());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 106: {
        const outer = r.enter();
        message.leaseRevoke = readLeaseRevoke(r, message.leaseRevoke ?? newLeaseRevoke());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 114: {
        const outer = r.enter();
        message.leaseKeepAlive = readLeaseKeepAlive(r, message.leaseKeepAlive ?? newLeaseKeepAlive());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 122: {
        const outer = r.enter();
        message.leaseTimeToLive = readLeaseTimeToLive(r, message.leaseTimeToLive ?? newLeaseTimeToLive());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 130: {
        const outer = r.enter();
        message.alarm = readAlarmChange(r, message.alarm ?? newAlarmChange());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 138: {
        const outer = r.enter();
        message.readIndex = readReadIndex(r, message.readIndex ?? newReadIndex());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 146: {
        const outer = r.enter();
        message.memberChange = readMemberChange(r, message.memberChange ?? newMemberChange());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 154: {
        const outer = r.enter();
        message.applied = readApplied(r, message.applied ?? newApplied());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 162: {
        const outer = r.enter();
        message.hashKv = readHashKv(r, message.hashKv ?? newHashKv());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.authChange = undefined;
        message.login = undefined;
        break;
      }
      case 170:
        message.trace = r.bytes();
        break;
      case 178: {
        const outer = r.enter();
        message.authChange = readAuthChange(r, message.authChange ?? newAuthChange());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.login = undefined;
        break;
      }
      case 186: {
        const outer = r.enter();
        message.login = readLogin(r, message.login ?? newLogin());
        r.leave(outer);
        message.txn = undefined;
        message.compact = undefined;
        message.leaseGrant = undefined;
        message.leaseRevoke = undefined;
        message.leaseKeepAlive = undefined;
        message.leaseTimeToLive = undefined;
        message.alarm = undefined;
        message.readIndex = undefined;
        message.memberChange = undefined;
        message.applied = undefined;
        message.hashKv = undefined;
        message.authChange = undefined;
        break;
      }
      case 192:
        message.node = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRequest(w: Writer, message: RequestInit): void {
  if (message.node === true) {
    w.varint(message.node ? 1 : 0);
    w.varint(192);
  }
  if (message.login !== undefined) {
    const end = w.length;
    writeLogin(w, message.login);
    w.varint(w.length - end);
    w.varint(186);
  }
  if (message.authChange !== undefined) {
    const end = w.length;
    writeAuthChange(w, message.authChange);
    w.varint(w.length - end);
    w.varint(178);
  }
  if (message.trace !== undefined && message.trace.length > 0) {
    w.bytes(message.trace);
    w.varint(170);
  }
  if (message.hashKv !== undefined) {
    const end = w.length;
    writeHashKv(w, message.hashKv);
    w.varint(w.length - end);
    w.varint(162);
  }
  if (message.applied !== undefined) {
    const end = w.length;
    writeApplied(w, message.applied);
    w.varint(w.length - end);
    w.varint(154);
  }
  if (message.memberChange !== undefined) {
    const end = w.length;
    writeMemberChange(w, message.memberChange);
    w.varint(w.length - end);
    w.varint(146);
  }
  if (message.readIndex !== undefined) {
    const end = w.length;
    writeReadIndex(w, message.readIndex);
    w.varint(w.length - end);
    w.varint(138);
  }
  if (message.alarm !== undefined) {
    const end = w.length;
    writeAlarmChange(w, message.alarm);
    w.varint(w.length - end);
    w.varint(130);
  }
  if (message.leaseTimeToLive !== undefined) {
    const end = w.length;
    writeLeaseTimeToLive(w, message.leaseTimeToLive);
    w.varint(w.length - end);
    w.varint(122);
  }
  if (message.leaseKeepAlive !== undefined) {
    const end = w.length;
    writeLeaseKeepAlive(w, message.leaseKeepAlive);
    w.varint(w.length - end);
    w.varint(114);
  }
  if (message.leaseRevoke !== undefined) {
    const end = w.length;
    writeLeaseRevoke(w, message.leaseRevoke);
    w.varint(w.length - end);
    w.varint(106);
  }
  if (message.leaseGrant !== undefined) {
    const end = w.length;
    writeLeaseGrant(w, message.leaseGrant);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (message.compact !== undefined) {
    const end = w.length;
    writeCompact(w, message.compact);
    w.varint(w.length - end);
    w.varint(90);
  }
  if (message.txn !== undefined) {
    w.bytes(message.txn);
    w.varint(82);
  }
  if (message.recalls === true) {
    w.varint(message.recalls ? 1 : 0);
    w.varint(72);
  }
  if (message.sentIn !== undefined && message.sentIn !== 0) {
    w.uint64(message.sentIn);
    w.varint(64);
  }
  if (message.epoch !== undefined && message.epoch !== 0) {
    w.uint64(message.epoch);
    w.varint(56);
  }
  if (message.timeoutMs !== undefined && message.timeoutMs !== 0) {
    w.uint64(message.timeoutMs);
    w.varint(48);
  }
  if (message.authRevision !== undefined && message.authRevision !== 0) {
    w.uint64(message.authRevision);
    w.varint(40);
  }
  if (message.user !== undefined && message.user !== '') {
    w.string(message.user);
    w.varint(34);
  }
  if (message.settled !== undefined && message.settled !== 0) {
    w.uint64(message.settled);
    w.varint(24);
  }
  if (message.sequence !== undefined && message.sequence !== 0) {
    w.uint64(message.sequence);
    w.varint(16);
  }
  if (message.member !== undefined && message.member !== 0n) {
    w.bigint(message.member);
    w.varint(8);
  }
}

export const RequestCodec: Codec<Request, RequestInit> = {
  write: writeRequest,
  read: (r) => readRequest(r, newRequest()),
};
export const encodeRequest = (message: RequestInit): Uint8Array => encode(RequestCodec, message);
export const decodeRequest = (bytes: Uint8Array): Request => decode(RequestCodec, bytes);

export interface AuthChange {
  record: Uint8Array;
}
export type AuthChangeInit = Init<AuthChange>;

export const newAuthChange = (): AuthChange => ({ record: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthChange(r: Reader, message: AuthChange): AuthChange {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.record = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthChange(w: Writer, message: AuthChangeInit): void {
  if (message.record !== undefined && message.record.length > 0) {
    w.bytes(message.record);
    w.varint(10);
  }
}

export const AuthChangeCodec: Codec<AuthChange, AuthChangeInit> = {
  write: writeAuthChange,
  read: (r) => readAuthChange(r, newAuthChange()),
};
export const encodeAuthChange = (message: AuthChangeInit): Uint8Array => encode(AuthChangeCodec, message);
export const decodeAuthChange = (bytes: Uint8Array): AuthChange => decode(AuthChangeCodec, bytes);

export interface Login {
  user: string;
  authRevision: number;
  digest: Uint8Array;
}
export type LoginInit = Init<Login>;

export const newLogin = (): Login => ({ user: '', authRevision: 0, digest: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLogin(r: Reader, message: Login): Login {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.user = r.string();
        break;
      case 16:
        message.authRevision = r.uint64();
        break;
      case 26:
        message.digest = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLogin(w: Writer, message: LoginInit): void {
  if (message.digest !== undefined && message.digest.length > 0) {
    w.bytes(message.digest);
    w.varint(26);
  }
  if (message.authRevision !== undefined && message.authRevision !== 0) {
    w.uint64(message.authRevision);
    w.varint(16);
  }
  if (message.user !== undefined && message.user !== '') {
    w.string(message.user);
    w.varint(10);
  }
}

export const LoginCodec: Codec<Login, LoginInit> = {
  write: writeLogin,
  read: (r) => readLogin(r, newLogin()),
};
export const encodeLogin = (message: LoginInit): Uint8Array => encode(LoginCodec, message);
export const decodeLogin = (bytes: Uint8Array): Login => decode(LoginCodec, bytes);

export interface HashKv {
  revision: number;
  compare: boolean;
  expected: number;
}
export type HashKvInit = Init<HashKv>;

export const newHashKv = (): HashKv => ({ revision: 0, compare: false, expected: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashKv(r: Reader, message: HashKv): HashKv {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.revision = r.int64();
        break;
      case 16:
        message.compare = r.bool();
        break;
      case 24:
        message.expected = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHashKv(w: Writer, message: HashKvInit): void {
  if (message.expected !== undefined && message.expected !== 0) {
    w.varint(message.expected);
    w.varint(24);
  }
  if (message.compare === true) {
    w.varint(message.compare ? 1 : 0);
    w.varint(16);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(8);
  }
}

export const HashKvCodec: Codec<HashKv, HashKvInit> = {
  write: writeHashKv,
  read: (r) => readHashKv(r, newHashKv()),
};
export const encodeHashKv = (message: HashKvInit): Uint8Array => encode(HashKvCodec, message);
export const decodeHashKv = (bytes: Uint8Array): HashKv => decode(HashKvCodec, bytes);

export interface Compact {
  revision: number;
}
export type CompactInit = Init<Compact>;

export const newCompact = (): Compact => ({ revision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCompact(r: Reader, message: Compact): Compact {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.revision = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCompact(w: Writer, message: CompactInit): void {
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(8);
  }
}

export const CompactCodec: Codec<Compact, CompactInit> = {
  write: writeCompact,
  read: (r) => readCompact(r, newCompact()),
};
export const encodeCompact = (message: CompactInit): Uint8Array => encode(CompactCodec, message);
export const decodeCompact = (bytes: Uint8Array): Compact => decode(CompactCodec, bytes);

export interface LeaseGrant {
  id: bigint;
  ttlSeconds: number;
}
export type LeaseGrantInit = Init<LeaseGrant>;

export const newLeaseGrant = (): LeaseGrant => ({ id: 0n, ttlSeconds: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseGrant(r: Reader, message: LeaseGrant): LeaseGrant {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.bigInt64();
        break;
      case 16:
        message.ttlSeconds = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseGrant(w: Writer, message: LeaseGrantInit): void {
  if (message.ttlSeconds !== undefined && message.ttlSeconds !== 0) {
    w.int64(message.ttlSeconds);
    w.varint(16);
  }
  if (message.id !== undefined && message.id !== 0n) {
    w.bigint(message.id);
    w.varint(8);
  }
}

export const LeaseGrantCodec: Codec<LeaseGrant, LeaseGrantInit> = {
  write: writeLeaseGrant,
  read: (r) => readLeaseGrant(r, newLeaseGrant()),
};
export const encodeLeaseGrant = (message: LeaseGrantInit): Uint8Array => encode(LeaseGrantCodec, message);
export const decodeLeaseGrant = (bytes: Uint8Array): LeaseGrant => decode(LeaseGrantCodec, bytes);

export interface LeaseRevoke {
  id: bigint;
}
export type LeaseRevokeInit = Init<LeaseRevoke>;

export const newLeaseRevoke = (): LeaseRevoke => ({ id: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseRevoke(r: Reader, message: LeaseRevoke): LeaseRevoke {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseRevoke(w: Writer, message: LeaseRevokeInit): void {
  if (message.id !== undefined && message.id !== 0n) {
    w.bigint(message.id);
    w.varint(8);
  }
}

export const LeaseRevokeCodec: Codec<LeaseRevoke, LeaseRevokeInit> = {
  write: writeLeaseRevoke,
  read: (r) => readLeaseRevoke(r, newLeaseRevoke()),
};
export const encodeLeaseRevoke = (message: LeaseRevokeInit): Uint8Array => encode(LeaseRevokeCodec, message);
export const decodeLeaseRevoke = (bytes: Uint8Array): LeaseRevoke => decode(LeaseRevokeCodec, bytes);

export interface LeaseKeepAlive {
  ids: bigint[];
}
export type LeaseKeepAliveInit = Init<LeaseKeepAlive>;

export const newLeaseKeepAlive = (): LeaseKeepAlive => ({ ids: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseKeepAlive(r: Reader, message: LeaseKeepAlive): LeaseKeepAlive {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ids.push(r.bigInt64());
        break;
      case 10: {
        const outer = r.enterList();
        while (r.more()) message.ids.push(r.bigInt64());
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
export function writeLeaseKeepAlive(w: Writer, message: LeaseKeepAliveInit): void {
  if (message.ids !== undefined && message.ids.length > 0) {
    const end = w.length;
    for (let at = message.ids.length - 1; at >= 0; at -= 1) w.bigint(message.ids[at]!);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaseKeepAliveCodec: Codec<LeaseKeepAlive, LeaseKeepAliveInit> = {
  write: writeLeaseKeepAlive,
  read: (r) => readLeaseKeepAlive(r, newLeaseKeepAlive()),
};
export const encodeLeaseKeepAlive = (message: LeaseKeepAliveInit): Uint8Array => encode(LeaseKeepAliveCodec, message);
export const decodeLeaseKeepAlive = (bytes: Uint8Array): LeaseKeepAlive => decode(LeaseKeepAliveCodec, bytes);

export interface LeaseTimeToLive {
  id: bigint;
  keys: boolean;
}
export type LeaseTimeToLiveInit = Init<LeaseTimeToLive>;

export const newLeaseTimeToLive = (): LeaseTimeToLive => ({ id: 0n, keys: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseTimeToLive(r: Reader, message: LeaseTimeToLive): LeaseTimeToLive {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.bigInt64();
        break;
      case 16:
        message.keys = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseTimeToLive(w: Writer, message: LeaseTimeToLiveInit): void {
  if (message.keys === true) {
    w.varint(message.keys ? 1 : 0);
    w.varint(16);
  }
  if (message.id !== undefined && message.id !== 0n) {
    w.bigint(message.id);
    w.varint(8);
  }
}

export const LeaseTimeToLiveCodec: Codec<LeaseTimeToLive, LeaseTimeToLiveInit> = {
  write: writeLeaseTimeToLive,
  read: (r) => readLeaseTimeToLive(r, newLeaseTimeToLive()),
};
export const encodeLeaseTimeToLive = (message: LeaseTimeToLiveInit): Uint8Array => encode(LeaseTimeToLiveCodec, message);
export const decodeLeaseTimeToLive = (bytes: Uint8Array): LeaseTimeToLive => decode(LeaseTimeToLiveCodec, bytes);

export interface AlarmChange {
  member: bigint;
  alarm: number;
  active: boolean;
}
export type AlarmChangeInit = Init<AlarmChange>;

export const newAlarmChange = (): AlarmChange => ({ member: 0n, alarm: 0, active: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAlarmChange(r: Reader, message: AlarmChange): AlarmChange {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.member = r.bigUint64();
        break;
      case 16:
        message.alarm = r.int64();
        break;
      case 24:
        message.active = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAlarmChange(w: Writer, message: AlarmChangeInit): void {
  if (message.active === true) {
    w.varint(message.active ? 1 : 0);
    w.varint(24);
  }
  if (message.alarm !== undefined && message.alarm !== 0) {
    w.int64(message.alarm);
    w.varint(16);
  }
  if (message.member !== undefined && message.member !== 0n) {
    w.bigint(message.member);
    w.varint(8);
  }
}

export const AlarmChangeCodec: Codec<AlarmChange, AlarmChangeInit> = {
  write: writeAlarmChange,
  read: (r) => readAlarmChange(r, newAlarmChange()),
};
export const encodeAlarmChange = (message: AlarmChangeInit): Uint8Array => encode(AlarmChangeCodec, message);
export const decodeAlarmChange = (bytes: Uint8Array): AlarmChange => decode(AlarmChangeCodec, bytes);

export interface ReadIndex {
}
export type ReadIndexInit = Init<ReadIndex>;

export const newReadIndex = (): ReadIndex => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readReadIndex(r: Reader, message: ReadIndex): ReadIndex {
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
export function writeReadIndex(_w: Writer, _message: ReadIndexInit): void {
}

export const ReadIndexCodec: Codec<ReadIndex, ReadIndexInit> = {
  write: writeReadIndex,
  read: (r) => readReadIndex(r, newReadIndex()),
};
export const encodeReadIndex = (message: ReadIndexInit): Uint8Array => encode(ReadIndexCodec, message);
export const decodeReadIndex = (bytes: Uint8Array): ReadIndex => decode(ReadIndexCodec, bytes);

export interface Applied {
}
export type AppliedInit = Init<Applied>;

export const newApplied = (): Applied => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readApplied(r: Reader, message: Applied): Applied {
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
export function writeApplied(_w: Writer, _message: AppliedInit): void {
}

export const AppliedCodec: Codec<Applied, AppliedInit> = {
  write: writeApplied,
  read: (r) => readApplied(r, newApplied()),
};
export const encodeApplied = (message: AppliedInit): Uint8Array => encode(AppliedCodec, message);
export const decodeApplied = (bytes: Uint8Array): Applied => decode(AppliedCodec, bytes);

export interface MemberChange {
  kind: number;
  id: bigint;
  peerUrls: string[];
  learner: boolean;
}
export type MemberChangeInit = Init<MemberChange>;

export const newMemberChange = (): MemberChange => ({ kind: 0, id: 0n, peerUrls: [], learner: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberChange(r: Reader, message: MemberChange): MemberChange {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.kind = r.int32();
        break;
      case 16:
        message.id = r.bigUint64();
        break;
      case 26:
        message.peerUrls.push(r.string());
        break;
      case 32:
        message.learner = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberChange(w: Writer, message: MemberChangeInit): void {
  if (message.learner === true) {
    w.varint(message.learner ? 1 : 0);
    w.varint(32);
  }
  if (message.peerUrls !== undefined && message.peerUrls.length > 0) {
    for (let at = message.peerUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.peerUrls[at]!);
      w.varint(26);
    }
  }
  if (message.id !== undefined && message.id !== 0n) {
    w.bigint(message.id);
    w.varint(16);
  }
  if (message.kind !== undefined && message.kind !== 0) {
    w.int64(message.kind);
    w.varint(8);
  }
}

export const MemberChangeCodec: Codec<MemberChange, MemberChangeInit> = {
  write: writeMemberChange,
  read: (r) => readMemberChange(r, newMemberChange()),
};
export const encodeMemberChange = (message: MemberChangeInit): Uint8Array => encode(MemberChangeCodec, message);
export const decodeMemberChange = (bytes: Uint8Array): MemberChange => decode(MemberChangeCodec, bytes);

export interface Answer {
  error: string;
  position: number;
  revision: number;
  txn: TxnResult | undefined;
  lease: LeaseDetails | undefined;
  renewals: Renewal[];
  changed: boolean;
  epoch: number;
  members: Member[];
  errorText: string;
  recallAfter: number;
  hash: Hash | undefined;
  knowsAuth: boolean;
  raftIndex: number;
}
export type AnswerInit = Init<Answer>;

export const newAnswer = (): Answer => ({ error: '', position: 0, revision: 0, txn: undefined, lease: undefined, renewals: [], changed: false, epoch: 0, members: [], errorText: '', recallAfter: 0, hash: undefined, knowsAuth: false, raftIndex: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAnswer(r: Reader, message: Answer): Answer {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.error = r.string();
        break;
      case 16:
        message.position = r.uint64();
        break;
      case 24:
        message.revision = r.int64();
        break;
      case 34: {
        const outer = r.enter();
        message.txn = readTxnResult(r, message.txn ?? newTxnResult());
        r.leave(outer);
        break;
      }
      case 42: {
        const outer = r.enter();
        message.lease = readLeaseDetails(r, message.lease ?? newLeaseDetails());
        r.leave(outer);
        break;
      }
      case 50: {
        const outer = r.enter();
        message.renewals.push(readRenewal(r, newRenewal()));
        r.leave(outer);
        break;
      }
      case 56:
        message.changed = r.bool();
        break;
      case 64:
        message.epoch = r.uint64();
        break;
      case 74: {
        const outer = r.enter();
        message.members.push(readMember(r, newMember()));
        r.leave(outer);
        break;
      }
      case 82:
        message.errorText = r.string();
        break;
      case 88:
        message.recallAfter = r.int64();
        break;
      case 98: {
        const outer = r.enter();
        message.hash = readHash(r, message.hash ?? newHash());
        r.leave(outer);
        break;
      }
      case 104:
        message.knowsAuth = r.bool();
        break;
      case 112:
        message.raftIndex = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAnswer(w: Writer, message: AnswerInit): void {
  if (message.raftIndex !== undefined && message.raftIndex !== 0) {
    w.uint64(message.raftIndex);
    w.varint(112);
  }
  if (message.knowsAuth === true) {
    w.varint(message.knowsAuth ? 1 : 0);
    w.varint(104);
  }
  if (message.hash !== undefined) {
    const end = w.length;
    writeHash(w, message.hash);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (message.recallAfter !== undefined && message.recallAfter !== 0) {
    w.int64(message.recallAfter);
    w.varint(88);
  }
  if (message.errorText !== undefined && message.errorText !== '') {
    w.string(message.errorText);
    w.varint(82);
  }
  if (message.members !== undefined && message.members.length > 0) {
    for (let at = message.members.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeMember(w, message.members[at]!);
      w.varint(w.length - end);
      w.varint(74);
    }
  }
  if (message.epoch !== undefined && message.epoch !== 0) {
    w.uint64(message.epoch);
    w.varint(64);
  }
  if (message.changed === true) {
    w.varint(message.changed ? 1 : 0);
    w.varint(56);
  }
  if (message.renewals !== undefined && message.renewals.length > 0) {
    for (let at = message.renewals.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeRenewal(w, message.renewals[at]!);
      w.varint(w.length - end);
      w.varint(50);
    }
  }
  if (message.lease !== undefined) {
    const end = w.length;
    writeLeaseDetails(w, message.lease);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.txn !== undefined) {
    const end = w.length;
    writeTxnResult(w, message.txn);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(24);
  }
  if (message.position !== undefined && message.position !== 0) {
    w.uint64(message.position);
    w.varint(16);
  }
  if (message.error !== undefined && message.error !== '') {
    w.string(message.error);
    w.varint(10);
  }
}

export const AnswerCodec: Codec<Answer, AnswerInit> = {
  write: writeAnswer,
  read: (r) => readAnswer(r, newAnswer()),
};
export const encodeAnswer = (message: AnswerInit): Uint8Array => encode(AnswerCodec, message);
export const decodeAnswer = (bytes: Uint8Array): Answer => decode(AnswerCodec, bytes);

export interface Hash {
  hash: number;
}
export type HashInit = Init<Hash>;

export const newHash = (): Hash => ({ hash: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHash(r: Reader, message: Hash): Hash {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.hash = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHash(w: Writer, message: HashInit): void {
  if (message.hash !== undefined && message.hash !== 0) {
    w.varint(message.hash);
    w.varint(8);
  }
}

export const HashCodec: Codec<Hash, HashInit> = {
  write: writeHash,
  read: (r) => readHash(r, newHash()),
};
export const encodeHash = (message: HashInit): Uint8Array => encode(HashCodec, message);
export const decodeHash = (bytes: Uint8Array): Hash => decode(HashCodec, bytes);

export interface Renewal {
  ttlSeconds: number;
  error: string;
  later: boolean;
  errorText: string;
}
export type RenewalInit = Init<Renewal>;

export const newRenewal = (): Renewal => ({ ttlSeconds: 0, error: '', later: false, errorText: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRenewal(r: Reader, message: Renewal): Renewal {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ttlSeconds = r.int64();
        break;
      case 18:
        message.error = r.string();
        break;
      case 24:
        message.later = r.bool();
        break;
      case 34:
        message.errorText = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRenewal(w: Writer, message: RenewalInit): void {
  if (message.errorText !== undefined && message.errorText !== '') {
    w.string(message.errorText);
    w.varint(34);
  }
  if (message.later === true) {
    w.varint(message.later ? 1 : 0);
    w.varint(24);
  }
  if (message.error !== undefined && message.error !== '') {
    w.string(message.error);
    w.varint(18);
  }
  if (message.ttlSeconds !== undefined && message.ttlSeconds !== 0) {
    w.int64(message.ttlSeconds);
    w.varint(8);
  }
}

export const RenewalCodec: Codec<Renewal, RenewalInit> = {
  write: writeRenewal,
  read: (r) => readRenewal(r, newRenewal()),
};
export const encodeRenewal = (message: RenewalInit): Uint8Array => encode(RenewalCodec, message);
export const decodeRenewal = (bytes: Uint8Array): Renewal => decode(RenewalCodec, bytes);

export interface Member {
  id: bigint;
  name: string;
  peerUrls: string[];
  clientUrls: string[];
  learner: boolean;
}
export type MemberInit = Init<Member>;

export const newMember = (): Member => ({ id: 0n, name: '', peerUrls: [], clientUrls: [], learner: false, });

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
        message.learner = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMember(w: Writer, message: MemberInit): void {
  if (message.learner === true) {
    w.varint(message.learner ? 1 : 0);
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

export interface LeaseDetails {
  id: bigint;
  grantedTtlSeconds: number;
  remainingSeconds: number;
  keys: Uint8Array[];
}
export type LeaseDetailsInit = Init<LeaseDetails>;

export const newLeaseDetails = (): LeaseDetails => ({ id: 0n, grantedTtlSeconds: 0, remainingSeconds: 0, keys: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseDetails(r: Reader, message: LeaseDetails): LeaseDetails {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.bigInt64();
        break;
      case 16:
        message.grantedTtlSeconds = r.int64();
        break;
      case 24:
        message.remainingSeconds = r.int64();
        break;
      case 34:
        message.keys.push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseDetails(w: Writer, message: LeaseDetailsInit): void {
  if (message.keys !== undefined && message.keys.length > 0) {
    for (let at = message.keys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.keys[at]!);
      w.varint(34);
    }
  }
  if (message.remainingSeconds !== undefined && message.remainingSeconds !== 0) {
    w.int64(message.remainingSeconds);
    w.varint(24);
  }
  if (message.grantedTtlSeconds !== undefined && message.grantedTtlSeconds !== 0) {
    w.int64(message.grantedTtlSeconds);
    w.varint(16);
  }
  if (message.id !== undefined && message.id !== 0n) {
    w.bigint(message.id);
    w.varint(8);
  }
}

export const LeaseDetailsCodec: Codec<LeaseDetails, LeaseDetailsInit> = {
  write: writeLeaseDetails,
  read: (r) => readLeaseDetails(r, newLeaseDetails()),
};
export const encodeLeaseDetails = (message: LeaseDetailsInit): Uint8Array => encode(LeaseDetailsCodec, message);
export const decodeLeaseDetails = (bytes: Uint8Array): LeaseDetails => decode(LeaseDetailsCodec, bytes);

export interface TxnResult {
  revision: number;
  succeeded: boolean;
  responses: OpResult[];
}
export type TxnResultInit = Init<TxnResult>;

export const newTxnResult = (): TxnResult => ({ revision: 0, succeeded: false, responses: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnResult(r: Reader, message: TxnResult): TxnResult {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.revision = r.int64();
        break;
      case 16:
        message.succeeded = r.bool();
        break;
      case 26: {
        const outer = r.enter();
        message.responses.push(readOpResult(r, newOpResult()));
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
export function writeTxnResult(w: Writer, message: TxnResultInit): void {
  if (message.responses !== undefined && message.responses.length > 0) {
    for (let at = message.responses.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeOpResult(w, message.responses[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.succeeded === true) {
    w.varint(message.succeeded ? 1 : 0);
    w.varint(16);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(8);
  }
}

export const TxnResultCodec: Codec<TxnResult, TxnResultInit> = {
  write: writeTxnResult,
  read: (r) => readTxnResult(r, newTxnResult()),
};
export const encodeTxnResult = (message: TxnResultInit): Uint8Array => encode(TxnResultCodec, message);
export const decodeTxnResult = (bytes: Uint8Array): TxnResult => decode(TxnResultCodec, bytes);

export interface OpResult {
  range: RangeResult | undefined;
  put: PutResult | undefined;
  deleteRange: DeleteRangeResult | undefined;
  txn: TxnResult | undefined;
}
export type OpResultInit = Init<OpResult>;

export const newOpResult = (): OpResult => ({ range: undefined, put: undefined, deleteRange: undefined, txn: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readOpResult(r: Reader, message: OpResult): OpResult {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.range = readRangeResult(r, message.range ?? newRangeResult());
        r.leave(outer);
        message.put = undefined;
        message.deleteRange = undefined;
        message.txn = undefined;
        break;
      }
      case 18: {
        const outer = r.enter();
        message.put = readPutResult(r, message.put ?? newPutResult());
        r.leave(outer);
        message.range = undefined;
        message.deleteRange = undefined;
        message.txn = undefined;
        break;
      }
      case 26: {
        const outer = r.enter();
        message.deleteRange = readDeleteRangeResult(r, message.deleteRange ?? newDeleteRangeResult());
        r.leave(outer);
        message.range = undefined;
        message.put = undefined;
        message.txn = undefined;
        break;
      }
      case 34: {
        const outer = r.enter();
        message.txn = readTxnResult(r, message.txn ?? newTxnResult());
        r.leave(outer);
        message.range = undefined;
        message.put = undefined;
        message.deleteRange = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeOpResult(w: Writer, message: OpResultInit): void {
  if (message.txn !== undefined) {
    const end = w.length;
    writeTxnResult(w, message.txn);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.deleteRange !== undefined) {
    const end = w.length;
    writeDeleteRangeResult(w, message.deleteRange);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.put !== undefined) {
    const end = w.length;
    writePutResult(w, message.put);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.range !== undefined) {
    const end = w.length;
    writeRangeResult(w, message.range);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const OpResultCodec: Codec<OpResult, OpResultInit> = {
  write: writeOpResult,
  read: (r) => readOpResult(r, newOpResult()),
};
export const encodeOpResult = (message: OpResultInit): Uint8Array => encode(OpResultCodec, message);
export const decodeOpResult = (bytes: Uint8Array): OpResult => decode(OpResultCodec, bytes);

export interface RangeResult {
  revision: number;
  kvs: Uint8Array[];
  more: boolean;
  count: number;
}
export type RangeResultInit = Init<RangeResult>;

export const newRangeResult = (): RangeResult => ({ revision: 0, kvs: [], more: false, count: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRangeResult(r: Reader, message: RangeResult): RangeResult {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.revision = r.int64();
        break;
      case 18:
        message.kvs.push(r.bytes());
        break;
      case 24:
        message.more = r.bool();
        break;
      case 32:
        message.count = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRangeResult(w: Writer, message: RangeResultInit): void {
  if (message.count !== undefined && message.count !== 0) {
    w.int64(message.count);
    w.varint(32);
  }
  if (message.more === true) {
    w.varint(message.more ? 1 : 0);
    w.varint(24);
  }
  if (message.kvs !== undefined && message.kvs.length > 0) {
    for (let at = message.kvs.length - 1; at >= 0; at -= 1) {
      w.bytes(message.kvs[at]!);
      w.varint(18);
    }
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(8);
  }
}

export const RangeResultCodec: Codec<RangeResult, RangeResultInit> = {
  write: writeRangeResult,
  read: (r) => readRangeResult(r, newRangeResult()),
};
export const encodeRangeResult = (message: RangeResultInit): Uint8Array => encode(RangeResultCodec, message);
export const decodeRangeResult = (bytes: Uint8Array): RangeResult => decode(RangeResultCodec, bytes);

export interface PutResult {
  revision: number;
  prevKv: Uint8Array;
}
export type PutResultInit = Init<PutResult>;

export const newPutResult = (): PutResult => ({ revision: 0, prevKv: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPutResult(r: Reader, message: PutResult): PutResult {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.revision = r.int64();
        break;
      case 18:
        message.prevKv = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePutResult(w: Writer, message: PutResultInit): void {
  if (message.prevKv !== undefined && message.prevKv.length > 0) {
    w.bytes(message.prevKv);
    w.varint(18);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(8);
  }
}

export const PutResultCodec: Codec<PutResult, PutResultInit> = {
  write: writePutResult,
  read: (r) => readPutResult(r, newPutResult()),
};
export const encodePutResult = (message: PutResultInit): Uint8Array => encode(PutResultCodec, message);
export const decodePutResult = (bytes: Uint8Array): PutResult => decode(PutResultCodec, bytes);

export interface DeleteRangeResult {
  revision: number;
  deleted: number;
  prevKvs: Uint8Array[];
}
export type DeleteRangeResultInit = Init<DeleteRangeResult>;

export const newDeleteRangeResult = (): DeleteRangeResult => ({ revision: 0, deleted: 0, prevKvs: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteRangeResult(r: Reader, message: DeleteRangeResult): DeleteRangeResult {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.revision = r.int64();
        break;
      case 16:
        message.deleted = r.int64();
        break;
      case 26:
        message.prevKvs.push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDeleteRangeResult(w: Writer, message: DeleteRangeResultInit): void {
  if (message.prevKvs !== undefined && message.prevKvs.length > 0) {
    for (let at = message.prevKvs.length - 1; at >= 0; at -= 1) {
      w.bytes(message.prevKvs[at]!);
      w.varint(26);
    }
  }
  if (message.deleted !== undefined && message.deleted !== 0) {
    w.int64(message.deleted);
    w.varint(16);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(8);
  }
}

export const DeleteRangeResultCodec: Codec<DeleteRangeResult, DeleteRangeResultInit> = {
  write: writeDeleteRangeResult,
  read: (r) => readDeleteRangeResult(r, newDeleteRangeResult()),
};
export const encodeDeleteRangeResult = (message: DeleteRangeResultInit): Uint8Array => encode(DeleteRangeResultCodec, message);
export const decodeDeleteRangeResult = (bytes: Uint8Array): DeleteRangeResult => decode(DeleteRangeResultCodec, bytes);
