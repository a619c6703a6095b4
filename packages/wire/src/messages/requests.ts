import {
  CompareTarget,
  EMPTY_BYTES,
  leaseId,
  NO_LEASE,
  type Compare,
  type DeleteRangeOp,
  type KeyRange,
  type LeaseId,
  type Op,
  type PutOp,
  type RangeOp,
  type Txn,
} from '@engram/core';
import { Reader } from '../protobuf/reader.ts';

/*
 * The requests of the KV service, read straight into the store's operations. Field numbers: etcdserverpb in
 * proto/etcd/api/etcdserverpb/rpc.proto. Keys and values are views of the input.
 */

type Mutable<Type> = { -readonly [Field in keyof Type]: Type[Field] };

/** Stands where a transaction has an operation of no kind: whoever validates looks for it by identity. */
export const emptyOp: Op = Object.freeze({
  kind: 'txn',
  txn: Object.freeze({ compares: [], success: [], failure: [] }),
});

export const decodeRange = (bytes: Uint8Array): RangeOp => readRange(new Reader(bytes), undefined);
export const decodePut = (bytes: Uint8Array): PutOp => readPut(new Reader(bytes), undefined);
export const decodeDeleteRange = (bytes: Uint8Array): DeleteRangeOp => readDeleteRange(new Reader(bytes), undefined);
export const decodeTxn = (bytes: Uint8Array): Txn => readTxn(new Reader(bytes), undefined);

function readRange(reader: Reader, before: RangeOp | undefined): RangeOp {
  const range: Mutable<KeyRange> = before?.range ?? { key: EMPTY_BYTES, end: EMPTY_BYTES };
  const op: Mutable<RangeOp> = before ?? {
    kind: 'range',
    range,
    limit: 0,
    revision: 0,
    sortOrder: 0,
    sortTarget: 0,
    serializable: false,
    keysOnly: false,
    countOnly: false,
    minModRevision: 0,
    maxModRevision: 0,
    minCreateRevision: 0,
    maxCreateRevision: 0,
  };
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        range.key = reader.bytes();
        break;
      case 18:
        range.end = reader.bytes();
        break;
      case 24:
        op.limit = reader.int64();
        break;
      case 32:
        op.revision = reader.int64();
        break;
      case 40:
        op.sortOrder = reader.int32();
        break;
      case 48:
        op.sortTarget = reader.int32();
        break;
      case 56:
        op.serializable = reader.bool();
        break;
      case 64:
        op.keysOnly = reader.bool();
        break;
      case 72:
        op.countOnly = reader.bool();
        break;
      case 80:
        op.minModRevision = reader.int64();
        break;
      case 88:
        op.maxModRevision = reader.int64();
        break;
      case 96:
        op.minCreateRevision = reader.int64();
        break;
      case 104:
        op.maxCreateRevision = reader.int64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return op;
}

function readLease(reader: Reader): LeaseId {
  const id = reader.bigInt64();
  return id === 0n ? NO_LEASE : leaseId(id);
}

function readPut(reader: Reader, before: PutOp | undefined): PutOp {
  const op: Mutable<PutOp> = before ?? {
    kind: 'put',
    key: EMPTY_BYTES,
    value: EMPTY_BYTES,
    lease: NO_LEASE,
    prevKv: false,
    ignoreValue: false,
    ignoreLease: false,
  };
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        op.key = reader.bytes();
        break;
      case 18:
        op.value = reader.bytes();
        break;
      case 24:
        op.lease = readLease(reader);
        break;
      case 32:
        op.prevKv = reader.bool();
        break;
      case 40:
        op.ignoreValue = reader.bool();
        break;
      case 48:
        op.ignoreLease = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return op;
}

function readDeleteRange(reader: Reader, before: DeleteRangeOp | undefined): DeleteRangeOp {
  const range: Mutable<KeyRange> = before?.range ?? { key: EMPTY_BYTES, end: EMPTY_BYTES };
  const op: Mutable<DeleteRangeOp> = before ?? { kind: 'delete-range', range, prevKv: false };
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        range.key = reader.bytes();
        break;
      case 18:
        range.end = reader.bytes();
        break;
      case 24:
        op.prevKv = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return op;
}

function readTxn(reader: Reader, before: Txn | undefined): Txn {
  const compares: Compare[] = before === undefined ? [] : [...before.compares];
  const success: Op[] = before === undefined ? [] : [...before.success];
  const failure: Op[] = before === undefined ? [] : [...before.failure];
  while (reader.more()) {
    const tag = reader.tag();
    if (tag !== 10 && tag !== 18 && tag !== 26) {
      reader.skip(tag);
      continue;
    }
    const outer = reader.enter();
    if (tag === 10) compares.push(readCompare(reader));
    else (tag === 18 ? success : failure).push(readOp(reader));
    reader.leave(outer);
  }
  return { compares, success, failure };
}

/** RequestOp: a oneof. The same kind twice is merged, another kind replaces the one before. */
function readOp(reader: Reader): Op {
  let op = emptyOp;
  while (reader.more()) {
    const tag = reader.tag();
    if (tag !== 10 && tag !== 18 && tag !== 26 && tag !== 34) {
      reader.skip(tag);
      continue;
    }
    const before = op === emptyOp ? undefined : op;
    const outer = reader.enter();
    if (tag === 10) op = readRange(reader, before?.kind === 'range' ? before : undefined);
    else if (tag === 18) op = readPut(reader, before?.kind === 'put' ? before : undefined);
    else if (tag === 26) op = readDeleteRange(reader, before?.kind === 'delete-range' ? before : undefined);
    else op = { kind: 'txn', txn: readTxn(reader, before?.kind === 'txn' ? before.txn : undefined) };
    reader.leave(outer);
  }
  return op;
}

/** What a compare's target looks at, by its field number in the oneof `target_union`. */
const unionOfTarget: Readonly<Record<number, number>> = {
  [CompareTarget.VERSION]: 4,
  [CompareTarget.CREATE]: 5,
  [CompareTarget.MOD]: 6,
  [CompareTarget.VALUE]: 7,
  [CompareTarget.LEASE]: 8,
};

function readCompare(reader: Reader): Compare {
  let result = 0;
  let target = 0;
  let key = EMPTY_BYTES;
  let end = EMPTY_BYTES;
  // The last member of the oneof counts, and only if it is the one that the target asks for.
  let union = 0;
  let number = 0;
  let lease = NO_LEASE;
  let value = EMPTY_BYTES;
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        result = reader.int32();
        break;
      case 16:
        target = reader.int32();
        break;
      case 26:
        key = reader.bytes();
        break;
      case 32:
      case 40:
      case 48:
        number = reader.int64();
        union = tag >> 3;
        break;
      case 58:
        value = reader.bytes();
        union = 7;
        break;
      case 64:
        lease = readLease(reader);
        union = 8;
        break;
      case 514:
        end = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  const meant = union !== 0 && unionOfTarget[target] === union;
  return {
    range: { key, end },
    result,
    target,
    number: meant && union <= 6 ? number : 0,
    lease: meant && union === 8 ? lease : NO_LEASE,
    value: meant && union === 7 ? value : EMPTY_BYTES,
  };
}
