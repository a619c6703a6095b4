// Generated from proto/tikvpb.proto by tools/generate.ts. Do not edit.
import { type Codec, NONE } from '../codec.ts';
import { MalformedMessage, type Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';
import * as kvrpcpb from './kvrpcpb.ts';

export interface BatchCommandsRequestRequest {
  readonly get: kvrpcpb.GetRequest | undefined;
  readonly scan: kvrpcpb.ScanRequest | undefined;
  readonly prewrite: kvrpcpb.PrewriteRequest | undefined;
  readonly commit: kvrpcpb.CommitRequest | undefined;
  readonly batchGet: kvrpcpb.BatchGetRequest | undefined;
  readonly batchRollback: kvrpcpb.BatchRollbackRequest | undefined;
  readonly scanLock: kvrpcpb.ScanLockRequest | undefined;
  readonly resolveLock: kvrpcpb.ResolveLockRequest | undefined;
  readonly deleteRange: kvrpcpb.DeleteRangeRequest | undefined;
  readonly checkTxnStatus: kvrpcpb.CheckTxnStatusRequest | undefined;
  readonly txnHeartBeat: kvrpcpb.TxnHeartBeatRequest | undefined;
  readonly checkSecondaryLocks: kvrpcpb.CheckSecondaryLocksRequest | undefined;
}
export interface BatchCommandsRequestRequestInit {
  readonly get?: kvrpcpb.GetRequestInit | undefined;
  readonly scan?: kvrpcpb.ScanRequestInit | undefined;
  readonly prewrite?: kvrpcpb.PrewriteRequestInit | undefined;
  readonly commit?: kvrpcpb.CommitRequestInit | undefined;
  readonly batchGet?: kvrpcpb.BatchGetRequestInit | undefined;
  readonly batchRollback?: kvrpcpb.BatchRollbackRequestInit | undefined;
  readonly scanLock?: kvrpcpb.ScanLockRequestInit | undefined;
  readonly resolveLock?: kvrpcpb.ResolveLockRequestInit | undefined;
  readonly deleteRange?: kvrpcpb.DeleteRangeRequestInit | undefined;
  readonly checkTxnStatus?: kvrpcpb.CheckTxnStatusRequestInit | undefined;
  readonly txnHeartBeat?: kvrpcpb.TxnHeartBeatRequestInit | undefined;
  readonly checkSecondaryLocks?: kvrpcpb.CheckSecondaryLocksRequestInit | undefined;
}
export function writeBatchCommandsRequestRequest(w: Writer, m: BatchCommandsRequestRequestInit): void {
  if (m.checkSecondaryLocks !== undefined) {
    const end = w.length;
    kvrpcpb.writeCheckSecondaryLocksRequest(w, m.checkSecondaryLocks);
    w.varint(w.length - end);
    w.varint(266);
  }
  if (m.txnHeartBeat !== undefined) {
    const end = w.length;
    kvrpcpb.writeTxnHeartBeatRequest(w, m.txnHeartBeat);
    w.varint(w.length - end);
    w.varint(210);
  }
  if (m.checkTxnStatus !== undefined) {
    const end = w.length;
    kvrpcpb.writeCheckTxnStatusRequest(w, m.checkTxnStatus);
    w.varint(w.length - end);
    w.varint(202);
  }
  if (m.deleteRange !== undefined) {
    const end = w.length;
    kvrpcpb.writeDeleteRangeRequest(w, m.deleteRange);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (m.resolveLock !== undefined) {
    const end = w.length;
    kvrpcpb.writeResolveLockRequest(w, m.resolveLock);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (m.scanLock !== undefined) {
    const end = w.length;
    kvrpcpb.writeScanLockRequest(w, m.scanLock);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (m.batchRollback !== undefined) {
    const end = w.length;
    kvrpcpb.writeBatchRollbackRequest(w, m.batchRollback);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (m.batchGet !== undefined) {
    const end = w.length;
    kvrpcpb.writeBatchGetRequest(w, m.batchGet);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (m.commit !== undefined) {
    const end = w.length;
    kvrpcpb.writeCommitRequest(w, m.commit);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.prewrite !== undefined) {
    const end = w.length;
    kvrpcpb.writePrewriteRequest(w, m.prewrite);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.scan !== undefined) {
    const end = w.length;
    kvrpcpb.writeScanRequest(w, m.scan);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.get !== undefined) {
    const end = w.length;
    kvrpcpb.writeGetRequest(w, m.get);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readBatchCommandsRequestRequest(r: Reader, end: number): BatchCommandsRequestRequest {
  let get: kvrpcpb.GetRequest | undefined;
  let scan: kvrpcpb.ScanRequest | undefined;
  let prewrite: kvrpcpb.PrewriteRequest | undefined;
  let commit: kvrpcpb.CommitRequest | undefined;
  let batchGet: kvrpcpb.BatchGetRequest | undefined;
  let batchRollback: kvrpcpb.BatchRollbackRequest | undefined;
  let scanLock: kvrpcpb.ScanLockRequest | undefined;
  let resolveLock: kvrpcpb.ResolveLockRequest | undefined;
  let deleteRange: kvrpcpb.DeleteRangeRequest | undefined;
  let checkTxnStatus: kvrpcpb.CheckTxnStatusRequest | undefined;
  let txnHeartBeat: kvrpcpb.TxnHeartBeatRequest | undefined;
  let checkSecondaryLocks: kvrpcpb.CheckSecondaryLocksRequest | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        get = kvrpcpb.readGetRequest(r, r.limit());
        break;
      case 18:
        scan = kvrpcpb.readScanRequest(r, r.limit());
        break;
      case 26:
        prewrite = kvrpcpb.readPrewriteRequest(r, r.limit());
        break;
      case 34:
        commit = kvrpcpb.readCommitRequest(r, r.limit());
        break;
      case 58:
        batchGet = kvrpcpb.readBatchGetRequest(r, r.limit());
        break;
      case 66:
        batchRollback = kvrpcpb.readBatchRollbackRequest(r, r.limit());
        break;
      case 74:
        scanLock = kvrpcpb.readScanLockRequest(r, r.limit());
        break;
      case 82:
        resolveLock = kvrpcpb.readResolveLockRequest(r, r.limit());
        break;
      case 98:
        deleteRange = kvrpcpb.readDeleteRangeRequest(r, r.limit());
        break;
      case 202:
        checkTxnStatus = kvrpcpb.readCheckTxnStatusRequest(r, r.limit());
        break;
      case 210:
        txnHeartBeat = kvrpcpb.readTxnHeartBeatRequest(r, r.limit());
        break;
      case 266:
        checkSecondaryLocks = kvrpcpb.readCheckSecondaryLocksRequest(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { get, scan, prewrite, commit, batchGet, batchRollback, scanLock, resolveLock, deleteRange, checkTxnStatus, txnHeartBeat, checkSecondaryLocks };
}
export const BatchCommandsRequestRequestCodec: Codec<BatchCommandsRequestRequest, BatchCommandsRequestRequestInit> = { write: writeBatchCommandsRequestRequest, read: readBatchCommandsRequestRequest };

export interface BatchCommandsRequest {
  readonly requests: readonly BatchCommandsRequestRequest[];
  readonly requestIds: readonly number[];
  readonly clientSendTimeNs: bigint;
}
export interface BatchCommandsRequestInit {
  readonly requests?: readonly BatchCommandsRequestRequestInit[] | undefined;
  readonly requestIds?: readonly number[] | undefined;
  readonly clientSendTimeNs?: bigint | undefined;
}
export function writeBatchCommandsRequest(w: Writer, m: BatchCommandsRequestInit): void {
  if (m.clientSendTimeNs !== undefined && !(m.clientSendTimeNs === 0n)) {
    w.varint64(m.clientSendTimeNs);
    w.varint(24);
  }
  if (m.requestIds !== undefined && m.requestIds.length > 0) {
    const end = w.length;
    for (let i = m.requestIds.length - 1; i >= 0; i -= 1) w.varint(m.requestIds[i]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.requests !== undefined && m.requests.length > 0) {
    for (let i = m.requests.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeBatchCommandsRequestRequest(w, m.requests[i]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}
export function readBatchCommandsRequest(r: Reader, end: number): BatchCommandsRequest {
  let requests: BatchCommandsRequestRequest[] | undefined;
  let requestIds: number[] | undefined;
  let clientSendTimeNs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        (requests ??= []).push(readBatchCommandsRequestRequest(r, r.limit()));
        break;
      case 16:
        (requestIds ??= []).push(r.count());
        break;
      case 18: {
        requestIds ??= [];
        for (const limit = r.limit(); r.at < limit; ) requestIds.push(r.count());
        break;
      }
      case 24:
        clientSendTimeNs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { requests: requests ?? NONE, requestIds: requestIds ?? NONE, clientSendTimeNs };
}
export const BatchCommandsRequestCodec: Codec<BatchCommandsRequest, BatchCommandsRequestInit> = { write: writeBatchCommandsRequest, read: readBatchCommandsRequest };

export interface BatchCommandsResponseResponse {
  readonly get: kvrpcpb.GetResponse | undefined;
  readonly scan: kvrpcpb.ScanResponse | undefined;
  readonly prewrite: kvrpcpb.PrewriteResponse | undefined;
  readonly commit: kvrpcpb.CommitResponse | undefined;
  readonly batchGet: kvrpcpb.BatchGetResponse | undefined;
  readonly batchRollback: kvrpcpb.BatchRollbackResponse | undefined;
  readonly scanLock: kvrpcpb.ScanLockResponse | undefined;
  readonly resolveLock: kvrpcpb.ResolveLockResponse | undefined;
  readonly deleteRange: kvrpcpb.DeleteRangeResponse | undefined;
  readonly checkTxnStatus: kvrpcpb.CheckTxnStatusResponse | undefined;
  readonly txnHeartBeat: kvrpcpb.TxnHeartBeatResponse | undefined;
  readonly checkSecondaryLocks: kvrpcpb.CheckSecondaryLocksResponse | undefined;
}
export interface BatchCommandsResponseResponseInit {
  readonly get?: kvrpcpb.GetResponseInit | undefined;
  readonly scan?: kvrpcpb.ScanResponseInit | undefined;
  readonly prewrite?: kvrpcpb.PrewriteResponseInit | undefined;
  readonly commit?: kvrpcpb.CommitResponseInit | undefined;
  readonly batchGet?: kvrpcpb.BatchGetResponseInit | undefined;
  readonly batchRollback?: kvrpcpb.BatchRollbackResponseInit | undefined;
  readonly scanLock?: kvrpcpb.ScanLockResponseInit | undefined;
  readonly resolveLock?: kvrpcpb.ResolveLockResponseInit | undefined;
  readonly deleteRange?: kvrpcpb.DeleteRangeResponseInit | undefined;
  readonly checkTxnStatus?: kvrpcpb.CheckTxnStatusResponseInit | undefined;
  readonly txnHeartBeat?: kvrpcpb.TxnHeartBeatResponseInit | undefined;
  readonly checkSecondaryLocks?: kvrpcpb.CheckSecondaryLocksResponseInit | undefined;
}
export function writeBatchCommandsResponseResponse(w: Writer, m: BatchCommandsResponseResponseInit): void {
  if (m.checkSecondaryLocks !== undefined) {
    const end = w.length;
    kvrpcpb.writeCheckSecondaryLocksResponse(w, m.checkSecondaryLocks);
    w.varint(w.length - end);
    w.varint(266);
  }
  if (m.txnHeartBeat !== undefined) {
    const end = w.length;
    kvrpcpb.writeTxnHeartBeatResponse(w, m.txnHeartBeat);
    w.varint(w.length - end);
    w.varint(210);
  }
  if (m.checkTxnStatus !== undefined) {
    const end = w.length;
    kvrpcpb.writeCheckTxnStatusResponse(w, m.checkTxnStatus);
    w.varint(w.length - end);
    w.varint(202);
  }
  if (m.deleteRange !== undefined) {
    const end = w.length;
    kvrpcpb.writeDeleteRangeResponse(w, m.deleteRange);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (m.resolveLock !== undefined) {
    const end = w.length;
    kvrpcpb.writeResolveLockResponse(w, m.resolveLock);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (m.scanLock !== undefined) {
    const end = w.length;
    kvrpcpb.writeScanLockResponse(w, m.scanLock);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (m.batchRollback !== undefined) {
    const end = w.length;
    kvrpcpb.writeBatchRollbackResponse(w, m.batchRollback);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (m.batchGet !== undefined) {
    const end = w.length;
    kvrpcpb.writeBatchGetResponse(w, m.batchGet);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (m.commit !== undefined) {
    const end = w.length;
    kvrpcpb.writeCommitResponse(w, m.commit);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.prewrite !== undefined) {
    const end = w.length;
    kvrpcpb.writePrewriteResponse(w, m.prewrite);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.scan !== undefined) {
    const end = w.length;
    kvrpcpb.writeScanResponse(w, m.scan);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.get !== undefined) {
    const end = w.length;
    kvrpcpb.writeGetResponse(w, m.get);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readBatchCommandsResponseResponse(r: Reader, end: number): BatchCommandsResponseResponse {
  let get: kvrpcpb.GetResponse | undefined;
  let scan: kvrpcpb.ScanResponse | undefined;
  let prewrite: kvrpcpb.PrewriteResponse | undefined;
  let commit: kvrpcpb.CommitResponse | undefined;
  let batchGet: kvrpcpb.BatchGetResponse | undefined;
  let batchRollback: kvrpcpb.BatchRollbackResponse | undefined;
  let scanLock: kvrpcpb.ScanLockResponse | undefined;
  let resolveLock: kvrpcpb.ResolveLockResponse | undefined;
  let deleteRange: kvrpcpb.DeleteRangeResponse | undefined;
  let checkTxnStatus: kvrpcpb.CheckTxnStatusResponse | undefined;
  let txnHeartBeat: kvrpcpb.TxnHeartBeatResponse | undefined;
  let checkSecondaryLocks: kvrpcpb.CheckSecondaryLocksResponse | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        get = kvrpcpb.readGetResponse(r, r.limit());
        break;
      case 18:
        scan = kvrpcpb.readScanResponse(r, r.limit());
        break;
      case 26:
        prewrite = kvrpcpb.readPrewriteResponse(r, r.limit());
        break;
      case 34:
        commit = kvrpcpb.readCommitResponse(r, r.limit());
        break;
      case 58:
        batchGet = kvrpcpb.readBatchGetResponse(r, r.limit());
        break;
      case 66:
        batchRollback = kvrpcpb.readBatchRollbackResponse(r, r.limit());
        break;
      case 74:
        scanLock = kvrpcpb.readScanLockResponse(r, r.limit());
        break;
      case 82:
        resolveLock = kvrpcpb.readResolveLockResponse(r, r.limit());
        break;
      case 98:
        deleteRange = kvrpcpb.readDeleteRangeResponse(r, r.limit());
        break;
      case 202:
        checkTxnStatus = kvrpcpb.readCheckTxnStatusResponse(r, r.limit());
        break;
      case 210:
        txnHeartBeat = kvrpcpb.readTxnHeartBeatResponse(r, r.limit());
        break;
      case 266:
        checkSecondaryLocks = kvrpcpb.readCheckSecondaryLocksResponse(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { get, scan, prewrite, commit, batchGet, batchRollback, scanLock, resolveLock, deleteRange, checkTxnStatus, txnHeartBeat, checkSecondaryLocks };
}
export const BatchCommandsResponseResponseCodec: Codec<BatchCommandsResponseResponse, BatchCommandsResponseResponseInit> = { write: writeBatchCommandsResponseResponse, read: readBatchCommandsResponseResponse };

export interface BatchCommandsResponse {
  readonly responses: readonly BatchCommandsResponseResponse[];
  readonly requestIds: readonly number[];
  readonly transportLayerLoad: number;
  readonly healthFeedback: kvrpcpb.HealthFeedback | undefined;
  readonly tikvSendTimeNs: bigint;
}
export interface BatchCommandsResponseInit {
  readonly responses?: readonly BatchCommandsResponseResponseInit[] | undefined;
  readonly requestIds?: readonly number[] | undefined;
  readonly transportLayerLoad?: number | undefined;
  readonly healthFeedback?: kvrpcpb.HealthFeedbackInit | undefined;
  readonly tikvSendTimeNs?: bigint | undefined;
}
export function writeBatchCommandsResponse(w: Writer, m: BatchCommandsResponseInit): void {
  if (m.tikvSendTimeNs !== undefined && !(m.tikvSendTimeNs === 0n)) {
    w.varint64(m.tikvSendTimeNs);
    w.varint(40);
  }
  if (m.healthFeedback !== undefined) {
    const end = w.length;
    kvrpcpb.writeHealthFeedback(w, m.healthFeedback);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.transportLayerLoad !== undefined && !(m.transportLayerLoad === 0)) {
    w.varint(m.transportLayerLoad);
    w.varint(24);
  }
  if (m.requestIds !== undefined && m.requestIds.length > 0) {
    const end = w.length;
    for (let i = m.requestIds.length - 1; i >= 0; i -= 1) w.varint(m.requestIds[i]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.responses !== undefined && m.responses.length > 0) {
    for (let i = m.responses.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeBatchCommandsResponseResponse(w, m.responses[i]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}
export function readBatchCommandsResponse(r: Reader, end: number): BatchCommandsResponse {
  let responses: BatchCommandsResponseResponse[] | undefined;
  let requestIds: number[] | undefined;
  let transportLayerLoad = 0;
  let healthFeedback: kvrpcpb.HealthFeedback | undefined;
  let tikvSendTimeNs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        (responses ??= []).push(readBatchCommandsResponseResponse(r, r.limit()));
        break;
      case 16:
        (requestIds ??= []).push(r.count());
        break;
      case 18: {
        requestIds ??= [];
        for (const limit = r.limit(); r.at < limit; ) requestIds.push(r.count());
        break;
      }
      case 24:
        transportLayerLoad = r.count();
        break;
      case 34:
        healthFeedback = kvrpcpb.readHealthFeedback(r, r.limit());
        break;
      case 40:
        tikvSendTimeNs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { responses: responses ?? NONE, requestIds: requestIds ?? NONE, transportLayerLoad, healthFeedback, tikvSendTimeNs };
}
export const BatchCommandsResponseCodec: Codec<BatchCommandsResponse, BatchCommandsResponseInit> = { write: writeBatchCommandsResponse, read: readBatchCommandsResponse };
