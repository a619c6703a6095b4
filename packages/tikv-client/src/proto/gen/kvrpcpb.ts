// Generated from proto/kvrpcpb.proto by tools/generate.ts. Do not edit.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, NONE } from '../codec.ts';
import { MalformedMessage, type Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';
import * as metapb from './metapb.ts';
import * as errorpb from './errorpb.ts';

export interface GetRequest {
  readonly context: Context | undefined;
  readonly key: Uint8Array;
  readonly version: bigint;
  readonly needCommitTs: boolean;
}
export interface GetRequestInit {
  readonly context?: ContextInit | undefined;
  readonly key?: Uint8Array | undefined;
  readonly version?: bigint | undefined;
  readonly needCommitTs?: boolean | undefined;
}
export function writeGetRequest(w: Writer, m: GetRequestInit): void {
  if (m.needCommitTs !== undefined && !(!m.needCommitTs)) {
    w.varint(1);
    w.varint(32);
  }
  if (m.version !== undefined && !(m.version === 0n)) {
    w.varint64(m.version);
    w.varint(24);
  }
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(18);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetRequest(r: Reader, end: number): GetRequest {
  let context: Context | undefined;
  let key: Uint8Array = EMPTY_BYTES;
  let version = 0n;
  let needCommitTs = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        key = r.bytes();
        break;
      case 24:
        version = r.uint64();
        break;
      case 32:
        needCommitTs = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, key, version, needCommitTs };
}
export const GetRequestCodec: Codec<GetRequest, GetRequestInit> = { write: writeGetRequest, read: readGetRequest };

export interface GetResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: KeyError | undefined;
  readonly value: Uint8Array;
  readonly notFound: boolean;
  readonly commitTs: bigint;
}
export interface GetResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: KeyErrorInit | undefined;
  readonly value?: Uint8Array | undefined;
  readonly notFound?: boolean | undefined;
  readonly commitTs?: bigint | undefined;
}
export function writeGetResponse(w: Writer, m: GetResponseInit): void {
  if (m.commitTs !== undefined && !(m.commitTs === 0n)) {
    w.varint64(m.commitTs);
    w.varint(56);
  }
  if (m.notFound !== undefined && !(!m.notFound)) {
    w.varint(1);
    w.varint(32);
  }
  if (m.value !== undefined && !(m.value.length === 0)) {
    w.bytes(m.value);
    w.varint(26);
  }
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetResponse(r: Reader, end: number): GetResponse {
  let regionError: errorpb.Error | undefined;
  let error: KeyError | undefined;
  let value: Uint8Array = EMPTY_BYTES;
  let notFound = false;
  let commitTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = readKeyError(r, r.limit());
        break;
      case 26:
        value = r.bytes();
        break;
      case 32:
        notFound = r.uint32() !== 0;
        break;
      case 56:
        commitTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error, value, notFound, commitTs };
}
export const GetResponseCodec: Codec<GetResponse, GetResponseInit> = { write: writeGetResponse, read: readGetResponse };

