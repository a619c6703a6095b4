// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';

export const PermissionType = { READ: 0, WRITE: 1, READWRITE: 2 } as const;

export interface UserAddOptions {
  noPassword: boolean;
}
export type UserAddOptionsInit = Init<UserAddOptions>;

export const newUserAddOptions = (): UserAddOptions => ({ noPassword: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUserAddOptions(r: Reader, message: UserAddOptions): UserAddOptions {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.noPassword = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUserAddOptions(w: Writer, message: UserAddOptionsInit): void {
  if (message.noPassword === true) {
    w.varint(message.noPassword ? 1 : 0);
    w.varint(8);
  }
}

export const UserAddOptionsCodec: Codec<UserAddOptions, UserAddOptionsInit> = {
  write: writeUserAddOptions,
  read: (r) => readUserAddOptions(r, newUserAddOptions()),
};
export const encodeUserAddOptions = (message: UserAddOptionsInit): Uint8Array => encode(UserAddOptionsCodec, message);
export const decodeUserAddOptions = (bytes: Uint8Array): UserAddOptions => decode(UserAddOptionsCodec, bytes);

export interface User {
  name: Uint8Array;
  password: Uint8Array;
  roles: string[];
  options: UserAddOptions | undefined;
}
export type UserInit = Init<User>;

export const newUser = (): User => ({ name: EMPTY_BYTES, password: EMPTY_BYTES, roles: [], options: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUser(r: Reader, message: User): User {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.bytes();
        break;
      case 18:
        message.password = r.bytes();
        break;
      case 26:
        message.roles.push(r.string());
        break;
      case 34: {
        const outer = r.enter();
        message.options = readUserAddOptions(r, message.options ?? newUserAddOptions());
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
export function writeUser(w: Writer, message: UserInit): void {
  if (message.options !== undefined) {
    const end = w.length;
    writeUserAddOptions(w, message.options);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.roles !== undefined && message.roles.length > 0) {
    for (let at = message.roles.length - 1; at >= 0; at -= 1) {
      w.string(message.roles[at]!);
      w.varint(26);
    }
  }
  if (message.password !== undefined && message.password.length > 0) {
    w.bytes(message.password);
    w.varint(18);
  }
  if (message.name !== undefined && message.name.length > 0) {
    w.bytes(message.name);
    w.varint(10);
  }
}

export const UserCodec: Codec<User, UserInit> = {
  write: writeUser,
  read: (r) => readUser(r, newUser()),
};
export const encodeUser = (message: UserInit): Uint8Array => encode(UserCodec, message);
export const decodeUser = (bytes: Uint8Array): User => decode(UserCodec, bytes);

export interface Permission {
  permType: number;
  key: Uint8Array;
  rangeEnd: Uint8Array;
}
export type PermissionInit = Init<Permission>;

export const newPermission = (): Permission => ({ permType: 0, key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPermission(r: Reader, message: Permission): Permission {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.permType = r.int32();
        break;
      case 18:
        message.key = r.bytes();
        break;
      case 26:
        message.rangeEnd = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePermission(w: Writer, message: PermissionInit): void {
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    w.bytes(message.rangeEnd);
    w.varint(26);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.permType !== undefined && message.permType !== 0) {
    w.int64(message.permType);
    w.varint(8);
  }
}

export const PermissionCodec: Codec<Permission, PermissionInit> = {
  write: writePermission,
  read: (r) => readPermission(r, newPermission()),
};
export const encodePermission = (message: PermissionInit): Uint8Array => encode(PermissionCodec, message);
export const decodePermission = (bytes: Uint8Array): Permission => decode(PermissionCodec, bytes);

export interface Role {
  name: Uint8Array;
  keyPermission: Permission[];
}
export type RoleInit = Init<Role>;

export const newRole = (): Role => ({ name: EMPTY_BYTES, keyPermission: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRole(r: Reader, message: Role): Role {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.bytes();
        break;
      case 18: {
        const outer = r.enter();
        message.keyPermission.push(readPermission(r, newPermission()));
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
export function writeRole(w: Writer, message: RoleInit): void {
  if (message.keyPermission !== undefined && message.keyPermission.length > 0) {
    for (let at = message.keyPermission.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writePermission(w, message.keyPermission[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.name !== undefined && message.name.length > 0) {
    w.bytes(message.name);
    w.varint(10);
  }
}

export const RoleCodec: Codec<Role, RoleInit> = {
  write: writeRole,
  read: (r) => readRole(r, newRole()),
};
export const encodeRole = (message: RoleInit): Uint8Array => encode(RoleCodec, message);
export const decodeRole = (bytes: Uint8Array): Role => decode(RoleCodec, bytes);
