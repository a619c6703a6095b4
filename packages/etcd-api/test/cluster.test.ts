import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeItself } from '@engram/backend';
import { HealthStatus, LoneMember, ServiceCounts } from '@engram/etcd-api';
import { utf8 } from '@engram/core';
import { etcdserverpb, healthpb } from '@engram/wire';
import { Api, failure, member } from './api.ts';

let api: Api;
const health = new HealthStatus();
let counts: ServiceCounts;
beforeEach(async () => {
  counts = new ServiceCounts();
  api = await Api.open({ services: { health, counts } });
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
      status: { code: 12, message: 'etcdserver: the membership of this cluster is fixed: members need --storage=tikv' },
    },
    {
      peerURLs: ['unix://sock'],
      status: { code: 12, message: 'etcdserver: the membership of this cluster is fixed: members need --storage=tikv' },
    },
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

  test('promotions that are refused are counted by the reasons that etcd gives', async () => {
    const { counts, changes } = new LoneMember({
      clusterId: 1n,
      member: { id: 7n, name: 'a', peerUrls: [], clientUrls: [] },
      term: 1,
    });
    for (const id of [1n, 7n, 2n]) await expect(changes.promote(id, nodeItself)).rejects.toThrow();
    expect(counts).toMatchObject({
      promotions: 0,
      refusedPromotions: new Map([
        ['membership: ID not found', 2],
        ['membership: can only promote a learner member', 1],
      ]),
    });
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
    await api.call(path, new Uint8Array(0), { 'client-api-version': '3.6' });
    api.watch({ 'client-api-version': '3.5' });
    expect(counts.requests).toEqual([
      { type: 'unary', version: '3.6', count: 2 },
      { type: 'unary', version: 'unknown', count: 1 },
      { type: 'stream', version: '3.5', count: 1 },
    ]);
  });

  test('is counted under as many versions as are bounded, and under "other" beyond', async () => {
    for (let at = 0; at < 1000; at += 1) {
      await api.call(path, new Uint8Array(0), { 'client-api-version': `made.up.${at}` });
    }
    await api.call(path, new Uint8Array(0), { 'client-api-version': 'made.up.3' });
    expect(counts.requests).toHaveLength(65);
    expect(counts.of('unary', 'made.up.3').count).toBe(2);
    expect(counts.of('unary', 'other').count).toBe(936);
  });

  test.each(['v'.repeat(33), 'a b', '\xc3\xa9', ''])('is counted under "other" where it names %j', (version) => {
    expect(counts.of('stream', version).version).toBe('other');
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

/** A member whose leader and role the test sets. */
class ChangingMember extends LoneMember {
  leader = member.memberId;
  learner = false;
  /** It has the changes of the membership by then. */
  caughtUp = Promise.resolve();

  override membersCaughtUp(): Promise<void> {
    return this.caughtUp;
  }

  constructor() {
    super({ clusterId: member.clusterId, member: { ...member, id: member.memberId }, term: 4 });
    Object.defineProperties(this, {
      leaderId: { get: () => this.leader },
      isLearner: { get: () => this.learner },
    });
  }
}

describe('a member of a cluster', () => {
  const noLeader = { code: 14, message: 'etcdserver: no leader' };
  const ofLearner = { code: 9, message: 'etcdserver: rpc not supported for learner' };
  const status = '/etcdserverpb.Maintenance/Status';
  const nothing = new Uint8Array(0);
  let cluster: ChangingMember;
  let inCluster: Api;
  beforeEach(async () => {
    cluster = new ChangingMember();
    inCluster = await Api.open({ services: { cluster }, limits: { electionTimeoutMs: 700 } });
  });
  afterEach(() => inCluster[Symbol.asyncDispose]());

  test('edge 81: without a leader it refuses those who want one, and nobody else', async () => {
    cluster.leader = 0n;
    const wish = { hasleader: 'true' };
    expect(await failure(() => inCluster.call(status, nothing, wish))).toEqual(noLeader);
    expect(inCluster.bidi('/etcdserverpb.Watch/Watch', wish).status).toEqual(noLeader);
    await inCluster.call(status, nothing);
    await inCluster.call(status, nothing, { hasleader: 'false' });
    expect(inCluster.bidi('/etcdserverpb.Watch/Watch').status).toBeUndefined();
  });

  test('edge 81: streams that want a leader end after three election timeouts in a row without one', async () => {
    const wanting = inCluster.bidi('/etcdserverpb.Watch/Watch', { hasleader: 'true' });
    const patient = inCluster.bidi('/etcdserverpb.Watch/Watch');
    await inCluster.clock.advance(4900);
    cluster.leader = 0n;
    await inCluster.clock.advance(1400);
    cluster.leader = member.memberId;
    await inCluster.clock.advance(700);
    cluster.leader = 0n;
    await inCluster.clock.advance(2099);
    expect(wanting.status).toBeUndefined();
    await inCluster.clock.advance(2);
    expect(wanting.status).toEqual(noLeader);
    expect(patient.status).toBeUndefined();
  });

  test('a linearizable list of the members waits until the member has the newest changes, another one does not', async () => {
    const caughtUp = Promise.withResolvers<void>();
    cluster.caughtUp = caughtUp.promise;
    const list = '/etcdserverpb.Cluster/MemberList';
    await inCluster.call(list, nothing);
    const answers: string[] = [];
    const linearizable = inCluster
      .call(list, etcdserverpb.encodeMemberListRequest({ linearizable: true }))
      .then(() => answers.push('listed'));
    await inCluster.clock.settle();
    answers.push('caught up');
    caughtUp.resolve();
    await linearizable;
    expect(answers).toEqual(['caught up', 'listed']);
  });

  test('a learner answers Status, serializable ranges and snapshots, and refuses the rest', async () => {
    cluster.learner = true;
    await inCluster.call(status, nothing);
    await inCluster.range({ key: utf8('a'), serializable: true });
    expect(await failure(() => inCluster.range({ key: utf8('a') }))).toEqual(ofLearner);
    expect(await failure(() => inCluster.put({ key: utf8('a') }))).toEqual(ofLearner);
    expect(await failure(() => inCluster.call('/etcdserverpb.Cluster/MemberList', nothing))).toEqual(ofLearner);
    expect(inCluster.bidi('/etcdserverpb.Watch/Watch').status).toEqual(ofLearner);
    expect(inCluster.serverStream('/etcdserverpb.Maintenance/Snapshot', nothing).status).not.toEqual(ofLearner);
  });
});
