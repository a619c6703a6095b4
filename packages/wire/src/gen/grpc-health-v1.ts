// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { type Codec, decode, encode, type Init, type Reader, REQUEST_FIELDS_MAX, type Writer } from '@engram/protobuf';

export const HealthCheckResponseServingStatus = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;

export interface HealthCheckRequest {
  service: string;
}
export type HealthCheckRequestInit = Init<HealthCheckRequest>;

export const newHealthCheckRequest = (): HealthCheckRequest => ({ service: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthCheckRequest(r: Reader, message: HealthCheckRequest): HealthCheckRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.service = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHealthCheckRequest(w: Writer, message: HealthCheckRequestInit): void {
  if (message.service !== undefined && message.service !== '') {
    w.string(message.service);
    w.varint(10);
  }
}

export const HealthCheckRequestCodec: Codec<HealthCheckRequest, HealthCheckRequestInit> = {
  write: writeHealthCheckRequest,
  read: (r) => readHealthCheckRequest(r, newHealthCheckRequest()),
};
export const encodeHealthCheckRequest = (message: HealthCheckRequestInit): Uint8Array => encode(HealthCheckRequestCodec, message);
export const decodeHealthCheckRequest = (bytes: Uint8Array): HealthCheckRequest => decode(HealthCheckRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface HealthCheckResponse {
  status: number;
}
export type HealthCheckResponseInit = Init<HealthCheckResponse>;

export const newHealthCheckResponse = (): HealthCheckResponse => ({ status: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthCheckResponse(r: Reader, message: HealthCheckResponse): HealthCheckResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.status = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHealthCheckResponse(w: Writer, message: HealthCheckResponseInit): void {
  if (message.status !== undefined && message.status !== 0) {
    w.int64(message.status);
    w.varint(8);
  }
}

export const HealthCheckResponseCodec: Codec<HealthCheckResponse, HealthCheckResponseInit> = {
  write: writeHealthCheckResponse,
  read: (r) => readHealthCheckResponse(r, newHealthCheckResponse()),
};
export const encodeHealthCheckResponse = (message: HealthCheckResponseInit): Uint8Array => encode(HealthCheckResponseCodec, message);
export const decodeHealthCheckResponse = (bytes: Uint8Array): HealthCheckResponse => decode(HealthCheckResponseCodec, bytes);

export interface HealthListRequest {
}
export type HealthListRequestInit = Init<HealthListRequest>;

export const newHealthListRequest = (): HealthListRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthListRequest(r: Reader, message: HealthListRequest): HealthListRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHealthListRequest(_w: Writer, _message: HealthListRequestInit): void {
}

export const HealthListRequestCodec: Codec<HealthListRequest, HealthListRequestInit> = {
  write: writeHealthListRequest,
  read: (r) => readHealthListRequest(r, newHealthListRequest()),
};
export const encodeHealthListRequest = (message: HealthListRequestInit): Uint8Array => encode(HealthListRequestCodec, message);
export const decodeHealthListRequest = (bytes: Uint8Array): HealthListRequest => decode(HealthListRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface HealthListResponseStatusesEntry {
  key: string;
  value: HealthCheckResponse | undefined;
}
export type HealthListResponseStatusesEntryInit = Init<HealthListResponseStatusesEntry>;

export const newHealthListResponseStatusesEntry = (): HealthListResponseStatusesEntry => ({ key: '', value: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthListResponseStatusesEntry(r: Reader, message: HealthListResponseStatusesEntry): HealthListResponseStatusesEntry {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.string();
        break;
      case 18: {
        const outer = r.enter();
        message.value = readHealthCheckResponse(r, message.value ?? newHealthCheckResponse());
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
export function writeHealthListResponseStatusesEntry(w: Writer, message: HealthListResponseStatusesEntryInit): void {
  if (message.value !== undefined) {
    const end = w.length;
    writeHealthCheckResponse(w, message.value);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.key !== undefined && message.key !== '') {
    w.string(message.key);
    w.varint(10);
  }
}

export const HealthListResponseStatusesEntryCodec: Codec<HealthListResponseStatusesEntry, HealthListResponseStatusesEntryInit> = {
  write: writeHealthListResponseStatusesEntry,
  read: (r) => readHealthListResponseStatusesEntry(r, newHealthListResponseStatusesEntry()),
};
export const encodeHealthListResponseStatusesEntry = (message: HealthListResponseStatusesEntryInit): Uint8Array => encode(HealthListResponseStatusesEntryCodec, message);
export const decodeHealthListResponseStatusesEntry = (bytes: Uint8Array): HealthListResponseStatusesEntry => decode(HealthListResponseStatusesEntryCodec, bytes);

export interface HealthListResponse {
  statuses: HealthListResponseStatusesEntry[];
}
export type HealthListResponseInit = Init<HealthListResponse>;

export const newHealthListResponse = (): HealthListResponse => ({ statuses: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHealthListResponse(r: Reader, message: HealthListResponse): HealthListResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.statuses.push(readHealthListResponseStatusesEntry(r, newHealthListResponseStatusesEntry()));
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
export function writeHealthListResponse(w: Writer, message: HealthListResponseInit): void {
  if (message.statuses !== undefined && message.statuses.length > 0) {
    for (let at = message.statuses.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeHealthListResponseStatusesEntry(w, message.statuses[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const HealthListResponseCodec: Codec<HealthListResponse, HealthListResponseInit> = {
  write: writeHealthListResponse,
  read: (r) => readHealthListResponse(r, newHealthListResponse()),
};
export const encodeHealthListResponse = (message: HealthListResponseInit): Uint8Array => encode(HealthListResponseCodec, message);
export const decodeHealthListResponse = (bytes: Uint8Array): HealthListResponse => decode(HealthListResponseCodec, bytes);
