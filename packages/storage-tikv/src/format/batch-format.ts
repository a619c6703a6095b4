import { crcOf } from './value-crc.ts';
import { assert, epoch, joinU64, type LogPosition, logPosition, type Seal, splitU64 } from '@engram/core';
import { byteSteps, finish, type PureJob, type Turn, unhurried } from '@engram/loop';
import { type LogBatch, recordBytes } from '@engram/storage';
import { CHAIN_BYTES, type Chain, chainBytes, extendChain, readChain } from './chain.ts';

// A batch is stored as one value. A batch that is larger than a value may be is split into parts, one value each. Each value
// begins with this header:
//
//   magic (u32), format (u16), bytes of the header (u16), crc (u32) of all else
//   part (u16), parts (u16), records (u32)
//   segment, epoch, holder, first position, bytes of all records of the log up to the end of the batch (u64 each)
//   the chain before the batch, the chain behind it (16 bytes each), zero (u32)
//   the wall-clock mark (u64); programs before it wrote headers without, which end here, and read headers with it
//
// Numbers are little endian. The parts without their headers, one behind the other, are the payload: the length of each record
// (u32), then the records. The chain covers the position, the number of records and the payload, but neither the writer nor the
// mark.

const MAGIC = 0x42474e45; // "ENGB"
const FORMAT = 1;
const HEADER_BYTES_WITHOUT_MARK = 96;
const HEADER_BYTES = 104;
const MARK_AT = 96;
const CRC_END = 12;
const HEAD_BYTES = 12;

export interface BatchHeader {
  readonly part: number;
  readonly parts: number;
  readonly segment: number;
  /** The seal that appended the batch. */
  readonly seal: Seal;
  readonly first: LogPosition;
  /** How many records the whole batch has. */
  readonly count: number;
  /** The bytes of all records of the log, up to the end of this batch. */
  readonly logBytes: number;
  /** The chain of the log before the batch. */
  readonly previous: Chain;
  readonly chain: Chain;
  /** The wall-clock mark of the batch (see `LogBatch`); 0 if an older program wrote it. */
  readonly wallMs: number;
}

/** A batch as it is stored in TiKV. */
export interface StoredBatch extends LogBatch {
  readonly header: BatchHeader;
}

/** One decoded value: its header, and a view of its share of the payload. */
export interface BatchPart {
  readonly header: BatchHeader;
  readonly payload: Uint8Array;
}

/** Written by a later version of this program. */
export class NewerFormat extends Error {
  override readonly name = 'NewerFormat';
}

/** The place in the log where a batch is written. */
export interface BatchPlace {
  readonly segment: number;
  readonly seal: Seal;
  readonly logBytesBefore: number;
  readonly previous: Chain;
  readonly wallMs: number;
}

export interface EncodedBatch {
  readonly chain: Chain;
  readonly logBytes: number;
  /** At least one. */
  readonly values: readonly Uint8Array[];
}

/** Encodes a batch into the values to be written. The batch must not change meanwhile. */
export function* encodingBatch(
  batch: LogBatch,
  place: BatchPlace,
  partBytesMax: number,
  turn: Turn,
): PureJob<EncodedBatch> {
  const { first, records } = batch;
  const bytes = recordBytes(records);
  const payloadBytes = 4 * records.length + bytes;
  // The buffer has room for one header. In the usual case of one part it becomes the value, and records are copied once.
  const whole = new Uint8Array(Buffer.allocUnsafeSlow(HEADER_BYTES + payloadBytes).buffer);
  const payload = whole.subarray(HEADER_BYTES);
  yield* writingPayload(payload, records, turn);
  const chain = yield* extendChain(place.previous, chainHead(first, records.length), payload, turn);
  const logBytes = place.logBytesBefore + bytes;
  const shareMax = partBytesMax - HEADER_BYTES;
  const parts = Math.max(1, Math.ceil(payloadBytes / shareMax));
  const { segment, seal, previous, wallMs } = place;
  const common = { parts, segment, seal, first, count: records.length, logBytes, previous, chain, wallMs };
  if (parts === 1) {
    writeHeader(whole, { ...common, part: 0 });
    return { chain, logBytes, values: [whole] };
  }
  const values: Uint8Array[] = [];
  for (let part = 0; part < parts; part += 1) {
    const share = payload.subarray(part * shareMax, (part + 1) * shareMax);
    if (turn.shouldYield(byteSteps(share.length))) yield;
    const value = new Uint8Array(HEADER_BYTES + share.length);
    value.set(share, HEADER_BYTES);
    writeHeader(value, { ...common, part });
    values.push(value);
  }
  return { chain, logBytes, values };
}

