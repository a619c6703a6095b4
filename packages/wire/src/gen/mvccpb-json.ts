// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as mvccpb from './mvccpb.ts';

export const KeyValueJson: JsonMessage = {
  fresh: mvccpb.newKeyValue,
  fields: [
    { proto: 'key', name: 'key', number: 1, type: 'bytes' },
    { proto: 'create_revision', name: 'createRevision', number: 2, type: 'int64-number' },
    { proto: 'mod_revision', name: 'modRevision', number: 3, type: 'int64-number' },
    { proto: 'version', name: 'version', number: 4, type: 'int64-number' },
    { proto: 'value', name: 'value', number: 5, type: 'bytes' },
    { proto: 'lease', name: 'lease', number: 6, type: 'int64-big' },
  ],
};

export const EventJson: JsonMessage = {
  fresh: mvccpb.newEvent,
  fields: [
    { proto: 'type', name: 'type', number: 1, type: mvccpb.EventEventType },
    { proto: 'kv', name: 'kv', number: 2, type: () => KeyValueJson },
    { proto: 'prev_kv', name: 'prevKv', number: 3, type: () => KeyValueJson },
  ],
};
