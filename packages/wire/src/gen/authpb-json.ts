// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as authpb from './authpb.ts';

export const UserAddOptionsJson: JsonMessage = {
  fresh: authpb.newUserAddOptions,
  fields: [
    { proto: 'no_password', name: 'noPassword', type: 'bool' },
  ],
};

export const UserJson: JsonMessage = {
  fresh: authpb.newUser,
  fields: [
    { proto: 'name', name: 'name', type: 'bytes' },
    { proto: 'password', name: 'password', type: 'bytes' },
    { proto: 'roles', name: 'roles', type: 'string', repeated: true },
    { proto: 'options', name: 'options', type: () => UserAddOptionsJson },
  ],
};

export const PermissionJson: JsonMessage = {
  fresh: authpb.newPermission,
  fields: [
    { proto: 'permType', name: 'permType', type: authpb.PermissionType },
    { proto: 'key', name: 'key', type: 'bytes' },
    { proto: 'range_end', name: 'rangeEnd', type: 'bytes' },
  ],
};

export const RoleJson: JsonMessage = {
  fresh: authpb.newRole,
  fields: [
    { proto: 'name', name: 'name', type: 'bytes' },
    { proto: 'keyPermission', name: 'keyPermission', type: () => PermissionJson, repeated: true },
  ],
};
