import {
  CompareTarget,
  EMPTY_BYTES,
  EngramError,
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
import { Reader, REQUEST_FIELDS_MAX } from '@engram/protobuf';

/*
 * The requests of the KV service, decoded directly into the store's operations. Field numbers: etcdserverpb in
 * proto/etcd/api/etcdserverpb/rpc.proto. Keys and values are views of the input.
 */

type Mutable<Type> = { -readonly [Field in keyof Type]: Type[Field] };

/** Represents an operation without a request. The validation compares by identity. */
export const emptyOp: Op = Object.freeze({
  kind: 'txn',
  txn: Object.freeze({ compares: [], success: [], failure: [] }),
});

const bounded = (bytes: Uint8Array): Reader => new Reader(bytes, REQUEST_FIELDS_MAX);

export const decodeRange = (bytes: Uint8Array): RangeOp => readRange(bounded(bytes), undefined);
export const decodePut = (bytes: Uint8Array): PutOp => readPut(bounded(bytes), undefined);
export const decodeDeleteRange = (bytes: Uint8Array): DeleteRangeOp => readDeleteRange(bounded(bytes), undefined);

/**
 * The beginning of a transaction that has more than it may have. It is no `Txn`, so that nobody decides it: validation finds in
 * it what is wrong first, as etcd would in the whole transaction, at the latest that a list is too long.
 */
export class CutTxn {
  readonly beginning: Txn;

  constructor(beginning: Txn) {
    this.beginning = beginning;
  }
}

/** Reads the whole transaction, whatever its size. */
export function decodeTxn(bytes: Uint8Array): Txn {
  return readTxn(new Reader(bytes), newTxn(), { opsMax: Infinity, left: Infinity, cut: false });
}

/**
 * As `decodeTxn`, for a client's request, whose memory is bounded: it reads the transaction, and each nested one, up to one entry
 * of a list above `opsMax`. What is behind that is not read, so it may be no message. The whole tree may have TXN_TREE_FACTOR times `opsMax` compares and operations, and fields
 * that are merged into them. Throws TooManyOps above that, and WireError above OP_FIELDS_MAX fields
 * for each of them. etcd bounds the tree only by the bytes of the request.
 */
export function decodeTxnWithin(bytes: Uint8Array, opsMax: number): Txn | CutTxn {
  const bounds: TxnBounds = { opsMax, left: TXN_TREE_FACTOR * opsMax, cut: false };
  const fieldsMax = REQUEST_FIELDS_MAX + OP_FIELDS_MAX * bounds.left;
  const txn = readTxn(new Reader(bytes, fieldsMax), newTxn(), bounds);
  return bounds.cut ? new CutTxn(txn) : txn;
}

/** Room for each transaction of two levels: at most a quarter of `opsMax` squared, at its default of 128. */
const TXN_TREE_FACTOR = 64;
/** A range has 13, and two around it. */
const OP_FIELDS_MAX = 16;

interface TxnBounds {
  readonly opsMax: number;
  /** Compares and operations, and fields that are merged into one, that the whole tree may still have. */
  left: number;
  /** A list has more entries than were read. */
  cut: boolean;
}

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

interface OpenTxn {
  readonly compares: Compare[];
  readonly success: Op[];
  readonly failure: Op[];
}

const newTxn = (): OpenTxn => ({ compares: [], success: [], failure: [] });

/** Adds to the lists of `txn`, so that a repeated field costs no more than a single one. */
function readTxn(reader: Reader, txn: OpenTxn, bounds: TxnBounds): OpenTxn {
  const { compares, success, failure } = txn;
  while (reader.more()) {
    const tag = reader.tag();
    if (tag !== 10 && tag !== 18 && tag !== 26) {
      reader.skip(tag);
      continue;
    }
    const list = tag === 10 ? compares : tag === 18 ? success : failure;
    if (list.length > bounds.opsMax) {
      // The length of a list is looked at before what is in any of the three.
      bounds.cut = true;
      reader.skipRest();
      return txn;
    }
    if (bounds.left === 0) throw new EngramError('TooManyOps');
    bounds.left -= 1;
    const outer = reader.enter();
    if (tag === 10) compares.push(readCompare(reader));
    else (tag === 18 ? success : failure).push(readOp(reader, bounds));
    reader.leave(outer);
  }
  return txn;
}

/**
 * RequestOp, a oneof. A repeated member of the same kind is merged, and one of another kind replaces the previous
 * member.
 */
function readOp(reader: Reader, bounds: TxnBounds): Op {
  let op = emptyOp;
  /** The transaction of `op`, to which repeated fields are added. Undefined if `op` is of another kind. */
  let txn: OpenTxn | undefined;
  while (reader.more()) {
    const tag = reader.tag();
    if (tag !== 10 && tag !== 18 && tag !== 26 && tag !== 34) {
      reader.skip(tag);
      continue;
    }
    // Each is work, also where all of them are one operation in the end.
    if (op !== emptyOp) bounds.left -= 1;
    if (bounds.left < 0) throw new EngramError('TooManyOps');
    const outer = reader.enter();
    if (tag === 34) {
      txn ??= newTxn();
      readTxn(reader, txn, bounds);
      if (op === emptyOp || op.kind !== 'txn') op = { kind: 'txn', txn };
    } else {
      txn = undefined;
      if (tag === 10) op = readRange(reader, op.kind === 'range' ? op : undefined);
      else if (tag === 18) op = readPut(reader, op.kind === 'put' ? op : undefined);
      else op = readDeleteRange(reader, op.kind === 'delete-range' ? op : undefined);
    }
    reader.leave(outer);
  }
  return op;
}

/** The field number in the oneof `target_union` that each compare target reads. */
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
  // The last member of the oneof is used if it is the member that the target reads.
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
