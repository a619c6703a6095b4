// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as authpb from './authpb.ts';

export const UserAddOptionsJson: JsonMessage = {
  fresh: authpb.newUserAddOptions,
  fields: [
    { proto: 'no_password', name: 'noPassword', number: 1, type: 'bool' },
  ],
};

export const UserJson: JsonMessage = {
  fresh: authpb.newUser,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'bytes' },
    { proto: 'password', name: 'password', number: 2, type: 'bytes' },
    { proto: 'roles', name: 'roles', number: 3, type: 'string', repeated: true },
    { proto: 'options', name: 'options', number: 4, type: () => UserAddOptionsJson },
  ],
};

export const PermissionJson: JsonMessage = {
  fresh: authpb.newPermission,
  fields: [
    { proto: 'permType', name: 'permType', number: 1, type: authpb.PermissionType },
    { proto: 'key', name: 'key', number: 2, type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', number: 3, type: 'bytes' },
  ],
};

export const RoleJson: JsonMessage = {
  fresh: authpb.newRole,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'bytes' },
    { proto: 'keyPermission', name: 'keyPermission', number: 2, type: () => PermissionJson, repeated: true },
  ],
};
