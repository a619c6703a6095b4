// Made by packages/wire/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import type { Init } from '../protobuf/init.ts';
import { Reader } from '../protobuf/reader.ts';
import { sizeBig, sizeDelimited, sizeInt32, sizeInt64, sizeVarint, writeBig, writeBytes, writeInt32, writeInt64, writeVarint } from '../protobuf/writer.ts';

export const EventEventType = { PUT: 0, DELETE: 1 } as const;

export interface KeyValue {
  key: Uint8Array;
  createRevision: number;
  modRevision: number;
  version: number;
  value: Uint8Array;
  lease: bigint;
}

export const newKeyValue = (): KeyValue => ({ key: EMPTY_BYTES, createRevision: 0, modRevision: 0, version: 0, value: EMPTY_BYTES, lease: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readKeyValue(reader: Reader, message: KeyValue): KeyValue {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.key = reader.bytes();
        break;
      case 16:
        message.createRevision = reader.int64();
        break;
      case 24:
        message.modRevision = reader.int64();
        break;
      case 32:
        message.version = reader.int64();
        break;
      case 42:
        message.value = reader.bytes();
        break;
      case 48:
        message.lease = reader.bigInt64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeKeyValue(bytes: Uint8Array): KeyValue {
  return readKeyValue(new Reader(bytes), newKeyValue());
}

export function sizeKeyValue(message: Init<KeyValue>): number {
  let size = 0;
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.createRevision !== undefined && message.createRevision !== 0) size += 1 + sizeInt64(message.createRevision);
  if (message.modRevision !== undefined && message.modRevision !== 0) size += 1 + sizeInt64(message.modRevision);
  if (message.version !== undefined && message.version !== 0) size += 1 + sizeInt64(message.version);
  if (message.value !== undefined && message.value.length > 0) size += 1 + sizeDelimited(message.value.length);
  if (message.lease !== undefined && message.lease !== 0n) size += 1 + sizeBig(message.lease);
  return size;
}

/** Writes `sizeKeyValue(message)` bytes from `at` on, and returns where the next one goes. */
export function writeKeyValue(message: Init<KeyValue>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.createRevision !== undefined && message.createRevision !== 0) {
    into[next] = 16;
    next += 1;
    next = writeInt64(message.createRevision, into, next);
  }
  if (message.modRevision !== undefined && message.modRevision !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.modRevision, into, next);
  }
  if (message.version !== undefined && message.version !== 0) {
    into[next] = 32;
    next += 1;
    next = writeInt64(message.version, into, next);
  }
  if (message.value !== undefined && message.value.length > 0) {
    into[next] = 42;
    next += 1;
    next = writeBytes(message.value, into, next);
  }
  if (message.lease !== undefined && message.lease !== 0n) {
    into[next] = 48;
    next += 1;
    next = writeBig(message.lease, into, next);
  }
  return next;
}

export function encodeKeyValue(message: Init<KeyValue>): Uint8Array {
  const into = new Uint8Array(sizeKeyValue(message));
  writeKeyValue(message, into, 0);
  return into;
}

export interface Event {
  type: number;
  kv: KeyValue | undefined;
  prevKv: KeyValue | undefined;
}

export const newEvent = (): Event => ({ type: 0, kv: undefined, prevKv: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readEvent(reader: Reader, message: Event): Event {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.type = reader.int32();
        break;
      case 18: {
        const outer = reader.enter();
        message.kv = readKeyValue(reader, message.kv ?? newKeyValue());
        reader.leave(outer);
        break;
      }
      case 26: {
        const outer = reader.enter();
        message.prevKv = readKeyValue(reader, message.prevKv ?? newKeyValue());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeEvent(bytes: Uint8Array): Event {
  return readEvent(new Reader(bytes), newEvent());
}

export function sizeEvent(message: Init<Event>): number {
  let size = 0;
  if (message.type !== undefined && message.type !== 0) size += 1 + sizeInt32(message.type);
  if (message.kv !== undefined) {
    const inner = sizeKeyValue(message.kv);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.prevKv !== undefined) {
    const inner = sizeKeyValue(message.prevKv);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeEvent(message)` bytes from `at` on, and returns where the next one goes. */
export function writeEvent(message: Init<Event>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.type !== undefined && message.type !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt32(message.type, into, next);
  }
  if (message.kv !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeKeyValue(message.kv), into, next);
    next = writeKeyValue(message.kv, into, next);
  }
  if (message.prevKv !== undefined) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeKeyValue(message.prevKv), into, next);
    next = writeKeyValue(message.prevKv, into, next);
  }
  return next;
}

export function encodeEvent(message: Init<Event>): Uint8Array {
  const into = new Uint8Array(sizeEvent(message));
  writeEvent(message, into, 0);
  return into;
}
