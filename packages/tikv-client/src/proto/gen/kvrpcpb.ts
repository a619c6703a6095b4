// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';
import * as errorpb from './errorpb.ts';
import * as metapb from './metapb.ts';

export const PrewriteRequestPessimisticAction = { SKIP_PESSIMISTIC_CHECK: 0, DO_PESSIMISTIC_CHECK: 1, DO_CONSTRAINT_CHECK: 2 } as const;

export const CommitRole = { Unknown: 0, Primary: 1, Secondary: 2 } as const;

export const APIVersion = { V1: 0, V1TTL: 1, V2: 2, V3: 3 } as const;

export const WriteConflictReason = { Unknown: 0, Optimistic: 1, PessimisticRetry: 2, SelfRolledBack: 3, RcCheckTs: 4, LazyUniquenessCheck: 5, NotLockedKeyConflict: 6 } as const;

export const CommandPri = { Normal: 0, Low: 1, High: 2 } as const;

export const IsolationLevel = { SI: 0, RC: 1, RCCheckTS: 2 } as const;

export const DiskFullOpt = { NotAllowedOnFull: 0, AllowedOnAlmostFull: 1, AllowedOnAlreadyFull: 2 } as const;

export const Op = { Put: 0, Del: 1, Lock: 2, Rollback: 3, Insert: 4, PessimisticLock: 5, CheckNotExists: 6, SharedLock: 7, SharedPessimisticLock: 8 } as const;

export const Assertion = { None: 0, Exist: 1, NotExist: 2 } as const;

export const AssertionLevel = { Off: 0, Fast: 1, Strict: 2 } as const;

export const Action = { NoAction: 0, TTLExpireRollback: 1, LockNotExistRollback: 2, MinCommitTSPushed: 3, TTLExpirePessimisticRollback: 4, LockNotExistDoNothing: 5 } as const;

export interface GetRequest {
  context: Context | undefined;
  key: Uint8Array;
  version: bigint;
  needCommitTs: boolean;
}
export type GetRequestInit = Init<GetRequest>;

