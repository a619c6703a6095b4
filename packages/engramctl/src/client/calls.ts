import { etcdserverpb as pb } from '@engram/wire';

/** A unary call of etcd's API: its path, and the codecs of its two messages. */
export interface Call<Request, Response> {
  readonly path: string;
  readonly encode: (request: Request) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => Response;
}

const call = <Request, Response>(
  path: string,
  encode: Call<Request, Response>['encode'],
  decode: Call<Request, Response>['decode'],
): Call<Request, Response> => ({ path: `/etcdserverpb.${path}`, encode, decode });

export const calls = {
  range: call('KV/Range', pb.encodeRangeRequest, pb.decodeRangeResponse),
  status: call('Maintenance/Status', pb.encodeStatusRequest, pb.decodeStatusResponse),
  alarm: call('Maintenance/Alarm', pb.encodeAlarmRequest, pb.decodeAlarmResponse),
  memberList: call('Cluster/MemberList', pb.encodeMemberListRequest, pb.decodeMemberListResponse),
  authenticate: call('Auth/Authenticate', pb.encodeAuthenticateRequest, pb.decodeAuthenticateResponse),
} as const;
