import { type ByteList, ByteViews, unreachable } from '@engram/core';
import { sizeVarint } from '@engram/protobuf';
import type { Message } from '../rpc.ts';
import type { Answer, PagedRangeAnswer, RangeAnswer } from './answer.ts';
import { AnswerMessage } from './answer-message.ts';
import { sizeRevision } from './header.ts';
import { PIECE_MIN, PieceWriter } from './piece-writer.ts';
import { PointAnswer } from './point-answer.ts';
import { RangeMessage } from './range-message.ts';

/*
 * The answers of the KV service, assembled from KeyValue bytes that are encoded already. Field numbers: etcdserverpb in
 * proto/etcd/api/etcdserverpb/rpc.proto. `header` is an encoded ResponseHeader. Operations within a transaction have a
 * header with their revision only; a nested transaction has an empty one (etcd server/etcdserver/txn: newTxnResp).
 */

/** A RangeResponse, PutResponse, DeleteRangeResponse or TxnResponse, by the answer's kind. */
export function encodeAnswer(header: Uint8Array, answer: Answer | PagedRangeAnswer): Message {
  if (answer.kind === 'range' && answer.kvs.length === 1 && answer.count === 1 && !answer.more) {
    const kv = answer.kvs instanceof ByteViews ? answer.kvs.view(0) : answer.kvs[0]!;
    if (kv.length < PIECE_MIN) return new PointAnswer(header, kv);
  }
  if (answer.kind === 'paged-range' || (answer.kind === 'range' && isLongRange(answer))) {
    return new RangeMessage(header, answer);
  }
  const sizing = new Sizing();
  const size = 1 + sizeVarint(header.length) + header.length + sizing.body(answer);
  if (size > LONG_BYTES_MIN && size < sizing.versions * COPIED_BYTES_MAX) {
    return new AnswerMessage(size, answerParts(header, answer, sizing));
  }
  const writer = new PieceWriter(size - sizing.uncopied);
  writer.shared(10, header);
  writeBody(writer, answer, sizing);
  return writer.finish();
}

/**
 * Longer answers are assembled while they are sent, because the kernel must clear the memory of a buffer of that size.
 */
const LONG_BYTES_MIN = 64 * 1024;
/** From this average size of the versions on, references cost much less than copies, so the answer stays in pieces. */
const COPIED_BYTES_MAX = 16 * 1024;

function isLongRange({ kvs }: RangeAnswer): boolean {
  let bytes = 0;
  if (kvs instanceof ByteViews) bytes = kvs.bytes;
  else for (const { length } of kvs) bytes += length;
  return bytes > LONG_BYTES_MIN && bytes < kvs.length * COPIED_BYTES_MAX;
}

/** One chunk of a RangeStreamResponse. Only the last one has a header, `more` and `count`. */
export function encodeRangeChunk(header: Uint8Array | undefined, answer: RangeAnswer): Message {
  const sizing = new Sizing();
  const headerSize = header === undefined ? 0 : 1 + sizeVarint(header.length) + header.length;
  const size = headerSize + sizing.body(answer);
  const writer = new PieceWriter(1 + sizeVarint(size) + size - sizing.uncopied);
  writer.byte(10);
  writer.varint(size);
  if (header !== undefined) writer.shared(10, header);
  writeBody(writer, answer, sizing);
  return writer.finish();
}

/** The sizes of all nested messages. Computed once; the writing pass reads them in the same order. */
class Sizing {
  /** Bytes that are sent as pieces of their own. */
  uncopied = 0;
  versions = 0;
  #sizes: number[] | undefined;
  #read = 0;

  /** Returns the sizes again, in the order in which they were computed. */
  next(): number {
    this.#read += 1;
    return this.#sizes![this.#read - 1]!;
  }

  /** The size of an answer without its header. */
  body(answer: Answer): number {
    switch (answer.kind) {
      case 'range': {
        const size = (answer.more ? 2 : 0) + sizeCount(answer.count);
        return size + this.#list(answer.kvs);
      }
      case 'put':
        return answer.prevKv === undefined ? 0 : this.#shared(answer.prevKv.length);
      case 'delete-range':
        return sizeCount(answer.deleted) + this.#list(answer.prevKvs);
      case 'txn': {
        let size = answer.succeeded ? 2 : 0;
        for (const response of answer.responses) size += this.#response(response);
        return size;
      }
      default:
        return unreachable(answer);
    }
  }

