import { type Int64, type KvEvent, EVENT_DELETE } from '@engram/core';
import type { Message } from '../rpc.ts';
import {
  sizeExact,
  sizeInt64,
  sizeString,
  sizeVarint,
  writeExact,
  writeInt64,
  writeString,
  writeVarint,
} from '@engram/protobuf';
import { PIECE_MIN, PieceWriter } from './piece-writer.ts';

/** Encoded `events` fields of a WatchResponse. Shared between responses; must not be changed. */
export interface EncodedEvents {
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
}

/** A WatchResponse without its events. Fields that are left out are not sent. */
export interface WatchHead {
  /** An encoded ResponseHeader. */
  readonly header: Uint8Array;
  readonly watchId: Int64;
  readonly created?: boolean;
  readonly canceled?: boolean;
  readonly compactRevision?: number;
  readonly cancelReason?: string;
  readonly fragment?: boolean;
}

const EVENTS_TAG = 90;
const FLAG_BYTES = 2;

/** The size of an event as a field of a WatchResponse, its tag included. */
function sizeEvent(event: KvEvent, withPrevKv: boolean): number {
  const body = sizeEventBody(event, withPrevKv ? event.prevKv : undefined);
  return 1 + sizeVarint(body) + body;
}

function sizeEventBody({ type, kv }: KvEvent, prevKv: Uint8Array | undefined): number {
  const prevSize = prevKv === undefined ? 0 : 1 + sizeVarint(prevKv.length) + prevKv.length;
  return (type === EVENT_DELETE ? 2 : 0) + 1 + sizeVarint(kv.length) + kv.length + prevSize;
}

/** Encodes each event as mvccpb.Event, with `prev_kv` if `withPrevKv` is set and the event has it. */
export function encodeEvents(events: readonly KvEvent[], withPrevKv: boolean): EncodedEvents {
  let bytes = 0;
  let uncopied = 0;
  for (const event of events) {
    bytes += sizeEvent(event, withPrevKv);
    if (event.kv.length >= PIECE_MIN) uncopied += event.kv.length;
    if (withPrevKv && event.prevKv !== undefined && event.prevKv.length >= PIECE_MIN) uncopied += event.prevKv.length;
  }
  const writer = new PieceWriter(bytes - uncopied);
  for (const event of events) {
    const prevKv = withPrevKv ? event.prevKv : undefined;
    writer.byte(EVENTS_TAG);
    writer.varint(sizeEventBody(event, prevKv));
    if (event.type === EVENT_DELETE) {
      writer.byte(8);
      writer.byte(EVENT_DELETE);
    }
    writer.shared(18, event.kv);
    if (prevKv !== undefined) writer.shared(26, prevKv);
  }
  const message = writer.finish();
  return { pieces: message instanceof Uint8Array ? [message] : message, bytes };
}

/** One WatchResponse with `head` and all of `events`, in their order. */
export function encodeWatchResponse(head: WatchHead, events: readonly EncodedEvents[]): Message {
  let eventBytes = 0;
  for (const group of events) eventBytes += group.bytes;
  const headSize = sizeHead(head);
  if (eventBytes < PIECE_MIN) {
    const whole = Buffer.allocUnsafe(headSize + eventBytes);
    let at = writeHead(head, whole);
    for (const group of events) {
      for (const piece of group.pieces) {
        whole.set(piece, at);
        at += piece.length;
      }
    }
    return whole;
  }
  const first = Buffer.allocUnsafe(headSize);
  writeHead(head, first);
  const pieces: Uint8Array[] = [first];
  for (const group of events) for (const piece of group.pieces) pieces.push(piece);
  return pieces;
}

/**
 * The responses for a watcher that accepts fragments: one, or several if it would have `bytesMax` or more. Fragments
 * are cut between events, and each has at least one event (etcd server/etcdserver/api/v3rpc/watch.go: sendFragments).
 */
