// Made by packages/wire/tools/generate.ts from proto/. Not edited by hand.
import type { Init } from '../protobuf/init.ts';
import { Reader } from '../protobuf/reader.ts';
import { sizeInt32, sizeString, sizeVarint, writeInt32, writeString, writeVarint } from '../protobuf/writer.ts';

export const HealthCheckResponseServingStatus = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;

export interface HealthCheckRequest {
  service: string;
}

export const newHealthCheckRequest = (): HealthCheckRequest => ({ service: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthCheckRequest(reader: Reader, message: HealthCheckRequest): HealthCheckRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.service = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHealthCheckRequest(bytes: Uint8Array): HealthCheckRequest {
  return readHealthCheckRequest(new Reader(bytes), newHealthCheckRequest());
}

export function sizeHealthCheckRequest(message: Init<HealthCheckRequest>): number {
  let size = 0;
  if (message.service !== undefined && message.service !== '') size += 1 + sizeString(message.service);
  return size;
}

/** Writes `sizeHealthCheckRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHealthCheckRequest(message: Init<HealthCheckRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.service !== undefined && message.service !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.service, into, next);
  }
  return next;
}

export function encodeHealthCheckRequest(message: Init<HealthCheckRequest>): Uint8Array {
  const into = new Uint8Array(sizeHealthCheckRequest(message));
  writeHealthCheckRequest(message, into, 0);
  return into;
}

export interface HealthCheckResponse {
  status: number;
}

export const newHealthCheckResponse = (): HealthCheckResponse => ({ status: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthCheckResponse(reader: Reader, message: HealthCheckResponse): HealthCheckResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.status = reader.int32();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHealthCheckResponse(bytes: Uint8Array): HealthCheckResponse {
  return readHealthCheckResponse(new Reader(bytes), newHealthCheckResponse());
}

export function sizeHealthCheckResponse(message: Init<HealthCheckResponse>): number {
  let size = 0;
  if (message.status !== undefined && message.status !== 0) size += 1 + sizeInt32(message.status);
  return size;
}

/** Writes `sizeHealthCheckResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHealthCheckResponse(message: Init<HealthCheckResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.status !== undefined && message.status !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt32(message.status, into, next);
  }
  return next;
}

export function encodeHealthCheckResponse(message: Init<HealthCheckResponse>): Uint8Array {
  const into = new Uint8Array(sizeHealthCheckResponse(message));
  writeHealthCheckResponse(message, into, 0);
  return into;
}

export interface HealthListRequest {
}

export const newHealthListRequest = (): HealthListRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthListRequest(reader: Reader, message: HealthListRequest): HealthListRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHealthListRequest(bytes: Uint8Array): HealthListRequest {
  return readHealthListRequest(new Reader(bytes), newHealthListRequest());
}

export function sizeHealthListRequest(_message: Init<HealthListRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeHealthListRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHealthListRequest(_message: Init<HealthListRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeHealthListRequest(message: Init<HealthListRequest>): Uint8Array {
  const into = new Uint8Array(sizeHealthListRequest(message));
  writeHealthListRequest(message, into, 0);
  return into;
}

export interface HealthListResponseStatusesEntry {
  key: string;
  value: HealthCheckResponse | undefined;
}

export const newHealthListResponseStatusesEntry = (): HealthListResponseStatusesEntry => ({ key: '', value: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthListResponseStatusesEntry(reader: Reader, message: HealthListResponseStatusesEntry): HealthListResponseStatusesEntry {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.key = reader.string();
        break;
      case 18: {
        const outer = reader.enter();
        message.value = readHealthCheckResponse(reader, message.value ?? newHealthCheckResponse());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHealthListResponseStatusesEntry(bytes: Uint8Array): HealthListResponseStatusesEntry {
  return readHealthListResponseStatusesEntry(new Reader(bytes), newHealthListResponseStatusesEntry());
}

export function sizeHealthListResponseStatusesEntry(message: Init<HealthListResponseStatusesEntry>): number {
  let size = 0;
  if (message.key !== undefined && message.key !== '') size += 1 + sizeString(message.key);
  if (message.value !== undefined) {
    const inner = sizeHealthCheckResponse(message.value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeHealthListResponseStatusesEntry(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHealthListResponseStatusesEntry(message: Init<HealthListResponseStatusesEntry>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.key !== undefined && message.key !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.key, into, next);
  }
  if (message.value !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeHealthCheckResponse(message.value), into, next);
    next = writeHealthCheckResponse(message.value, into, next);
  }
  return next;
}

export function encodeHealthListResponseStatusesEntry(message: Init<HealthListResponseStatusesEntry>): Uint8Array {
  const into = new Uint8Array(sizeHealthListResponseStatusesEntry(message));
  writeHealthListResponseStatusesEntry(message, into, 0);
  return into;
}

export interface HealthListResponse {
  statuses: HealthListResponseStatusesEntry[];
}

export const newHealthListResponse = (): HealthListResponse => ({ statuses: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthListResponse(reader: Reader, message: HealthListResponse): HealthListResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.statuses.push(readHealthListResponseStatusesEntry(reader, newHealthListResponseStatusesEntry()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHealthListResponse(bytes: Uint8Array): HealthListResponse {
  return readHealthListResponse(new Reader(bytes), newHealthListResponse());
}

export function sizeHealthListResponse(message: Init<HealthListResponse>): number {
  let size = 0;
  for (const value of message.statuses ?? []) {
    const inner = sizeHealthListResponseStatusesEntry(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeHealthListResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHealthListResponse(message: Init<HealthListResponse>, into: Uint8Array, at: number): number {
  let next = at;
  for (const value of message.statuses ?? []) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeHealthListResponseStatusesEntry(value), into, next);
    next = writeHealthListResponseStatusesEntry(value, into, next);
  }
  return next;
}

export function encodeHealthListResponse(message: Init<HealthListResponse>): Uint8Array {
  const into = new Uint8Array(sizeHealthListResponse(message));
  writeHealthListResponse(message, into, 0);
  return into;
}
