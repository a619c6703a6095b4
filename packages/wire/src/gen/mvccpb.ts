// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';

export const EventEventType = { PUT: 0, DELETE: 1 } as const;

export interface KeyValue {
  key: Uint8Array;
  createRevision: number;
  modRevision: number;
  version: number;
  value: Uint8Array;
  lease: bigint;
}
export type KeyValueInit = Init<KeyValue>;

export const newKeyValue = (): KeyValue => ({ key: EMPTY_BYTES, createRevision: 0, modRevision: 0, version: 0, value: EMPTY_BYTES, lease: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readKeyValue(r: Reader, message: KeyValue): KeyValue {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      case 16:
        message.createRevision = r.int64();
        break;
      case 24:
        message.modRevision = r.int64();
        break;
      case 32:
        message.version = r.int64();
        break;
      case 42:
        message.value = r.bytes();
        break;
      case 48:
        message.lease = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeKeyValue(w: Writer, message: KeyValueInit): void {
  if (message.lease !== undefined && message.lease !== 0n) {
    w.bigint(message.lease);
    w.varint(48);
  }
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(42);
  }
  if (message.version !== undefined && message.version !== 0) {
    w.int64(message.version);
    w.varint(32);
  }
  if (message.modRevision !== undefined && message.modRevision !== 0) {
    w.int64(message.modRevision);
    w.varint(24);
  }
  if (message.createRevision !== undefined && message.createRevision !== 0) {
    w.int64(message.createRevision);
    w.varint(16);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const KeyValueCodec: Codec<KeyValue, KeyValueInit> = {
  write: writeKeyValue,
  read: (r) => readKeyValue(r, newKeyValue()),
};
export const encodeKeyValue = (message: KeyValueInit): Uint8Array => encode(KeyValueCodec, message);
export const decodeKeyValue = (bytes: Uint8Array): KeyValue => decode(KeyValueCodec, bytes);

export interface Event {
  type: number;
  kv: KeyValue | undefined;
  prevKv: KeyValue | undefined;
}
export type EventInit = Init<Event>;

export const newEvent = (): Event => ({ type: 0, kv: undefined, prevKv: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readEvent(r: Reader, message: Event): Event {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.type = r.int32();
        break;
      case 18: {
        const outer = r.enter();
        message.kv = readKeyValue(r, message.kv ?? newKeyValue());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.prevKv = readKeyValue(r, message.prevKv ?? newKeyValue());
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
export function writeEvent(w: Writer, message: EventInit): void {
  if (message.prevKv !== undefined) {
    const end = w.length;
    writeKeyValue(w, message.prevKv);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.kv !== undefined) {
    const end = w.length;
    writeKeyValue(w, message.kv);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.type !== undefined && message.type !== 0) {
    w.int64(message.type);
    w.varint(8);
  }
}

export const EventCodec: Codec<Event, EventInit> = {
  write: writeEvent,
  read: (r) => readEvent(r, newEvent()),
};
export const encodeEvent = (message: EventInit): Uint8Array => encode(EventCodec, message);
export const decodeEvent = (bytes: Uint8Array): Event => decode(EventCodec, bytes);
