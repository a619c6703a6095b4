// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { type Codec, decode, encode, type Init, type Reader, REQUEST_FIELDS_MAX, type Writer } from '@engram/protobuf';

export interface ServerReflectionRequest {
  host: string;
  fileByFilename: string | undefined;
  fileContainingSymbol: string | undefined;
  fileContainingExtension: ExtensionRequest | undefined;
  allExtensionNumbersOfType: string | undefined;
  listServices: string | undefined;
}
export type ServerReflectionRequestInit = Init<ServerReflectionRequest>;

export const newServerReflectionRequest = (): ServerReflectionRequest => ({ host: '', fileByFilename: undefined, fileContainingSymbol: undefined, fileContainingExtension: undefined, allExtensionNumbersOfType: undefined, listServices: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readServerReflectionRequest(r: Reader, message: ServerReflectionRequest): ServerReflectionRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.host = r.string();
        break;
      case 26:
        message.fileByFilename = r.string();
        message.fileContainingSymbol = undefined;
        message.fileContainingExtension = undefined;
        message.allExtensionNumbersOfType = undefined;
        message.listServices = undefined;
        break;
      case 34:
        message.fileContainingSymbol = r.string();
        message.fileByFilename = undefined;
        message.fileContainingExtension = undefined;
        message.allExtensionNumbersOfType = undefined;
        message.listServices = undefined;
        break;
      case 42: {
        const outer = r.enter();
        message.fileContainingExtension = readExtensionRequest(r, message.fileContainingExtension ?? newExtensionRequest());
        r.leave(outer);
        message.fileByFilename = undefined;
        message.fileContainingSymbol = undefined;
        message.allExtensionNumbersOfType = undefined;
        message.listServices = undefined;
        break;
      }
      case 50:
        message.allExtensionNumbersOfType = r.string();
        message.fileByFilename = undefined;
        message.fileContainingSymbol = undefined;
        message.fileContainingExtension = undefined;
        message.listServices = undefined;
        break;
      case 58:
        message.listServices = r.string();
        message.fileByFilename = undefined;
        message.fileContainingSymbol = undefined;
        message.fileContainingExtension = undefined;
        message.allExtensionNumbersOfType = undefined;
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeServerReflectionRequest(w: Writer, message: ServerReflectionRequestInit): void {
  if (message.listServices !== undefined) {
    w.string(message.listServices);
    w.varint(58);
  }
  if (message.allExtensionNumbersOfType !== undefined) {
    w.string(message.allExtensionNumbersOfType);
    w.varint(50);
  }
  if (message.fileContainingExtension !== undefined) {
    const end = w.length;
    writeExtensionRequest(w, message.fileContainingExtension);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.fileContainingSymbol !== undefined) {
    w.string(message.fileContainingSymbol);
    w.varint(34);
  }
  if (message.fileByFilename !== undefined) {
    w.string(message.fileByFilename);
    w.varint(26);
  }
  if (message.host !== undefined && message.host !== '') {
    w.string(message.host);
    w.varint(10);
  }
}

export const ServerReflectionRequestCodec: Codec<ServerReflectionRequest, ServerReflectionRequestInit> = {
  write: writeServerReflectionRequest,
  read: (r) => readServerReflectionRequest(r, newServerReflectionRequest()),
};
export const encodeServerReflectionRequest = (message: ServerReflectionRequestInit): Uint8Array => encode(ServerReflectionRequestCodec, message);
export const decodeServerReflectionRequest = (bytes: Uint8Array): ServerReflectionRequest => decode(ServerReflectionRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface ExtensionRequest {
  containingType: string;
  extensionNumber: number;
}
export type ExtensionRequestInit = Init<ExtensionRequest>;

export const newExtensionRequest = (): ExtensionRequest => ({ containingType: '', extensionNumber: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readExtensionRequest(r: Reader, message: ExtensionRequest): ExtensionRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.containingType = r.string();
        break;
      case 16:
        message.extensionNumber = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeExtensionRequest(w: Writer, message: ExtensionRequestInit): void {
  if (message.extensionNumber !== undefined && message.extensionNumber !== 0) {
    w.int64(message.extensionNumber);
    w.varint(16);
  }
  if (message.containingType !== undefined && message.containingType !== '') {
    w.string(message.containingType);
    w.varint(10);
  }
}

export const ExtensionRequestCodec: Codec<ExtensionRequest, ExtensionRequestInit> = {
  write: writeExtensionRequest,
  read: (r) => readExtensionRequest(r, newExtensionRequest()),
};
export const encodeExtensionRequest = (message: ExtensionRequestInit): Uint8Array => encode(ExtensionRequestCodec, message);
export const decodeExtensionRequest = (bytes: Uint8Array): ExtensionRequest => decode(ExtensionRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface ServerReflectionResponse {
  validHost: string;
  originalRequest: ServerReflectionRequest | undefined;
  fileDescriptorResponse: FileDescriptorResponse | undefined;
  allExtensionNumbersResponse: ExtensionNumberResponse | undefined;
  listServicesResponse: ListServiceResponse | undefined;
  errorResponse: ErrorResponse | undefined;
}
export type ServerReflectionResponseInit = Init<ServerReflectionResponse>;

export const newServerReflectionResponse = (): ServerReflectionResponse => ({ validHost: '', originalRequest: undefined, fileDescriptorResponse: undefined, allExtensionNumbersResponse: undefined, listServicesResponse: undefined, errorResponse: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readServerReflectionResponse(r: Reader, message: ServerReflectionResponse): ServerReflectionResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.validHost = r.string();
        break;
      case 18: {
        const outer = r.enter();
        message.originalRequest = readServerReflectionRequest(r, message.originalRequest ?? newServerReflectionRequest());
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.fileDescriptorResponse = readFileDescriptorResponse(r, message.fileDescriptorResponse ?? newFileDescriptorResponse());
        r.leave(outer);
        message.allExtensionNumbersResponse = undefined;
        message.listServicesResponse = undefined;
        message.errorResponse = undefined;
        break;
      }
      case 42: {
        const outer = r.enter();
        message.allExtensionNumbersResponse = readExtensionNumberResponse(r, message.allExtensionNumbersResponse ?? newExtensionNumberResponse());
        r.leave(outer);
        message.fileDescriptorResponse = undefined;
        message.listServicesResponse = undefined;
        message.errorResponse = undefined;
        break;
      }
      case 50: {
        const outer = r.enter();
        message.listServicesResponse = readListServiceResponse(r, message.listServicesResponse ?? newListServiceResponse());
        r.leave(outer);
        message.fileDescriptorResponse = undefined;
        message.allExtensionNumbersResponse = undefined;
        message.errorResponse = undefined;
        break;
      }
      case 58: {
        const outer = r.enter();
        message.errorResponse = readErrorResponse(r, message.errorResponse ?? newErrorResponse());
        r.leave(outer);
        message.fileDescriptorResponse = undefined;
        message.allExtensionNumbersResponse = undefined;
        message.listServicesResponse = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeServerReflectionResponse(w: Writer, message: ServerReflectionResponseInit): void {
  if (message.errorResponse !== undefined) {
    const end = w.length;
    writeErrorResponse(w, message.errorResponse);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (message.listServicesResponse !== undefined) {
    const end = w.length;
    writeListServiceResponse(w, message.listServicesResponse);
    w.varint(w.length - end);
    w.varint(50);
  }
  if (message.allExtensionNumbersResponse !== undefined) {
    const end = w.length;
    writeExtensionNumberResponse(w, message.allExtensionNumbersResponse);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.fileDescriptorResponse !== undefined) {
    const end = w.length;
    writeFileDescriptorResponse(w, message.fileDescriptorResponse);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.originalRequest !== undefined) {
    const end = w.length;
    writeServerReflectionRequest(w, message.originalRequest);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.validHost !== undefined && message.validHost !== '') {
    w.string(message.validHost);
    w.varint(10);
  }
}

export const ServerReflectionResponseCodec: Codec<ServerReflectionResponse, ServerReflectionResponseInit> = {
  write: writeServerReflectionResponse,
  read: (r) => readServerReflectionResponse(r, newServerReflectionResponse()),
};
export const encodeServerReflectionResponse = (message: ServerReflectionResponseInit): Uint8Array => encode(ServerReflectionResponseCodec, message);
export const decodeServerReflectionResponse = (bytes: Uint8Array): ServerReflectionResponse => decode(ServerReflectionResponseCodec, bytes);

export interface FileDescriptorResponse {
  fileDescriptorProto: Uint8Array[];
}
export type FileDescriptorResponseInit = Init<FileDescriptorResponse>;

export const newFileDescriptorResponse = (): FileDescriptorResponse => ({ fileDescriptorProto: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readFileDescriptorResponse(r: Reader, message: FileDescriptorResponse): FileDescriptorResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.fileDescriptorProto.push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeFileDescriptorResponse(w: Writer, message: FileDescriptorResponseInit): void {
  if (message.fileDescriptorProto !== undefined && message.fileDescriptorProto.length > 0) {
    for (let at = message.fileDescriptorProto.length - 1; at >= 0; at -= 1) {
      w.bytes(message.fileDescriptorProto[at]!);
      w.varint(10);
    }
  }
}

export const FileDescriptorResponseCodec: Codec<FileDescriptorResponse, FileDescriptorResponseInit> = {
  write: writeFileDescriptorResponse,
  read: (r) => readFileDescriptorResponse(r, newFileDescriptorResponse()),
};
export const encodeFileDescriptorResponse = (message: FileDescriptorResponseInit): Uint8Array => encode(FileDescriptorResponseCodec, message);
export const decodeFileDescriptorResponse = (bytes: Uint8Array): FileDescriptorResponse => decode(FileDescriptorResponseCodec, bytes);

export interface ExtensionNumberResponse {
  baseTypeName: string;
  extensionNumber: number[];
}
export type ExtensionNumberResponseInit = Init<ExtensionNumberResponse>;

export const newExtensionNumberResponse = (): ExtensionNumberResponse => ({ baseTypeName: '', extensionNumber: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readExtensionNumberResponse(r: Reader, message: ExtensionNumberResponse): ExtensionNumberResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.baseTypeName = r.string();
        break;
      case 16:
        message.extensionNumber.push(r.int32());
        break;
      case 18: {
        const outer = r.enterList();
        while (r.more()) message.extensionNumber.push(r.int32());
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
export function writeExtensionNumberResponse(w: Writer, message: ExtensionNumberResponseInit): void {
  if (message.extensionNumber !== undefined && message.extensionNumber.length > 0) {
    const end = w.length;
    for (let at = message.extensionNumber.length - 1; at >= 0; at -= 1) w.int64(message.extensionNumber[at]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.baseTypeName !== undefined && message.baseTypeName !== '') {
    w.string(message.baseTypeName);
    w.varint(10);
  }
}

export const ExtensionNumberResponseCodec: Codec<ExtensionNumberResponse, ExtensionNumberResponseInit> = {
  write: writeExtensionNumberResponse,
  read: (r) => readExtensionNumberResponse(r, newExtensionNumberResponse()),
};
export const encodeExtensionNumberResponse = (message: ExtensionNumberResponseInit): Uint8Array => encode(ExtensionNumberResponseCodec, message);
export const decodeExtensionNumberResponse = (bytes: Uint8Array): ExtensionNumberResponse => decode(ExtensionNumberResponseCodec, bytes);

export interface ListServiceResponse {
  service: ServiceResponse[];
}
export type ListServiceResponseInit = Init<ListServiceResponse>;

export const newListServiceResponse = (): ListServiceResponse => ({ service: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readListServiceResponse(r: Reader, message: ListServiceResponse): ListServiceResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.service.push(readServiceResponse(r, newServiceResponse()));
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
export function writeListServiceResponse(w: Writer, message: ListServiceResponseInit): void {
  if (message.service !== undefined && message.service.length > 0) {
    for (let at = message.service.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeServiceResponse(w, message.service[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const ListServiceResponseCodec: Codec<ListServiceResponse, ListServiceResponseInit> = {
  write: writeListServiceResponse,
  read: (r) => readListServiceResponse(r, newListServiceResponse()),
};
export const encodeListServiceResponse = (message: ListServiceResponseInit): Uint8Array => encode(ListServiceResponseCodec, message);
export const decodeListServiceResponse = (bytes: Uint8Array): ListServiceResponse => decode(ListServiceResponseCodec, bytes);

export interface ServiceResponse {
  name: string;
}
export type ServiceResponseInit = Init<ServiceResponse>;

export const newServiceResponse = (): ServiceResponse => ({ name: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readServiceResponse(r: Reader, message: ServiceResponse): ServiceResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeServiceResponse(w: Writer, message: ServiceResponseInit): void {
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const ServiceResponseCodec: Codec<ServiceResponse, ServiceResponseInit> = {
  write: writeServiceResponse,
  read: (r) => readServiceResponse(r, newServiceResponse()),
};
export const encodeServiceResponse = (message: ServiceResponseInit): Uint8Array => encode(ServiceResponseCodec, message);
export const decodeServiceResponse = (bytes: Uint8Array): ServiceResponse => decode(ServiceResponseCodec, bytes);

export interface ErrorResponse {
  errorCode: number;
  errorMessage: string;
}
export type ErrorResponseInit = Init<ErrorResponse>;

export const newErrorResponse = (): ErrorResponse => ({ errorCode: 0, errorMessage: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readErrorResponse(r: Reader, message: ErrorResponse): ErrorResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.errorCode = r.int32();
        break;
      case 18:
        message.errorMessage = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeErrorResponse(w: Writer, message: ErrorResponseInit): void {
  if (message.errorMessage !== undefined && message.errorMessage !== '') {
    w.string(message.errorMessage);
    w.varint(18);
  }
  if (message.errorCode !== undefined && message.errorCode !== 0) {
    w.int64(message.errorCode);
    w.varint(8);
  }
}

export const ErrorResponseCodec: Codec<ErrorResponse, ErrorResponseInit> = {
  write: writeErrorResponse,
  read: (r) => readErrorResponse(r, newErrorResponse()),
};
export const encodeErrorResponse = (message: ErrorResponseInit): Uint8Array => encode(ErrorResponseCodec, message);
export const decodeErrorResponse = (bytes: Uint8Array): ErrorResponse => decode(ErrorResponseCodec, bytes);
