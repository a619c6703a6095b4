// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as mvccpb from './mvccpb.ts';

export const KeyValueJson: JsonMessage = {
  fresh: mvccpb.newKeyValue,
  fields: [
    { proto: 'key', name: 'key', type: 'bytes' },
    { proto: 'create_revision', name: 'createRevision', type: 'int64-number' },
    { proto: 'mod_revision', name: 'modRevision', type: 'int64-number' },
    { proto: 'version', name: 'version', type: 'int64-number' },
    { proto: 'value', name: 'value', type: 'bytes' },
    { proto: 'lease', name: 'lease', type: 'int64-big' },
  ],
};

export const EventJson: JsonMessage = {
  fresh: mvccpb.newEvent,
  fields: [
    { proto: 'type', name: 'type', type: mvccpb.EventEventType },
    { proto: 'kv', name: 'kv', type: () => KeyValueJson },
    { proto: 'prev_kv', name: 'prevKv', type: () => KeyValueJson },
  ],
};