export interface ScanRequest {
  readonly context: Context | undefined;
  readonly startKey: Uint8Array;
  readonly limit: number;
  readonly version: bigint;
  readonly keyOnly: boolean;
  readonly reverse: boolean;
  readonly endKey: Uint8Array;
  readonly sampleStep: number;
}
export interface ScanRequestInit {
  readonly context?: ContextInit | undefined;
  readonly startKey?: Uint8Array | undefined;
  readonly limit?: number | undefined;
  readonly version?: bigint | undefined;
  readonly keyOnly?: boolean | undefined;
  readonly reverse?: boolean | undefined;
  readonly endKey?: Uint8Array | undefined;
  readonly sampleStep?: number | undefined;
}
export function writeScanRequest(w: Writer, m: ScanRequestInit): void {
  if (m.sampleStep !== undefined && !(m.sampleStep === 0)) {
    w.varint(m.sampleStep);
    w.varint(64);
  }
  if (m.endKey !== undefined && !(m.endKey.length === 0)) {
    w.bytes(m.endKey);
    w.varint(58);
  }
  if (m.reverse !== undefined && !(!m.reverse)) {
    w.varint(1);
    w.varint(48);
  }
  if (m.keyOnly !== undefined && !(!m.keyOnly)) {
    w.varint(1);
    w.varint(40);
  }
  if (m.version !== undefined && !(m.version === 0n)) {
    w.varint64(m.version);
    w.varint(32);
  }
  if (m.limit !== undefined && !(m.limit === 0)) {
    w.varint(m.limit);
    w.varint(24);
  }
  if (m.startKey !== undefined && !(m.startKey.length === 0)) {
    w.bytes(m.startKey);
    w.varint(18);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readScanRequest(r: Reader, end: number): ScanRequest {
  let context: Context | undefined;
  let startKey: Uint8Array = EMPTY_BYTES;
  let limit = 0;
  let version = 0n;
  let keyOnly = false;
  let reverse = false;
  let endKey: Uint8Array = EMPTY_BYTES;
  let sampleStep = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        startKey = r.bytes();
        break;
      case 24:
        limit = r.uint32();
        break;
      case 32:
        version = r.uint64();
        break;
      case 40:
        keyOnly = r.uint32() !== 0;
        break;
      case 48:
        reverse = r.uint32() !== 0;
        break;
      case 58:
        endKey = r.bytes();
        break;
      case 64:
        sampleStep = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, startKey, limit, version, keyOnly, reverse, endKey, sampleStep };
}
export const ScanRequestCodec: Codec<ScanRequest, ScanRequestInit> = { write: writeScanRequest, read: readScanRequest };

export interface ScanResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly pairs: readonly KvPair[];
  readonly error: KeyError | undefined;
}
export interface ScanResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly pairs?: readonly KvPairInit[] | undefined;
  readonly error?: KeyErrorInit | undefined;
}
export function writeScanResponse(w: Writer, m: ScanResponseInit): void {
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.pairs !== undefined && m.pairs.length > 0) {
    for (let i = m.pairs.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeKvPair(w, m.pairs[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readScanResponse(r: Reader, end: number): ScanResponse {
  let regionError: errorpb.Error | undefined;
  let pairs: KvPair[] | undefined;
  let error: KeyError | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        (pairs ??= []).push(readKvPair(r, r.limit()));
        break;
      case 26:
        error = readKeyError(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, pairs: pairs ?? NONE, error };
}
export const ScanResponseCodec: Codec<ScanResponse, ScanResponseInit> = { write: writeScanResponse, read: readScanResponse };

export const PrewriteRequestPessimisticAction = { SKIP_PESSIMISTIC_CHECK: 0, DO_PESSIMISTIC_CHECK: 1, DO_CONSTRAINT_CHECK: 2 } as const;

export interface PrewriteRequestForUpdateTSConstraint {
  readonly index: number;
  readonly expectedForUpdateTs: bigint;
}
export interface PrewriteRequestForUpdateTSConstraintInit {
  readonly index?: number | undefined;
  readonly expectedForUpdateTs?: bigint | undefined;
}
export function writePrewriteRequestForUpdateTSConstraint(w: Writer, m: PrewriteRequestForUpdateTSConstraintInit): void {
  if (m.expectedForUpdateTs !== undefined && !(m.expectedForUpdateTs === 0n)) {
    w.varint64(m.expectedForUpdateTs);
    w.varint(16);
  }
  if (m.index !== undefined && !(m.index === 0)) {
    w.varint(m.index);
    w.varint(8);
  }
}
export function readPrewriteRequestForUpdateTSConstraint(r: Reader, end: number): PrewriteRequestForUpdateTSConstraint {
  let index = 0;
  let expectedForUpdateTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        index = r.uint32();
        break;
      case 16:
        expectedForUpdateTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { index, expectedForUpdateTs };
}
export const PrewriteRequestForUpdateTSConstraintCodec: Codec<PrewriteRequestForUpdateTSConstraint, PrewriteRequestForUpdateTSConstraintInit> = { write: writePrewriteRequestForUpdateTSConstraint, read: readPrewriteRequestForUpdateTSConstraint };

export interface PrewriteRequest {
  readonly context: Context | undefined;
  readonly mutations: readonly Mutation[];
  readonly primaryLock: Uint8Array;
  readonly startVersion: bigint;
  readonly lockTtl: number;
  readonly skipConstraintCheck: boolean;
  readonly pessimisticActions: readonly number[];
  readonly txnSize: bigint;
  readonly forUpdateTs: bigint;
  readonly minCommitTs: bigint;
  readonly useAsyncCommit: boolean;
  readonly secondaries: readonly Uint8Array[];
  readonly tryOnePc: boolean;
  readonly maxCommitTs: bigint;
  readonly assertionLevel: number;
  readonly forUpdateTsConstraints: readonly PrewriteRequestForUpdateTSConstraint[];
}
export interface PrewriteRequestInit {
  readonly context?: ContextInit | undefined;
  readonly mutations?: readonly MutationInit[] | undefined;
  readonly primaryLock?: Uint8Array | undefined;
  readonly startVersion?: bigint | undefined;
  readonly lockTtl?: number | undefined;
  readonly skipConstraintCheck?: boolean | undefined;
  readonly pessimisticActions?: readonly number[] | undefined;
  readonly txnSize?: bigint | undefined;
  readonly forUpdateTs?: bigint | undefined;
  readonly minCommitTs?: bigint | undefined;
  readonly useAsyncCommit?: boolean | undefined;
  readonly secondaries?: readonly Uint8Array[] | undefined;
  readonly tryOnePc?: boolean | undefined;
  readonly maxCommitTs?: bigint | undefined;
  readonly assertionLevel?: number | undefined;
  readonly forUpdateTsConstraints?: readonly PrewriteRequestForUpdateTSConstraintInit[] | undefined;
}
export function writePrewriteRequest(w: Writer, m: PrewriteRequestInit): void {
  if (m.forUpdateTsConstraints !== undefined && m.forUpdateTsConstraints.length > 0) {
    for (let i = m.forUpdateTsConstraints.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writePrewriteRequestForUpdateTSConstraint(w, m.forUpdateTsConstraints[i]!);
      w.varint(w.length - end);
      w.varint(130);
    }
  }
  if (m.assertionLevel !== undefined && !(m.assertionLevel === 0)) {
    w.int32(m.assertionLevel);
    w.varint(120);
  }
  if (m.maxCommitTs !== undefined && !(m.maxCommitTs === 0n)) {
    w.varint64(m.maxCommitTs);
    w.varint(112);
  }
  if (m.tryOnePc !== undefined && !(!m.tryOnePc)) {
    w.varint(1);
    w.varint(104);
  }
  if (m.secondaries !== undefined && m.secondaries.length > 0) {
    for (let i = m.secondaries.length - 1; i >= 0; i -= 1) {
      w.bytes(m.secondaries[i]!);
      w.varint(98);
    }
  }
  if (m.useAsyncCommit !== undefined && !(!m.useAsyncCommit)) {
    w.varint(1);
    w.varint(88);
  }
  if (m.minCommitTs !== undefined && !(m.minCommitTs === 0n)) {
    w.varint64(m.minCommitTs);
    w.varint(80);
  }
  if (m.forUpdateTs !== undefined && !(m.forUpdateTs === 0n)) {
    w.varint64(m.forUpdateTs);
    w.varint(72);
  }
  if (m.txnSize !== undefined && !(m.txnSize === 0n)) {
    w.varint64(m.txnSize);
    w.varint(64);
  }
  if (m.pessimisticActions !== undefined && m.pessimisticActions.length > 0) {
    const end = w.length;
    for (let i = m.pessimisticActions.length - 1; i >= 0; i -= 1) w.int32(m.pessimisticActions[i]!);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (m.skipConstraintCheck !== undefined && !(!m.skipConstraintCheck)) {
    w.varint(1);
    w.varint(48);
  }
  if (m.lockTtl !== undefined && !(m.lockTtl === 0)) {
    w.varint(m.lockTtl);
    w.varint(40);
  }
  if (m.startVersion !== undefined && !(m.startVersion === 0n)) {
    w.varint64(m.startVersion);
    w.varint(32);
  }
  if (m.primaryLock !== undefined && !(m.primaryLock.length === 0)) {
    w.bytes(m.primaryLock);
    w.varint(26);
  }
  if (m.mutations !== undefined && m.mutations.length > 0) {
    for (let i = m.mutations.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeMutation(w, m.mutations[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readPrewriteRequest(r: Reader, end: number): PrewriteRequest {
  let context: Context | undefined;
  let mutations: Mutation[] | undefined;
  let primaryLock: Uint8Array = EMPTY_BYTES;
  let startVersion = 0n;
  let lockTtl = 0;
  let skipConstraintCheck = false;
  let pessimisticActions: number[] | undefined;
  let txnSize = 0n;
  let forUpdateTs = 0n;
  let minCommitTs = 0n;
  let useAsyncCommit = false;
  let secondaries: Uint8Array[] | undefined;
  let tryOnePc = false;
  let maxCommitTs = 0n;
  let assertionLevel = 0;
  let forUpdateTsConstraints: PrewriteRequestForUpdateTSConstraint[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        (mutations ??= []).push(readMutation(r, r.limit()));
        break;
      case 26:
        primaryLock = r.bytes();
        break;
      case 32:
        startVersion = r.uint64();
        break;
      case 40:
        lockTtl = r.count();
        break;
      case 48:
        skipConstraintCheck = r.uint32() !== 0;
        break;
      case 56:
        (pessimisticActions ??= []).push(r.int32());
        break;
      case 58: {
        pessimisticActions ??= [];
        for (const limit = r.limit(); r.at < limit; ) pessimisticActions.push(r.int32());
        break;
      }
      case 64:
        txnSize = r.uint64();
        break;
      case 72:
        forUpdateTs = r.uint64();
        break;
      case 80:
        minCommitTs = r.uint64();
        break;
      case 88:
        useAsyncCommit = r.uint32() !== 0;
        break;
      case 98:
        (secondaries ??= []).push(r.bytes());
        break;
      case 104:
        tryOnePc = r.uint32() !== 0;
        break;
      case 112:
        maxCommitTs = r.uint64();
        break;
      case 120:
        assertionLevel = r.int32();
        break;
      case 130:
        (forUpdateTsConstraints ??= []).push(readPrewriteRequestForUpdateTSConstraint(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, mutations: mutations ?? NONE, primaryLock, startVersion, lockTtl, skipConstraintCheck, pessimisticActions: pessimisticActions ?? NONE, txnSize, forUpdateTs, minCommitTs, useAsyncCommit, secondaries: secondaries ?? NONE, tryOnePc, maxCommitTs, assertionLevel, forUpdateTsConstraints: forUpdateTsConstraints ?? NONE };
}
export const PrewriteRequestCodec: Codec<PrewriteRequest, PrewriteRequestInit> = { write: writePrewriteRequest, read: readPrewriteRequest };

export interface PrewriteResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly errors: readonly KeyError[];
  readonly minCommitTs: bigint;
  readonly onePcCommitTs: bigint;
}
export interface PrewriteResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly errors?: readonly KeyErrorInit[] | undefined;
  readonly minCommitTs?: bigint | undefined;
  readonly onePcCommitTs?: bigint | undefined;
}
export function writePrewriteResponse(w: Writer, m: PrewriteResponseInit): void {
  if (m.onePcCommitTs !== undefined && !(m.onePcCommitTs === 0n)) {
    w.varint64(m.onePcCommitTs);
    w.varint(32);
  }
  if (m.minCommitTs !== undefined && !(m.minCommitTs === 0n)) {
    w.varint64(m.minCommitTs);
    w.varint(24);
  }
  if (m.errors !== undefined && m.errors.length > 0) {
    for (let i = m.errors.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeKeyError(w, m.errors[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readPrewriteResponse(r: Reader, end: number): PrewriteResponse {
  let regionError: errorpb.Error | undefined;
  let errors: KeyError[] | undefined;
  let minCommitTs = 0n;
  let onePcCommitTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        (errors ??= []).push(readKeyError(r, r.limit()));
        break;
      case 24:
        minCommitTs = r.uint64();
        break;
      case 32:
        onePcCommitTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, errors: errors ?? NONE, minCommitTs, onePcCommitTs };
}
export const PrewriteResponseCodec: Codec<PrewriteResponse, PrewriteResponseInit> = { write: writePrewriteResponse, read: readPrewriteResponse };

export interface TxnHeartBeatRequest {
  readonly context: Context | undefined;
  readonly primaryLock: Uint8Array;
  readonly startVersion: bigint;
  readonly adviseLockTtl: number;
  readonly minCommitTs: bigint;
}
export interface TxnHeartBeatRequestInit {
  readonly context?: ContextInit | undefined;
  readonly primaryLock?: Uint8Array | undefined;
  readonly startVersion?: bigint | undefined;
  readonly adviseLockTtl?: number | undefined;
  readonly minCommitTs?: bigint | undefined;
}
export function writeTxnHeartBeatRequest(w: Writer, m: TxnHeartBeatRequestInit): void {
  if (m.minCommitTs !== undefined && !(m.minCommitTs === 0n)) {
    w.varint64(m.minCommitTs);
    w.varint(40);
  }
  if (m.adviseLockTtl !== undefined && !(m.adviseLockTtl === 0)) {
    w.varint(m.adviseLockTtl);
    w.varint(32);
  }
  if (m.startVersion !== undefined && !(m.startVersion === 0n)) {
    w.varint64(m.startVersion);
    w.varint(24);
  }
  if (m.primaryLock !== undefined && !(m.primaryLock.length === 0)) {
    w.bytes(m.primaryLock);
    w.varint(18);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readTxnHeartBeatRequest(r: Reader, end: number): TxnHeartBeatRequest {
  let context: Context | undefined;
  let primaryLock: Uint8Array = EMPTY_BYTES;
  let startVersion = 0n;
  let adviseLockTtl = 0;
  let minCommitTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        primaryLock = r.bytes();
        break;
      case 24:
        startVersion = r.uint64();
        break;
      case 32:
        adviseLockTtl = r.count();
        break;
      case 40:
        minCommitTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, primaryLock, startVersion, adviseLockTtl, minCommitTs };
}
export const TxnHeartBeatRequestCodec: Codec<TxnHeartBeatRequest, TxnHeartBeatRequestInit> = { write: writeTxnHeartBeatRequest, read: readTxnHeartBeatRequest };

export interface TxnHeartBeatResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: KeyError | undefined;
  readonly lockTtl: number;
}
export interface TxnHeartBeatResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: KeyErrorInit | undefined;
  readonly lockTtl?: number | undefined;
}
export function writeTxnHeartBeatResponse(w: Writer, m: TxnHeartBeatResponseInit): void {
  if (m.lockTtl !== undefined && !(m.lockTtl === 0)) {
    w.varint(m.lockTtl);
    w.varint(24);
  }
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readTxnHeartBeatResponse(r: Reader, end: number): TxnHeartBeatResponse {
  let regionError: errorpb.Error | undefined;
  let error: KeyError | undefined;
  let lockTtl = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = readKeyError(r, r.limit());
        break;
      case 24:
        lockTtl = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error, lockTtl };
}
export const TxnHeartBeatResponseCodec: Codec<TxnHeartBeatResponse, TxnHeartBeatResponseInit> = { write: writeTxnHeartBeatResponse, read: readTxnHeartBeatResponse };

export interface CheckTxnStatusRequest {
  readonly context: Context | undefined;
  readonly primaryKey: Uint8Array;
  readonly lockTs: bigint;
  readonly callerStartTs: bigint;
  readonly currentTs: bigint;
  readonly rollbackIfNotExist: boolean;
  readonly forceSyncCommit: boolean;
  readonly resolvingPessimisticLock: boolean;
  readonly verifyIsPrimary: boolean;
}
export interface CheckTxnStatusRequestInit {
  readonly context?: ContextInit | undefined;
  readonly primaryKey?: Uint8Array | undefined;
  readonly lockTs?: bigint | undefined;
  readonly callerStartTs?: bigint | undefined;
  readonly currentTs?: bigint | undefined;
  readonly rollbackIfNotExist?: boolean | undefined;
  readonly forceSyncCommit?: boolean | undefined;
  readonly resolvingPessimisticLock?: boolean | undefined;
  readonly verifyIsPrimary?: boolean | undefined;
}
export function writeCheckTxnStatusRequest(w: Writer, m: CheckTxnStatusRequestInit): void {
  if (m.verifyIsPrimary !== undefined && !(!m.verifyIsPrimary)) {
    w.varint(1);
    w.varint(72);
  }
  if (m.resolvingPessimisticLock !== undefined && !(!m.resolvingPessimisticLock)) {
    w.varint(1);
    w.varint(64);
  }
  if (m.forceSyncCommit !== undefined && !(!m.forceSyncCommit)) {
    w.varint(1);
    w.varint(56);
  }
  if (m.rollbackIfNotExist !== undefined && !(!m.rollbackIfNotExist)) {
    w.varint(1);
    w.varint(48);
  }
  if (m.currentTs !== undefined && !(m.currentTs === 0n)) {
    w.varint64(m.currentTs);
    w.varint(40);
  }
  if (m.callerStartTs !== undefined && !(m.callerStartTs === 0n)) {
    w.varint64(m.callerStartTs);
    w.varint(32);
  }
  if (m.lockTs !== undefined && !(m.lockTs === 0n)) {
    w.varint64(m.lockTs);
    w.varint(24);
  }
  if (m.primaryKey !== undefined && !(m.primaryKey.length === 0)) {
    w.bytes(m.primaryKey);
    w.varint(18);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readCheckTxnStatusRequest(r: Reader, end: number): CheckTxnStatusRequest {
  let context: Context | undefined;
  let primaryKey: Uint8Array = EMPTY_BYTES;
  let lockTs = 0n;
  let callerStartTs = 0n;
  let currentTs = 0n;
  let rollbackIfNotExist = false;
  let forceSyncCommit = false;
  let resolvingPessimisticLock = false;
  let verifyIsPrimary = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        primaryKey = r.bytes();
        break;
      case 24:
        lockTs = r.uint64();
        break;
      case 32:
        callerStartTs = r.uint64();
        break;
      case 40:
        currentTs = r.uint64();
        break;
      case 48:
        rollbackIfNotExist = r.uint32() !== 0;
        break;
      case 56:
        forceSyncCommit = r.uint32() !== 0;
        break;
      case 64:
        resolvingPessimisticLock = r.uint32() !== 0;
        break;
      case 72:
        verifyIsPrimary = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, primaryKey, lockTs, callerStartTs, currentTs, rollbackIfNotExist, forceSyncCommit, resolvingPessimisticLock, verifyIsPrimary };
}
export const CheckTxnStatusRequestCodec: Codec<CheckTxnStatusRequest, CheckTxnStatusRequestInit> = { write: writeCheckTxnStatusRequest, read: readCheckTxnStatusRequest };

export interface CheckTxnStatusResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: KeyError | undefined;
  readonly lockTtl: number;
  readonly commitVersion: bigint;
  readonly action: number;
  readonly lockInfo: LockInfo | undefined;
}
export interface CheckTxnStatusResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: KeyErrorInit | undefined;
  readonly lockTtl?: number | undefined;
  readonly commitVersion?: bigint | undefined;
  readonly action?: number | undefined;
  readonly lockInfo?: LockInfoInit | undefined;
}
export function writeCheckTxnStatusResponse(w: Writer, m: CheckTxnStatusResponseInit): void {
  if (m.lockInfo !== undefined) {
    const end = w.length;
    writeLockInfo(w, m.lockInfo);
    w.varint(w.length - end);
    w.varint(50);
  }
  if (m.action !== undefined && !(m.action === 0)) {
    w.int32(m.action);
    w.varint(40);
  }
  if (m.commitVersion !== undefined && !(m.commitVersion === 0n)) {
    w.varint64(m.commitVersion);
    w.varint(32);
  }
  if (m.lockTtl !== undefined && !(m.lockTtl === 0)) {
    w.varint(m.lockTtl);
    w.varint(24);
  }
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readCheckTxnStatusResponse(r: Reader, end: number): CheckTxnStatusResponse {
  let regionError: errorpb.Error | undefined;
  let error: KeyError | undefined;
  let lockTtl = 0;
  let commitVersion = 0n;
  let action = 0;
  let lockInfo: LockInfo | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = readKeyError(r, r.limit());
        break;
      case 24:
        lockTtl = r.count();
        break;
      case 32:
        commitVersion = r.uint64();
        break;
      case 40:
        action = r.int32();
        break;
      case 50:
        lockInfo = readLockInfo(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error, lockTtl, commitVersion, action, lockInfo };
}
export const CheckTxnStatusResponseCodec: Codec<CheckTxnStatusResponse, CheckTxnStatusResponseInit> = { write: writeCheckTxnStatusResponse, read: readCheckTxnStatusResponse };

export interface CheckSecondaryLocksRequest {
  readonly context: Context | undefined;
  readonly keys: readonly Uint8Array[];
  readonly startVersion: bigint;
}
export interface CheckSecondaryLocksRequestInit {
  readonly context?: ContextInit | undefined;
  readonly keys?: readonly Uint8Array[] | undefined;
  readonly startVersion?: bigint | undefined;
}
export function writeCheckSecondaryLocksRequest(w: Writer, m: CheckSecondaryLocksRequestInit): void {
  if (m.startVersion !== undefined && !(m.startVersion === 0n)) {
    w.varint64(m.startVersion);
    w.varint(24);
  }
  if (m.keys !== undefined && m.keys.length > 0) {
    for (let i = m.keys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.keys[i]!);
      w.varint(18);
    }
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readCheckSecondaryLocksRequest(r: Reader, end: number): CheckSecondaryLocksRequest {
  let context: Context | undefined;
  let keys: Uint8Array[] | undefined;
  let startVersion = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        (keys ??= []).push(r.bytes());
        break;
      case 24:
        startVersion = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, keys: keys ?? NONE, startVersion };
}
export const CheckSecondaryLocksRequestCodec: Codec<CheckSecondaryLocksRequest, CheckSecondaryLocksRequestInit> = { write: writeCheckSecondaryLocksRequest, read: readCheckSecondaryLocksRequest };

export interface CheckSecondaryLocksResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: KeyError | undefined;
  readonly locks: readonly LockInfo[];
  readonly commitTs: bigint;
}
export interface CheckSecondaryLocksResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: KeyErrorInit | undefined;
  readonly locks?: readonly LockInfoInit[] | undefined;
  readonly commitTs?: bigint | undefined;
}
export function writeCheckSecondaryLocksResponse(w: Writer, m: CheckSecondaryLocksResponseInit): void {
  if (m.commitTs !== undefined && !(m.commitTs === 0n)) {
    w.varint64(m.commitTs);
    w.varint(32);
  }
  if (m.locks !== undefined && m.locks.length > 0) {
    for (let i = m.locks.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeLockInfo(w, m.locks[i]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readCheckSecondaryLocksResponse(r: Reader, end: number): CheckSecondaryLocksResponse {
  let regionError: errorpb.Error | undefined;
  let error: KeyError | undefined;
  let locks: LockInfo[] | undefined;
  let commitTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = readKeyError(r, r.limit());
        break;
      case 26:
        (locks ??= []).push(readLockInfo(r, r.limit()));
        break;
      case 32:
        commitTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error, locks: locks ?? NONE, commitTs };
}
export const CheckSecondaryLocksResponseCodec: Codec<CheckSecondaryLocksResponse, CheckSecondaryLocksResponseInit> = { write: writeCheckSecondaryLocksResponse, read: readCheckSecondaryLocksResponse };

export const CommitRole = { Unknown: 0, Primary: 1, Secondary: 2 } as const;

export interface CommitRequest {
  readonly context: Context | undefined;
  readonly startVersion: bigint;
  readonly keys: readonly Uint8Array[];
  readonly commitVersion: bigint;
  readonly commitRole: number;
  readonly primaryKey: Uint8Array;
  readonly useAsyncCommit: boolean;
}
export interface CommitRequestInit {
  readonly context?: ContextInit | undefined;
  readonly startVersion?: bigint | undefined;
  readonly keys?: readonly Uint8Array[] | undefined;
  readonly commitVersion?: bigint | undefined;
  readonly commitRole?: number | undefined;
  readonly primaryKey?: Uint8Array | undefined;
  readonly useAsyncCommit?: boolean | undefined;
}
export function writeCommitRequest(w: Writer, m: CommitRequestInit): void {
  if (m.useAsyncCommit !== undefined && !(!m.useAsyncCommit)) {
    w.varint(1);
    w.varint(64);
  }
  if (m.primaryKey !== undefined && !(m.primaryKey.length === 0)) {
    w.bytes(m.primaryKey);
    w.varint(58);
  }
  if (m.commitRole !== undefined && !(m.commitRole === 0)) {
    w.int32(m.commitRole);
    w.varint(48);
  }
  if (m.commitVersion !== undefined && !(m.commitVersion === 0n)) {
    w.varint64(m.commitVersion);
    w.varint(32);
  }
  if (m.keys !== undefined && m.keys.length > 0) {
    for (let i = m.keys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.keys[i]!);
      w.varint(26);
    }
  }
  if (m.startVersion !== undefined && !(m.startVersion === 0n)) {
    w.varint64(m.startVersion);
    w.varint(16);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readCommitRequest(r: Reader, end: number): CommitRequest {
  let context: Context | undefined;
  let startVersion = 0n;
  let keys: Uint8Array[] | undefined;
  let commitVersion = 0n;
  let commitRole = 0;
  let primaryKey: Uint8Array = EMPTY_BYTES;
  let useAsyncCommit = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 16:
        startVersion = r.uint64();
        break;
      case 26:
        (keys ??= []).push(r.bytes());
        break;
      case 32:
        commitVersion = r.uint64();
        break;
      case 48:
        commitRole = r.int32();
        break;
      case 58:
        primaryKey = r.bytes();
        break;
      case 64:
        useAsyncCommit = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, startVersion, keys: keys ?? NONE, commitVersion, commitRole, primaryKey, useAsyncCommit };
}
export const CommitRequestCodec: Codec<CommitRequest, CommitRequestInit> = { write: writeCommitRequest, read: readCommitRequest };

export interface CommitResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: KeyError | undefined;
  readonly commitVersion: bigint;
}
export interface CommitResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: KeyErrorInit | undefined;
  readonly commitVersion?: bigint | undefined;
}
export function writeCommitResponse(w: Writer, m: CommitResponseInit): void {
  if (m.commitVersion !== undefined && !(m.commitVersion === 0n)) {
    w.varint64(m.commitVersion);
    w.varint(24);
  }
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readCommitResponse(r: Reader, end: number): CommitResponse {
  let regionError: errorpb.Error | undefined;
  let error: KeyError | undefined;
  let commitVersion = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = readKeyError(r, r.limit());
        break;
      case 24:
        commitVersion = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error, commitVersion };
}
export const CommitResponseCodec: Codec<CommitResponse, CommitResponseInit> = { write: writeCommitResponse, read: readCommitResponse };

export interface BatchGetRequest {
  readonly context: Context | undefined;
  readonly keys: readonly Uint8Array[];
  readonly version: bigint;
  readonly needCommitTs: boolean;
}
export interface BatchGetRequestInit {
  readonly context?: ContextInit | undefined;
  readonly keys?: readonly Uint8Array[] | undefined;
  readonly version?: bigint | undefined;
  readonly needCommitTs?: boolean | undefined;
}
export function writeBatchGetRequest(w: Writer, m: BatchGetRequestInit): void {
  if (m.needCommitTs !== undefined && !(!m.needCommitTs)) {
    w.varint(1);
    w.varint(32);
  }
  if (m.version !== undefined && !(m.version === 0n)) {
    w.varint64(m.version);
    w.varint(24);
  }
  if (m.keys !== undefined && m.keys.length > 0) {
    for (let i = m.keys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.keys[i]!);
      w.varint(18);
    }
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readBatchGetRequest(r: Reader, end: number): BatchGetRequest {
  let context: Context | undefined;
  let keys: Uint8Array[] | undefined;
  let version = 0n;
  let needCommitTs = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        (keys ??= []).push(r.bytes());
        break;
      case 24:
        version = r.uint64();
        break;
      case 32:
        needCommitTs = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, keys: keys ?? NONE, version, needCommitTs };
}
export const BatchGetRequestCodec: Codec<BatchGetRequest, BatchGetRequestInit> = { write: writeBatchGetRequest, read: readBatchGetRequest };

export interface BatchGetResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly pairs: readonly KvPair[];
  readonly error: KeyError | undefined;
}
export interface BatchGetResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly pairs?: readonly KvPairInit[] | undefined;
  readonly error?: KeyErrorInit | undefined;
}
export function writeBatchGetResponse(w: Writer, m: BatchGetResponseInit): void {
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (m.pairs !== undefined && m.pairs.length > 0) {
    for (let i = m.pairs.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeKvPair(w, m.pairs[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readBatchGetResponse(r: Reader, end: number): BatchGetResponse {
  let regionError: errorpb.Error | undefined;
  let pairs: KvPair[] | undefined;
  let error: KeyError | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        (pairs ??= []).push(readKvPair(r, r.limit()));
        break;
      case 42:
        error = readKeyError(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, pairs: pairs ?? NONE, error };
}
export const BatchGetResponseCodec: Codec<BatchGetResponse, BatchGetResponseInit> = { write: writeBatchGetResponse, read: readBatchGetResponse };

export interface BatchRollbackRequest {
  readonly context: Context | undefined;
  readonly startVersion: bigint;
  readonly keys: readonly Uint8Array[];
}
export interface BatchRollbackRequestInit {
  readonly context?: ContextInit | undefined;
  readonly startVersion?: bigint | undefined;
  readonly keys?: readonly Uint8Array[] | undefined;
}
export function writeBatchRollbackRequest(w: Writer, m: BatchRollbackRequestInit): void {
  if (m.keys !== undefined && m.keys.length > 0) {
    for (let i = m.keys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.keys[i]!);
      w.varint(26);
    }
  }
  if (m.startVersion !== undefined && !(m.startVersion === 0n)) {
    w.varint64(m.startVersion);
    w.varint(16);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readBatchRollbackRequest(r: Reader, end: number): BatchRollbackRequest {
  let context: Context | undefined;
  let startVersion = 0n;
  let keys: Uint8Array[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 16:
        startVersion = r.uint64();
        break;
      case 26:
        (keys ??= []).push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, startVersion, keys: keys ?? NONE };
}
export const BatchRollbackRequestCodec: Codec<BatchRollbackRequest, BatchRollbackRequestInit> = { write: writeBatchRollbackRequest, read: readBatchRollbackRequest };

export interface BatchRollbackResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: KeyError | undefined;
}
export interface BatchRollbackResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: KeyErrorInit | undefined;
}
export function writeBatchRollbackResponse(w: Writer, m: BatchRollbackResponseInit): void {
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readBatchRollbackResponse(r: Reader, end: number): BatchRollbackResponse {
  let regionError: errorpb.Error | undefined;
  let error: KeyError | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = readKeyError(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error };
}
export const BatchRollbackResponseCodec: Codec<BatchRollbackResponse, BatchRollbackResponseInit> = { write: writeBatchRollbackResponse, read: readBatchRollbackResponse };

export interface ScanLockRequest {
  readonly context: Context | undefined;
  readonly maxVersion: bigint;
  readonly startKey: Uint8Array;
  readonly limit: number;
  readonly endKey: Uint8Array;
}
export interface ScanLockRequestInit {
  readonly context?: ContextInit | undefined;
  readonly maxVersion?: bigint | undefined;
  readonly startKey?: Uint8Array | undefined;
  readonly limit?: number | undefined;
  readonly endKey?: Uint8Array | undefined;
}
export function writeScanLockRequest(w: Writer, m: ScanLockRequestInit): void {
  if (m.endKey !== undefined && !(m.endKey.length === 0)) {
    w.bytes(m.endKey);
    w.varint(42);
  }
  if (m.limit !== undefined && !(m.limit === 0)) {
    w.varint(m.limit);
    w.varint(32);
  }
  if (m.startKey !== undefined && !(m.startKey.length === 0)) {
    w.bytes(m.startKey);
    w.varint(26);
  }
  if (m.maxVersion !== undefined && !(m.maxVersion === 0n)) {
    w.varint64(m.maxVersion);
    w.varint(16);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readScanLockRequest(r: Reader, end: number): ScanLockRequest {
  let context: Context | undefined;
  let maxVersion = 0n;
  let startKey: Uint8Array = EMPTY_BYTES;
  let limit = 0;
  let endKey: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 16:
        maxVersion = r.uint64();
        break;
      case 26:
        startKey = r.bytes();
        break;
      case 32:
        limit = r.uint32();
        break;
      case 42:
        endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, maxVersion, startKey, limit, endKey };
}
export const ScanLockRequestCodec: Codec<ScanLockRequest, ScanLockRequestInit> = { write: writeScanLockRequest, read: readScanLockRequest };

export interface ScanLockResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: KeyError | undefined;
  readonly locks: readonly LockInfo[];
}
export interface ScanLockResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: KeyErrorInit | undefined;
  readonly locks?: readonly LockInfoInit[] | undefined;
}
export function writeScanLockResponse(w: Writer, m: ScanLockResponseInit): void {
  if (m.locks !== undefined && m.locks.length > 0) {
    for (let i = m.locks.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeLockInfo(w, m.locks[i]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readScanLockResponse(r: Reader, end: number): ScanLockResponse {
  let regionError: errorpb.Error | undefined;
  let error: KeyError | undefined;
  let locks: LockInfo[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = readKeyError(r, r.limit());
        break;
      case 26:
        (locks ??= []).push(readLockInfo(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error, locks: locks ?? NONE };
}
export const ScanLockResponseCodec: Codec<ScanLockResponse, ScanLockResponseInit> = { write: writeScanLockResponse, read: readScanLockResponse };

export interface ResolveLockRequest {
  readonly context: Context | undefined;
  readonly startVersion: bigint;
  readonly commitVersion: bigint;
  readonly txnInfos: readonly TxnInfo[];
  readonly keys: readonly Uint8Array[];
  readonly isAsync: boolean;
}
export interface ResolveLockRequestInit {
  readonly context?: ContextInit | undefined;
  readonly startVersion?: bigint | undefined;
  readonly commitVersion?: bigint | undefined;
  readonly txnInfos?: readonly TxnInfoInit[] | undefined;
  readonly keys?: readonly Uint8Array[] | undefined;
  readonly isAsync?: boolean | undefined;
}
export function writeResolveLockRequest(w: Writer, m: ResolveLockRequestInit): void {
  if (m.isAsync !== undefined && !(!m.isAsync)) {
    w.varint(1);
    w.varint(48);
  }
  if (m.keys !== undefined && m.keys.length > 0) {
    for (let i = m.keys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.keys[i]!);
      w.varint(42);
    }
  }
  if (m.txnInfos !== undefined && m.txnInfos.length > 0) {
    for (let i = m.txnInfos.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeTxnInfo(w, m.txnInfos[i]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (m.commitVersion !== undefined && !(m.commitVersion === 0n)) {
    w.varint64(m.commitVersion);
    w.varint(24);
  }
  if (m.startVersion !== undefined && !(m.startVersion === 0n)) {
    w.varint64(m.startVersion);
    w.varint(16);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readResolveLockRequest(r: Reader, end: number): ResolveLockRequest {
  let context: Context | undefined;
  let startVersion = 0n;
  let commitVersion = 0n;
  let txnInfos: TxnInfo[] | undefined;
  let keys: Uint8Array[] | undefined;
  let isAsync = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 16:
        startVersion = r.uint64();
        break;
      case 24:
        commitVersion = r.uint64();
        break;
      case 34:
        (txnInfos ??= []).push(readTxnInfo(r, r.limit()));
        break;
      case 42:
        (keys ??= []).push(r.bytes());
        break;
      case 48:
        isAsync = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, startVersion, commitVersion, txnInfos: txnInfos ?? NONE, keys: keys ?? NONE, isAsync };
}
export const ResolveLockRequestCodec: Codec<ResolveLockRequest, ResolveLockRequestInit> = { write: writeResolveLockRequest, read: readResolveLockRequest };

export interface ResolveLockResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: KeyError | undefined;
}
export interface ResolveLockResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: KeyErrorInit | undefined;
}
export function writeResolveLockResponse(w: Writer, m: ResolveLockResponseInit): void {
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readResolveLockResponse(r: Reader, end: number): ResolveLockResponse {
  let regionError: errorpb.Error | undefined;
  let error: KeyError | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = readKeyError(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error };
}
export const ResolveLockResponseCodec: Codec<ResolveLockResponse, ResolveLockResponseInit> = { write: writeResolveLockResponse, read: readResolveLockResponse };

export interface DeleteRangeRequest {
  readonly context: Context | undefined;
  readonly startKey: Uint8Array;
  readonly endKey: Uint8Array;
  readonly notifyOnly: boolean;
}
export interface DeleteRangeRequestInit {
  readonly context?: ContextInit | undefined;
  readonly startKey?: Uint8Array | undefined;
  readonly endKey?: Uint8Array | undefined;
  readonly notifyOnly?: boolean | undefined;
}
export function writeDeleteRangeRequest(w: Writer, m: DeleteRangeRequestInit): void {
  if (m.notifyOnly !== undefined && !(!m.notifyOnly)) {
    w.varint(1);
    w.varint(32);
  }
  if (m.endKey !== undefined && !(m.endKey.length === 0)) {
    w.bytes(m.endKey);
    w.varint(26);
  }
  if (m.startKey !== undefined && !(m.startKey.length === 0)) {
    w.bytes(m.startKey);
    w.varint(18);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readDeleteRangeRequest(r: Reader, end: number): DeleteRangeRequest {
  let context: Context | undefined;
  let startKey: Uint8Array = EMPTY_BYTES;
  let endKey: Uint8Array = EMPTY_BYTES;
  let notifyOnly = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        startKey = r.bytes();
        break;
      case 26:
        endKey = r.bytes();
        break;
      case 32:
        notifyOnly = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, startKey, endKey, notifyOnly };
}
export const DeleteRangeRequestCodec: Codec<DeleteRangeRequest, DeleteRangeRequestInit> = { write: writeDeleteRangeRequest, read: readDeleteRangeRequest };

export interface DeleteRangeResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: string;
}
export interface DeleteRangeResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: string | undefined;
}
export function writeDeleteRangeResponse(w: Writer, m: DeleteRangeResponseInit): void {
  if (m.error !== undefined && !(m.error === '')) {
    w.text(m.error);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readDeleteRangeResponse(r: Reader, end: number): DeleteRangeResponse {
  let regionError: errorpb.Error | undefined;
  let error = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error };
}
export const DeleteRangeResponseCodec: Codec<DeleteRangeResponse, DeleteRangeResponseInit> = { write: writeDeleteRangeResponse, read: readDeleteRangeResponse };

export interface UnsafeDestroyRangeRequest {
  readonly context: Context | undefined;
  readonly startKey: Uint8Array;
  readonly endKey: Uint8Array;
}
export interface UnsafeDestroyRangeRequestInit {
  readonly context?: ContextInit | undefined;
  readonly startKey?: Uint8Array | undefined;
  readonly endKey?: Uint8Array | undefined;
}
export function writeUnsafeDestroyRangeRequest(w: Writer, m: UnsafeDestroyRangeRequestInit): void {
  if (m.endKey !== undefined && !(m.endKey.length === 0)) {
    w.bytes(m.endKey);
    w.varint(26);
  }
  if (m.startKey !== undefined && !(m.startKey.length === 0)) {
    w.bytes(m.startKey);
    w.varint(18);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readUnsafeDestroyRangeRequest(r: Reader, end: number): UnsafeDestroyRangeRequest {
  let context: Context | undefined;
  let startKey: Uint8Array = EMPTY_BYTES;
  let endKey: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        startKey = r.bytes();
        break;
      case 26:
        endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, startKey, endKey };
}
export const UnsafeDestroyRangeRequestCodec: Codec<UnsafeDestroyRangeRequest, UnsafeDestroyRangeRequestInit> = { write: writeUnsafeDestroyRangeRequest, read: readUnsafeDestroyRangeRequest };

export interface UnsafeDestroyRangeResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: string;
}
export interface UnsafeDestroyRangeResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: string | undefined;
}
export function writeUnsafeDestroyRangeResponse(w: Writer, m: UnsafeDestroyRangeResponseInit): void {
  if (m.error !== undefined && !(m.error === '')) {
    w.text(m.error);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readUnsafeDestroyRangeResponse(r: Reader, end: number): UnsafeDestroyRangeResponse {
  let regionError: errorpb.Error | undefined;
  let error = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error };
}
export const UnsafeDestroyRangeResponseCodec: Codec<UnsafeDestroyRangeResponse, UnsafeDestroyRangeResponseInit> = { write: writeUnsafeDestroyRangeResponse, read: readUnsafeDestroyRangeResponse };

export interface SplitRegionRequest {
  readonly context: Context | undefined;
  readonly splitKey: Uint8Array;
  readonly splitKeys: readonly Uint8Array[];
  readonly isRawKv: boolean;
}
export interface SplitRegionRequestInit {
  readonly context?: ContextInit | undefined;
  readonly splitKey?: Uint8Array | undefined;
  readonly splitKeys?: readonly Uint8Array[] | undefined;
  readonly isRawKv?: boolean | undefined;
}
export function writeSplitRegionRequest(w: Writer, m: SplitRegionRequestInit): void {
  if (m.isRawKv !== undefined && !(!m.isRawKv)) {
    w.varint(1);
    w.varint(32);
  }
  if (m.splitKeys !== undefined && m.splitKeys.length > 0) {
    for (let i = m.splitKeys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.splitKeys[i]!);
      w.varint(26);
    }
  }
  if (m.splitKey !== undefined && !(m.splitKey.length === 0)) {
    w.bytes(m.splitKey);
    w.varint(18);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readSplitRegionRequest(r: Reader, end: number): SplitRegionRequest {
  let context: Context | undefined;
  let splitKey: Uint8Array = EMPTY_BYTES;
  let splitKeys: Uint8Array[] | undefined;
  let isRawKv = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        splitKey = r.bytes();
        break;
      case 26:
        (splitKeys ??= []).push(r.bytes());
        break;
      case 32:
        isRawKv = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, splitKey, splitKeys: splitKeys ?? NONE, isRawKv };
}
export const SplitRegionRequestCodec: Codec<SplitRegionRequest, SplitRegionRequestInit> = { write: writeSplitRegionRequest, read: readSplitRegionRequest };

export interface SplitRegionResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly left: metapb.Region | undefined;
  readonly right: metapb.Region | undefined;
  readonly regions: readonly metapb.Region[];
  readonly errors: readonly KeyError[];
}
export interface SplitRegionResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly left?: metapb.RegionInit | undefined;
  readonly right?: metapb.RegionInit | undefined;
  readonly regions?: readonly metapb.RegionInit[] | undefined;
  readonly errors?: readonly KeyErrorInit[] | undefined;
}
export function writeSplitRegionResponse(w: Writer, m: SplitRegionResponseInit): void {
  if (m.errors !== undefined && m.errors.length > 0) {
    for (let i = m.errors.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeKeyError(w, m.errors[i]!);
      w.varint(w.length - end);
      w.varint(802);
    }
  }
  if (m.regions !== undefined && m.regions.length > 0) {
    for (let i = m.regions.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      metapb.writeRegion(w, m.regions[i]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (m.right !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, m.right);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.left !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, m.left);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readSplitRegionResponse(r: Reader, end: number): SplitRegionResponse {
  let regionError: errorpb.Error | undefined;
  let left: metapb.Region | undefined;
  let right: metapb.Region | undefined;
  let regions: metapb.Region[] | undefined;
  let errors: KeyError[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        left = metapb.readRegion(r, r.limit());
        break;
      case 26:
        right = metapb.readRegion(r, r.limit());
        break;
      case 34:
        (regions ??= []).push(metapb.readRegion(r, r.limit()));
        break;
      case 802:
        (errors ??= []).push(readKeyError(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, left, right, regions: regions ?? NONE, errors: errors ?? NONE };
}
export const SplitRegionResponseCodec: Codec<SplitRegionResponse, SplitRegionResponseInit> = { write: writeSplitRegionResponse, read: readSplitRegionResponse };

export interface MvccGetByKeyRequest {
  readonly context: Context | undefined;
  readonly key: Uint8Array;
}
export interface MvccGetByKeyRequestInit {
  readonly context?: ContextInit | undefined;
  readonly key?: Uint8Array | undefined;
}
export function writeMvccGetByKeyRequest(w: Writer, m: MvccGetByKeyRequestInit): void {
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(18);
  }
  if (m.context !== undefined) {
    const end = w.length;
    writeContext(w, m.context);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readMvccGetByKeyRequest(r: Reader, end: number): MvccGetByKeyRequest {
  let context: Context | undefined;
  let key: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        context = readContext(r, r.limit());
        break;
      case 18:
        key = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { context, key };
}
export const MvccGetByKeyRequestCodec: Codec<MvccGetByKeyRequest, MvccGetByKeyRequestInit> = { write: writeMvccGetByKeyRequest, read: readMvccGetByKeyRequest };

export interface MvccGetByKeyResponse {
  readonly regionError: errorpb.Error | undefined;
  readonly error: string;
  readonly info: MvccInfo | undefined;
}
export interface MvccGetByKeyResponseInit {
  readonly regionError?: errorpb.ErrorInit | undefined;
  readonly error?: string | undefined;
  readonly info?: MvccInfoInit | undefined;
}
export function writeMvccGetByKeyResponse(w: Writer, m: MvccGetByKeyResponseInit): void {
  if (m.info !== undefined) {
    const end = w.length;
    writeMvccInfo(w, m.info);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.error !== undefined && !(m.error === '')) {
    w.text(m.error);
    w.varint(18);
  }
  if (m.regionError !== undefined) {
    const end = w.length;
    errorpb.writeError(w, m.regionError);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readMvccGetByKeyResponse(r: Reader, end: number): MvccGetByKeyResponse {
  let regionError: errorpb.Error | undefined;
  let error = '';
  let info: MvccInfo | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        regionError = errorpb.readError(r, r.limit());
        break;
      case 18:
        error = r.text();
        break;
      case 26:
        info = readMvccInfo(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionError, error, info };
}
export const MvccGetByKeyResponseCodec: Codec<MvccGetByKeyResponse, MvccGetByKeyResponseInit> = { write: writeMvccGetByKeyResponse, read: readMvccGetByKeyResponse };

export interface Context {
  readonly regionId: number;
  readonly regionEpoch: metapb.RegionEpoch | undefined;
  readonly peer: metapb.Peer | undefined;
  readonly term: number;
  readonly priority: number;
  readonly isolationLevel: number;
  readonly notFillCache: boolean;
  readonly syncLog: boolean;
  readonly recordTimeStat: boolean;
  readonly recordScanStat: boolean;
  readonly replicaRead: boolean;
  readonly resolvedLocks: readonly bigint[];
  readonly maxExecutionDurationMs: number;
  readonly appliedIndex: number;
  readonly taskId: number;
  readonly staleRead: boolean;
  readonly resourceGroupTag: Uint8Array;
  readonly diskFullOpt: number;
  readonly isRetryRequest: boolean;
  readonly apiVersion: number;
  readonly committedLocks: readonly bigint[];
  readonly requestSource: string;
  readonly txnSource: bigint;
  readonly busyThresholdMs: number;
  readonly resourceControlContext: ResourceControlContext | undefined;
  readonly keyspaceName: string;
  readonly keyspaceId: number | undefined;
  readonly bucketsVersion: number;
  readonly clusterId: bigint;
  readonly traceId: Uint8Array;
  readonly traceControlFlags: bigint;
}
export interface ContextInit {
  readonly regionId?: number | undefined;
  readonly regionEpoch?: metapb.RegionEpochInit | undefined;
  readonly peer?: metapb.PeerInit | undefined;
  readonly term?: number | undefined;
  readonly priority?: number | undefined;
  readonly isolationLevel?: number | undefined;
  readonly notFillCache?: boolean | undefined;
  readonly syncLog?: boolean | undefined;
  readonly recordTimeStat?: boolean | undefined;
  readonly recordScanStat?: boolean | undefined;
  readonly replicaRead?: boolean | undefined;
  readonly resolvedLocks?: readonly bigint[] | undefined;
  readonly maxExecutionDurationMs?: number | undefined;
  readonly appliedIndex?: number | undefined;
  readonly taskId?: number | undefined;
  readonly staleRead?: boolean | undefined;
  readonly resourceGroupTag?: Uint8Array | undefined;
  readonly diskFullOpt?: number | undefined;
  readonly isRetryRequest?: boolean | undefined;
  readonly apiVersion?: number | undefined;
  readonly committedLocks?: readonly bigint[] | undefined;
  readonly requestSource?: string | undefined;
  readonly txnSource?: bigint | undefined;
  readonly busyThresholdMs?: number | undefined;
  readonly resourceControlContext?: ResourceControlContextInit | undefined;
  readonly keyspaceName?: string | undefined;
  readonly keyspaceId?: number | undefined;
  readonly bucketsVersion?: number | undefined;
  readonly clusterId?: bigint | undefined;
  readonly traceId?: Uint8Array | undefined;
  readonly traceControlFlags?: bigint | undefined;
}
export function writeContext(w: Writer, m: ContextInit): void {
  if (m.traceControlFlags !== undefined && !(m.traceControlFlags === 0n)) {
    w.varint64(m.traceControlFlags);
    w.varint(296);
  }
  if (m.traceId !== undefined && !(m.traceId.length === 0)) {
    w.bytes(m.traceId);
    w.varint(290);
  }
  if (m.clusterId !== undefined && !(m.clusterId === 0n)) {
    w.varint64(m.clusterId);
    w.varint(280);
  }
  if (m.bucketsVersion !== undefined && !(m.bucketsVersion === 0)) {
    w.varint(m.bucketsVersion);
    w.varint(264);
  }
  if (m.keyspaceId !== undefined) {
    w.varint(m.keyspaceId);
    w.varint(256);
  }
  if (m.keyspaceName !== undefined && !(m.keyspaceName === '')) {
    w.text(m.keyspaceName);
    w.varint(250);
  }
  if (m.resourceControlContext !== undefined) {
    const end = w.length;
    writeResourceControlContext(w, m.resourceControlContext);
    w.varint(w.length - end);
    w.varint(226);
  }
  if (m.busyThresholdMs !== undefined && !(m.busyThresholdMs === 0)) {
    w.varint(m.busyThresholdMs);
    w.varint(216);
  }
  if (m.txnSource !== undefined && !(m.txnSource === 0n)) {
    w.varint64(m.txnSource);
    w.varint(200);
  }
  if (m.requestSource !== undefined && !(m.requestSource === '')) {
    w.text(m.requestSource);
    w.varint(194);
  }
  if (m.committedLocks !== undefined && m.committedLocks.length > 0) {
    const end = w.length;
    for (let i = m.committedLocks.length - 1; i >= 0; i -= 1) w.varint64(m.committedLocks[i]!);
    w.varint(w.length - end);
    w.varint(178);
  }
  if (m.apiVersion !== undefined && !(m.apiVersion === 0)) {
    w.int32(m.apiVersion);
    w.varint(168);
  }
  if (m.isRetryRequest !== undefined && !(!m.isRetryRequest)) {
    w.varint(1);
    w.varint(160);
  }
  if (m.diskFullOpt !== undefined && !(m.diskFullOpt === 0)) {
    w.int32(m.diskFullOpt);
    w.varint(152);
  }
  if (m.resourceGroupTag !== undefined && !(m.resourceGroupTag.length === 0)) {
    w.bytes(m.resourceGroupTag);
    w.varint(146);
  }
  if (m.staleRead !== undefined && !(!m.staleRead)) {
    w.varint(1);
    w.varint(136);
  }
  if (m.taskId !== undefined && !(m.taskId === 0)) {
    w.varint(m.taskId);
    w.varint(128);
  }
  if (m.appliedIndex !== undefined && !(m.appliedIndex === 0)) {
    w.varint(m.appliedIndex);
    w.varint(120);
  }
  if (m.maxExecutionDurationMs !== undefined && !(m.maxExecutionDurationMs === 0)) {
    w.varint(m.maxExecutionDurationMs);
    w.varint(112);
  }
  if (m.resolvedLocks !== undefined && m.resolvedLocks.length > 0) {
    const end = w.length;
    for (let i = m.resolvedLocks.length - 1; i >= 0; i -= 1) w.varint64(m.resolvedLocks[i]!);
    w.varint(w.length - end);
    w.varint(106);
  }
  if (m.replicaRead !== undefined && !(!m.replicaRead)) {
    w.varint(1);
    w.varint(96);
  }
  if (m.recordScanStat !== undefined && !(!m.recordScanStat)) {
    w.varint(1);
    w.varint(88);
  }
  if (m.recordTimeStat !== undefined && !(!m.recordTimeStat)) {
    w.varint(1);
    w.varint(80);
  }
  if (m.syncLog !== undefined && !(!m.syncLog)) {
    w.varint(1);
    w.varint(72);
  }
  if (m.notFillCache !== undefined && !(!m.notFillCache)) {
    w.varint(1);
    w.varint(64);
  }
  if (m.isolationLevel !== undefined && !(m.isolationLevel === 0)) {
    w.int32(m.isolationLevel);
    w.varint(56);
  }
  if (m.priority !== undefined && !(m.priority === 0)) {
    w.int32(m.priority);
    w.varint(48);
  }
  if (m.term !== undefined && !(m.term === 0)) {
    w.varint(m.term);
    w.varint(40);
  }
  if (m.peer !== undefined) {
    const end = w.length;
    metapb.writePeer(w, m.peer);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.regionEpoch !== undefined) {
    const end = w.length;
    metapb.writeRegionEpoch(w, m.regionEpoch);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readContext(r: Reader, end: number): Context {
  let regionId = 0;
  let regionEpoch: metapb.RegionEpoch | undefined;
  let peer: metapb.Peer | undefined;
  let term = 0;
  let priority = 0;
  let isolationLevel = 0;
  let notFillCache = false;
  let syncLog = false;
  let recordTimeStat = false;
  let recordScanStat = false;
  let replicaRead = false;
  let resolvedLocks: bigint[] | undefined;
  let maxExecutionDurationMs = 0;
  let appliedIndex = 0;
  let taskId = 0;
  let staleRead = false;
  let resourceGroupTag: Uint8Array = EMPTY_BYTES;
  let diskFullOpt = 0;
  let isRetryRequest = false;
  let apiVersion = 0;
  let committedLocks: bigint[] | undefined;
  let requestSource = '';
  let txnSource = 0n;
  let busyThresholdMs = 0;
  let resourceControlContext: ResourceControlContext | undefined;
  let keyspaceName = '';
  let keyspaceId: number | undefined;
  let bucketsVersion = 0;
  let clusterId = 0n;
  let traceId: Uint8Array = EMPTY_BYTES;
  let traceControlFlags = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      case 18:
        regionEpoch = metapb.readRegionEpoch(r, r.limit());
        break;
      case 26:
        peer = metapb.readPeer(r, r.limit());
        break;
      case 40:
        term = r.count();
        break;
      case 48:
        priority = r.int32();
        break;
      case 56:
        isolationLevel = r.int32();
        break;
      case 64:
        notFillCache = r.uint32() !== 0;
        break;
      case 72:
        syncLog = r.uint32() !== 0;
        break;
      case 80:
        recordTimeStat = r.uint32() !== 0;
        break;
      case 88:
        recordScanStat = r.uint32() !== 0;
        break;
      case 96:
        replicaRead = r.uint32() !== 0;
        break;
      case 104:
        (resolvedLocks ??= []).push(r.uint64());
        break;
      case 106: {
        resolvedLocks ??= [];
        for (const limit = r.limit(); r.at < limit; ) resolvedLocks.push(r.uint64());
        break;
      }
      case 112:
        maxExecutionDurationMs = r.count();
        break;
      case 120:
        appliedIndex = r.count();
        break;
      case 128:
        taskId = r.count();
        break;
      case 136:
        staleRead = r.uint32() !== 0;
        break;
      case 146:
        resourceGroupTag = r.bytes();
        break;
      case 152:
        diskFullOpt = r.int32();
        break;
      case 160:
        isRetryRequest = r.uint32() !== 0;
        break;
      case 168:
        apiVersion = r.int32();
        break;
      case 176:
        (committedLocks ??= []).push(r.uint64());
        break;
      case 178: {
        committedLocks ??= [];
        for (const limit = r.limit(); r.at < limit; ) committedLocks.push(r.uint64());
        break;
      }
      case 194:
        requestSource = r.text();
        break;
      case 200:
        txnSource = r.uint64();
        break;
      case 216:
        busyThresholdMs = r.uint32();
        break;
      case 226:
        resourceControlContext = readResourceControlContext(r, r.limit());
        break;
      case 250:
        keyspaceName = r.text();
        break;
      case 256:
        keyspaceId = r.uint32();
        break;
      case 264:
        bucketsVersion = r.count();
        break;
      case 280:
        clusterId = r.uint64();
        break;
      case 290:
        traceId = r.bytes();
        break;
      case 296:
        traceControlFlags = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId, regionEpoch, peer, term, priority, isolationLevel, notFillCache, syncLog, recordTimeStat, recordScanStat, replicaRead, resolvedLocks: resolvedLocks ?? NONE, maxExecutionDurationMs, appliedIndex, taskId, staleRead, resourceGroupTag, diskFullOpt, isRetryRequest, apiVersion, committedLocks: committedLocks ?? NONE, requestSource, txnSource, busyThresholdMs, resourceControlContext, keyspaceName, keyspaceId, bucketsVersion, clusterId, traceId, traceControlFlags };
}
export const ContextCodec: Codec<Context, ContextInit> = { write: writeContext, read: readContext };

export interface ResourceControlContext {
  readonly resourceGroupName: string;
  readonly overridePriority: number;
}
export interface ResourceControlContextInit {
  readonly resourceGroupName?: string | undefined;
  readonly overridePriority?: number | undefined;
}
export function writeResourceControlContext(w: Writer, m: ResourceControlContextInit): void {
  if (m.overridePriority !== undefined && !(m.overridePriority === 0)) {
    w.varint(m.overridePriority);
    w.varint(24);
  }
  if (m.resourceGroupName !== undefined && !(m.resourceGroupName === '')) {
    w.text(m.resourceGroupName);
    w.varint(10);
  }
}
export function readResourceControlContext(r: Reader, end: number): ResourceControlContext {
  let resourceGroupName = '';
  let overridePriority = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        resourceGroupName = r.text();
        break;
      case 24:
        overridePriority = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { resourceGroupName, overridePriority };
}
export const ResourceControlContextCodec: Codec<ResourceControlContext, ResourceControlContextInit> = { write: writeResourceControlContext, read: readResourceControlContext };

export const APIVersion = { V1: 0, V1TTL: 1, V2: 2, V3: 3 } as const;

export interface LockInfo {
  readonly primaryLock: Uint8Array;
  readonly lockVersion: bigint;
  readonly key: Uint8Array;
  readonly lockTtl: number;
  readonly txnSize: bigint;
  readonly lockType: number;
  readonly lockForUpdateTs: bigint;
  readonly useAsyncCommit: boolean;
  readonly minCommitTs: bigint;
  readonly secondaries: readonly Uint8Array[];
  readonly durationToLastUpdateMs: number;
  readonly sharedLockInfos: readonly LockInfo[];
}
export interface LockInfoInit {
  readonly primaryLock?: Uint8Array | undefined;
  readonly lockVersion?: bigint | undefined;
  readonly key?: Uint8Array | undefined;
  readonly lockTtl?: number | undefined;
  readonly txnSize?: bigint | undefined;
  readonly lockType?: number | undefined;
  readonly lockForUpdateTs?: bigint | undefined;
  readonly useAsyncCommit?: boolean | undefined;
  readonly minCommitTs?: bigint | undefined;
  readonly secondaries?: readonly Uint8Array[] | undefined;
  readonly durationToLastUpdateMs?: number | undefined;
  readonly sharedLockInfos?: readonly LockInfoInit[] | undefined;
}
export function writeLockInfo(w: Writer, m: LockInfoInit): void {
  if (m.sharedLockInfos !== undefined && m.sharedLockInfos.length > 0) {
    for (let i = m.sharedLockInfos.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeLockInfo(w, m.sharedLockInfos[i]!);
      w.varint(w.length - end);
      w.varint(98);
    }
  }
  if (m.durationToLastUpdateMs !== undefined && !(m.durationToLastUpdateMs === 0)) {
    w.varint(m.durationToLastUpdateMs);
    w.varint(88);
  }
  if (m.secondaries !== undefined && m.secondaries.length > 0) {
    for (let i = m.secondaries.length - 1; i >= 0; i -= 1) {
      w.bytes(m.secondaries[i]!);
      w.varint(82);
    }
  }
  if (m.minCommitTs !== undefined && !(m.minCommitTs === 0n)) {
    w.varint64(m.minCommitTs);
    w.varint(72);
  }
  if (m.useAsyncCommit !== undefined && !(!m.useAsyncCommit)) {
    w.varint(1);
    w.varint(64);
  }
  if (m.lockForUpdateTs !== undefined && !(m.lockForUpdateTs === 0n)) {
    w.varint64(m.lockForUpdateTs);
    w.varint(56);
  }
  if (m.lockType !== undefined && !(m.lockType === 0)) {
    w.int32(m.lockType);
    w.varint(48);
  }
  if (m.txnSize !== undefined && !(m.txnSize === 0n)) {
    w.varint64(m.txnSize);
    w.varint(40);
  }
  if (m.lockTtl !== undefined && !(m.lockTtl === 0)) {
    w.varint(m.lockTtl);
    w.varint(32);
  }
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(26);
  }
  if (m.lockVersion !== undefined && !(m.lockVersion === 0n)) {
    w.varint64(m.lockVersion);
    w.varint(16);
  }
  if (m.primaryLock !== undefined && !(m.primaryLock.length === 0)) {
    w.bytes(m.primaryLock);
    w.varint(10);
  }
}
export function readLockInfo(r: Reader, end: number): LockInfo {
  let primaryLock: Uint8Array = EMPTY_BYTES;
  let lockVersion = 0n;
  let key: Uint8Array = EMPTY_BYTES;
  let lockTtl = 0;
  let txnSize = 0n;
  let lockType = 0;
  let lockForUpdateTs = 0n;
  let useAsyncCommit = false;
  let minCommitTs = 0n;
  let secondaries: Uint8Array[] | undefined;
  let durationToLastUpdateMs = 0;
  let sharedLockInfos: LockInfo[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        primaryLock = r.bytes();
        break;
      case 16:
        lockVersion = r.uint64();
        break;
      case 26:
        key = r.bytes();
        break;
      case 32:
        lockTtl = r.count();
        break;
      case 40:
        txnSize = r.uint64();
        break;
      case 48:
        lockType = r.int32();
        break;
      case 56:
        lockForUpdateTs = r.uint64();
        break;
      case 64:
        useAsyncCommit = r.uint32() !== 0;
        break;
      case 72:
        minCommitTs = r.uint64();
        break;
      case 82:
        (secondaries ??= []).push(r.bytes());
        break;
      case 88:
        durationToLastUpdateMs = r.count();
        break;
      case 98:
        (sharedLockInfos ??= []).push(readLockInfo(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { primaryLock, lockVersion, key, lockTtl, txnSize, lockType, lockForUpdateTs, useAsyncCommit, minCommitTs, secondaries: secondaries ?? NONE, durationToLastUpdateMs, sharedLockInfos: sharedLockInfos ?? NONE };
}
export const LockInfoCodec: Codec<LockInfo, LockInfoInit> = { write: writeLockInfo, read: readLockInfo };

export interface KeyError {
  readonly locked: LockInfo | undefined;
  readonly retryable: string;
  readonly abort: string;
  readonly conflict: WriteConflict | undefined;
  readonly alreadyExist: AlreadyExist | undefined;
  readonly commitTsExpired: CommitTsExpired | undefined;
  readonly txnNotFound: TxnNotFound | undefined;
  readonly commitTsTooLarge: CommitTsTooLarge | undefined;
  readonly assertionFailed: AssertionFailed | undefined;
  readonly primaryMismatch: PrimaryMismatch | undefined;
  readonly txnLockNotFound: TxnLockNotFound | undefined;
}
export interface KeyErrorInit {
  readonly locked?: LockInfoInit | undefined;
  readonly retryable?: string | undefined;
  readonly abort?: string | undefined;
  readonly conflict?: WriteConflictInit | undefined;
  readonly alreadyExist?: AlreadyExistInit | undefined;
  readonly commitTsExpired?: CommitTsExpiredInit | undefined;
  readonly txnNotFound?: TxnNotFoundInit | undefined;
  readonly commitTsTooLarge?: CommitTsTooLargeInit | undefined;
  readonly assertionFailed?: AssertionFailedInit | undefined;
  readonly primaryMismatch?: PrimaryMismatchInit | undefined;
  readonly txnLockNotFound?: TxnLockNotFoundInit | undefined;
}
export function writeKeyError(w: Writer, m: KeyErrorInit): void {
  if (m.txnLockNotFound !== undefined) {
    const end = w.length;
    writeTxnLockNotFound(w, m.txnLockNotFound);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (m.primaryMismatch !== undefined) {
    const end = w.length;
    writePrimaryMismatch(w, m.primaryMismatch);
    w.varint(w.length - end);
    w.varint(90);
  }
  if (m.assertionFailed !== undefined) {
    const end = w.length;
    writeAssertionFailed(w, m.assertionFailed);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (m.commitTsTooLarge !== undefined) {
    const end = w.length;
    writeCommitTsTooLarge(w, m.commitTsTooLarge);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (m.txnNotFound !== undefined) {
    const end = w.length;
    writeTxnNotFound(w, m.txnNotFound);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (m.commitTsExpired !== undefined) {
    const end = w.length;
    writeCommitTsExpired(w, m.commitTsExpired);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (m.alreadyExist !== undefined) {
    const end = w.length;
    writeAlreadyExist(w, m.alreadyExist);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (m.conflict !== undefined) {
    const end = w.length;
    writeWriteConflict(w, m.conflict);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.abort !== undefined && !(m.abort === '')) {
    w.text(m.abort);
    w.varint(26);
  }
  if (m.retryable !== undefined && !(m.retryable === '')) {
    w.text(m.retryable);
    w.varint(18);
  }
  if (m.locked !== undefined) {
    const end = w.length;
    writeLockInfo(w, m.locked);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readKeyError(r: Reader, end: number): KeyError {
  let locked: LockInfo | undefined;
  let retryable = '';
  let abort = '';
  let conflict: WriteConflict | undefined;
  let alreadyExist: AlreadyExist | undefined;
  let commitTsExpired: CommitTsExpired | undefined;
  let txnNotFound: TxnNotFound | undefined;
  let commitTsTooLarge: CommitTsTooLarge | undefined;
  let assertionFailed: AssertionFailed | undefined;
  let primaryMismatch: PrimaryMismatch | undefined;
  let txnLockNotFound: TxnLockNotFound | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        locked = readLockInfo(r, r.limit());
        break;
      case 18:
        retryable = r.text();
        break;
      case 26:
        abort = r.text();
        break;
      case 34:
        conflict = readWriteConflict(r, r.limit());
        break;
      case 42:
        alreadyExist = readAlreadyExist(r, r.limit());
        break;
      case 58:
        commitTsExpired = readCommitTsExpired(r, r.limit());
        break;
      case 66:
        txnNotFound = readTxnNotFound(r, r.limit());
        break;
      case 74:
        commitTsTooLarge = readCommitTsTooLarge(r, r.limit());
        break;
      case 82:
        assertionFailed = readAssertionFailed(r, r.limit());
        break;
      case 90:
        primaryMismatch = readPrimaryMismatch(r, r.limit());
        break;
      case 98:
        txnLockNotFound = readTxnLockNotFound(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { locked, retryable, abort, conflict, alreadyExist, commitTsExpired, txnNotFound, commitTsTooLarge, assertionFailed, primaryMismatch, txnLockNotFound };
}
export const KeyErrorCodec: Codec<KeyError, KeyErrorInit> = { write: writeKeyError, read: readKeyError };

export const WriteConflictReason = { Unknown: 0, Optimistic: 1, PessimisticRetry: 2, SelfRolledBack: 3, RcCheckTs: 4, LazyUniquenessCheck: 5, NotLockedKeyConflict: 6 } as const;

export interface WriteConflict {
  readonly startTs: bigint;
  readonly conflictTs: bigint;
  readonly key: Uint8Array;
  readonly primary: Uint8Array;
  readonly conflictCommitTs: bigint;
  readonly reason: number;
}
export interface WriteConflictInit {
  readonly startTs?: bigint | undefined;
  readonly conflictTs?: bigint | undefined;
  readonly key?: Uint8Array | undefined;
  readonly primary?: Uint8Array | undefined;
  readonly conflictCommitTs?: bigint | undefined;
  readonly reason?: number | undefined;
}
export function writeWriteConflict(w: Writer, m: WriteConflictInit): void {
  if (m.reason !== undefined && !(m.reason === 0)) {
    w.int32(m.reason);
    w.varint(48);
  }
  if (m.conflictCommitTs !== undefined && !(m.conflictCommitTs === 0n)) {
    w.varint64(m.conflictCommitTs);
    w.varint(40);
  }
  if (m.primary !== undefined && !(m.primary.length === 0)) {
    w.bytes(m.primary);
    w.varint(34);
  }
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(26);
  }
  if (m.conflictTs !== undefined && !(m.conflictTs === 0n)) {
    w.varint64(m.conflictTs);
    w.varint(16);
  }
  if (m.startTs !== undefined && !(m.startTs === 0n)) {
    w.varint64(m.startTs);
    w.varint(8);
  }
}
export function readWriteConflict(r: Reader, end: number): WriteConflict {
  let startTs = 0n;
  let conflictTs = 0n;
  let key: Uint8Array = EMPTY_BYTES;
  let primary: Uint8Array = EMPTY_BYTES;
  let conflictCommitTs = 0n;
  let reason = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        startTs = r.uint64();
        break;
      case 16:
        conflictTs = r.uint64();
        break;
      case 26:
        key = r.bytes();
        break;
      case 34:
        primary = r.bytes();
        break;
      case 40:
        conflictCommitTs = r.uint64();
        break;
      case 48:
        reason = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { startTs, conflictTs, key, primary, conflictCommitTs, reason };
}
export const WriteConflictCodec: Codec<WriteConflict, WriteConflictInit> = { write: writeWriteConflict, read: readWriteConflict };

export interface AlreadyExist {
  readonly key: Uint8Array;
}
export interface AlreadyExistInit {
  readonly key?: Uint8Array | undefined;
}
export function writeAlreadyExist(w: Writer, m: AlreadyExistInit): void {
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(10);
  }
}
export function readAlreadyExist(r: Reader, end: number): AlreadyExist {
  let key: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        key = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { key };
}
export const AlreadyExistCodec: Codec<AlreadyExist, AlreadyExistInit> = { write: writeAlreadyExist, read: readAlreadyExist };

export interface CommitTsExpired {
  readonly startTs: bigint;
  readonly attemptedCommitTs: bigint;
  readonly key: Uint8Array;
  readonly minCommitTs: bigint;
}
export interface CommitTsExpiredInit {
  readonly startTs?: bigint | undefined;
  readonly attemptedCommitTs?: bigint | undefined;
  readonly key?: Uint8Array | undefined;
  readonly minCommitTs?: bigint | undefined;
}
export function writeCommitTsExpired(w: Writer, m: CommitTsExpiredInit): void {
  if (m.minCommitTs !== undefined && !(m.minCommitTs === 0n)) {
    w.varint64(m.minCommitTs);
    w.varint(32);
  }
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(26);
  }
  if (m.attemptedCommitTs !== undefined && !(m.attemptedCommitTs === 0n)) {
    w.varint64(m.attemptedCommitTs);
    w.varint(16);
  }
  if (m.startTs !== undefined && !(m.startTs === 0n)) {
    w.varint64(m.startTs);
    w.varint(8);
  }
}
export function readCommitTsExpired(r: Reader, end: number): CommitTsExpired {
  let startTs = 0n;
  let attemptedCommitTs = 0n;
  let key: Uint8Array = EMPTY_BYTES;
  let minCommitTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        startTs = r.uint64();
        break;
      case 16:
        attemptedCommitTs = r.uint64();
        break;
      case 26:
        key = r.bytes();
        break;
      case 32:
        minCommitTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { startTs, attemptedCommitTs, key, minCommitTs };
}
export const CommitTsExpiredCodec: Codec<CommitTsExpired, CommitTsExpiredInit> = { write: writeCommitTsExpired, read: readCommitTsExpired };

export interface TxnNotFound {
  readonly startTs: bigint;
  readonly primaryKey: Uint8Array;
}
export interface TxnNotFoundInit {
  readonly startTs?: bigint | undefined;
  readonly primaryKey?: Uint8Array | undefined;
}
export function writeTxnNotFound(w: Writer, m: TxnNotFoundInit): void {
  if (m.primaryKey !== undefined && !(m.primaryKey.length === 0)) {
    w.bytes(m.primaryKey);
    w.varint(18);
  }
  if (m.startTs !== undefined && !(m.startTs === 0n)) {
    w.varint64(m.startTs);
    w.varint(8);
  }
}
export function readTxnNotFound(r: Reader, end: number): TxnNotFound {
  let startTs = 0n;
  let primaryKey: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        startTs = r.uint64();
        break;
      case 18:
        primaryKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { startTs, primaryKey };
}
export const TxnNotFoundCodec: Codec<TxnNotFound, TxnNotFoundInit> = { write: writeTxnNotFound, read: readTxnNotFound };

export interface CommitTsTooLarge {
  readonly commitTs: bigint;
}
export interface CommitTsTooLargeInit {
  readonly commitTs?: bigint | undefined;
}
export function writeCommitTsTooLarge(w: Writer, m: CommitTsTooLargeInit): void {
  if (m.commitTs !== undefined && !(m.commitTs === 0n)) {
    w.varint64(m.commitTs);
    w.varint(8);
  }
}
export function readCommitTsTooLarge(r: Reader, end: number): CommitTsTooLarge {
  let commitTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        commitTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { commitTs };
}
export const CommitTsTooLargeCodec: Codec<CommitTsTooLarge, CommitTsTooLargeInit> = { write: writeCommitTsTooLarge, read: readCommitTsTooLarge };

export interface AssertionFailed {
  readonly startTs: bigint;
  readonly key: Uint8Array;
  readonly assertion: number;
  readonly existingStartTs: bigint;
  readonly existingCommitTs: bigint;
}
export interface AssertionFailedInit {
  readonly startTs?: bigint | undefined;
  readonly key?: Uint8Array | undefined;
  readonly assertion?: number | undefined;
  readonly existingStartTs?: bigint | undefined;
  readonly existingCommitTs?: bigint | undefined;
}
export function writeAssertionFailed(w: Writer, m: AssertionFailedInit): void {
  if (m.existingCommitTs !== undefined && !(m.existingCommitTs === 0n)) {
    w.varint64(m.existingCommitTs);
    w.varint(40);
  }
  if (m.existingStartTs !== undefined && !(m.existingStartTs === 0n)) {
    w.varint64(m.existingStartTs);
    w.varint(32);
  }
  if (m.assertion !== undefined && !(m.assertion === 0)) {
    w.int32(m.assertion);
    w.varint(24);
  }
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(18);
  }
  if (m.startTs !== undefined && !(m.startTs === 0n)) {
    w.varint64(m.startTs);
    w.varint(8);
  }
}
export function readAssertionFailed(r: Reader, end: number): AssertionFailed {
  let startTs = 0n;
  let key: Uint8Array = EMPTY_BYTES;
  let assertion = 0;
  let existingStartTs = 0n;
  let existingCommitTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        startTs = r.uint64();
        break;
      case 18:
        key = r.bytes();
        break;
      case 24:
        assertion = r.int32();
        break;
      case 32:
        existingStartTs = r.uint64();
        break;
      case 40:
        existingCommitTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { startTs, key, assertion, existingStartTs, existingCommitTs };
}
export const AssertionFailedCodec: Codec<AssertionFailed, AssertionFailedInit> = { write: writeAssertionFailed, read: readAssertionFailed };

export interface PrimaryMismatch {
  readonly lockInfo: LockInfo | undefined;
}
export interface PrimaryMismatchInit {
  readonly lockInfo?: LockInfoInit | undefined;
}
export function writePrimaryMismatch(w: Writer, m: PrimaryMismatchInit): void {
  if (m.lockInfo !== undefined) {
    const end = w.length;
    writeLockInfo(w, m.lockInfo);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readPrimaryMismatch(r: Reader, end: number): PrimaryMismatch {
  let lockInfo: LockInfo | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        lockInfo = readLockInfo(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { lockInfo };
}
export const PrimaryMismatchCodec: Codec<PrimaryMismatch, PrimaryMismatchInit> = { write: writePrimaryMismatch, read: readPrimaryMismatch };

export interface TxnLockNotFound {
  readonly key: Uint8Array;
}
export interface TxnLockNotFoundInit {
  readonly key?: Uint8Array | undefined;
}
export function writeTxnLockNotFound(w: Writer, m: TxnLockNotFoundInit): void {
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(10);
  }
}
export function readTxnLockNotFound(r: Reader, end: number): TxnLockNotFound {
  let key: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        key = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { key };
}
export const TxnLockNotFoundCodec: Codec<TxnLockNotFound, TxnLockNotFoundInit> = { write: writeTxnLockNotFound, read: readTxnLockNotFound };

export const CommandPri = { Normal: 0, Low: 1, High: 2 } as const;

export const IsolationLevel = { SI: 0, RC: 1, RCCheckTS: 2 } as const;

export const DiskFullOpt = { NotAllowedOnFull: 0, AllowedOnAlmostFull: 1, AllowedOnAlreadyFull: 2 } as const;

export interface KvPair {
  readonly error: KeyError | undefined;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly commitTs: bigint;
}
export interface KvPairInit {
  readonly error?: KeyErrorInit | undefined;
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | undefined;
  readonly commitTs?: bigint | undefined;
}
export function writeKvPair(w: Writer, m: KvPairInit): void {
  if (m.commitTs !== undefined && !(m.commitTs === 0n)) {
    w.varint64(m.commitTs);
    w.varint(32);
  }
  if (m.value !== undefined && !(m.value.length === 0)) {
    w.bytes(m.value);
    w.varint(26);
  }
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(18);
  }
  if (m.error !== undefined) {
    const end = w.length;
    writeKeyError(w, m.error);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readKvPair(r: Reader, end: number): KvPair {
  let error: KeyError | undefined;
  let key: Uint8Array = EMPTY_BYTES;
  let value: Uint8Array = EMPTY_BYTES;
  let commitTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        error = readKeyError(r, r.limit());
        break;
      case 18:
        key = r.bytes();
        break;
      case 26:
        value = r.bytes();
        break;
      case 32:
        commitTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { error, key, value, commitTs };
}
export const KvPairCodec: Codec<KvPair, KvPairInit> = { write: writeKvPair, read: readKvPair };

export const Op = { Put: 0, Del: 1, Lock: 2, Rollback: 3, Insert: 4, PessimisticLock: 5, CheckNotExists: 6, SharedLock: 7, SharedPessimisticLock: 8 } as const;

export const Assertion = { None: 0, Exist: 1, NotExist: 2 } as const;

export const AssertionLevel = { Off: 0, Fast: 1, Strict: 2 } as const;

export interface Mutation {
  readonly op: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly assertion: number;
}
export interface MutationInit {
  readonly op?: number | undefined;
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | undefined;
  readonly assertion?: number | undefined;
}
export function writeMutation(w: Writer, m: MutationInit): void {
  if (m.assertion !== undefined && !(m.assertion === 0)) {
    w.int32(m.assertion);
    w.varint(32);
  }
  if (m.value !== undefined && !(m.value.length === 0)) {
    w.bytes(m.value);
    w.varint(26);
  }
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(18);
  }
  if (m.op !== undefined && !(m.op === 0)) {
    w.int32(m.op);
    w.varint(8);
  }
}
export function readMutation(r: Reader, end: number): Mutation {
  let op = 0;
  let key: Uint8Array = EMPTY_BYTES;
  let value: Uint8Array = EMPTY_BYTES;
  let assertion = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        op = r.int32();
        break;
      case 18:
        key = r.bytes();
        break;
      case 26:
        value = r.bytes();
        break;
      case 32:
        assertion = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { op, key, value, assertion };
}
export const MutationCodec: Codec<Mutation, MutationInit> = { write: writeMutation, read: readMutation };

export interface MvccWrite {
  readonly type: number;
  readonly startTs: bigint;
  readonly commitTs: bigint;
  readonly shortValue: Uint8Array;
  readonly hasOverlappedRollback: boolean;
  readonly hasGcFence: boolean;
  readonly gcFence: bigint;
  readonly lastChangeTs: bigint;
  readonly versionsToLastChange: number;
}
export interface MvccWriteInit {
  readonly type?: number | undefined;
  readonly startTs?: bigint | undefined;
  readonly commitTs?: bigint | undefined;
  readonly shortValue?: Uint8Array | undefined;
  readonly hasOverlappedRollback?: boolean | undefined;
  readonly hasGcFence?: boolean | undefined;
  readonly gcFence?: bigint | undefined;
  readonly lastChangeTs?: bigint | undefined;
  readonly versionsToLastChange?: number | undefined;
}
export function writeMvccWrite(w: Writer, m: MvccWriteInit): void {
  if (m.versionsToLastChange !== undefined && !(m.versionsToLastChange === 0)) {
    w.varint(m.versionsToLastChange);
    w.varint(72);
  }
  if (m.lastChangeTs !== undefined && !(m.lastChangeTs === 0n)) {
    w.varint64(m.lastChangeTs);
    w.varint(64);
  }
  if (m.gcFence !== undefined && !(m.gcFence === 0n)) {
    w.varint64(m.gcFence);
    w.varint(56);
  }
  if (m.hasGcFence !== undefined && !(!m.hasGcFence)) {
    w.varint(1);
    w.varint(48);
  }
  if (m.hasOverlappedRollback !== undefined && !(!m.hasOverlappedRollback)) {
    w.varint(1);
    w.varint(40);
  }
  if (m.shortValue !== undefined && !(m.shortValue.length === 0)) {
    w.bytes(m.shortValue);
    w.varint(34);
  }
  if (m.commitTs !== undefined && !(m.commitTs === 0n)) {
    w.varint64(m.commitTs);
    w.varint(24);
  }
  if (m.startTs !== undefined && !(m.startTs === 0n)) {
    w.varint64(m.startTs);
    w.varint(16);
  }
  if (m.type !== undefined && !(m.type === 0)) {
    w.int32(m.type);
    w.varint(8);
  }
}
export function readMvccWrite(r: Reader, end: number): MvccWrite {
  let type = 0;
  let startTs = 0n;
  let commitTs = 0n;
  let shortValue: Uint8Array = EMPTY_BYTES;
  let hasOverlappedRollback = false;
  let hasGcFence = false;
  let gcFence = 0n;
  let lastChangeTs = 0n;
  let versionsToLastChange = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        type = r.int32();
        break;
      case 16:
        startTs = r.uint64();
        break;
      case 24:
        commitTs = r.uint64();
        break;
      case 34:
        shortValue = r.bytes();
        break;
      case 40:
        hasOverlappedRollback = r.uint32() !== 0;
        break;
      case 48:
        hasGcFence = r.uint32() !== 0;
        break;
      case 56:
        gcFence = r.uint64();
        break;
      case 64:
        lastChangeTs = r.uint64();
        break;
      case 72:
        versionsToLastChange = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { type, startTs, commitTs, shortValue, hasOverlappedRollback, hasGcFence, gcFence, lastChangeTs, versionsToLastChange };
}
export const MvccWriteCodec: Codec<MvccWrite, MvccWriteInit> = { write: writeMvccWrite, read: readMvccWrite };

export interface MvccValue {
  readonly startTs: bigint;
  readonly value: Uint8Array;
}
export interface MvccValueInit {
  readonly startTs?: bigint | undefined;
  readonly value?: Uint8Array | undefined;
}
export function writeMvccValue(w: Writer, m: MvccValueInit): void {
  if (m.value !== undefined && !(m.value.length === 0)) {
    w.bytes(m.value);
    w.varint(18);
  }
  if (m.startTs !== undefined && !(m.startTs === 0n)) {
    w.varint64(m.startTs);
    w.varint(8);
  }
}
export function readMvccValue(r: Reader, end: number): MvccValue {
  let startTs = 0n;
  let value: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        startTs = r.uint64();
        break;
      case 18:
        value = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { startTs, value };
}
export const MvccValueCodec: Codec<MvccValue, MvccValueInit> = { write: writeMvccValue, read: readMvccValue };

export interface MvccLock {
  readonly type: number;
  readonly startTs: bigint;
  readonly primary: Uint8Array;
  readonly shortValue: Uint8Array;
  readonly ttl: number;
  readonly forUpdateTs: bigint;
  readonly txnSize: bigint;
  readonly useAsyncCommit: boolean;
  readonly secondaries: readonly Uint8Array[];
  readonly rollbackTs: readonly bigint[];
  readonly lastChangeTs: bigint;
  readonly versionsToLastChange: number;
}
export interface MvccLockInit {
  readonly type?: number | undefined;
  readonly startTs?: bigint | undefined;
  readonly primary?: Uint8Array | undefined;
  readonly shortValue?: Uint8Array | undefined;
  readonly ttl?: number | undefined;
  readonly forUpdateTs?: bigint | undefined;
  readonly txnSize?: bigint | undefined;
  readonly useAsyncCommit?: boolean | undefined;
  readonly secondaries?: readonly Uint8Array[] | undefined;
  readonly rollbackTs?: readonly bigint[] | undefined;
  readonly lastChangeTs?: bigint | undefined;
  readonly versionsToLastChange?: number | undefined;
}
export function writeMvccLock(w: Writer, m: MvccLockInit): void {
  if (m.versionsToLastChange !== undefined && !(m.versionsToLastChange === 0)) {
    w.varint(m.versionsToLastChange);
    w.varint(96);
  }
  if (m.lastChangeTs !== undefined && !(m.lastChangeTs === 0n)) {
    w.varint64(m.lastChangeTs);
    w.varint(88);
  }
  if (m.rollbackTs !== undefined && m.rollbackTs.length > 0) {
    const end = w.length;
    for (let i = m.rollbackTs.length - 1; i >= 0; i -= 1) w.varint64(m.rollbackTs[i]!);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (m.secondaries !== undefined && m.secondaries.length > 0) {
    for (let i = m.secondaries.length - 1; i >= 0; i -= 1) {
      w.bytes(m.secondaries[i]!);
      w.varint(74);
    }
  }
  if (m.useAsyncCommit !== undefined && !(!m.useAsyncCommit)) {
    w.varint(1);
    w.varint(64);
  }
  if (m.txnSize !== undefined && !(m.txnSize === 0n)) {
    w.varint64(m.txnSize);
    w.varint(56);
  }
  if (m.forUpdateTs !== undefined && !(m.forUpdateTs === 0n)) {
    w.varint64(m.forUpdateTs);
    w.varint(48);
  }
  if (m.ttl !== undefined && !(m.ttl === 0)) {
    w.varint(m.ttl);
    w.varint(40);
  }
  if (m.shortValue !== undefined && !(m.shortValue.length === 0)) {
    w.bytes(m.shortValue);
    w.varint(34);
  }
  if (m.primary !== undefined && !(m.primary.length === 0)) {
    w.bytes(m.primary);
    w.varint(26);
  }
  if (m.startTs !== undefined && !(m.startTs === 0n)) {
    w.varint64(m.startTs);
    w.varint(16);
  }
  if (m.type !== undefined && !(m.type === 0)) {
    w.int32(m.type);
    w.varint(8);
  }
}
export function readMvccLock(r: Reader, end: number): MvccLock {
  let type = 0;
  let startTs = 0n;
  let primary: Uint8Array = EMPTY_BYTES;
  let shortValue: Uint8Array = EMPTY_BYTES;
  let ttl = 0;
  let forUpdateTs = 0n;
  let txnSize = 0n;
  let useAsyncCommit = false;
  let secondaries: Uint8Array[] | undefined;
  let rollbackTs: bigint[] | undefined;
  let lastChangeTs = 0n;
  let versionsToLastChange = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        type = r.int32();
        break;
      case 16:
        startTs = r.uint64();
        break;
      case 26:
        primary = r.bytes();
        break;
      case 34:
        shortValue = r.bytes();
        break;
      case 40:
        ttl = r.count();
        break;
      case 48:
        forUpdateTs = r.uint64();
        break;
      case 56:
        txnSize = r.uint64();
        break;
      case 64:
        useAsyncCommit = r.uint32() !== 0;
        break;
      case 74:
        (secondaries ??= []).push(r.bytes());
        break;
      case 80:
        (rollbackTs ??= []).push(r.uint64());
        break;
      case 82: {
        rollbackTs ??= [];
        for (const limit = r.limit(); r.at < limit; ) rollbackTs.push(r.uint64());
        break;
      }
      case 88:
        lastChangeTs = r.uint64();
        break;
      case 96:
        versionsToLastChange = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { type, startTs, primary, shortValue, ttl, forUpdateTs, txnSize, useAsyncCommit, secondaries: secondaries ?? NONE, rollbackTs: rollbackTs ?? NONE, lastChangeTs, versionsToLastChange };
}
export const MvccLockCodec: Codec<MvccLock, MvccLockInit> = { write: writeMvccLock, read: readMvccLock };

export interface MvccInfo {
  readonly lock: MvccLock | undefined;
  readonly writes: readonly MvccWrite[];
  readonly values: readonly MvccValue[];
}
export interface MvccInfoInit {
  readonly lock?: MvccLockInit | undefined;
  readonly writes?: readonly MvccWriteInit[] | undefined;
  readonly values?: readonly MvccValueInit[] | undefined;
}
export function writeMvccInfo(w: Writer, m: MvccInfoInit): void {
  if (m.values !== undefined && m.values.length > 0) {
    for (let i = m.values.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeMvccValue(w, m.values[i]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (m.writes !== undefined && m.writes.length > 0) {
    for (let i = m.writes.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeMvccWrite(w, m.writes[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.lock !== undefined) {
    const end = w.length;
    writeMvccLock(w, m.lock);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readMvccInfo(r: Reader, end: number): MvccInfo {
  let lock: MvccLock | undefined;
  let writes: MvccWrite[] | undefined;
  let values: MvccValue[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        lock = readMvccLock(r, r.limit());
        break;
      case 18:
        (writes ??= []).push(readMvccWrite(r, r.limit()));
        break;
      case 26:
        (values ??= []).push(readMvccValue(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { lock, writes: writes ?? NONE, values: values ?? NONE };
}
export const MvccInfoCodec: Codec<MvccInfo, MvccInfoInit> = { write: writeMvccInfo, read: readMvccInfo };

export interface TxnInfo {
  readonly txn: bigint;
  readonly status: bigint;
}
export interface TxnInfoInit {
  readonly txn?: bigint | undefined;
  readonly status?: bigint | undefined;
}
export function writeTxnInfo(w: Writer, m: TxnInfoInit): void {
  if (m.status !== undefined && !(m.status === 0n)) {
    w.varint64(m.status);
    w.varint(16);
  }
  if (m.txn !== undefined && !(m.txn === 0n)) {
    w.varint64(m.txn);
    w.varint(8);
  }
}
export function readTxnInfo(r: Reader, end: number): TxnInfo {
  let txn = 0n;
  let status = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        txn = r.uint64();
        break;
      case 16:
        status = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { txn, status };
}
export const TxnInfoCodec: Codec<TxnInfo, TxnInfoInit> = { write: writeTxnInfo, read: readTxnInfo };

export const Action = { NoAction: 0, TTLExpireRollback: 1, LockNotExistRollback: 2, MinCommitTSPushed: 3, TTLExpirePessimisticRollback: 4, LockNotExistDoNothing: 5 } as const;

export interface HealthFeedback {
  readonly storeId: number;
  readonly feedbackSeqNo: bigint;
  readonly slowScore: number;
}
export interface HealthFeedbackInit {
  readonly storeId?: number | undefined;
  readonly feedbackSeqNo?: bigint | undefined;
  readonly slowScore?: number | undefined;
}
export function writeHealthFeedback(w: Writer, m: HealthFeedbackInit): void {
  if (m.slowScore !== undefined && !(m.slowScore === 0)) {
    w.int32(m.slowScore);
    w.varint(24);
  }
  if (m.feedbackSeqNo !== undefined && !(m.feedbackSeqNo === 0n)) {
    w.varint64(m.feedbackSeqNo);
    w.varint(16);
  }
  if (m.storeId !== undefined && !(m.storeId === 0)) {
    w.varint(m.storeId);
    w.varint(8);
  }
}
export function readHealthFeedback(r: Reader, end: number): HealthFeedback {
  let storeId = 0;
  let feedbackSeqNo = 0n;
  let slowScore = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        storeId = r.count();
        break;
      case 16:
        feedbackSeqNo = r.uint64();
        break;
      case 24:
        slowScore = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { storeId, feedbackSeqNo, slowScore };
}
export const HealthFeedbackCodec: Codec<HealthFeedback, HealthFeedbackInit> = { write: writeHealthFeedback, read: readHealthFeedback };