export function encodeWatchFragments(
  head: WatchHead,
  events: readonly KvEvent[],
  withPrevKv: boolean,
  bytesMax: number,
): readonly Message[] {
  const parts = cut(sizeHead(head), events, withPrevKv, bytesMax);
  return parts.map((part, at) =>
    encodeWatchResponse({ ...head, fragment: at < parts.length - 1 }, [encodeEvents(part, withPrevKv)]),
  );
}

/**
 * Like `encodeWatchFragments`, from encoded events, cut between blocks. A block of `bytesMax` or more is a fragment
 * alone.
 */
export function joinWatchFragments(
  head: WatchHead,
  blocks: readonly EncodedEvents[],
  bytesMax: number,
): readonly Message[] {
  const headBytes = sizeHead(head);
  const whole = blocks.reduce((sum, block) => sum + block.bytes, headBytes);
  if (whole < bytesMax) return [encodeWatchResponse(head, blocks)];
  const parts: EncodedEvents[][] = [];
  let part: EncodedEvents[] = [];
  let bytes = headBytes + FLAG_BYTES;
  for (const block of blocks) {
    if (part.length > 0 && bytes + block.bytes >= bytesMax) {
      parts.push(part);
      part = [];
      bytes = headBytes + FLAG_BYTES;
    }
    part.push(block);
    bytes += block.bytes;
  }
  parts.push(part);
  return parts.map((blocks, at) => encodeWatchResponse({ ...head, fragment: at < parts.length - 1 }, blocks));
}

function cut(
  headBytes: number,
  events: readonly KvEvent[],
  withPrevKv: boolean,
  bytesMax: number,
): readonly (readonly KvEvent[])[] {
  const sizes = events.map((event) => sizeEvent(event, withPrevKv));
  const whole = sizes.reduce((sum, size) => sum + size, headBytes);
  if (whole < bytesMax) return [events];
  const parts: KvEvent[][] = [];
  let part: KvEvent[] = [];
  const partHead = headBytes + FLAG_BYTES;
  let bytes = partHead;
  for (const [at, event] of events.entries()) {
    const size = sizes[at]!;
    if (part.length > 0 && bytes + size >= bytesMax) {
      parts.push(part);
      part = [];
      bytes = partHead;
    }
    part.push(event);
    bytes += size;
  }
  parts.push(part);
  return parts;
}

function sizeHead(head: WatchHead): number {
  let size = 1 + sizeVarint(head.header.length) + head.header.length;
  if (head.watchId !== 0) size += 1 + sizeExact(head.watchId);
  if (head.created === true) size += 2;
  if (head.canceled === true) size += 2;
  if (head.compactRevision !== undefined && head.compactRevision !== 0) size += 1 + sizeInt64(head.compactRevision);
  if (head.cancelReason !== undefined && head.cancelReason !== '') size += 1 + sizeString(head.cancelReason);
  if (head.fragment === true) size += 2;
  return size;
}

function writeHead(head: WatchHead, into: Uint8Array): number {
  into[0] = 10;
  let at = writeVarint(head.header.length, into, 1);
  into.set(head.header, at);
  at += head.header.length;
  if (head.watchId !== 0) {
    into[at] = 16;
    at = writeExact(head.watchId, into, at + 1);
  }
  if (head.created === true) at = writeFlag(24, into, at);
  if (head.canceled === true) at = writeFlag(32, into, at);
  if (head.compactRevision !== undefined && head.compactRevision !== 0) {
    into[at] = 40;
    at = writeInt64(head.compactRevision, into, at + 1);
  }
  if (head.cancelReason !== undefined && head.cancelReason !== '') {
    into[at] = 50;
    at = writeString(head.cancelReason, into, at + 1);
  }
  if (head.fragment === true) at = writeFlag(56, into, at);
  return at;
}

function writeFlag(tag: number, into: Uint8Array, at: number): number {
  into[at] = tag;
  into[at + 1] = 1;
  return at + 2;
}
