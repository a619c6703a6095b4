// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as v3electionpb from './v3electionpb.ts';
import * as etcdserverpbJson from './etcdserverpb-json.ts';
import * as mvccpbJson from './mvccpb-json.ts';

export const CampaignRequestJson: JsonMessage = {
  fresh: v3electionpb.newCampaignRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'bytes' },
    { proto: 'lease', name: 'lease', number: 2, type: 'int64-big' },
    { proto: 'value', name: 'value', number: 3, type: 'bytes' },
  ],
};

export const CampaignResponseJson: JsonMessage = {
  fresh: v3electionpb.newCampaignResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => etcdserverpbJson.ResponseHeaderJson },
    { proto: 'leader', name: 'leader', number: 2, type: () => LeaderKeyJson },
  ],
};

export const LeaderKeyJson: JsonMessage = {
  fresh: v3electionpb.newLeaderKey,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'bytes' },
    { proto: 'key', name: 'key', number: 2, type: 'bytes' },
    { proto: 'rev', name: 'rev', number: 3, type: 'int64-number' },
    { proto: 'lease', name: 'lease', number: 4, type: 'int64-big' },
  ],
};

export const LeaderRequestJson: JsonMessage = {
  fresh: v3electionpb.newLeaderRequest,
  fields: [
    { proto: 'name', name: 'name', number: 1, type: 'bytes' },
  ],
};

export const LeaderResponseJson: JsonMessage = {
  fresh: v3electionpb.newLeaderResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => etcdserverpbJson.ResponseHeaderJson },
    { proto: 'kv', name: 'kv', number: 2, type: () => mvccpbJson.KeyValueJson },
  ],
};

export const ResignRequestJson: JsonMessage = {
  fresh: v3electionpb.newResignRequest,
  fields: [
    { proto: 'leader', name: 'leader', number: 1, type: () => LeaderKeyJson },
  ],
};

export const ResignResponseJson: JsonMessage = {
  fresh: v3electionpb.newResignResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => etcdserverpbJson.ResponseHeaderJson },
  ],
};

export const ProclaimRequestJson: JsonMessage = {
  fresh: v3electionpb.newProclaimRequest,
  fields: [
    { proto: 'leader', name: 'leader', number: 1, type: () => LeaderKeyJson },
    { proto: 'value', name: 'value', number: 2, type: 'bytes' },
  ],
};

export const ProclaimResponseJson: JsonMessage = {
  fresh: v3electionpb.newProclaimResponse,
  fields: [
    { proto: 'header', name: 'header', number: 1, type: () => etcdserverpbJson.ResponseHeaderJson },
  ],
};
