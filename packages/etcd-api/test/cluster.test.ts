import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HealthStatus } from '@engram/etcd-api';
import { etcdserverpb, healthpb } from '@engram/wire';
import { Api, failure, member } from './api.ts';

let api: Api;
const health = new HealthStatus();
const requests: [type: string, version: string][] = [];
beforeEach(async () => {
  requests.length = 0;
  const clientRequest = (type: string, version: string): void => void requests.push([type, version]);
  api = await Api.open({ services: { health, observer: { clientRequest } } });
});
afterEach(() => api[Symbol.asyncDispose]());

describe('Cluster', () => {
  const path = (method: string): string => `/etcdserverpb.Cluster/${method}`;
  const notFound = { code: 5, message: 'etcdserver: member not found' };

  test('edge 114: the member list has a header without a revision', async () => {
    await api.fill('a');
    const list = etcdserverpb.decodeMemberListResponse(await api.call(path('MemberList'), new Uint8Array(0)));
    expect(list).toEqual({
      header: { clusterId: member.clusterId, memberId: member.memberId, revision: 0, raftTerm: member.raftTerm },
      members: [
        {
          ID: member.memberId,
          name: member.name,
          peerURLs: member.peerUrls,
          clientURLs: member.clientUrls,
          isLearner: false,
        },
      ],
    });
  });

  test.each([
    { peerURLs: [], status: { code: 3, message: 'etcdserver: given member URLs are invalid' } },
    { peerURLs: ['127.0.0.1:2380'], status: { code: 3, message: 'etcdserver: given member URLs are invalid' } },
    { peerURLs: ['http://host'], status: { code: 3, message: 'etcdserver: given member URLs are invalid' } },
    { peerURLs: ['http://host:1/path'], status: { code: 3, message: 'etcdserver: given member URLs are invalid' } },
    { peerURLs: ['ftp://host:1'], status: { code: 3, message: 'etcdserver: given member URLs are invalid' } },
    { peerURLs: member.peerUrls, status: { code: 9, message: 'etcdserver: Peer URLs already exists' } },
    {
      peerURLs: ['http://[::1]:9'],
      status: { code: 12, message: 'etcdserver: the membership of this cluster is fixed' },
    },
    { peerURLs: ['unix://sock'], status: { code: 12, message: 'etcdserver: the membership of this cluster is fixed' } },
  ])('edge 111: adding $peerURLs', async ({ peerURLs, status }) => {
    const request = etcdserverpb.encodeMemberAddRequest({ peerURLs });
    expect(await failure(() => api.call(path('MemberAdd'), request))).toEqual(status);
  });

  test('edge 111: removing, updating and promoting', async () => {
    const stranger = etcdserverpb.encodeMemberRemoveRequest({ ID: 1n });
    const self = etcdserverpb.encodeMemberRemoveRequest({ ID: member.memberId });
    for (const method of ['MemberRemove', 'MemberUpdate', 'MemberPromote']) {
      expect(await failure(() => api.call(path(method), stranger))).toEqual(notFound);
    }
    expect(await failure(() => api.call(path('MemberRemove'), self))).toEqual({
      code: 2,
      message: 'etcdserver: re-configuration failed due to not enough started members',
    });
    expect(await failure(() => api.call(path('MemberPromote'), self))).toEqual({
      code: 9,
      message: 'etcdserver: can only promote a learner member',
    });
    expect(await failure(() => api.call(path('MemberUpdate'), self))).toMatchObject({ code: 12 });
  });
});

describe('Health', () => {
  const path = (method: string): string => `/grpc.health.v1.Health/${method}`;
  const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = healthpb.HealthCheckResponseServingStatus;
  const request = (service: string): Uint8Array => healthpb.encodeHealthCheckRequest({ service });
  const check = async (service: string): Promise<number> =>
    healthpb.decodeHealthCheckResponse(await api.call(path('Check'), request(service))).status;
  const statuses = (sent: readonly Uint8Array[]): number[] =>
    sent.map((bytes) => healthpb.decodeHealthCheckResponse(bytes).status);

  test('all services together are known, single ones are not', async () => {
    expect(await check('')).toBe(SERVING);
    expect(await failure(check('etcdserverpb.KV'))).toEqual({ code: 5, message: 'unknown service' });
    const list = healthpb.decodeHealthListResponse(await api.call(path('List'), new Uint8Array(0)));
    expect(list.statuses).toEqual([{ key: '', value: { status: SERVING } }]);
  });

  test('a watch is told of each change, until its client is gone', () => {
    const known = api.serverStream(path('Watch'), request(''));
    const unknown = api.serverStream(path('Watch'), request('x'));
    health.set(false);
    health.set(false);
    health.set(true);
    known.cancel();
    health.set(false);
    health.set(true);
    expect(statuses(known.sent)).toEqual([SERVING, NOT_SERVING, SERVING]);
    expect(statuses(unknown.sent)).toEqual([SERVICE_UNKNOWN]);
    expect(unknown.status).toBeUndefined();
  });
});

describe('every call', () => {
  const path = '/etcdserverpb.Cluster/MemberList';

  test("is counted by its client's version", async () => {
    await api.call(path, new Uint8Array(0), { 'client-api-version': '3.6' });
    await api.call(path, new Uint8Array(0));
    api.watch({ 'client-api-version': '3.5' });
    expect(requests).toEqual([
      ['unary', '3.6'],
      ['unary', 'unknown'],
      ['stream', '3.5'],
    ]);
  });

  test.each(['\xff', '3.6\xc3(', 'a\ufffd'])('is refused where that is no text: %j', async (version) => {
    const metadata = { 'client-api-version': version };
    const status = { code: 3, message: 'etcdserver: invalid client api version' };
    expect(await failure(() => api.call(path, new Uint8Array(0), metadata))).toEqual(status);
    expect(api.bidi('/etcdserverpb.Watch/Watch', metadata).status).toEqual(status);
  });

  test.each(['\xc3\xbc', 'ü€'])('is accepted where it is: %j', async (version) => {
    await api.call(path, new Uint8Array(0), { 'client-api-version': version });
  });

  test('edge 131: metadata that nobody knows, and the wish for a leader, change nothing', async () => {
    await api.call(path, new Uint8Array(0), { hasleader: 'true', source: 'cache', token: 'anything' });
  });
});
