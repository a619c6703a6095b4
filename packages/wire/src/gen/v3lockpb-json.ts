// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as v3lockpb from './v3lockpb.ts';
import * as etcdserverpbJson from './etcdserverpb-json.ts';

export const LockRequestJson: JsonMessage = {
  fresh: v3lockpb.newLockRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'bytes' },
    { proto: 'lease', name: 'lease', number: 2, type: 'int64-big' },
  ],
};

export const LockResponseJson: JsonMessage = {
  fresh: v3lockpb.newLockResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => etcdserverpbJson.ResponseHeaderJson },
    { proto: 'key', name: 'key', number: 2, type: 'bytes' },
  ],
};

export const UnlockRequestJson: JsonMessage = {
  fresh: v3lockpb.newUnlockRequest,
  fields: [
    { proto: 'key', name: 'key', number: 1, type: 'bytes' },
  ],
};

export const UnlockResponseJson: JsonMessage = {
  fresh: v3lockpb.newUnlockResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => etcdserverpbJson.ResponseHeaderJson },
  ],
};
