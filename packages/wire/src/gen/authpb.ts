// Made by packages/wire/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import type { Init } from '../protobuf/init.ts';
import { Reader } from '../protobuf/reader.ts';
import { sizeDelimited, sizeInt32, sizeString, sizeVarint, writeBytes, writeInt32, writeString, writeVarint } from '../protobuf/writer.ts';

export const PermissionType = { READ: 0, WRITE: 1, READWRITE: 2 } as const;

export interface UserAddOptions {
  noPassword: boolean;
}

export const newUserAddOptions = (): UserAddOptions => ({ noPassword: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUserAddOptions(reader: Reader, message: UserAddOptions): UserAddOptions {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.noPassword = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeUserAddOptions(bytes: Uint8Array): UserAddOptions {
  return readUserAddOptions(new Reader(bytes), newUserAddOptions());
}

export function sizeUserAddOptions(message: Init<UserAddOptions>): number {
  let size = 0;
  if (message.noPassword === true) size += 1 + 1;
  return size;
}

/** Writes `sizeUserAddOptions(message)` bytes from `at` on, and returns where the next one goes. */
export function writeUserAddOptions(message: Init<UserAddOptions>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.noPassword === true) {
    into[next] = 8;
    next += 1;
    next = writeVarint(message.noPassword ? 1 : 0, into, next);
  }
  return next;
}

export function encodeUserAddOptions(message: Init<UserAddOptions>): Uint8Array {
  const into = new Uint8Array(sizeUserAddOptions(message));
  writeUserAddOptions(message, into, 0);
  return into;
}

export interface User {
  name: Uint8Array;
  password: Uint8Array;
  roles: string[];
  options: UserAddOptions | undefined;
}

export const newUser = (): User => ({ name: EMPTY_BYTES, password: EMPTY_BYTES, roles: [], options: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUser(reader: Reader, message: User): User {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.bytes();
        break;
      case 18:
        message.password = reader.bytes();
        break;
      case 26:
        message.roles.push(reader.string());
        break;
      case 34: {
        const outer = reader.enter();
        message.options = readUserAddOptions(reader, message.options ?? newUserAddOptions());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeUser(bytes: Uint8Array): User {
  return readUser(new Reader(bytes), newUser());
}

export function sizeUser(message: Init<User>): number {
  let size = 0;
  if (message.name !== undefined && message.name.length > 0) size += 1 + sizeDelimited(message.name.length);
  if (message.password !== undefined && message.password.length > 0) size += 1 + sizeDelimited(message.password.length);
  for (const value of message.roles ?? []) size += 1 + sizeString(value);
  if (message.options !== undefined) {
    const inner = sizeUserAddOptions(message.options);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeUser(message)` bytes from `at` on, and returns where the next one goes. */
export function writeUser(message: Init<User>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.name, into, next);
  }
  if (message.password !== undefined && message.password.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.password, into, next);
  }
  for (const value of message.roles ?? []) {
    into[next] = 26;
    next += 1;
    next = writeString(value, into, next);
  }
  if (message.options !== undefined) {
    into[next] = 34;
    next += 1;
    next = writeVarint(sizeUserAddOptions(message.options), into, next);
    next = writeUserAddOptions(message.options, into, next);
  }
  return next;
}

export function encodeUser(message: Init<User>): Uint8Array {
  const into = new Uint8Array(sizeUser(message));
  writeUser(message, into, 0);
  return into;
}

export interface Permission {
  permType: number;
  key: Uint8Array;
  rangeEnd: Uint8Array;
}

export const newPermission = (): Permission => ({ permType: 0, key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPermission(reader: Reader, message: Permission): Permission {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.permType = reader.int32();
        break;
      case 18:
        message.key = reader.bytes();
        break;
      case 26:
        message.rangeEnd = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodePermission(bytes: Uint8Array): Permission {
  return readPermission(new Reader(bytes), newPermission());
}

export function sizePermission(message: Init<Permission>): number {
  let size = 0;
  if (message.permType !== undefined && message.permType !== 0) size += 1 + sizeInt32(message.permType);
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) size += 1 + sizeDelimited(message.rangeEnd.length);
  return size;
}

/** Writes `sizePermission(message)` bytes from `at` on, and returns where the next one goes. */
export function writePermission(message: Init<Permission>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.permType !== undefined && message.permType !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt32(message.permType, into, next);
  }
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    into[next] = 26;
    next += 1;
    next = writeBytes(message.rangeEnd, into, next);
  }
  return next;
}

export function encodePermission(message: Init<Permission>): Uint8Array {
  const into = new Uint8Array(sizePermission(message));
  writePermission(message, into, 0);
  return into;
}

export interface Role {
  name: Uint8Array;
  keyPermission: Permission[];
}

export const newRole = (): Role => ({ name: EMPTY_BYTES, keyPermission: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRole(reader: Reader, message: Role): Role {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.bytes();
        break;
      case 18: {
        const outer = reader.enter();
        message.keyPermission.push(readPermission(reader, newPermission()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeRole(bytes: Uint8Array): Role {
  return readRole(new Reader(bytes), newRole());
}

export function sizeRole(message: Init<Role>): number {
  let size = 0;
  if (message.name !== undefined && message.name.length > 0) size += 1 + sizeDelimited(message.name.length);
  for (const value of message.keyPermission ?? []) {
    const inner = sizePermission(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeRole(message)` bytes from `at` on, and returns where the next one goes. */
export function writeRole(message: Init<Role>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.name, into, next);
  }
  for (const value of message.keyPermission ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizePermission(value), into, next);
    next = writePermission(value, into, next);
  }
  return next;
}

export function encodeRole(message: Init<Role>): Uint8Array {
  const into = new Uint8Array(sizeRole(message));
  writeRole(message, into, 0);
  return into;
}
