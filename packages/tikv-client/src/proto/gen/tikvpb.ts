// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';
import * as kvrpcpb from './kvrpcpb.ts';

export interface BatchCommandsRequest {
  requests: BatchCommandsRequestRequest[];
  requestIds: number[];
  clientSendTimeNs: bigint;
}
export type BatchCommandsRequestInit = Init<BatchCommandsRequest>;

export const newBatchCommandsRequest = (): BatchCommandsRequest => ({ requests: [], requestIds: [], clientSendTimeNs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchCommandsRequest(r: Reader, message: BatchCommandsRequest): BatchCommandsRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.requests.push(readBatchCommandsRequestRequest(r, newBatchCommandsRequestRequest()));
        r.leave(outer);
        break;
      }
      case 16:
        message.requestIds.push(r.count());
        break;
      case 18: {
        const outer = r.enterList();
        while (r.more()) message.requestIds.push(r.count());
        r.leave(outer);
        break;
      }
      case 24:
        message.clientSendTimeNs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatchCommandsRequest(w: Writer, message: BatchCommandsRequestInit): void {
  if (message.clientSendTimeNs !== undefined && message.clientSendTimeNs !== 0n) {
    w.bigint(message.clientSendTimeNs);
    w.varint(24);
  }
  if (message.requestIds !== undefined && message.requestIds.length > 0) {
    const end = w.length;
    for (let at = message.requestIds.length - 1; at >= 0; at -= 1) w.int64(message.requestIds[at]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.requests !== undefined && message.requests.length > 0) {
    for (let at = message.requests.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeBatchCommandsRequestRequest(w, message.requests[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const BatchCommandsRequestCodec: Codec<BatchCommandsRequest, BatchCommandsRequestInit> = {
  write: writeBatchCommandsRequest,
  read: (r) => readBatchCommandsRequest(r, newBatchCommandsRequest()),
};
export const encodeBatchCommandsRequest = (message: BatchCommandsRequestInit): Uint8Array => encode(BatchCommandsRequestCodec, message);
export const decodeBatchCommandsRequest = (bytes: Uint8Array): BatchCommandsRequest => decode(BatchCommandsRequestCodec, bytes);

export interface BatchCommandsRequestRequest {
  get: kvrpcpb.GetRequest | undefined;
  scan: kvrpcpb.ScanRequest | undefined;
  prewrite: kvrpcpb.PrewriteRequest | undefined;
  commit: kvrpcpb.CommitRequest | undefined;
  batchGet: kvrpcpb.BatchGetRequest | undefined;
  batchRollback: kvrpcpb.BatchRollbackRequest | undefined;
  scanLock: kvrpcpb.ScanLockRequest | undefined;
  resolveLock: kvrpcpb.ResolveLockRequest | undefined;
  deleteRange: kvrpcpb.DeleteRangeRequest | undefined;
  checkTxnStatus: kvrpcpb.CheckTxnStatusRequest | undefined;
  txnHeartBeat: kvrpcpb.TxnHeartBeatRequest | undefined;
  checkSecondaryLocks: kvrpcpb.CheckSecondaryLocksRequest | undefined;
}
export type BatchCommandsRequestRequestInit = Init<BatchCommandsRequestRequest>;

export const newBatchCommandsRequestRequest = (): BatchCommandsRequestRequest => ({ get: undefined, scan: undefined, prewrite: undefined, commit: undefined, batchGet: undefined, batchRollback: undefined, scanLock: undefined, resolveLock: undefined, deleteRange: undefined, checkTxnStatus: undefined, txnHeartBeat: undefined, checkSecondaryLocks: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchCommandsRequestRequest(r: Reader, message: BatchCommandsRequestRequest): BatchCommandsRequestRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.get = kvrpcpb.readGetRequest(r, message.get ?? kvrpcpb.newGetRequest());
        r.leave(outer);
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 18: {
        const outer = r.enter();
        message.scan = kvrpcpb.readScanRequest(r, message.scan ?? kvrpcpb.newScanRequest());
        r.leave(outer);
        message.get = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 26: {
        const outer = r.enter();
        message.prewrite = kvrpcpb.readPrewriteRequest(r, message.prewrite ?? kvrpcpb.newPrewriteRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 34: {
        const outer = r.enter();
        message.commit = kvrpcpb.readCommitRequest(r, message.commit ?? kvrpcpb.newCommitRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 58: {
        const outer = r.enter();
        message.batchGet = kvrpcpb.readBatchGetRequest(r, message.batchGet ?? kvrpcpb.newBatchGetRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 66: {
        const outer = r.enter();
        message.batchRollback = kvrpcpb.readBatchRollbackRequest(r, message.batchRollback ?? kvrpcpb.newBatchRollbackRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 74: {
        const outer = r.enter();
        message.scanLock = kvrpcpb.readScanLockRequest(r, message.scanLock ?? kvrpcpb.newScanLockRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 82: {
        const outer = r.enter();
        message.resolveLock = kvrpcpb.readResolveLockRequest(r, message.resolveLock ?? kvrpcpb.newResolveLockRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 98: {
        const outer = r.enter();
        message.deleteRange = kvrpcpb.readDeleteRangeRequest(r, message.deleteRange ?? kvrpcpb.newDeleteRangeRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 202: {
        const outer = r.enter();
        message.checkTxnStatus = kvrpcpb.readCheckTxnStatusRequest(r, message.checkTxnStatus ?? kvrpcpb.newCheckTxnStatusRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 210: {
        const outer = r.enter();
        message.txnHeartBeat = kvrpcpb.readTxnHeartBeatRequest(r, message.txnHeartBeat ?? kvrpcpb.newTxnHeartBeatRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 266: {
        const outer = r.enter();
        message.checkSecondaryLocks = kvrpcpb.readCheckSecondaryLocksRequest(r, message.checkSecondaryLocks ?? kvrpcpb.newCheckSecondaryLocksRequest());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatchCommandsRequestRequest(w: Writer, message: BatchCommandsRequestRequestInit): void {
  if (message.checkSecondaryLocks !== undefined) {
    const end = w.length;
    kvrpcpb.writeCheckSecondaryLocksRequest(w, message.checkSecondaryLocks);
    w.varint(w.length - end);
    w.varint(266);
  }
  if (message.txnHeartBeat !== undefined) {
    const end = w.length;
    kvrpcpb.writeTxnHeartBeatRequest(w, message.txnHeartBeat);
    w.varint(w.length - end);
    w.varint(210);
  }
  if (message.checkTxnStatus !== undefined) {
    const end = w.length;
    kvrpcpb.writeCheckTxnStatusRequest(w, message.checkTxnStatus);
    w.varint(w.length - end);
    w.varint(202);
  }
  if (message.deleteRange !== undefined) {
    const end = w.length;
    kvrpcpb.writeDeleteRangeRequest(w, message.deleteRange);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (message.resolveLock !== undefined) {
    const end = w.length;
    kvrpcpb.writeResolveLockRequest(w, message.resolveLock);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (message.scanLock !== undefined) {
    const end = w.length;
    kvrpcpb.writeScanLockRequest(w, message.scanLock);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (message.batchRollback !== undefined) {
    const end = w.length;
    kvrpcpb.writeBatchRollbackRequest(w, message.batchRollback);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (message.batchGet !== undefined) {
    const end = w.length;
    kvrpcpb.writeBatchGetRequest(w, message.batchGet);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (message.commit !== undefined) {
    const end = w.length;
    kvrpcpb.writeCommitRequest(w, message.commit);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.prewrite !== undefined) {
    const end = w.length;
    kvrpcpb.writePrewriteRequest(w, message.prewrite);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.scan !== undefined) {
    const end = w.length;
    kvrpcpb.writeScanRequest(w, message.scan);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.get !== undefined) {
    const end = w.length;
    kvrpcpb.writeGetRequest(w, message.get);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const BatchCommandsRequestRequestCodec: Codec<BatchCommandsRequestRequest, BatchCommandsRequestRequestInit> = {
  write: writeBatchCommandsRequestRequest,
  read: (r) => readBatchCommandsRequestRequest(r, newBatchCommandsRequestRequest()),
};
export const encodeBatchCommandsRequestRequest = (message: BatchCommandsRequestRequestInit): Uint8Array => encode(BatchCommandsRequestRequestCodec, message);
export const decodeBatchCommandsRequestRequest = (bytes: Uint8Array): BatchCommandsRequestRequest => decode(BatchCommandsRequestRequestCodec, bytes);

export interface BatchCommandsResponse {
  responses: BatchCommandsResponseResponse[];
  requestIds: number[];
  transportLayerLoad: number;
  healthFeedback: kvrpcpb.HealthFeedback | undefined;
  tikvSendTimeNs: bigint;
}
export type BatchCommandsResponseInit = Init<BatchCommandsResponse>;

export const newBatchCommandsResponse = (): BatchCommandsResponse => ({ responses: [], requestIds: [], transportLayerLoad: 0, healthFeedback: undefined, tikvSendTimeNs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchCommandsResponse(r: Reader, message: BatchCommandsResponse): BatchCommandsResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.responses.push(readBatchCommandsResponseResponse(r, newBatchCommandsResponseResponse()));
        r.leave(outer);
        break;
      }
      case 16:
        message.requestIds.push(r.count());
        break;
      case 18: {
        const outer = r.enterList();
        while (r.more()) message.requestIds.push(r.count());
        r.leave(outer);
        break;
      }
      case 24:
        message.transportLayerLoad = r.count();
        break;
      case 34: {
        const outer = r.enter();
        message.healthFeedback = kvrpcpb.readHealthFeedback(r, message.healthFeedback ?? kvrpcpb.newHealthFeedback());
        r.leave(outer);
        break;
      }
      case 40:
        message.tikvSendTimeNs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatchCommandsResponse(w: Writer, message: BatchCommandsResponseInit): void {
  if (message.tikvSendTimeNs !== undefined && message.tikvSendTimeNs !== 0n) {
    w.bigint(message.tikvSendTimeNs);
    w.varint(40);
  }
  if (message.healthFeedback !== undefined) {
    const end = w.length;
    kvrpcpb.writeHealthFeedback(w, message.healthFeedback);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.transportLayerLoad !== undefined && message.transportLayerLoad !== 0) {
    w.int64(message.transportLayerLoad);
    w.varint(24);
  }
  if (message.requestIds !== undefined && message.requestIds.length > 0) {
    const end = w.length;
    for (let at = message.requestIds.length - 1; at >= 0; at -= 1) w.int64(message.requestIds[at]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.responses !== undefined && message.responses.length > 0) {
    for (let at = message.responses.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeBatchCommandsResponseResponse(w, message.responses[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const BatchCommandsResponseCodec: Codec<BatchCommandsResponse, BatchCommandsResponseInit> = {
  write: writeBatchCommandsResponse,
  read: (r) => readBatchCommandsResponse(r, newBatchCommandsResponse()),
};
export const encodeBatchCommandsResponse = (message: BatchCommandsResponseInit): Uint8Array => encode(BatchCommandsResponseCodec, message);
export const decodeBatchCommandsResponse = (bytes: Uint8Array): BatchCommandsResponse => decode(BatchCommandsResponseCodec, bytes);

export interface BatchCommandsResponseResponse {
  get: kvrpcpb.GetResponse | undefined;
  scan: kvrpcpb.ScanResponse | undefined;
  prewrite: kvrpcpb.PrewriteResponse | undefined;
  commit: kvrpcpb.CommitResponse | undefined;
  batchGet: kvrpcpb.BatchGetResponse | undefined;
  batchRollback: kvrpcpb.BatchRollbackResponse | undefined;
  scanLock: kvrpcpb.ScanLockResponse | undefined;
  resolveLock: kvrpcpb.ResolveLockResponse | undefined;
  deleteRange: kvrpcpb.DeleteRangeResponse | undefined;
  checkTxnStatus: kvrpcpb.CheckTxnStatusResponse | undefined;
  txnHeartBeat: kvrpcpb.TxnHeartBeatResponse | undefined;
  checkSecondaryLocks: kvrpcpb.CheckSecondaryLocksResponse | undefined;
}
export type BatchCommandsResponseResponseInit = Init<BatchCommandsResponseResponse>;

export const newBatchCommandsResponseResponse = (): BatchCommandsResponseResponse => ({ get: undefined, scan: undefined, prewrite: undefined, commit: undefined, batchGet: undefined, batchRollback: undefined, scanLock: undefined, resolveLock: undefined, deleteRange: undefined, checkTxnStatus: undefined, txnHeartBeat: undefined, checkSecondaryLocks: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchCommandsResponseResponse(r: Reader, message: BatchCommandsResponseResponse): BatchCommandsResponseResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.get = kvrpcpb.readGetResponse(r, message.get ?? kvrpcpb.newGetResponse());
        r.leave(outer);
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 18: {
        const outer = r.enter();
        message.scan = kvrpcpb.readScanResponse(r, message.scan ?? kvrpcpb.newScanResponse());
        r.leave(outer);
        message.get = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 26: {
        const outer = r.enter();
        message.prewrite = kvrpcpb.readPrewriteResponse(r, message.prewrite ?? kvrpcpb.newPrewriteResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 34: {
        const outer = r.enter();
        message.commit = kvrpcpb.readCommitResponse(r, message.commit ?? kvrpcpb.newCommitResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 58: {
        const outer = r.enter();
        message.batchGet = kvrpcpb.readBatchGetResponse(r, message.batchGet ?? kvrpcpb.newBatchGetResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 66: {
        const outer = r.enter();
        message.batchRollback = kvrpcpb.readBatchRollbackResponse(r, message.batchRollback ?? kvrpcpb.newBatchRollbackResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 74: {
        const outer = r.enter();
        message.scanLock = kvrpcpb.readScanLockResponse(r, message.scanLock ?? kvrpcpb.newScanLockResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 82: {
        const outer = r.enter();
        message.resolveLock = kvrpcpb.readResolveLockResponse(r, message.resolveLock ?? kvrpcpb.newResolveLockResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 98: {
        const outer = r.enter();
        message.deleteRange = kvrpcpb.readDeleteRangeResponse(r, message.deleteRange ?? kvrpcpb.newDeleteRangeResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 202: {
        const outer = r.enter();
        message.checkTxnStatus = kvrpcpb.readCheckTxnStatusResponse(r, message.checkTxnStatus ?? kvrpcpb.newCheckTxnStatusResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.txnHeartBeat = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 210: {
        const outer = r.enter();
        message.txnHeartBeat = kvrpcpb.readTxnHeartBeatResponse(r, message.txnHeartBeat ?? kvrpcpb.newTxnHeartBeatResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.checkSecondaryLocks = undefined;
        break;
      }
      case 266: {
        const outer = r.enter();
        message.checkSecondaryLocks = kvrpcpb.readCheckSecondaryLocksResponse(r, message.checkSecondaryLocks ?? kvrpcpb.newCheckSecondaryLocksResponse());
        r.leave(outer);
        message.get = undefined;
        message.scan = undefined;
        message.prewrite = undefined;
        message.commit = undefined;
        message.batchGet = undefined;
        message.batchRollback = undefined;
        message.scanLock = undefined;
        message.resolveLock = undefined;
        message.deleteRange = undefined;
        message.checkTxnStatus = undefined;
        message.txnHeartBeat = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatchCommandsResponseResponse(w: Writer, message: BatchCommandsResponseResponseInit): void {
  if (message.checkSecondaryLocks !== undefined) {
    const end = w.length;
    kvrpcpb.writeCheckSecondaryLocksResponse(w, message.checkSecondaryLocks);
    w.varint(w.length - end);
    w.varint(266);
  }
  if (message.txnHeartBeat !== undefined) {
    const end = w.length;
    kvrpcpb.writeTxnHeartBeatResponse(w, message.txnHeartBeat);
    w.varint(w.length - end);
    w.varint(210);
  }
  if (message.checkTxnStatus !== undefined) {
    const end = w.length;
    kvrpcpb.writeCheckTxnStatusResponse(w, message.checkTxnStatus);
    w.varint(w.length - end);
    w.varint(202);
  }
  if (message.deleteRange !== undefined) {
    const end = w.length;
    kvrpcpb.writeDeleteRangeResponse(w, message.deleteRange);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (message.resolveLock !== undefined) {
    const end = w.length;
    kvrpcpb.writeResolveLockResponse(w, message.resolveLock);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (message.scanLock !== undefined) {
    const end = w.length;
    kvrpcpb.writeScanLockResponse(w, message.scanLock);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (message.batchRollback !== undefined) {
    const end = w.length;
    kvrpcpb.writeBatchRollbackResponse(w, message.batchRollback);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (message.batchGet !== undefined) {
    const end = w.length;
    kvrpcpb.writeBatchGetResponse(w, message.batchGet);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (message.commit !== undefined) {
    const end = w.length;
    kvrpcpb.writeCommitResponse(w, message.commit);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.prewrite !== undefined) {
    const end = w.length;
    kvrpcpb.writePrewriteResponse(w, message.prewrite);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.scan !== undefined) {
    const end = w.length;
    kvrpcpb.writeScanResponse(w, message.scan);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.get !== undefined) {
    const end = w.length;
    kvrpcpb.writeGetResponse(w, message.get);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const BatchCommandsResponseResponseCodec: Codec<BatchCommandsResponseResponse, BatchCommandsResponseResponseInit> = {
  write: writeBatchCommandsResponseResponse,
  read: (r) => readBatchCommandsResponseResponse(r, newBatchCommandsResponseResponse()),
};
export const encodeBatchCommandsResponseResponse = (message: BatchCommandsResponseResponseInit): Uint8Array => encode(BatchCommandsResponseResponseCodec, message);
export const decodeBatchCommandsResponseResponse = (bytes: Uint8Array): BatchCommandsResponseResponse => decode(BatchCommandsResponseResponseCodec, bytes);