export const newGetRequest = (): GetRequest => ({ context: undefined, key: EMPTY_BYTES, version: 0n, needCommitTs: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetRequest(r: Reader, message: GetRequest): GetRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.key = r.bytes();
        break;
      case 24:
        message.version = r.bigUint64();
        break;
      case 32:
        message.needCommitTs = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetRequest(w: Writer, message: GetRequestInit): void {
  if (message.needCommitTs === true) {
    w.varint(message.needCommitTs ? 1 : 0);
    w.varint(32);
  }
  if (message.version !== undefined && message.version !== 0n) {
    w.bigint(message.version);
    w.varint(24);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetRequestCodec: Codec<GetRequest, GetRequestInit> = {
  write: writeGetRequest,
  read: (r) => readGetRequest(r, newGetRequest()),
};
export const encodeGetRequest = (message: GetRequestInit): Uint8Array => encode(GetRequestCodec, message);
export const decodeGetRequest = (bytes: Uint8Array): GetRequest => decode(GetRequestCodec, bytes);

export interface GetResponse {
  regionError: errorpb.Error | undefined;
  error: KeyError | undefined;
  value: Uint8Array;
  notFound: boolean;
  commitTs: bigint;
}
export type GetResponseInit = Init<GetResponse>;

export const newGetResponse = (): GetResponse => ({ regionError: undefined, error: undefined, value: EMPTY_BYTES, notFound: false, commitTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetResponse(r: Reader, message: GetResponse): GetResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
        r.leave(outer);
        break;
      }
      case 26:
        message.value = r.bytes();
        break;
      case 32:
        message.notFound = r.bool();
        break;
      case 56:
        message.commitTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetResponse(w: Writer, message: GetResponseInit): void {
  if (message.commitTs !== undefined && message.commitTs !== 0n) {
    w.bigint(message.commitTs);
    w.varint(56);
  }
  if (message.notFound === true) {
    w.varint(message.notFound ? 1 : 0);
    w.varint(32);
  }
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(26);
  }
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetResponseCodec: Codec<GetResponse, GetResponseInit> = {
  write: writeGetResponse,
  read: (r) => readGetResponse(r, newGetResponse()),
};
export const encodeGetResponse = (message: GetResponseInit): Uint8Array => encode(GetResponseCodec, message);
export const decodeGetResponse = (bytes: Uint8Array): GetResponse => decode(GetResponseCodec, bytes);

export interface ScanRequest {
  context: Context | undefined;
  startKey: Uint8Array;
  limit: number;
  version: bigint;
  keyOnly: boolean;
  reverse: boolean;
  endKey: Uint8Array;
  sampleStep: number;
}
export type ScanRequestInit = Init<ScanRequest>;

export const newScanRequest = (): ScanRequest => ({ context: undefined, startKey: EMPTY_BYTES, limit: 0, version: 0n, keyOnly: false, reverse: false, endKey: EMPTY_BYTES, sampleStep: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readScanRequest(r: Reader, message: ScanRequest): ScanRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.startKey = r.bytes();
        break;
      case 24:
        message.limit = r.uint32();
        break;
      case 32:
        message.version = r.bigUint64();
        break;
      case 40:
        message.keyOnly = r.bool();
        break;
      case 48:
        message.reverse = r.bool();
        break;
      case 58:
        message.endKey = r.bytes();
        break;
      case 64:
        message.sampleStep = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeScanRequest(w: Writer, message: ScanRequestInit): void {
  if (message.sampleStep !== undefined && message.sampleStep !== 0) {
    w.varint(message.sampleStep);
    w.varint(64);
  }
  if (message.endKey !== undefined && message.endKey.length > 0) {
    w.bytes(message.endKey);
    w.varint(58);
  }
  if (message.reverse === true) {
    w.varint(message.reverse ? 1 : 0);
    w.varint(48);
  }
  if (message.keyOnly === true) {
    w.varint(message.keyOnly ? 1 : 0);
    w.varint(40);
  }
  if (message.version !== undefined && message.version !== 0n) {
    w.bigint(message.version);
    w.varint(32);
  }
  if (message.limit !== undefined && message.limit !== 0) {
    w.varint(message.limit);
    w.varint(24);
  }
  if (message.startKey !== undefined && message.startKey.length > 0) {
    w.bytes(message.startKey);
    w.varint(18);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ScanRequestCodec: Codec<ScanRequest, ScanRequestInit> = {
  write: writeScanRequest,
  read: (r) => readScanRequest(r, newScanRequest()),
};
export const encodeScanRequest = (message: ScanRequestInit): Uint8Array => encode(ScanRequestCodec, message);
export const decodeScanRequest = (bytes: Uint8Array): ScanRequest => decode(ScanRequestCodec, bytes);

export interface ScanResponse {
  regionError: errorpb.Error | undefined;
  pairs: KvPair[];
  error: KeyError | undefined;
}
export type ScanResponseInit = Init<ScanResponse>;

export const newScanResponse = (): ScanResponse => ({ regionError: undefined, pairs: [], error: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readScanResponse(r: Reader, message: ScanResponse): ScanResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.pairs.push(readKvPair(r, newKvPair()));
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
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
export function writeScanResponse(w: Writer, message: ScanResponseInit): void {
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.pairs !== undefined && message.pairs.length > 0) {
    for (let at = message.pairs.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeKvPair(w, message.pairs[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ScanResponseCodec: Codec<ScanResponse, ScanResponseInit> = {
  write: writeScanResponse,
  read: (r) => readScanResponse(r, newScanResponse()),
};
export const encodeScanResponse = (message: ScanResponseInit): Uint8Array => encode(ScanResponseCodec, message);
export const decodeScanResponse = (bytes: Uint8Array): ScanResponse => decode(ScanResponseCodec, bytes);

export interface PrewriteRequest {
  context: Context | undefined;
  mutations: Mutation[];
  primaryLock: Uint8Array;
  startVersion: bigint;
  lockTtl: number;
  skipConstraintCheck: boolean;
  pessimisticActions: number[];
  txnSize: bigint;
  forUpdateTs: bigint;
  minCommitTs: bigint;
  useAsyncCommit: boolean;
  secondaries: Uint8Array[];
  tryOnePc: boolean;
  maxCommitTs: bigint;
  assertionLevel: number;
  forUpdateTsConstraints: PrewriteRequestForUpdateTSConstraint[];
}
export type PrewriteRequestInit = Init<PrewriteRequest>;

export const newPrewriteRequest = (): PrewriteRequest => ({ context: undefined, mutations: [], primaryLock: EMPTY_BYTES, startVersion: 0n, lockTtl: 0, skipConstraintCheck: false, pessimisticActions: [], txnSize: 0n, forUpdateTs: 0n, minCommitTs: 0n, useAsyncCommit: false, secondaries: [], tryOnePc: false, maxCommitTs: 0n, assertionLevel: 0, forUpdateTsConstraints: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPrewriteRequest(r: Reader, message: PrewriteRequest): PrewriteRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.mutations.push(readMutation(r, newMutation()));
        r.leave(outer);
        break;
      }
      case 26:
        message.primaryLock = r.bytes();
        break;
      case 32:
        message.startVersion = r.bigUint64();
        break;
      case 40:
        message.lockTtl = r.count();
        break;
      case 48:
        message.skipConstraintCheck = r.bool();
        break;
      case 56:
        message.pessimisticActions.push(r.int32());
        break;
      case 58: {
        const outer = r.enterList();
        while (r.more()) message.pessimisticActions.push(r.int32());
        r.leave(outer);
        break;
      }
      case 64:
        message.txnSize = r.bigUint64();
        break;
      case 72:
        message.forUpdateTs = r.bigUint64();
        break;
      case 80:
        message.minCommitTs = r.bigUint64();
        break;
      case 88:
        message.useAsyncCommit = r.bool();
        break;
      case 98:
        message.secondaries.push(r.bytes());
        break;
      case 104:
        message.tryOnePc = r.bool();
        break;
      case 112:
        message.maxCommitTs = r.bigUint64();
        break;
      case 120:
        message.assertionLevel = r.int32();
        break;
      case 130: {
        const outer = r.enter();
        message.forUpdateTsConstraints.push(readPrewriteRequestForUpdateTSConstraint(r, newPrewriteRequestForUpdateTSConstraint()));
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
export function writePrewriteRequest(w: Writer, message: PrewriteRequestInit): void {
  if (message.forUpdateTsConstraints !== undefined && message.forUpdateTsConstraints.length > 0) {
    for (let at = message.forUpdateTsConstraints.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writePrewriteRequestForUpdateTSConstraint(w, message.forUpdateTsConstraints[at]!);
      w.varint(w.length - end);
      w.varint(130);
    }
  }
  if (message.assertionLevel !== undefined && message.assertionLevel !== 0) {
    w.int64(message.assertionLevel);
    w.varint(120);
  }
  if (message.maxCommitTs !== undefined && message.maxCommitTs !== 0n) {
    w.bigint(message.maxCommitTs);
    w.varint(112);
  }
  if (message.tryOnePc === true) {
    w.varint(message.tryOnePc ? 1 : 0);
    w.varint(104);
  }
  if (message.secondaries !== undefined && message.secondaries.length > 0) {
    for (let at = message.secondaries.length - 1; at >= 0; at -= 1) {
      w.bytes(message.secondaries[at]!);
      w.varint(98);
    }
  }
  if (message.useAsyncCommit === true) {
    w.varint(message.useAsyncCommit ? 1 : 0);
    w.varint(88);
  }
  if (message.minCommitTs !== undefined && message.minCommitTs !== 0n) {
    w.bigint(message.minCommitTs);
    w.varint(80);
  }
  if (message.forUpdateTs !== undefined && message.forUpdateTs !== 0n) {
    w.bigint(message.forUpdateTs);
    w.varint(72);
  }
  if (message.txnSize !== undefined && message.txnSize !== 0n) {
    w.bigint(message.txnSize);
    w.varint(64);
  }
  if (message.pessimisticActions !== undefined && message.pessimisticActions.length > 0) {
    const end = w.length;
    for (let at = message.pessimisticActions.length - 1; at >= 0; at -= 1) w.int64(message.pessimisticActions[at]!);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (message.skipConstraintCheck === true) {
    w.varint(message.skipConstraintCheck ? 1 : 0);
    w.varint(48);
  }
  if (message.lockTtl !== undefined && message.lockTtl !== 0) {
    w.int64(message.lockTtl);
    w.varint(40);
  }
  if (message.startVersion !== undefined && message.startVersion !== 0n) {
    w.bigint(message.startVersion);
    w.varint(32);
  }
  if (message.primaryLock !== undefined && message.primaryLock.length > 0) {
    w.bytes(message.primaryLock);
    w.varint(26);
  }
  if (message.mutations !== undefined && message.mutations.length > 0) {
    for (let at = message.mutations.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeMutation(w, message.mutations[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const PrewriteRequestCodec: Codec<PrewriteRequest, PrewriteRequestInit> = {
  write: writePrewriteRequest,
  read: (r) => readPrewriteRequest(r, newPrewriteRequest()),
};
export const encodePrewriteRequest = (message: PrewriteRequestInit): Uint8Array => encode(PrewriteRequestCodec, message);
export const decodePrewriteRequest = (bytes: Uint8Array): PrewriteRequest => decode(PrewriteRequestCodec, bytes);

export interface PrewriteRequestForUpdateTSConstraint {
  index: number;
  expectedForUpdateTs: bigint;
}
export type PrewriteRequestForUpdateTSConstraintInit = Init<PrewriteRequestForUpdateTSConstraint>;

export const newPrewriteRequestForUpdateTSConstraint = (): PrewriteRequestForUpdateTSConstraint => ({ index: 0, expectedForUpdateTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPrewriteRequestForUpdateTSConstraint(r: Reader, message: PrewriteRequestForUpdateTSConstraint): PrewriteRequestForUpdateTSConstraint {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.index = r.uint32();
        break;
      case 16:
        message.expectedForUpdateTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePrewriteRequestForUpdateTSConstraint(w: Writer, message: PrewriteRequestForUpdateTSConstraintInit): void {
  if (message.expectedForUpdateTs !== undefined && message.expectedForUpdateTs !== 0n) {
    w.bigint(message.expectedForUpdateTs);
    w.varint(16);
  }
  if (message.index !== undefined && message.index !== 0) {
    w.varint(message.index);
    w.varint(8);
  }
}

export const PrewriteRequestForUpdateTSConstraintCodec: Codec<PrewriteRequestForUpdateTSConstraint, PrewriteRequestForUpdateTSConstraintInit> = {
  write: writePrewriteRequestForUpdateTSConstraint,
  read: (r) => readPrewriteRequestForUpdateTSConstraint(r, newPrewriteRequestForUpdateTSConstraint()),
};
export const encodePrewriteRequestForUpdateTSConstraint = (message: PrewriteRequestForUpdateTSConstraintInit): Uint8Array => encode(PrewriteRequestForUpdateTSConstraintCodec, message);
export const decodePrewriteRequestForUpdateTSConstraint = (bytes: Uint8Array): PrewriteRequestForUpdateTSConstraint => decode(PrewriteRequestForUpdateTSConstraintCodec, bytes);

export interface PrewriteResponse {
  regionError: errorpb.Error | undefined;
  errors: KeyError[];
  minCommitTs: bigint;
  onePcCommitTs: bigint;
}
export type PrewriteResponseInit = Init<PrewriteResponse>;

export const newPrewriteResponse = (): PrewriteResponse => ({ regionError: undefined, errors: [], minCommitTs: 0n, onePcCommitTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPrewriteResponse(r: Reader, message: PrewriteResponse): PrewriteResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.errors.push(readKeyError(r, newKeyError()));
        r.leave(outer);
        break;
      }
      case 24:
        message.minCommitTs = r.bigUint64();
        break;
      case 32:
        message.onePcCommitTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePrewriteResponse(w: Writer, message: PrewriteResponseInit): void {
  if (message.onePcCommitTs !== undefined && message.onePcCommitTs !== 0n) {
    w.bigint(message.onePcCommitTs);
    w.varint(32);
  }
  if (message.minCommitTs !== undefined && message.minCommitTs !== 0n) {
    w.bigint(message.minCommitTs);
    w.varint(24);
  }
  if (message.errors !== undefined && message.errors.length > 0) {
    for (let at = message.errors.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeKeyError(w, message.errors[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const PrewriteResponseCodec: Codec<PrewriteResponse, PrewriteResponseInit> = {
  write: writePrewriteResponse,
  read: (r) => readPrewriteResponse(r, newPrewriteResponse()),
};
export const encodePrewriteResponse = (message: PrewriteResponseInit): Uint8Array => encode(PrewriteResponseCodec, message);
export const decodePrewriteResponse = (bytes: Uint8Array): PrewriteResponse => decode(PrewriteResponseCodec, bytes);

export interface TxnHeartBeatRequest {
  context: Context | undefined;
  primaryLock: Uint8Array;
  startVersion: bigint;
  adviseLockTtl: number;
  minCommitTs: bigint;
}
export type TxnHeartBeatRequestInit = Init<TxnHeartBeatRequest>;

export const newTxnHeartBeatRequest = (): TxnHeartBeatRequest => ({ context: undefined, primaryLock: EMPTY_BYTES, startVersion: 0n, adviseLockTtl: 0, minCommitTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnHeartBeatRequest(r: Reader, message: TxnHeartBeatRequest): TxnHeartBeatRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.primaryLock = r.bytes();
        break;
      case 24:
        message.startVersion = r.bigUint64();
        break;
      case 32:
        message.adviseLockTtl = r.count();
        break;
      case 40:
        message.minCommitTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTxnHeartBeatRequest(w: Writer, message: TxnHeartBeatRequestInit): void {
  if (message.minCommitTs !== undefined && message.minCommitTs !== 0n) {
    w.bigint(message.minCommitTs);
    w.varint(40);
  }
  if (message.adviseLockTtl !== undefined && message.adviseLockTtl !== 0) {
    w.int64(message.adviseLockTtl);
    w.varint(32);
  }
  if (message.startVersion !== undefined && message.startVersion !== 0n) {
    w.bigint(message.startVersion);
    w.varint(24);
  }
  if (message.primaryLock !== undefined && message.primaryLock.length > 0) {
    w.bytes(message.primaryLock);
    w.varint(18);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const TxnHeartBeatRequestCodec: Codec<TxnHeartBeatRequest, TxnHeartBeatRequestInit> = {
  write: writeTxnHeartBeatRequest,
  read: (r) => readTxnHeartBeatRequest(r, newTxnHeartBeatRequest()),
};
export const encodeTxnHeartBeatRequest = (message: TxnHeartBeatRequestInit): Uint8Array => encode(TxnHeartBeatRequestCodec, message);
export const decodeTxnHeartBeatRequest = (bytes: Uint8Array): TxnHeartBeatRequest => decode(TxnHeartBeatRequestCodec, bytes);

export interface TxnHeartBeatResponse {
  regionError: errorpb.Error | undefined;
  error: KeyError | undefined;
  lockTtl: number;
}
export type TxnHeartBeatResponseInit = Init<TxnHeartBeatResponse>;

export const newTxnHeartBeatResponse = (): TxnHeartBeatResponse => ({ regionError: undefined, error: undefined, lockTtl: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnHeartBeatResponse(r: Reader, message: TxnHeartBeatResponse): TxnHeartBeatResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
        r.leave(outer);
        break;
      }
      case 24:
        message.lockTtl = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTxnHeartBeatResponse(w: Writer, message: TxnHeartBeatResponseInit): void {
  if (message.lockTtl !== undefined && message.lockTtl !== 0) {
    w.int64(message.lockTtl);
    w.varint(24);
  }
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const TxnHeartBeatResponseCodec: Codec<TxnHeartBeatResponse, TxnHeartBeatResponseInit> = {
  write: writeTxnHeartBeatResponse,
  read: (r) => readTxnHeartBeatResponse(r, newTxnHeartBeatResponse()),
};
export const encodeTxnHeartBeatResponse = (message: TxnHeartBeatResponseInit): Uint8Array => encode(TxnHeartBeatResponseCodec, message);
export const decodeTxnHeartBeatResponse = (bytes: Uint8Array): TxnHeartBeatResponse => decode(TxnHeartBeatResponseCodec, bytes);

export interface CheckTxnStatusRequest {
  context: Context | undefined;
  primaryKey: Uint8Array;
  lockTs: bigint;
  callerStartTs: bigint;
  currentTs: bigint;
  rollbackIfNotExist: boolean;
  forceSyncCommit: boolean;
  resolvingPessimisticLock: boolean;
  verifyIsPrimary: boolean;
}
export type CheckTxnStatusRequestInit = Init<CheckTxnStatusRequest>;

export const newCheckTxnStatusRequest = (): CheckTxnStatusRequest => ({ context: undefined, primaryKey: EMPTY_BYTES, lockTs: 0n, callerStartTs: 0n, currentTs: 0n, rollbackIfNotExist: false, forceSyncCommit: false, resolvingPessimisticLock: false, verifyIsPrimary: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCheckTxnStatusRequest(r: Reader, message: CheckTxnStatusRequest): CheckTxnStatusRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.primaryKey = r.bytes();
        break;
      case 24:
        message.lockTs = r.bigUint64();
        break;
      case 32:
        message.callerStartTs = r.bigUint64();
        break;
      case 40:
        message.currentTs = r.bigUint64();
        break;
      case 48:
        message.rollbackIfNotExist = r.bool();
        break;
      case 56:
        message.forceSyncCommit = r.bool();
        break;
      case 64:
        message.resolvingPessimisticLock = r.bool();
        break;
      case 72:
        message.verifyIsPrimary = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCheckTxnStatusRequest(w: Writer, message: CheckTxnStatusRequestInit): void {
  if (message.verifyIsPrimary === true) {
    w.varint(message.verifyIsPrimary ? 1 : 0);
    w.varint(72);
  }
  if (message.resolvingPessimisticLock === true) {
    w.varint(message.resolvingPessimisticLock ? 1 : 0);
    w.varint(64);
  }
  if (message.forceSyncCommit === true) {
    w.varint(message.forceSyncCommit ? 1 : 0);
    w.varint(56);
  }
  if (message.rollbackIfNotExist === true) {
    w.varint(message.rollbackIfNotExist ? 1 : 0);
    w.varint(48);
  }
  if (message.currentTs !== undefined && message.currentTs !== 0n) {
    w.bigint(message.currentTs);
    w.varint(40);
  }
  if (message.callerStartTs !== undefined && message.callerStartTs !== 0n) {
    w.bigint(message.callerStartTs);
    w.varint(32);
  }
  if (message.lockTs !== undefined && message.lockTs !== 0n) {
    w.bigint(message.lockTs);
    w.varint(24);
  }
  if (message.primaryKey !== undefined && message.primaryKey.length > 0) {
    w.bytes(message.primaryKey);
    w.varint(18);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CheckTxnStatusRequestCodec: Codec<CheckTxnStatusRequest, CheckTxnStatusRequestInit> = {
  write: writeCheckTxnStatusRequest,
  read: (r) => readCheckTxnStatusRequest(r, newCheckTxnStatusRequest()),
};
export const encodeCheckTxnStatusRequest = (message: CheckTxnStatusRequestInit): Uint8Array => encode(CheckTxnStatusRequestCodec, message);
export const decodeCheckTxnStatusRequest = (bytes: Uint8Array): CheckTxnStatusRequest => decode(CheckTxnStatusRequestCodec, bytes);

export interface CheckTxnStatusResponse {
  regionError: errorpb.Error | undefined;
  error: KeyError | undefined;
  lockTtl: number;
  commitVersion: bigint;
  action: number;
  lockInfo: LockInfo | undefined;
}
export type CheckTxnStatusResponseInit = Init<CheckTxnStatusResponse>;

export const newCheckTxnStatusResponse = (): CheckTxnStatusResponse => ({ regionError: undefined, error: undefined, lockTtl: 0, commitVersion: 0n, action: 0, lockInfo: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCheckTxnStatusResponse(r: Reader, message: CheckTxnStatusResponse): CheckTxnStatusResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
        r.leave(outer);
        break;
      }
      case 24:
        message.lockTtl = r.count();
        break;
      case 32:
        message.commitVersion = r.bigUint64();
        break;
      case 40:
        message.action = r.int32();
        break;
      case 50: {
        const outer = r.enter();
        message.lockInfo = readLockInfo(r, message.lockInfo ?? newLockInfo());
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
export function writeCheckTxnStatusResponse(w: Writer, message: CheckTxnStatusResponseInit): void {
  if (message.lockInfo !== undefined) {
    const end = w.length;
    writeLockInfo(w, message.lockInfo);
    w.varint(w.length - end);
    w.varint(50);
  }
  if (message.action !== undefined && message.action !== 0) {
    w.int64(message.action);
    w.varint(40);
  }
  if (message.commitVersion !== undefined && message.commitVersion !== 0n) {
    w.bigint(message.commitVersion);
    w.varint(32);
  }
  if (message.lockTtl !== undefined && message.lockTtl !== 0) {
    w.int64(message.lockTtl);
    w.varint(24);
  }
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CheckTxnStatusResponseCodec: Codec<CheckTxnStatusResponse, CheckTxnStatusResponseInit> = {
  write: writeCheckTxnStatusResponse,
  read: (r) => readCheckTxnStatusResponse(r, newCheckTxnStatusResponse()),
};
export const encodeCheckTxnStatusResponse = (message: CheckTxnStatusResponseInit): Uint8Array => encode(CheckTxnStatusResponseCodec, message);
export const decodeCheckTxnStatusResponse = (bytes: Uint8Array): CheckTxnStatusResponse => decode(CheckTxnStatusResponseCodec, bytes);

export interface CheckSecondaryLocksRequest {
  context: Context | undefined;
  keys: Uint8Array[];
  startVersion: bigint;
}
export type CheckSecondaryLocksRequestInit = Init<CheckSecondaryLocksRequest>;

export const newCheckSecondaryLocksRequest = (): CheckSecondaryLocksRequest => ({ context: undefined, keys: [], startVersion: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCheckSecondaryLocksRequest(r: Reader, message: CheckSecondaryLocksRequest): CheckSecondaryLocksRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.keys.push(r.bytes());
        break;
      case 24:
        message.startVersion = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCheckSecondaryLocksRequest(w: Writer, message: CheckSecondaryLocksRequestInit): void {
  if (message.startVersion !== undefined && message.startVersion !== 0n) {
    w.bigint(message.startVersion);
    w.varint(24);
  }
  if (message.keys !== undefined && message.keys.length > 0) {
    for (let at = message.keys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.keys[at]!);
      w.varint(18);
    }
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CheckSecondaryLocksRequestCodec: Codec<CheckSecondaryLocksRequest, CheckSecondaryLocksRequestInit> = {
  write: writeCheckSecondaryLocksRequest,
  read: (r) => readCheckSecondaryLocksRequest(r, newCheckSecondaryLocksRequest()),
};
export const encodeCheckSecondaryLocksRequest = (message: CheckSecondaryLocksRequestInit): Uint8Array => encode(CheckSecondaryLocksRequestCodec, message);
export const decodeCheckSecondaryLocksRequest = (bytes: Uint8Array): CheckSecondaryLocksRequest => decode(CheckSecondaryLocksRequestCodec, bytes);

export interface CheckSecondaryLocksResponse {
  regionError: errorpb.Error | undefined;
  error: KeyError | undefined;
  locks: LockInfo[];
  commitTs: bigint;
}
export type CheckSecondaryLocksResponseInit = Init<CheckSecondaryLocksResponse>;

export const newCheckSecondaryLocksResponse = (): CheckSecondaryLocksResponse => ({ regionError: undefined, error: undefined, locks: [], commitTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCheckSecondaryLocksResponse(r: Reader, message: CheckSecondaryLocksResponse): CheckSecondaryLocksResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.locks.push(readLockInfo(r, newLockInfo()));
        r.leave(outer);
        break;
      }
      case 32:
        message.commitTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCheckSecondaryLocksResponse(w: Writer, message: CheckSecondaryLocksResponseInit): void {
  if (message.commitTs !== undefined && message.commitTs !== 0n) {
    w.bigint(message.commitTs);
    w.varint(32);
  }
  if (message.locks !== undefined && message.locks.length > 0) {
    for (let at = message.locks.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeLockInfo(w, message.locks[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CheckSecondaryLocksResponseCodec: Codec<CheckSecondaryLocksResponse, CheckSecondaryLocksResponseInit> = {
  write: writeCheckSecondaryLocksResponse,
  read: (r) => readCheckSecondaryLocksResponse(r, newCheckSecondaryLocksResponse()),
};
export const encodeCheckSecondaryLocksResponse = (message: CheckSecondaryLocksResponseInit): Uint8Array => encode(CheckSecondaryLocksResponseCodec, message);
export const decodeCheckSecondaryLocksResponse = (bytes: Uint8Array): CheckSecondaryLocksResponse => decode(CheckSecondaryLocksResponseCodec, bytes);

export interface CommitRequest {
  context: Context | undefined;
  startVersion: bigint;
  keys: Uint8Array[];
  commitVersion: bigint;
  commitRole: number;
  primaryKey: Uint8Array;
  useAsyncCommit: boolean;
}
export type CommitRequestInit = Init<CommitRequest>;

export const newCommitRequest = (): CommitRequest => ({ context: undefined, startVersion: 0n, keys: [], commitVersion: 0n, commitRole: 0, primaryKey: EMPTY_BYTES, useAsyncCommit: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCommitRequest(r: Reader, message: CommitRequest): CommitRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 16:
        message.startVersion = r.bigUint64();
        break;
      case 26:
        message.keys.push(r.bytes());
        break;
      case 32:
        message.commitVersion = r.bigUint64();
        break;
      case 48:
        message.commitRole = r.int32();
        break;
      case 58:
        message.primaryKey = r.bytes();
        break;
      case 64:
        message.useAsyncCommit = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCommitRequest(w: Writer, message: CommitRequestInit): void {
  if (message.useAsyncCommit === true) {
    w.varint(message.useAsyncCommit ? 1 : 0);
    w.varint(64);
  }
  if (message.primaryKey !== undefined && message.primaryKey.length > 0) {
    w.bytes(message.primaryKey);
    w.varint(58);
  }
  if (message.commitRole !== undefined && message.commitRole !== 0) {
    w.int64(message.commitRole);
    w.varint(48);
  }
  if (message.commitVersion !== undefined && message.commitVersion !== 0n) {
    w.bigint(message.commitVersion);
    w.varint(32);
  }
  if (message.keys !== undefined && message.keys.length > 0) {
    for (let at = message.keys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.keys[at]!);
      w.varint(26);
    }
  }
  if (message.startVersion !== undefined && message.startVersion !== 0n) {
    w.bigint(message.startVersion);
    w.varint(16);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CommitRequestCodec: Codec<CommitRequest, CommitRequestInit> = {
  write: writeCommitRequest,
  read: (r) => readCommitRequest(r, newCommitRequest()),
};
export const encodeCommitRequest = (message: CommitRequestInit): Uint8Array => encode(CommitRequestCodec, message);
export const decodeCommitRequest = (bytes: Uint8Array): CommitRequest => decode(CommitRequestCodec, bytes);

export interface CommitResponse {
  regionError: errorpb.Error | undefined;
  error: KeyError | undefined;
  commitVersion: bigint;
}
export type CommitResponseInit = Init<CommitResponse>;

export const newCommitResponse = (): CommitResponse => ({ regionError: undefined, error: undefined, commitVersion: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCommitResponse(r: Reader, message: CommitResponse): CommitResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
        r.leave(outer);
        break;
      }
      case 24:
        message.commitVersion = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCommitResponse(w: Writer, message: CommitResponseInit): void {
  if (message.commitVersion !== undefined && message.commitVersion !== 0n) {
    w.bigint(message.commitVersion);
    w.varint(24);
  }
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CommitResponseCodec: Codec<CommitResponse, CommitResponseInit> = {
  write: writeCommitResponse,
  read: (r) => readCommitResponse(r, newCommitResponse()),
};
export const encodeCommitResponse = (message: CommitResponseInit): Uint8Array => encode(CommitResponseCodec, message);
export const decodeCommitResponse = (bytes: Uint8Array): CommitResponse => decode(CommitResponseCodec, bytes);

export interface BatchGetRequest {
  context: Context | undefined;
  keys: Uint8Array[];
  version: bigint;
  needCommitTs: boolean;
}
export type BatchGetRequestInit = Init<BatchGetRequest>;

export const newBatchGetRequest = (): BatchGetRequest => ({ context: undefined, keys: [], version: 0n, needCommitTs: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchGetRequest(r: Reader, message: BatchGetRequest): BatchGetRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.keys.push(r.bytes());
        break;
      case 24:
        message.version = r.bigUint64();
        break;
      case 32:
        message.needCommitTs = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatchGetRequest(w: Writer, message: BatchGetRequestInit): void {
  if (message.needCommitTs === true) {
    w.varint(message.needCommitTs ? 1 : 0);
    w.varint(32);
  }
  if (message.version !== undefined && message.version !== 0n) {
    w.bigint(message.version);
    w.varint(24);
  }
  if (message.keys !== undefined && message.keys.length > 0) {
    for (let at = message.keys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.keys[at]!);
      w.varint(18);
    }
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const BatchGetRequestCodec: Codec<BatchGetRequest, BatchGetRequestInit> = {
  write: writeBatchGetRequest,
  read: (r) => readBatchGetRequest(r, newBatchGetRequest()),
};
export const encodeBatchGetRequest = (message: BatchGetRequestInit): Uint8Array => encode(BatchGetRequestCodec, message);
export const decodeBatchGetRequest = (bytes: Uint8Array): BatchGetRequest => decode(BatchGetRequestCodec, bytes);

export interface BatchGetResponse {
  regionError: errorpb.Error | undefined;
  pairs: KvPair[];
  error: KeyError | undefined;
}
export type BatchGetResponseInit = Init<BatchGetResponse>;

export const newBatchGetResponse = (): BatchGetResponse => ({ regionError: undefined, pairs: [], error: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchGetResponse(r: Reader, message: BatchGetResponse): BatchGetResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.pairs.push(readKvPair(r, newKvPair()));
        r.leave(outer);
        break;
      }
      case 42: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
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
export function writeBatchGetResponse(w: Writer, message: BatchGetResponseInit): void {
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.pairs !== undefined && message.pairs.length > 0) {
    for (let at = message.pairs.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeKvPair(w, message.pairs[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const BatchGetResponseCodec: Codec<BatchGetResponse, BatchGetResponseInit> = {
  write: writeBatchGetResponse,
  read: (r) => readBatchGetResponse(r, newBatchGetResponse()),
};
export const encodeBatchGetResponse = (message: BatchGetResponseInit): Uint8Array => encode(BatchGetResponseCodec, message);
export const decodeBatchGetResponse = (bytes: Uint8Array): BatchGetResponse => decode(BatchGetResponseCodec, bytes);

export interface BatchRollbackRequest {
  context: Context | undefined;
  startVersion: bigint;
  keys: Uint8Array[];
}
export type BatchRollbackRequestInit = Init<BatchRollbackRequest>;

export const newBatchRollbackRequest = (): BatchRollbackRequest => ({ context: undefined, startVersion: 0n, keys: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchRollbackRequest(r: Reader, message: BatchRollbackRequest): BatchRollbackRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 16:
        message.startVersion = r.bigUint64();
        break;
      case 26:
        message.keys.push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatchRollbackRequest(w: Writer, message: BatchRollbackRequestInit): void {
  if (message.keys !== undefined && message.keys.length > 0) {
    for (let at = message.keys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.keys[at]!);
      w.varint(26);
    }
  }
  if (message.startVersion !== undefined && message.startVersion !== 0n) {
    w.bigint(message.startVersion);
    w.varint(16);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const BatchRollbackRequestCodec: Codec<BatchRollbackRequest, BatchRollbackRequestInit> = {
  write: writeBatchRollbackRequest,
  read: (r) => readBatchRollbackRequest(r, newBatchRollbackRequest()),
};
export const encodeBatchRollbackRequest = (message: BatchRollbackRequestInit): Uint8Array => encode(BatchRollbackRequestCodec, message);
export const decodeBatchRollbackRequest = (bytes: Uint8Array): BatchRollbackRequest => decode(BatchRollbackRequestCodec, bytes);

export interface BatchRollbackResponse {
  regionError: errorpb.Error | undefined;
  error: KeyError | undefined;
}
export type BatchRollbackResponseInit = Init<BatchRollbackResponse>;

export const newBatchRollbackResponse = (): BatchRollbackResponse => ({ regionError: undefined, error: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchRollbackResponse(r: Reader, message: BatchRollbackResponse): BatchRollbackResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
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
export function writeBatchRollbackResponse(w: Writer, message: BatchRollbackResponseInit): void {
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const BatchRollbackResponseCodec: Codec<BatchRollbackResponse, BatchRollbackResponseInit> = {
  write: writeBatchRollbackResponse,
  read: (r) => readBatchRollbackResponse(r, newBatchRollbackResponse()),
};
export const encodeBatchRollbackResponse = (message: BatchRollbackResponseInit): Uint8Array => encode(BatchRollbackResponseCodec, message);
export const decodeBatchRollbackResponse = (bytes: Uint8Array): BatchRollbackResponse => decode(BatchRollbackResponseCodec, bytes);

export interface ScanLockRequest {
  context: Context | undefined;
  maxVersion: bigint;
  startKey: Uint8Array;
  limit: number;
  endKey: Uint8Array;
}
export type ScanLockRequestInit = Init<ScanLockRequest>;

export const newScanLockRequest = (): ScanLockRequest => ({ context: undefined, maxVersion: 0n, startKey: EMPTY_BYTES, limit: 0, endKey: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readScanLockRequest(r: Reader, message: ScanLockRequest): ScanLockRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 16:
        message.maxVersion = r.bigUint64();
        break;
      case 26:
        message.startKey = r.bytes();
        break;
      case 32:
        message.limit = r.uint32();
        break;
      case 42:
        message.endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeScanLockRequest(w: Writer, message: ScanLockRequestInit): void {
  if (message.endKey !== undefined && message.endKey.length > 0) {
    w.bytes(message.endKey);
    w.varint(42);
  }
  if (message.limit !== undefined && message.limit !== 0) {
    w.varint(message.limit);
    w.varint(32);
  }
  if (message.startKey !== undefined && message.startKey.length > 0) {
    w.bytes(message.startKey);
    w.varint(26);
  }
  if (message.maxVersion !== undefined && message.maxVersion !== 0n) {
    w.bigint(message.maxVersion);
    w.varint(16);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ScanLockRequestCodec: Codec<ScanLockRequest, ScanLockRequestInit> = {
  write: writeScanLockRequest,
  read: (r) => readScanLockRequest(r, newScanLockRequest()),
};
export const encodeScanLockRequest = (message: ScanLockRequestInit): Uint8Array => encode(ScanLockRequestCodec, message);
export const decodeScanLockRequest = (bytes: Uint8Array): ScanLockRequest => decode(ScanLockRequestCodec, bytes);

export interface ScanLockResponse {
  regionError: errorpb.Error | undefined;
  error: KeyError | undefined;
  locks: LockInfo[];
}
export type ScanLockResponseInit = Init<ScanLockResponse>;

export const newScanLockResponse = (): ScanLockResponse => ({ regionError: undefined, error: undefined, locks: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readScanLockResponse(r: Reader, message: ScanLockResponse): ScanLockResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.locks.push(readLockInfo(r, newLockInfo()));
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
export function writeScanLockResponse(w: Writer, message: ScanLockResponseInit): void {
  if (message.locks !== undefined && message.locks.length > 0) {
    for (let at = message.locks.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeLockInfo(w, message.locks[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ScanLockResponseCodec: Codec<ScanLockResponse, ScanLockResponseInit> = {
  write: writeScanLockResponse,
  read: (r) => readScanLockResponse(r, newScanLockResponse()),
};
export const encodeScanLockResponse = (message: ScanLockResponseInit): Uint8Array => encode(ScanLockResponseCodec, message);
export const decodeScanLockResponse = (bytes: Uint8Array): ScanLockResponse => decode(ScanLockResponseCodec, bytes);

export interface ResolveLockRequest {
  context: Context | undefined;
  startVersion: bigint;
  commitVersion: bigint;
  txnInfos: TxnInfo[];
  keys: Uint8Array[];
  isAsync: boolean;
}
export type ResolveLockRequestInit = Init<ResolveLockRequest>;

export const newResolveLockRequest = (): ResolveLockRequest => ({ context: undefined, startVersion: 0n, commitVersion: 0n, txnInfos: [], keys: [], isAsync: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResolveLockRequest(r: Reader, message: ResolveLockRequest): ResolveLockRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 16:
        message.startVersion = r.bigUint64();
        break;
      case 24:
        message.commitVersion = r.bigUint64();
        break;
      case 34: {
        const outer = r.enter();
        message.txnInfos.push(readTxnInfo(r, newTxnInfo()));
        r.leave(outer);
        break;
      }
      case 42:
        message.keys.push(r.bytes());
        break;
      case 48:
        message.isAsync = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeResolveLockRequest(w: Writer, message: ResolveLockRequestInit): void {
  if (message.isAsync === true) {
    w.varint(message.isAsync ? 1 : 0);
    w.varint(48);
  }
  if (message.keys !== undefined && message.keys.length > 0) {
    for (let at = message.keys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.keys[at]!);
      w.varint(42);
    }
  }
  if (message.txnInfos !== undefined && message.txnInfos.length > 0) {
    for (let at = message.txnInfos.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeTxnInfo(w, message.txnInfos[at]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (message.commitVersion !== undefined && message.commitVersion !== 0n) {
    w.bigint(message.commitVersion);
    w.varint(24);
  }
  if (message.startVersion !== undefined && message.startVersion !== 0n) {
    w.bigint(message.startVersion);
    w.varint(16);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ResolveLockRequestCodec: Codec<ResolveLockRequest, ResolveLockRequestInit> = {
  write: writeResolveLockRequest,
  read: (r) => readResolveLockRequest(r, newResolveLockRequest()),
};
export const encodeResolveLockRequest = (message: ResolveLockRequestInit): Uint8Array => encode(ResolveLockRequestCodec, message);
export const decodeResolveLockRequest = (bytes: Uint8Array): ResolveLockRequest => decode(ResolveLockRequestCodec, bytes);

export interface ResolveLockResponse {
  regionError: errorpb.Error | undefined;
  error: KeyError | undefined;
}
export type ResolveLockResponseInit = Init<ResolveLockResponse>;

export const newResolveLockResponse = (): ResolveLockResponse => ({ regionError: undefined, error: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResolveLockResponse(r: Reader, message: ResolveLockResponse): ResolveLockResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
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
export function writeResolveLockResponse(w: Writer, message: ResolveLockResponseInit): void {
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ResolveLockResponseCodec: Codec<ResolveLockResponse, ResolveLockResponseInit> = {
  write: writeResolveLockResponse,
  read: (r) => readResolveLockResponse(r, newResolveLockResponse()),
};
export const encodeResolveLockResponse = (message: ResolveLockResponseInit): Uint8Array => encode(ResolveLockResponseCodec, message);
export const decodeResolveLockResponse = (bytes: Uint8Array): ResolveLockResponse => decode(ResolveLockResponseCodec, bytes);

export interface DeleteRangeRequest {
  context: Context | undefined;
  startKey: Uint8Array;
  endKey: Uint8Array;
  notifyOnly: boolean;
}
export type DeleteRangeRequestInit = Init<DeleteRangeRequest>;

export const newDeleteRangeRequest = (): DeleteRangeRequest => ({ context: undefined, startKey: EMPTY_BYTES, endKey: EMPTY_BYTES, notifyOnly: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteRangeRequest(r: Reader, message: DeleteRangeRequest): DeleteRangeRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.startKey = r.bytes();
        break;
      case 26:
        message.endKey = r.bytes();
        break;
      case 32:
        message.notifyOnly = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDeleteRangeRequest(w: Writer, message: DeleteRangeRequestInit): void {
  if (message.notifyOnly === true) {
    w.varint(message.notifyOnly ? 1 : 0);
    w.varint(32);
  }
  if (message.endKey !== undefined && message.endKey.length > 0) {
    w.bytes(message.endKey);
    w.varint(26);
  }
  if (message.startKey !== undefined && message.startKey.length > 0) {
    w.bytes(message.startKey);
    w.varint(18);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const DeleteRangeRequestCodec: Codec<DeleteRangeRequest, DeleteRangeRequestInit> = {
  write: writeDeleteRangeRequest,
  read: (r) => readDeleteRangeRequest(r, newDeleteRangeRequest()),
};
export const encodeDeleteRangeRequest = (message: DeleteRangeRequestInit): Uint8Array => encode(DeleteRangeRequestCodec, message);
export const decodeDeleteRangeRequest = (bytes: Uint8Array): DeleteRangeRequest => decode(DeleteRangeRequestCodec, bytes);

export interface DeleteRangeResponse {
  regionError: errorpb.Error | undefined;
  error: string;
}
export type DeleteRangeResponseInit = Init<DeleteRangeResponse>;

export const newDeleteRangeResponse = (): DeleteRangeResponse => ({ regionError: undefined, error: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteRangeResponse(r: Reader, message: DeleteRangeResponse): DeleteRangeResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18:
        message.error = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDeleteRangeResponse(w: Writer, message: DeleteRangeResponseInit): void {
  if (message.error !== undefined && message.error !== '') {
    w.string(message.error);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const DeleteRangeResponseCodec: Codec<DeleteRangeResponse, DeleteRangeResponseInit> = {
  write: writeDeleteRangeResponse,
  read: (r) => readDeleteRangeResponse(r, newDeleteRangeResponse()),
};
export const encodeDeleteRangeResponse = (message: DeleteRangeResponseInit): Uint8Array => encode(DeleteRangeResponseCodec, message);
export const decodeDeleteRangeResponse = (bytes: Uint8Array): DeleteRangeResponse => decode(DeleteRangeResponseCodec, bytes);

export interface UnsafeDestroyRangeRequest {
  context: Context | undefined;
  startKey: Uint8Array;
  endKey: Uint8Array;
}
export type UnsafeDestroyRangeRequestInit = Init<UnsafeDestroyRangeRequest>;

export const newUnsafeDestroyRangeRequest = (): UnsafeDestroyRangeRequest => ({ context: undefined, startKey: EMPTY_BYTES, endKey: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUnsafeDestroyRangeRequest(r: Reader, message: UnsafeDestroyRangeRequest): UnsafeDestroyRangeRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.startKey = r.bytes();
        break;
      case 26:
        message.endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUnsafeDestroyRangeRequest(w: Writer, message: UnsafeDestroyRangeRequestInit): void {
  if (message.endKey !== undefined && message.endKey.length > 0) {
    w.bytes(message.endKey);
    w.varint(26);
  }
  if (message.startKey !== undefined && message.startKey.length > 0) {
    w.bytes(message.startKey);
    w.varint(18);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const UnsafeDestroyRangeRequestCodec: Codec<UnsafeDestroyRangeRequest, UnsafeDestroyRangeRequestInit> = {
  write: writeUnsafeDestroyRangeRequest,
  read: (r) => readUnsafeDestroyRangeRequest(r, newUnsafeDestroyRangeRequest()),
};
export const encodeUnsafeDestroyRangeRequest = (message: UnsafeDestroyRangeRequestInit): Uint8Array => encode(UnsafeDestroyRangeRequestCodec, message);
export const decodeUnsafeDestroyRangeRequest = (bytes: Uint8Array): UnsafeDestroyRangeRequest => decode(UnsafeDestroyRangeRequestCodec, bytes);

export interface UnsafeDestroyRangeResponse {
  regionError: errorpb.Error | undefined;
  error: string;
}
export type UnsafeDestroyRangeResponseInit = Init<UnsafeDestroyRangeResponse>;

export const newUnsafeDestroyRangeResponse = (): UnsafeDestroyRangeResponse => ({ regionError: undefined, error: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUnsafeDestroyRangeResponse(r: Reader, message: UnsafeDestroyRangeResponse): UnsafeDestroyRangeResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18:
        message.error = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUnsafeDestroyRangeResponse(w: Writer, message: UnsafeDestroyRangeResponseInit): void {
  if (message.error !== undefined && message.error !== '') {
    w.string(message.error);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const UnsafeDestroyRangeResponseCodec: Codec<UnsafeDestroyRangeResponse, UnsafeDestroyRangeResponseInit> = {
  write: writeUnsafeDestroyRangeResponse,
  read: (r) => readUnsafeDestroyRangeResponse(r, newUnsafeDestroyRangeResponse()),
};
export const encodeUnsafeDestroyRangeResponse = (message: UnsafeDestroyRangeResponseInit): Uint8Array => encode(UnsafeDestroyRangeResponseCodec, message);
export const decodeUnsafeDestroyRangeResponse = (bytes: Uint8Array): UnsafeDestroyRangeResponse => decode(UnsafeDestroyRangeResponseCodec, bytes);

export interface SplitRegionRequest {
  context: Context | undefined;
  splitKey: Uint8Array;
  splitKeys: Uint8Array[];
  isRawKv: boolean;
}
export type SplitRegionRequestInit = Init<SplitRegionRequest>;

export const newSplitRegionRequest = (): SplitRegionRequest => ({ context: undefined, splitKey: EMPTY_BYTES, splitKeys: [], isRawKv: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSplitRegionRequest(r: Reader, message: SplitRegionRequest): SplitRegionRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.splitKey = r.bytes();
        break;
      case 26:
        message.splitKeys.push(r.bytes());
        break;
      case 32:
        message.isRawKv = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeSplitRegionRequest(w: Writer, message: SplitRegionRequestInit): void {
  if (message.isRawKv === true) {
    w.varint(message.isRawKv ? 1 : 0);
    w.varint(32);
  }
  if (message.splitKeys !== undefined && message.splitKeys.length > 0) {
    for (let at = message.splitKeys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.splitKeys[at]!);
      w.varint(26);
    }
  }
  if (message.splitKey !== undefined && message.splitKey.length > 0) {
    w.bytes(message.splitKey);
    w.varint(18);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SplitRegionRequestCodec: Codec<SplitRegionRequest, SplitRegionRequestInit> = {
  write: writeSplitRegionRequest,
  read: (r) => readSplitRegionRequest(r, newSplitRegionRequest()),
};
export const encodeSplitRegionRequest = (message: SplitRegionRequestInit): Uint8Array => encode(SplitRegionRequestCodec, message);
export const decodeSplitRegionRequest = (bytes: Uint8Array): SplitRegionRequest => decode(SplitRegionRequestCodec, bytes);

export interface SplitRegionResponse {
  regionError: errorpb.Error | undefined;
  left: metapb.Region | undefined;
  right: metapb.Region | undefined;
  regions: metapb.Region[];
  errors: KeyError[];
}
export type SplitRegionResponseInit = Init<SplitRegionResponse>;

export const newSplitRegionResponse = (): SplitRegionResponse => ({ regionError: undefined, left: undefined, right: undefined, regions: [], errors: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSplitRegionResponse(r: Reader, message: SplitRegionResponse): SplitRegionResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.left = metapb.readRegion(r, message.left ?? metapb.newRegion());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.right = metapb.readRegion(r, message.right ?? metapb.newRegion());
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.regions.push(metapb.readRegion(r, metapb.newRegion()));
        r.leave(outer);
        break;
      }
      case 802: {
        const outer = r.enter();
        message.errors.push(readKeyError(r, newKeyError()));
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
export function writeSplitRegionResponse(w: Writer, message: SplitRegionResponseInit): void {
  if (message.errors !== undefined && message.errors.length > 0) {
    for (let at = message.errors.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeKeyError(w, message.errors[at]!);
      w.varint(w.length - end);
      w.varint(802);
    }
  }
  if (message.regions !== undefined && message.regions.length > 0) {
    for (let at = message.regions.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      metapb.writeRegion(w, message.regions[at]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (message.right !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, message.right);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.left !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, message.left);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SplitRegionResponseCodec: Codec<SplitRegionResponse, SplitRegionResponseInit> = {
  write: writeSplitRegionResponse,
  read: (r) => readSplitRegionResponse(r, newSplitRegionResponse()),
};
export const encodeSplitRegionResponse = (message: SplitRegionResponseInit): Uint8Array => encode(SplitRegionResponseCodec, message);
export const decodeSplitRegionResponse = (bytes: Uint8Array): SplitRegionResponse => decode(SplitRegionResponseCodec, bytes);

export interface MvccGetByKeyRequest {
  context: Context | undefined;
  key: Uint8Array;
}
export type MvccGetByKeyRequestInit = Init<MvccGetByKeyRequest>;

export const newMvccGetByKeyRequest = (): MvccGetByKeyRequest => ({ context: undefined, key: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMvccGetByKeyRequest(r: Reader, message: MvccGetByKeyRequest): MvccGetByKeyRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.context = readContext(r, message.context ?? newContext());
        r.leave(outer);
        break;
      }
      case 18:
        message.key = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMvccGetByKeyRequest(w: Writer, message: MvccGetByKeyRequestInit): void {
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.context !== undefined) {
    const end = w.length;
    writeContext(w, message.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const MvccGetByKeyRequestCodec: Codec<MvccGetByKeyRequest, MvccGetByKeyRequestInit> = {
  write: writeMvccGetByKeyRequest,
  read: (r) => readMvccGetByKeyRequest(r, newMvccGetByKeyRequest()),
};
export const encodeMvccGetByKeyRequest = (message: MvccGetByKeyRequestInit): Uint8Array => encode(MvccGetByKeyRequestCodec, message);
export const decodeMvccGetByKeyRequest = (bytes: Uint8Array): MvccGetByKeyRequest => decode(MvccGetByKeyRequestCodec, bytes);

export interface MvccGetByKeyResponse {
  regionError: errorpb.Error | undefined;
  error: string;
  info: MvccInfo | undefined;
}
export type MvccGetByKeyResponseInit = Init<MvccGetByKeyResponse>;

export const newMvccGetByKeyResponse = (): MvccGetByKeyResponse => ({ regionError: undefined, error: '', info: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMvccGetByKeyResponse(r: Reader, message: MvccGetByKeyResponse): MvccGetByKeyResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.regionError = errorpb.readError(r, message.regionError ?? errorpb.newError());
        r.leave(outer);
        break;
      }
      case 18:
        message.error = r.lenientString();
        break;
      case 26: {
        const outer = r.enter();
        message.info = readMvccInfo(r, message.info ?? newMvccInfo());
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
export function writeMvccGetByKeyResponse(w: Writer, message: MvccGetByKeyResponseInit): void {
  if (message.info !== undefined) {
    const end = w.length;
    writeMvccInfo(w, message.info);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.error !== undefined && message.error !== '') {
    w.string(message.error);
    w.varint(18);
  }
  if (message.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, message.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const MvccGetByKeyResponseCodec: Codec<MvccGetByKeyResponse, MvccGetByKeyResponseInit> = {
  write: writeMvccGetByKeyResponse,
  read: (r) => readMvccGetByKeyResponse(r, newMvccGetByKeyResponse()),
};
export const encodeMvccGetByKeyResponse = (message: MvccGetByKeyResponseInit): Uint8Array => encode(MvccGetByKeyResponseCodec, message);
export const decodeMvccGetByKeyResponse = (bytes: Uint8Array): MvccGetByKeyResponse => decode(MvccGetByKeyResponseCodec, bytes);

export interface Context {
  regionId: number;
  regionEpoch: metapb.RegionEpoch | undefined;
  peer: metapb.Peer | undefined;
  term: number;
  priority: number;
  isolationLevel: number;
  notFillCache: boolean;
  syncLog: boolean;
  recordTimeStat: boolean;
  recordScanStat: boolean;
  replicaRead: boolean;
  resolvedLocks: bigint[];
  maxExecutionDurationMs: number;
  appliedIndex: number;
  taskId: number;
  staleRead: boolean;
  resourceGroupTag: Uint8Array;
  diskFullOpt: number;
  isRetryRequest: boolean;
  apiVersion: number;
  committedLocks: bigint[];
  requestSource: string;
  txnSource: bigint;
  busyThresholdMs: number;
  resourceControlContext: ResourceControlContext | undefined;
  keyspaceName: string;
  keyspaceId: number | undefined;
  bucketsVersion: number;
  clusterId: bigint;
  traceId: Uint8Array;
  traceControlFlags: bigint;
}
export type ContextInit = Init<Context>;

export const newContext = (): Context => ({ regionId: 0, regionEpoch: undefined, peer: undefined, term: 0, priority: 0, isolationLevel: 0, notFillCache: false, syncLog: false, recordTimeStat: false, recordScanStat: false, replicaRead: false, resolvedLocks: [], maxExecutionDurationMs: 0, appliedIndex: 0, taskId: 0, staleRead: false, resourceGroupTag: EMPTY_BYTES, diskFullOpt: 0, isRetryRequest: false, apiVersion: 0, committedLocks: [], requestSource: '', txnSource: 0n, busyThresholdMs: 0, resourceControlContext: undefined, keyspaceName: '', keyspaceId: undefined, bucketsVersion: 0, clusterId: 0n, traceId: EMPTY_BYTES, traceControlFlags: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readContext(r: Reader, message: Context): Context {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      case 18: {
        const outer = r.enter();
        message.regionEpoch = metapb.readRegionEpoch(r, message.regionEpoch ?? metapb.newRegionEpoch());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.peer = metapb.readPeer(r, message.peer ?? metapb.newPeer());
        r.leave(outer);
        break;
      }
      case 40:
        message.term = r.count();
        break;
      case 48:
        message.priority = r.int32();
        break;
      case 56:
        message.isolationLevel = r.int32();
        break;
      case 64:
        message.notFillCache = r.bool();
        break;
      case 72:
        message.syncLog = r.bool();
        break;
      case 80:
        message.recordTimeStat = r.bool();
        break;
      case 88:
        message.recordScanStat = r.bool();
        break;
      case 96:
        message.replicaRead = r.bool();
        break;
      case 104:
        message.resolvedLocks.push(r.bigUint64());
        break;
      case 106: {
        const outer = r.enterList();
        while (r.more()) message.resolvedLocks.push(r.bigUint64());
        r.leave(outer);
        break;
      }
      case 112:
        message.maxExecutionDurationMs = r.count();
        break;
      case 120:
        message.appliedIndex = r.count();
        break;
      case 128:
        message.taskId = r.count();
        break;
      case 136:
        message.staleRead = r.bool();
        break;
      case 146:
        message.resourceGroupTag = r.bytes();
        break;
      case 152:
        message.diskFullOpt = r.int32();
        break;
      case 160:
        message.isRetryRequest = r.bool();
        break;
      case 168:
        message.apiVersion = r.int32();
        break;
      case 176:
        message.committedLocks.push(r.bigUint64());
        break;
      case 178: {
        const outer = r.enterList();
        while (r.more()) message.committedLocks.push(r.bigUint64());
        r.leave(outer);
        break;
      }
      case 194:
        message.requestSource = r.lenientString();
        break;
      case 200:
        message.txnSource = r.bigUint64();
        break;
      case 216:
        message.busyThresholdMs = r.uint32();
        break;
      case 226: {
        const outer = r.enter();
        message.resourceControlContext = readResourceControlContext(r, message.resourceControlContext ?? newResourceControlContext());
        r.leave(outer);
        break;
      }
      case 250:
        message.keyspaceName = r.lenientString();
        break;
      case 256:
        message.keyspaceId = r.uint32();
        break;
      case 264:
        message.bucketsVersion = r.count();
        break;
      case 280:
        message.clusterId = r.bigUint64();
        break;
      case 290:
        message.traceId = r.bytes();
        break;
      case 296:
        message.traceControlFlags = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeContext(w: Writer, message: ContextInit): void {
  if (message.traceControlFlags !== undefined && message.traceControlFlags !== 0n) {
    w.bigint(message.traceControlFlags);
    w.varint(296);
  }
  if (message.traceId !== undefined && message.traceId.length > 0) {
    w.bytes(message.traceId);
    w.varint(290);
  }
  if (message.clusterId !== undefined && message.clusterId !== 0n) {
    w.bigint(message.clusterId);
    w.varint(280);
  }
  if (message.bucketsVersion !== undefined && message.bucketsVersion !== 0) {
    w.int64(message.bucketsVersion);
    w.varint(264);
  }
  if (message.keyspaceId !== undefined) {
    w.varint(message.keyspaceId);
    w.varint(256);
  }
  if (message.keyspaceName !== undefined && message.keyspaceName !== '') {
    w.string(message.keyspaceName);
    w.varint(250);
  }
  if (message.resourceControlContext !== undefined) {
    const end = w.length;
    writeResourceControlContext(w, message.resourceControlContext);
    w.varint(w.length - end);
    w.varint(226);
  }
  if (message.busyThresholdMs !== undefined && message.busyThresholdMs !== 0) {
    w.varint(message.busyThresholdMs);
    w.varint(216);
  }
  if (message.txnSource !== undefined && message.txnSource !== 0n) {
    w.bigint(message.txnSource);
    w.varint(200);
  }
  if (message.requestSource !== undefined && message.requestSource !== '') {
    w.string(message.requestSource);
    w.varint(194);
  }
  if (message.committedLocks !== undefined && message.committedLocks.length > 0) {
    const end = w.length;
    for (let at = message.committedLocks.length - 1; at >= 0; at -= 1) w.bigint(message.committedLocks[at]!);
    w.varint(w.length - end);
    w.varint(178);
  }
  if (message.apiVersion !== undefined && message.apiVersion !== 0) {
    w.int64(message.apiVersion);
    w.varint(168);
  }
  if (message.isRetryRequest === true) {
    w.varint(message.isRetryRequest ? 1 : 0);
    w.varint(160);
  }
  if (message.diskFullOpt !== undefined && message.diskFullOpt !== 0) {
    w.int64(message.diskFullOpt);
    w.varint(152);
  }
  if (message.resourceGroupTag !== undefined && message.resourceGroupTag.length > 0) {
    w.bytes(message.resourceGroupTag);
    w.varint(146);
  }
  if (message.staleRead === true) {
    w.varint(message.staleRead ? 1 : 0);
    w.varint(136);
  }
  if (message.taskId !== undefined && message.taskId !== 0) {
    w.int64(message.taskId);
    w.varint(128);
  }
  if (message.appliedIndex !== undefined && message.appliedIndex !== 0) {
    w.int64(message.appliedIndex);
    w.varint(120);
  }
  if (message.maxExecutionDurationMs !== undefined && message.maxExecutionDurationMs !== 0) {
    w.int64(message.maxExecutionDurationMs);
    w.varint(112);
  }
  if (message.resolvedLocks !== undefined && message.resolvedLocks.length > 0) {
    const end = w.length;
    for (let at = message.resolvedLocks.length - 1; at >= 0; at -= 1) w.bigint(message.resolvedLocks[at]!);
    w.varint(w.length - end);
    w.varint(106);
  }
  if (message.replicaRead === true) {
    w.varint(message.replicaRead ? 1 : 0);
    w.varint(96);
  }
  if (message.recordScanStat === true) {
    w.varint(message.recordScanStat ? 1 : 0);
    w.varint(88);
  }
  if (message.recordTimeStat === true) {
    w.varint(message.recordTimeStat ? 1 : 0);
    w.varint(80);
  }
  if (message.syncLog === true) {
    w.varint(message.syncLog ? 1 : 0);
    w.varint(72);
  }
  if (message.notFillCache === true) {
    w.varint(message.notFillCache ? 1 : 0);
    w.varint(64);
  }
  if (message.isolationLevel !== undefined && message.isolationLevel !== 0) {
    w.int64(message.isolationLevel);
    w.varint(56);
  }
  if (message.priority !== undefined && message.priority !== 0) {
    w.int64(message.priority);
    w.varint(48);
  }
  if (message.term !== undefined && message.term !== 0) {
    w.int64(message.term);
    w.varint(40);
  }
  if (message.peer !== undefined) {
    const end = w.length;
    metapb.writePeer(w, message.peer);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.regionEpoch !== undefined) {
    const end = w.length;
    metapb.writeRegionEpoch(w, message.regionEpoch);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const ContextCodec: Codec<Context, ContextInit> = {
  write: writeContext,
  read: (r) => readContext(r, newContext()),
};
export const encodeContext = (message: ContextInit): Uint8Array => encode(ContextCodec, message);
export const decodeContext = (bytes: Uint8Array): Context => decode(ContextCodec, bytes);

export interface ResourceControlContext {
  resourceGroupName: string;
  overridePriority: number;
}
export type ResourceControlContextInit = Init<ResourceControlContext>;

export const newResourceControlContext = (): ResourceControlContext => ({ resourceGroupName: '', overridePriority: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResourceControlContext(r: Reader, message: ResourceControlContext): ResourceControlContext {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.resourceGroupName = r.lenientString();
        break;
      case 24:
        message.overridePriority = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeResourceControlContext(w: Writer, message: ResourceControlContextInit): void {
  if (message.overridePriority !== undefined && message.overridePriority !== 0) {
    w.int64(message.overridePriority);
    w.varint(24);
  }
  if (message.resourceGroupName !== undefined && message.resourceGroupName !== '') {
    w.string(message.resourceGroupName);
    w.varint(10);
  }
}

export const ResourceControlContextCodec: Codec<ResourceControlContext, ResourceControlContextInit> = {
  write: writeResourceControlContext,
  read: (r) => readResourceControlContext(r, newResourceControlContext()),
};
export const encodeResourceControlContext = (message: ResourceControlContextInit): Uint8Array => encode(ResourceControlContextCodec, message);
export const decodeResourceControlContext = (bytes: Uint8Array): ResourceControlContext => decode(ResourceControlContextCodec, bytes);

export interface LockInfo {
  primaryLock: Uint8Array;
  lockVersion: bigint;
  key: Uint8Array;
  lockTtl: number;
  txnSize: bigint;
  lockType: number;
  lockForUpdateTs: bigint;
  useAsyncCommit: boolean;
  minCommitTs: bigint;
  secondaries: Uint8Array[];
  durationToLastUpdateMs: number;
  sharedLockInfos: LockInfo[];
}
export type LockInfoInit = Init<LockInfo>;

export const newLockInfo = (): LockInfo => ({ primaryLock: EMPTY_BYTES, lockVersion: 0n, key: EMPTY_BYTES, lockTtl: 0, txnSize: 0n, lockType: 0, lockForUpdateTs: 0n, useAsyncCommit: false, minCommitTs: 0n, secondaries: [], durationToLastUpdateMs: 0, sharedLockInfos: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLockInfo(r: Reader, message: LockInfo): LockInfo {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.primaryLock = r.bytes();
        break;
      case 16:
        message.lockVersion = r.bigUint64();
        break;
      case 26:
        message.key = r.bytes();
        break;
      case 32:
        message.lockTtl = r.count();
        break;
      case 40:
        message.txnSize = r.bigUint64();
        break;
      case 48:
        message.lockType = r.int32();
        break;
      case 56:
        message.lockForUpdateTs = r.bigUint64();
        break;
      case 64:
        message.useAsyncCommit = r.bool();
        break;
      case 72:
        message.minCommitTs = r.bigUint64();
        break;
      case 82:
        message.secondaries.push(r.bytes());
        break;
      case 88:
        message.durationToLastUpdateMs = r.count();
        break;
      case 98: {
        const outer = r.enter();
        message.sharedLockInfos.push(readLockInfo(r, newLockInfo()));
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
export function writeLockInfo(w: Writer, message: LockInfoInit): void {
  if (message.sharedLockInfos !== undefined && message.sharedLockInfos.length > 0) {
    for (let at = message.sharedLockInfos.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeLockInfo(w, message.sharedLockInfos[at]!);
      w.varint(w.length - end);
      w.varint(98);
    }
  }
  if (message.durationToLastUpdateMs !== undefined && message.durationToLastUpdateMs !== 0) {
    w.int64(message.durationToLastUpdateMs);
    w.varint(88);
  }
  if (message.secondaries !== undefined && message.secondaries.length > 0) {
    for (let at = message.secondaries.length - 1; at >= 0; at -= 1) {
      w.bytes(message.secondaries[at]!);
      w.varint(82);
    }
  }
  if (message.minCommitTs !== undefined && message.minCommitTs !== 0n) {
    w.bigint(message.minCommitTs);
    w.varint(72);
  }
  if (message.useAsyncCommit === true) {
    w.varint(message.useAsyncCommit ? 1 : 0);
    w.varint(64);
  }
  if (message.lockForUpdateTs !== undefined && message.lockForUpdateTs !== 0n) {
    w.bigint(message.lockForUpdateTs);
    w.varint(56);
  }
  if (message.lockType !== undefined && message.lockType !== 0) {
    w.int64(message.lockType);
    w.varint(48);
  }
  if (message.txnSize !== undefined && message.txnSize !== 0n) {
    w.bigint(message.txnSize);
    w.varint(40);
  }
  if (message.lockTtl !== undefined && message.lockTtl !== 0) {
    w.int64(message.lockTtl);
    w.varint(32);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(26);
  }
  if (message.lockVersion !== undefined && message.lockVersion !== 0n) {
    w.bigint(message.lockVersion);
    w.varint(16);
  }
  if (message.primaryLock !== undefined && message.primaryLock.length > 0) {
    w.bytes(message.primaryLock);
    w.varint(10);
  }
}

export const LockInfoCodec: Codec<LockInfo, LockInfoInit> = {
  write: writeLockInfo,
  read: (r) => readLockInfo(r, newLockInfo()),
};
export const encodeLockInfo = (message: LockInfoInit): Uint8Array => encode(LockInfoCodec, message);
export const decodeLockInfo = (bytes: Uint8Array): LockInfo => decode(LockInfoCodec, bytes);

export interface KeyError {
  locked: LockInfo | undefined;
  retryable: string;
  abort: string;
  conflict: WriteConflict | undefined;
  alreadyExist: AlreadyExist | undefined;
  commitTsExpired: CommitTsExpired | undefined;
  txnNotFound: TxnNotFound | undefined;
  commitTsTooLarge: CommitTsTooLarge | undefined;
  assertionFailed: AssertionFailed | undefined;
  primaryMismatch: PrimaryMismatch | undefined;
  txnLockNotFound: TxnLockNotFound | undefined;
}
export type KeyErrorInit = Init<KeyError>;

export const newKeyError = (): KeyError => ({ locked: undefined, retryable: '', abort: '', conflict: undefined, alreadyExist: undefined, commitTsExpired: undefined, txnNotFound: undefined, commitTsTooLarge: undefined, assertionFailed: undefined, primaryMismatch: undefined, txnLockNotFound: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readKeyError(r: Reader, message: KeyError): KeyError {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.locked = readLockInfo(r, message.locked ?? newLockInfo());
        r.leave(outer);
        break;
      }
      case 18:
        message.retryable = r.lenientString();
        break;
      case 26:
        message.abort = r.lenientString();
        break;
      case 34: {
        const outer = r.enter();
        message.conflict = readWriteConflict(r, message.conflict ?? newWriteConflict());
        r.leave(outer);
        break;
      }
      case 42: {
        const outer = r.enter();
        message.alreadyExist = readAlreadyExist(r, message.alreadyExist ?? newAlreadyExist());
        r.leave(outer);
        break;
      }
      case 58: {
        const outer = r.enter();
        message.commitTsExpired = readCommitTsExpired(r, message.commitTsExpired ?? newCommitTsExpired());
        r.leave(outer);
        break;
      }
      case 66: {
        const outer = r.enter();
        message.txnNotFound = readTxnNotFound(r, message.txnNotFound ?? newTxnNotFound());
        r.leave(outer);
        break;
      }
      case 74: {
        const outer = r.enter();
        message.commitTsTooLarge = readCommitTsTooLarge(r, message.commitTsTooLarge ?? newCommitTsTooLarge());
        r.leave(outer);
        break;
      }
      case 82: {
        const outer = r.enter();
        message.assertionFailed = readAssertionFailed(r, message.assertionFailed ?? newAssertionFailed());
        r.leave(outer);
        break;
      }
      case 90: {
        const outer = r.enter();
        message.primaryMismatch = readPrimaryMismatch(r, message.primaryMismatch ?? newPrimaryMismatch());
        r.leave(outer);
        break;
      }
      case 98: {
        const outer = r.enter();
        message.txnLockNotFound = readTxnLockNotFound(r, message.txnLockNotFound ?? newTxnLockNotFound());
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
export function writeKeyError(w: Writer, message: KeyErrorInit): void {
  if (message.txnLockNotFound !== undefined) {
    const end = w.length;
    writeTxnLockNotFound(w, message.txnLockNotFound);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (message.primaryMismatch !== undefined) {
    const end = w.length;
    writePrimaryMismatch(w, message.primaryMismatch);
    w.varint(w.length - end);
    w.varint(90);
  }
  if (message.assertionFailed !== undefined) {
    const end = w.length;
    writeAssertionFailed(w, message.assertionFailed);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (message.commitTsTooLarge !== undefined) {
    const end = w.length;
    writeCommitTsTooLarge(w, message.commitTsTooLarge);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (message.txnNotFound !== undefined) {
    const end = w.length;
    writeTxnNotFound(w, message.txnNotFound);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (message.commitTsExpired !== undefined) {
    const end = w.length;
    writeCommitTsExpired(w, message.commitTsExpired);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (message.alreadyExist !== undefined) {
    const end = w.length;
    writeAlreadyExist(w, message.alreadyExist);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.conflict !== undefined) {
    const end = w.length;
    writeWriteConflict(w, message.conflict);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.abort !== undefined && message.abort !== '') {
    w.string(message.abort);
    w.varint(26);
  }
  if (message.retryable !== undefined && message.retryable !== '') {
    w.string(message.retryable);
    w.varint(18);
  }
  if (message.locked !== undefined) {
    const end = w.length;
    writeLockInfo(w, message.locked);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const KeyErrorCodec: Codec<KeyError, KeyErrorInit> = {
  write: writeKeyError,
  read: (r) => readKeyError(r, newKeyError()),
};
export const encodeKeyError = (message: KeyErrorInit): Uint8Array => encode(KeyErrorCodec, message);
export const decodeKeyError = (bytes: Uint8Array): KeyError => decode(KeyErrorCodec, bytes);

export interface WriteConflict {
  startTs: bigint;
  conflictTs: bigint;
  key: Uint8Array;
  primary: Uint8Array;
  conflictCommitTs: bigint;
  reason: number;
}
export type WriteConflictInit = Init<WriteConflict>;

export const newWriteConflict = (): WriteConflict => ({ startTs: 0n, conflictTs: 0n, key: EMPTY_BYTES, primary: EMPTY_BYTES, conflictCommitTs: 0n, reason: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWriteConflict(r: Reader, message: WriteConflict): WriteConflict {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.startTs = r.bigUint64();
        break;
      case 16:
        message.conflictTs = r.bigUint64();
        break;
      case 26:
        message.key = r.bytes();
        break;
      case 34:
        message.primary = r.bytes();
        break;
      case 40:
        message.conflictCommitTs = r.bigUint64();
        break;
      case 48:
        message.reason = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeWriteConflict(w: Writer, message: WriteConflictInit): void {
  if (message.reason !== undefined && message.reason !== 0) {
    w.int64(message.reason);
    w.varint(48);
  }
  if (message.conflictCommitTs !== undefined && message.conflictCommitTs !== 0n) {
    w.bigint(message.conflictCommitTs);
    w.varint(40);
  }
  if (message.primary !== undefined && message.primary.length > 0) {
    w.bytes(message.primary);
    w.varint(34);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(26);
  }
  if (message.conflictTs !== undefined && message.conflictTs !== 0n) {
    w.bigint(message.conflictTs);
    w.varint(16);
  }
  if (message.startTs !== undefined && message.startTs !== 0n) {
    w.bigint(message.startTs);
    w.varint(8);
  }
}

export const WriteConflictCodec: Codec<WriteConflict, WriteConflictInit> = {
  write: writeWriteConflict,
  read: (r) => readWriteConflict(r, newWriteConflict()),
};
export const encodeWriteConflict = (message: WriteConflictInit): Uint8Array => encode(WriteConflictCodec, message);
export const decodeWriteConflict = (bytes: Uint8Array): WriteConflict => decode(WriteConflictCodec, bytes);

export interface AlreadyExist {
  key: Uint8Array;
}
export type AlreadyExistInit = Init<AlreadyExist>;

export const newAlreadyExist = (): AlreadyExist => ({ key: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAlreadyExist(r: Reader, message: AlreadyExist): AlreadyExist {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAlreadyExist(w: Writer, message: AlreadyExistInit): void {
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const AlreadyExistCodec: Codec<AlreadyExist, AlreadyExistInit> = {
  write: writeAlreadyExist,
  read: (r) => readAlreadyExist(r, newAlreadyExist()),
};
export const encodeAlreadyExist = (message: AlreadyExistInit): Uint8Array => encode(AlreadyExistCodec, message);
export const decodeAlreadyExist = (bytes: Uint8Array): AlreadyExist => decode(AlreadyExistCodec, bytes);

export interface CommitTsExpired {
  startTs: bigint;
  attemptedCommitTs: bigint;
  key: Uint8Array;
  minCommitTs: bigint;
}
export type CommitTsExpiredInit = Init<CommitTsExpired>;

export const newCommitTsExpired = (): CommitTsExpired => ({ startTs: 0n, attemptedCommitTs: 0n, key: EMPTY_BYTES, minCommitTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCommitTsExpired(r: Reader, message: CommitTsExpired): CommitTsExpired {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.startTs = r.bigUint64();
        break;
      case 16:
        message.attemptedCommitTs = r.bigUint64();
        break;
      case 26:
        message.key = r.bytes();
        break;
      case 32:
        message.minCommitTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCommitTsExpired(w: Writer, message: CommitTsExpiredInit): void {
  if (message.minCommitTs !== undefined && message.minCommitTs !== 0n) {
    w.bigint(message.minCommitTs);
    w.varint(32);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(26);
  }
  if (message.attemptedCommitTs !== undefined && message.attemptedCommitTs !== 0n) {
    w.bigint(message.attemptedCommitTs);
    w.varint(16);
  }
  if (message.startTs !== undefined && message.startTs !== 0n) {
    w.bigint(message.startTs);
    w.varint(8);
  }
}

export const CommitTsExpiredCodec: Codec<CommitTsExpired, CommitTsExpiredInit> = {
  write: writeCommitTsExpired,
  read: (r) => readCommitTsExpired(r, newCommitTsExpired()),
};
export const encodeCommitTsExpired = (message: CommitTsExpiredInit): Uint8Array => encode(CommitTsExpiredCodec, message);
export const decodeCommitTsExpired = (bytes: Uint8Array): CommitTsExpired => decode(CommitTsExpiredCodec, bytes);

export interface TxnNotFound {
  startTs: bigint;
  primaryKey: Uint8Array;
}
export type TxnNotFoundInit = Init<TxnNotFound>;

export const newTxnNotFound = (): TxnNotFound => ({ startTs: 0n, primaryKey: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnNotFound(r: Reader, message: TxnNotFound): TxnNotFound {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.startTs = r.bigUint64();
        break;
      case 18:
        message.primaryKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTxnNotFound(w: Writer, message: TxnNotFoundInit): void {
  if (message.primaryKey !== undefined && message.primaryKey.length > 0) {
    w.bytes(message.primaryKey);
    w.varint(18);
  }
  if (message.startTs !== undefined && message.startTs !== 0n) {
    w.bigint(message.startTs);
    w.varint(8);
  }
}

export const TxnNotFoundCodec: Codec<TxnNotFound, TxnNotFoundInit> = {
  write: writeTxnNotFound,
  read: (r) => readTxnNotFound(r, newTxnNotFound()),
};
export const encodeTxnNotFound = (message: TxnNotFoundInit): Uint8Array => encode(TxnNotFoundCodec, message);
export const decodeTxnNotFound = (bytes: Uint8Array): TxnNotFound => decode(TxnNotFoundCodec, bytes);

export interface CommitTsTooLarge {
  commitTs: bigint;
}
export type CommitTsTooLargeInit = Init<CommitTsTooLarge>;

export const newCommitTsTooLarge = (): CommitTsTooLarge => ({ commitTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCommitTsTooLarge(r: Reader, message: CommitTsTooLarge): CommitTsTooLarge {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.commitTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCommitTsTooLarge(w: Writer, message: CommitTsTooLargeInit): void {
  if (message.commitTs !== undefined && message.commitTs !== 0n) {
    w.bigint(message.commitTs);
    w.varint(8);
  }
}

export const CommitTsTooLargeCodec: Codec<CommitTsTooLarge, CommitTsTooLargeInit> = {
  write: writeCommitTsTooLarge,
  read: (r) => readCommitTsTooLarge(r, newCommitTsTooLarge()),
};
export const encodeCommitTsTooLarge = (message: CommitTsTooLargeInit): Uint8Array => encode(CommitTsTooLargeCodec, message);
export const decodeCommitTsTooLarge = (bytes: Uint8Array): CommitTsTooLarge => decode(CommitTsTooLargeCodec, bytes);

export interface AssertionFailed {
  startTs: bigint;
  key: Uint8Array;
  assertion: number;
  existingStartTs: bigint;
  existingCommitTs: bigint;
}
export type AssertionFailedInit = Init<AssertionFailed>;

export const newAssertionFailed = (): AssertionFailed => ({ startTs: 0n, key: EMPTY_BYTES, assertion: 0, existingStartTs: 0n, existingCommitTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAssertionFailed(r: Reader, message: AssertionFailed): AssertionFailed {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.startTs = r.bigUint64();
        break;
      case 18:
        message.key = r.bytes();
        break;
      case 24:
        message.assertion = r.int32();
        break;
      case 32:
        message.existingStartTs = r.bigUint64();
        break;
      case 40:
        message.existingCommitTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAssertionFailed(w: Writer, message: AssertionFailedInit): void {
  if (message.existingCommitTs !== undefined && message.existingCommitTs !== 0n) {
    w.bigint(message.existingCommitTs);
    w.varint(40);
  }
  if (message.existingStartTs !== undefined && message.existingStartTs !== 0n) {
    w.bigint(message.existingStartTs);
    w.varint(32);
  }
  if (message.assertion !== undefined && message.assertion !== 0) {
    w.int64(message.assertion);
    w.varint(24);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.startTs !== undefined && message.startTs !== 0n) {
    w.bigint(message.startTs);
    w.varint(8);
  }
}

export const AssertionFailedCodec: Codec<AssertionFailed, AssertionFailedInit> = {
  write: writeAssertionFailed,
  read: (r) => readAssertionFailed(r, newAssertionFailed()),
};
export const encodeAssertionFailed = (message: AssertionFailedInit): Uint8Array => encode(AssertionFailedCodec, message);
export const decodeAssertionFailed = (bytes: Uint8Array): AssertionFailed => decode(AssertionFailedCodec, bytes);

export interface PrimaryMismatch {
  lockInfo: LockInfo | undefined;
}
export type PrimaryMismatchInit = Init<PrimaryMismatch>;

export const newPrimaryMismatch = (): PrimaryMismatch => ({ lockInfo: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPrimaryMismatch(r: Reader, message: PrimaryMismatch): PrimaryMismatch {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.lockInfo = readLockInfo(r, message.lockInfo ?? newLockInfo());
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
export function writePrimaryMismatch(w: Writer, message: PrimaryMismatchInit): void {
  if (message.lockInfo !== undefined) {
    const end = w.length;
    writeLockInfo(w, message.lockInfo);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const PrimaryMismatchCodec: Codec<PrimaryMismatch, PrimaryMismatchInit> = {
  write: writePrimaryMismatch,
  read: (r) => readPrimaryMismatch(r, newPrimaryMismatch()),
};
export const encodePrimaryMismatch = (message: PrimaryMismatchInit): Uint8Array => encode(PrimaryMismatchCodec, message);
export const decodePrimaryMismatch = (bytes: Uint8Array): PrimaryMismatch => decode(PrimaryMismatchCodec, bytes);

export interface TxnLockNotFound {
  key: Uint8Array;
}
export type TxnLockNotFoundInit = Init<TxnLockNotFound>;

export const newTxnLockNotFound = (): TxnLockNotFound => ({ key: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnLockNotFound(r: Reader, message: TxnLockNotFound): TxnLockNotFound {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTxnLockNotFound(w: Writer, message: TxnLockNotFoundInit): void {
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const TxnLockNotFoundCodec: Codec<TxnLockNotFound, TxnLockNotFoundInit> = {
  write: writeTxnLockNotFound,
  read: (r) => readTxnLockNotFound(r, newTxnLockNotFound()),
};
export const encodeTxnLockNotFound = (message: TxnLockNotFoundInit): Uint8Array => encode(TxnLockNotFoundCodec, message);
export const decodeTxnLockNotFound = (bytes: Uint8Array): TxnLockNotFound => decode(TxnLockNotFoundCodec, bytes);

export interface KvPair {
  error: KeyError | undefined;
  key: Uint8Array;
  value: Uint8Array;
  commitTs: bigint;
}
export type KvPairInit = Init<KvPair>;

export const newKvPair = (): KvPair => ({ error: undefined, key: EMPTY_BYTES, value: EMPTY_BYTES, commitTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readKvPair(r: Reader, message: KvPair): KvPair {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.error = readKeyError(r, message.error ?? newKeyError());
        r.leave(outer);
        break;
      }
      case 18:
        message.key = r.bytes();
        break;
      case 26:
        message.value = r.bytes();
        break;
      case 32:
        message.commitTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeKvPair(w: Writer, message: KvPairInit): void {
  if (message.commitTs !== undefined && message.commitTs !== 0n) {
    w.bigint(message.commitTs);
    w.varint(32);
  }
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(26);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.error !== undefined) {
    const end = w.length;
    writeKeyError(w, message.error);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const KvPairCodec: Codec<KvPair, KvPairInit> = {
  write: writeKvPair,
  read: (r) => readKvPair(r, newKvPair()),
};
export const encodeKvPair = (message: KvPairInit): Uint8Array => encode(KvPairCodec, message);
export const decodeKvPair = (bytes: Uint8Array): KvPair => decode(KvPairCodec, bytes);

export interface Mutation {
  op: number;
  key: Uint8Array;
  value: Uint8Array;
  assertion: number;
}
export type MutationInit = Init<Mutation>;

export const newMutation = (): Mutation => ({ op: 0, key: EMPTY_BYTES, value: EMPTY_BYTES, assertion: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMutation(r: Reader, message: Mutation): Mutation {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.op = r.int32();
        break;
      case 18:
        message.key = r.bytes();
        break;
      case 26:
        message.value = r.bytes();
        break;
      case 32:
        message.assertion = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMutation(w: Writer, message: MutationInit): void {
  if (message.assertion !== undefined && message.assertion !== 0) {
    w.int64(message.assertion);
    w.varint(32);
  }
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(26);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.op !== undefined && message.op !== 0) {
    w.int64(message.op);
    w.varint(8);
  }
}

export const MutationCodec: Codec<Mutation, MutationInit> = {
  write: writeMutation,
  read: (r) => readMutation(r, newMutation()),
};
export const encodeMutation = (message: MutationInit): Uint8Array => encode(MutationCodec, message);
export const decodeMutation = (bytes: Uint8Array): Mutation => decode(MutationCodec, bytes);

export interface MvccWrite {
  type: number;
  startTs: bigint;
  commitTs: bigint;
  shortValue: Uint8Array;
  hasOverlappedRollback: boolean;
  hasGcFence: boolean;
  gcFence: bigint;
  lastChangeTs: bigint;
  versionsToLastChange: number;
}
export type MvccWriteInit = Init<MvccWrite>;

export const newMvccWrite = (): MvccWrite => ({ type: 0, startTs: 0n, commitTs: 0n, shortValue: EMPTY_BYTES, hasOverlappedRollback: false, hasGcFence: false, gcFence: 0n, lastChangeTs: 0n, versionsToLastChange: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMvccWrite(r: Reader, message: MvccWrite): MvccWrite {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.type = r.int32();
        break;
      case 16:
        message.startTs = r.bigUint64();
        break;
      case 24:
        message.commitTs = r.bigUint64();
        break;
      case 34:
        message.shortValue = r.bytes();
        break;
      case 40:
        message.hasOverlappedRollback = r.bool();
        break;
      case 48:
        message.hasGcFence = r.bool();
        break;
      case 56:
        message.gcFence = r.bigUint64();
        break;
      case 64:
        message.lastChangeTs = r.bigUint64();
        break;
      case 72:
        message.versionsToLastChange = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMvccWrite(w: Writer, message: MvccWriteInit): void {
  if (message.versionsToLastChange !== undefined && message.versionsToLastChange !== 0) {
    w.int64(message.versionsToLastChange);
    w.varint(72);
  }
  if (message.lastChangeTs !== undefined && message.lastChangeTs !== 0n) {
    w.bigint(message.lastChangeTs);
    w.varint(64);
  }
  if (message.gcFence !== undefined && message.gcFence !== 0n) {
    w.bigint(message.gcFence);
    w.varint(56);
  }
  if (message.hasGcFence === true) {
    w.varint(message.hasGcFence ? 1 : 0);
    w.varint(48);
  }
  if (message.hasOverlappedRollback === true) {
    w.varint(message.hasOverlappedRollback ? 1 : 0);
    w.varint(40);
  }
  if (message.shortValue !== undefined && message.shortValue.length > 0) {
    w.bytes(message.shortValue);
    w.varint(34);
  }
  if (message.commitTs !== undefined && message.commitTs !== 0n) {
    w.bigint(message.commitTs);
    w.varint(24);
  }
  if (message.startTs !== undefined && message.startTs !== 0n) {
    w.bigint(message.startTs);
    w.varint(16);
  }
  if (message.type !== undefined && message.type !== 0) {
    w.int64(message.type);
    w.varint(8);
  }
}

export const MvccWriteCodec: Codec<MvccWrite, MvccWriteInit> = {
  write: writeMvccWrite,
  read: (r) => readMvccWrite(r, newMvccWrite()),
};
export const encodeMvccWrite = (message: MvccWriteInit): Uint8Array => encode(MvccWriteCodec, message);
export const decodeMvccWrite = (bytes: Uint8Array): MvccWrite => decode(MvccWriteCodec, bytes);

export interface MvccValue {
  startTs: bigint;
  value: Uint8Array;
}
export type MvccValueInit = Init<MvccValue>;

export const newMvccValue = (): MvccValue => ({ startTs: 0n, value: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMvccValue(r: Reader, message: MvccValue): MvccValue {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.startTs = r.bigUint64();
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
export function writeMvccValue(w: Writer, message: MvccValueInit): void {
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(18);
  }
  if (message.startTs !== undefined && message.startTs !== 0n) {
    w.bigint(message.startTs);
    w.varint(8);
  }
}

export const MvccValueCodec: Codec<MvccValue, MvccValueInit> = {
  write: writeMvccValue,
  read: (r) => readMvccValue(r, newMvccValue()),
};
export const encodeMvccValue = (message: MvccValueInit): Uint8Array => encode(MvccValueCodec, message);
export const decodeMvccValue = (bytes: Uint8Array): MvccValue => decode(MvccValueCodec, bytes);

export interface MvccLock {
  type: number;
  startTs: bigint;
  primary: Uint8Array;
  shortValue: Uint8Array;
  ttl: number;
  forUpdateTs: bigint;
  txnSize: bigint;
  useAsyncCommit: boolean;
  secondaries: Uint8Array[];
  rollbackTs: bigint[];
  lastChangeTs: bigint;
  versionsToLastChange: number;
}
export type MvccLockInit = Init<MvccLock>;

export const newMvccLock = (): MvccLock => ({ type: 0, startTs: 0n, primary: EMPTY_BYTES, shortValue: EMPTY_BYTES, ttl: 0, forUpdateTs: 0n, txnSize: 0n, useAsyncCommit: false, secondaries: [], rollbackTs: [], lastChangeTs: 0n, versionsToLastChange: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMvccLock(r: Reader, message: MvccLock): MvccLock {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.type = r.int32();
        break;
      case 16:
        message.startTs = r.bigUint64();
        break;
      case 26:
        message.primary = r.bytes();
        break;
      case 34:
        message.shortValue = r.bytes();
        break;
      case 40:
        message.ttl = r.count();
        break;
      case 48:
        message.forUpdateTs = r.bigUint64();
        break;
      case 56:
        message.txnSize = r.bigUint64();
        break;
      case 64:
        message.useAsyncCommit = r.bool();
        break;
      case 74:
        message.secondaries.push(r.bytes());
        break;
      case 80:
        message.rollbackTs.push(r.bigUint64());
        break;
      case 82: {
        const outer = r.enterList();
        while (r.more()) message.rollbackTs.push(r.bigUint64());
        r.leave(outer);
        break;
      }
      case 88:
        message.lastChangeTs = r.bigUint64();
        break;
      case 96:
        message.versionsToLastChange = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMvccLock(w: Writer, message: MvccLockInit): void {
  if (message.versionsToLastChange !== undefined && message.versionsToLastChange !== 0) {
    w.int64(message.versionsToLastChange);
    w.varint(96);
  }
  if (message.lastChangeTs !== undefined && message.lastChangeTs !== 0n) {
    w.bigint(message.lastChangeTs);
    w.varint(88);
  }
  if (message.rollbackTs !== undefined && message.rollbackTs.length > 0) {
    const end = w.length;
    for (let at = message.rollbackTs.length - 1; at >= 0; at -= 1) w.bigint(message.rollbackTs[at]!);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (message.secondaries !== undefined && message.secondaries.length > 0) {
    for (let at = message.secondaries.length - 1; at >= 0; at -= 1) {
      w.bytes(message.secondaries[at]!);
      w.varint(74);
    }
  }
  if (message.useAsyncCommit === true) {
    w.varint(message.useAsyncCommit ? 1 : 0);
    w.varint(64);
  }
  if (message.txnSize !== undefined && message.txnSize !== 0n) {
    w.bigint(message.txnSize);
    w.varint(56);
  }
  if (message.forUpdateTs !== undefined && message.forUpdateTs !== 0n) {
    w.bigint(message.forUpdateTs);
    w.varint(48);
  }
  if (message.ttl !== undefined && message.ttl !== 0) {
    w.int64(message.ttl);
    w.varint(40);
  }
  if (message.shortValue !== undefined && message.shortValue.length > 0) {
    w.bytes(message.shortValue);
    w.varint(34);
  }
  if (message.primary !== undefined && message.primary.length > 0) {
    w.bytes(message.primary);
    w.varint(26);
  }
  if (message.startTs !== undefined && message.startTs !== 0n) {
    w.bigint(message.startTs);
    w.varint(16);
  }
  if (message.type !== undefined && message.type !== 0) {
    w.int64(message.type);
    w.varint(8);
  }
}

export const MvccLockCodec: Codec<MvccLock, MvccLockInit> = {
  write: writeMvccLock,
  read: (r) => readMvccLock(r, newMvccLock()),
};
export const encodeMvccLock = (message: MvccLockInit): Uint8Array => encode(MvccLockCodec, message);
export const decodeMvccLock = (bytes: Uint8Array): MvccLock => decode(MvccLockCodec, bytes);

export interface MvccInfo {
  lock: MvccLock | undefined;
  writes: MvccWrite[];
  values: MvccValue[];
}
export type MvccInfoInit = Init<MvccInfo>;

export const newMvccInfo = (): MvccInfo => ({ lock: undefined, writes: [], values: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMvccInfo(r: Reader, message: MvccInfo): MvccInfo {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.lock = readMvccLock(r, message.lock ?? newMvccLock());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.writes.push(readMvccWrite(r, newMvccWrite()));
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.values.push(readMvccValue(r, newMvccValue()));
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
export function writeMvccInfo(w: Writer, message: MvccInfoInit): void {
  if (message.values !== undefined && message.values.length > 0) {
    for (let at = message.values.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeMvccValue(w, message.values[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.writes !== undefined && message.writes.length > 0) {
    for (let at = message.writes.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeMvccWrite(w, message.writes[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.lock !== undefined) {
    const end = w.length;
    writeMvccLock(w, message.lock);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const MvccInfoCodec: Codec<MvccInfo, MvccInfoInit> = {
  write: writeMvccInfo,
  read: (r) => readMvccInfo(r, newMvccInfo()),
};
export const encodeMvccInfo = (message: MvccInfoInit): Uint8Array => encode(MvccInfoCodec, message);
export const decodeMvccInfo = (bytes: Uint8Array): MvccInfo => decode(MvccInfoCodec, bytes);

export interface TxnInfo {
  txn: bigint;
  status: bigint;
}
export type TxnInfoInit = Init<TxnInfo>;

export const newTxnInfo = (): TxnInfo => ({ txn: 0n, status: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnInfo(r: Reader, message: TxnInfo): TxnInfo {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.txn = r.bigUint64();
        break;
      case 16:
        message.status = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTxnInfo(w: Writer, message: TxnInfoInit): void {
  if (message.status !== undefined && message.status !== 0n) {
    w.bigint(message.status);
    w.varint(16);
  }
  if (message.txn !== undefined && message.txn !== 0n) {
    w.bigint(message.txn);
    w.varint(8);
  }
}

export const TxnInfoCodec: Codec<TxnInfo, TxnInfoInit> = {
  write: writeTxnInfo,
  read: (r) => readTxnInfo(r, newTxnInfo()),
};
export const encodeTxnInfo = (message: TxnInfoInit): Uint8Array => encode(TxnInfoCodec, message);
export const decodeTxnInfo = (bytes: Uint8Array): TxnInfo => decode(TxnInfoCodec, bytes);

export interface HealthFeedback {
  storeId: number;
  feedbackSeqNo: bigint;
  slowScore: number;
}
export type HealthFeedbackInit = Init<HealthFeedback>;

export const newHealthFeedback = (): HealthFeedback => ({ storeId: 0, feedbackSeqNo: 0n, slowScore: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthFeedback(r: Reader, message: HealthFeedback): HealthFeedback {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.storeId = r.count();
        break;
      case 16:
        message.feedbackSeqNo = r.bigUint64();
        break;
      case 24:
        message.slowScore = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHealthFeedback(w: Writer, message: HealthFeedbackInit): void {
  if (message.slowScore !== undefined && message.slowScore !== 0) {
    w.int64(message.slowScore);
    w.varint(24);
  }
  if (message.feedbackSeqNo !== undefined && message.feedbackSeqNo !== 0n) {
    w.bigint(message.feedbackSeqNo);
    w.varint(16);
  }
  if (message.storeId !== undefined && message.storeId !== 0) {
    w.int64(message.storeId);
    w.varint(8);
  }
}

export const HealthFeedbackCodec: Codec<HealthFeedback, HealthFeedbackInit> = {
  write: writeHealthFeedback,
  read: (r) => readHealthFeedback(r, newHealthFeedback()),
};
export const encodeHealthFeedback = (message: HealthFeedbackInit): Uint8Array => encode(HealthFeedbackCodec, message);
export const decodeHealthFeedback = (bytes: Uint8Array): HealthFeedback => decode(HealthFeedbackCodec, bytes);