  #list(kvs: ByteList): number {
    let size = 0;
    if (kvs instanceof ByteViews) for (let at = 0; at < kvs.length; at += 1) size += this.#shared(kvs.lengthOf(at));
    else for (const { length } of kvs) size += this.#shared(length);
    return size;
  }

  /** The size of a field with a content of this length. */
  #shared(length: number): number {
    this.versions += 1;
    if (length >= PIECE_MIN) this.uncopied += length;
    return 1 + sizeVarint(length) + length;
  }

  /** The size of a field `responses` of a TxnResponse. */
  #response(answer: Answer): number {
    this.#sizes ??= [];
    const slot = this.#sizes.push(0) - 1;
    const size = 2 + sizeRevision(opRevision(answer)) + this.body(answer);
    this.#sizes[slot] = size;
    const op = 1 + sizeVarint(size) + size;
    return 1 + sizeVarint(op) + op;
  }
}

const opRevision = (answer: Answer): number => (answer.kind === 'txn' ? 0 : answer.revision);
const sizeCount = (count: number): number => (count === 0 ? 0 : 1 + sizeVarint(count));

/** The tags of ResponseOp's oneof. */
const responseTag = { range: 10, put: 18, 'delete-range': 26, txn: 34 } as const;

function writeBody(writer: PieceWriter, answer: Answer, sizes: Sizing): void {
  switch (answer.kind) {
    case 'range':
      for (const kv of answer.kvs) writer.shared(18, kv);
      if (answer.more) writeFlag(writer, 24);
      writeCount(writer, 32, answer.count);
      return;
    case 'put':
      if (answer.prevKv !== undefined) writer.shared(18, answer.prevKv);
      return;
    case 'delete-range':
      writeCount(writer, 16, answer.deleted);
      for (const kv of answer.prevKvs) writer.shared(26, kv);
      return;
    case 'txn':
      if (answer.succeeded) writeFlag(writer, 16);
      for (const response of answer.responses) writeResponse(writer, response, sizes);
      return;
    default:
      unreachable(answer);
  }
}

function writeResponse(writer: PieceWriter, answer: Answer, sizes: Sizing): void {
  writeResponseHead(writer, answer, sizes.next());
  writeBody(writer, answer, sizes);
}

function writeResponseHead(writer: PieceWriter, answer: Answer, size: number): void {
  writer.byte(26);
  writer.varint(1 + sizeVarint(size) + size);
  writer.byte(responseTag[answer.kind]);
  writer.varint(size);
  const revision = opRevision(answer);
  writer.byte(10);
  writer.varint(sizeRevision(revision));
  if (revision !== 0) {
    writer.byte(24);
    writer.varint(revision);
  }
}

/**
 * The message that `encodeAnswer` writes into one buffer, as parts: heads of fields, and the versions without a copy.
 */
function* answerParts(header: Uint8Array, answer: Answer, sizes: Sizing): Generator<Uint8Array, undefined> {
  yield fieldHead(10, header.length);
  yield header;
  yield* bodyParts(answer, sizes);
}

function* bodyParts(answer: Answer, sizes: Sizing): Generator<Uint8Array, undefined> {
  switch (answer.kind) {
    case 'range':
      yield* listParts(18, answer.kvs);
      yield smallBody({ ...answer, kvs: [] }, sizes);
      return;
    case 'put':
      if (answer.prevKv !== undefined) yield* listParts(18, [answer.prevKv]);
      return;
    case 'delete-range':
      yield smallBody({ ...answer, prevKvs: [] }, sizes);
      yield* listParts(26, answer.prevKvs);
      return;
    case 'txn':
      yield smallBody({ ...answer, responses: [] }, sizes);
      for (const response of answer.responses) {
        yield responseHead(response, sizes.next());
        yield* bodyParts(response, sizes);
      }
      return;
    default:
      unreachable(answer);
  }
}

function* listParts(tag: number, kvs: ByteList): Generator<Uint8Array, undefined> {
  for (const kv of kvs) {
    yield fieldHead(tag, kv.length);
    yield kv;
  }
}

/** Bound of the bytes that `small` writes. */
const SMALL_MAX_BYTES = 32;

function small(write: (writer: PieceWriter) => void): Uint8Array {
  const writer = new PieceWriter(SMALL_MAX_BYTES);
  write(writer);
  return writer.written();
}

const fieldHead = (tag: number, length: number): Uint8Array =>
  small((writer) => {
    writer.byte(tag);
    writer.varint(length);
  });
const smallBody = (answer: Answer, sizes: Sizing): Uint8Array => small((writer) => writeBody(writer, answer, sizes));
const responseHead = (answer: Answer, size: number): Uint8Array =>
  small((writer) => writeResponseHead(writer, answer, size));

function writeFlag(writer: PieceWriter, tag: number): void {
  writer.byte(tag);
  writer.byte(1);
}

function writeCount(writer: PieceWriter, tag: number, count: number): void {
  if (count === 0) return;
  writer.byte(tag);
  writer.varint(count);
}
