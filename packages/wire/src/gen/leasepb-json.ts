// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import type { JsonMessage } from '@engram/protobuf';
import * as leasepb from './leasepb.ts';
import * as etcdserverpbJson from './etcdserverpb-json.ts';

export const LeaseJson: JsonMessage = {
  fresh: leasepb.newLease,
  fields: [
    { proto: 'ID', name: 'ID', number: 1, type: 'int64-big' },
    { proto: 'TTL', name: 'TTL', number: 2, type: 'int64-number' },
    { proto: 'RemainingTTL', name: 'RemainingTTL', number: 3, type: 'int64-number' },
  ],
};

export const LeaseInternalRequestJson: JsonMessage = {
  fresh: leasepb.newLeaseInternalRequest,
  fields: [
    { proto: 'LeaseTimeToLiveRequest', name: 'LeaseTimeToLiveRequest', number: 1, type: () => etcdserverpbJson.LeaseTimeToLiveRequestJson },
  ],
};

export const LeaseInternalResponseJson: JsonMessage = {
  fresh: leasepb.newLeaseInternalResponse,
  fields: [
    { proto: 'LeaseTimeToLiveResponse', name: 'LeaseTimeToLiveResponse', number: 1, type: () => etcdserverpbJson.LeaseTimeToLiveResponseJson },
  ],
};