/** Undefined if the value is damaged. Throws NewerFormat. */
export function decodePart(value: Uint8Array): BatchPart | undefined {
  if (value.length < CRC_END) return undefined;
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(8, true) !== crcOf(value)) return undefined;
  const format = view.getUint16(4, true);
  if (format > FORMAT) throw new NewerFormat(`a batch has format ${format}, and ${FORMAT} is the newest known`);
  const headerBytes = view.getUint16(6, true);
  if (headerBytes < HEADER_BYTES_WITHOUT_MARK || headerBytes > value.length) return undefined;
  const u64 = (at: number): bigint => joinU64(view.getUint32(at + 4, true), view.getUint32(at, true));
  const [segment, sealed, first, logBytes] = [u64(20), u64(28), u64(44), u64(52)].map(Number);
  const wallMs = headerBytes < HEADER_BYTES ? 0 : Number(u64(MARK_AT));
  if (![segment, sealed, first, logBytes, wallMs].every(Number.isSafeInteger)) return undefined;
  const header: BatchHeader = {
    part: view.getUint16(12, true),
    parts: view.getUint16(14, true),
    count: view.getUint32(16, true),
    segment: segment!,
    seal: { epoch: epoch(sealed!), holder: u64(36) },
    first: logPosition(first!),
    logBytes: logBytes!,
    previous: readChain(value, 60),
    chain: readChain(value, 60 + CHAIN_BYTES),
    wallMs,
  };
  return { header, payload: value.subarray(headerBytes) };
}

/**
 * Decodes a batch from all its parts, in order. Undefined if the batch is damaged. `verifyChain` also computes the chain
 * behind the batch, which costs as much as reading it.
 */
export function decodeBatch(parts: readonly BatchPart[], verifyChain: boolean): StoredBatch | undefined {
  const { header } = parts[0]!;
  assert(parts.length === header.parts, 'a batch is decoded without all its parts');
  const payload = parts.length === 1 ? parts[0]!.payload : Buffer.concat(parts.map((part) => part.payload));
  const records = readPayload(payload, header.count);
  if (records === undefined) return undefined;
  const head = chainHead(header.first, header.count);
  if (verifyChain && finish(extendChain(header.previous, head, payload, unhurried)) !== header.chain) return undefined;
  const { first, wallMs } = header;
  return wallMs === 0 ? { first, records, header } : { first, records, wallMs, header };
}

/**
 * The payloads of usual batches are hashed here. A buffer for each would start a full collection for each 64 MiB of the log
 * that a follower takes.
 */
const scratch = Buffer.allocUnsafeSlow(512 << 10);
const USUAL_RECORDS_MAX = 4096;

/** Computes the chain behind a batch that was not decoded from TiKV. A usual batch does not give way. */
export function* chainBehind(previous: Chain, batch: LogBatch, turn: Turn): PureJob<Chain> {
  const { first, records } = batch;
  const head = chainHead(first, records.length);
  const bytes = 4 * records.length + recordBytes(records);
  if (bytes <= scratch.length && records.length <= USUAL_RECORDS_MAX) {
    // It does not give way: meanwhile another batch might be hashed in the same buffer.
    const payload = scratch.subarray(0, bytes);
    finish(writingPayload(payload, records, turn));
    return finish(extendChain(previous, head, payload, turn));
  }
  const payload = Buffer.allocUnsafeSlow(bytes);
  yield* writingPayload(payload, records, turn);
  return yield* extendChain(previous, head, payload, turn);
}

function chainHead(first: LogPosition, count: number): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES);
  const view = new DataView(head.buffer);
  setU64(view, 0, BigInt(first));
  view.setUint32(8, count, true);
  return head;
}

function writeHeader(value: Uint8Array, header: BatchHeader): void {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, FORMAT, true);
  view.setUint16(6, HEADER_BYTES, true);
  view.setUint16(12, header.part, true);
  view.setUint16(14, header.parts, true);
  view.setUint32(16, header.count, true);
  setU64(view, 20, BigInt(header.segment));
  setU64(view, 28, BigInt(header.seal.epoch));
  setU64(view, 36, header.seal.holder);
  setU64(view, 44, BigInt(header.first));
  setU64(view, 52, BigInt(header.logBytes));
  value.set(chainBytes(header.previous), 60);
  value.set(chainBytes(header.chain), 60 + CHAIN_BYTES);
  view.setUint32(92, 0, true);
  setU64(view, MARK_AT, BigInt(header.wallMs));
  view.setUint32(8, crcOf(value), true);
}

function* writingPayload(payload: Uint8Array, records: readonly Uint8Array[], turn: Turn): PureJob<void> {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let at = 4 * records.length;
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index]!;
    view.setUint32(4 * index, record.length, true);
    payload.set(record, at);
    at += record.length;
    if (turn.shouldYield(byteSteps(record.length))) yield;
  }
}

function readPayload(payload: Uint8Array, count: number): Uint8Array[] | undefined {
  if (payload.length < 4 * count) return undefined;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const records: Uint8Array[] = [];
  let at = 4 * count;
  for (let index = 0; index < count; index += 1) {
    const end = at + view.getUint32(4 * index, true);
    if (end > payload.length) return undefined;
    records.push(new Uint8Array(payload.buffer, payload.byteOffset + at, end - at));
    at = end;
  }
  return at === payload.length ? records : undefined;
}

function setU64(view: DataView, at: number, value: bigint): void {
  const [upper, lower] = splitU64(value);
  view.setUint32(at, lower, true);
  view.setUint32(at + 4, upper, true);
}
