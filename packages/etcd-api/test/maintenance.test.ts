import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LoneMember } from '@engram/etcd-api';
import { etcdserverpb } from '@engram/wire';
import { Api, b, failure, member } from './api.ts';

const { AlarmRequestAlarmAction: Action, AlarmType, DowngradeRequestDowngradeAction: Downgrade } = etcdserverpb;
const MIB = 1024 * 1024;

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const path = (method: string): string => `/etcdserverpb.Maintenance/${method}`;
const noSpace = { code: 8, message: 'etcdserver: mvcc: database space exceeded' };
const corrupt = { code: 15, message: 'etcdserver: corrupt cluster' };
const put = (key: string) => ({ requestPut: { key: b(key) } });
const removal = (key: string) => ({ requestDeleteRange: { key: b(key) } });

describe('alarms', () => {
  test('edge 115: under NOSPACE, whoever raised it, nothing can be put until it is disarmed', async () => {
    const alarm = { memberID: 123n, alarm: AlarmType.NOSPACE };
    expect((await api.alarm({ action: Action.ACTIVATE, ...alarm })).alarms).toEqual([alarm]);
    expect((await api.alarm({ action: Action.ACTIVATE, ...alarm })).alarms).toEqual([alarm]);
    expect(await failure(api.put({ key: b('a') }))).toEqual(noSpace);
    expect((await api.status()).errors).toEqual(['memberID:123 alarm:NOSPACE']);
    expect((await api.alarm({ action: Action.DEACTIVATE, ...alarm })).alarms).toEqual([alarm]);
    expect((await api.alarm({ action: Action.DEACTIVATE, ...alarm })).alarms).toEqual([]);
    await api.put({ key: b('a') });
  });

  test('edge 116: under NOSPACE what needs no space goes on', async () => {
    await api.grant(60, 7n);
    await api.fill('a', 'b', 'c');
    await api.alarm({ action: Action.ACTIVATE, memberID: 1n, alarm: AlarmType.NOSPACE });
    expect(await failure(api.grant(60))).toEqual(noSpace);
    expect(await failure(api.txn({ success: [removal('a')], failure: [put('x')] }))).toEqual(noSpace);
    await api.txn({ success: [removal('a')] });
    await api.deleteRange({ key: b('b') });
    await api.compact(3);
    await api.revoke(7n);
    await api.call(path('Defragment'), new Uint8Array(0));
    expect((await api.range({ key: b('c') })).count).toBe(1);
  });

  test('under CORRUPT only reads go on', async () => {
    await api.fill('a');
    await api.alarm({ action: Action.ACTIVATE, memberID: 1n, alarm: AlarmType.CORRUPT });
    expect(await failure(api.put({ key: b('a') }))).toEqual(corrupt);
    expect(await failure(api.deleteRange({ key: b('a') }))).toEqual(corrupt);
    expect(await failure(api.compact(2))).toEqual(corrupt);
    expect((await api.txn({ success: [{ requestRange: { key: b('a') } }] })).responses).toHaveLength(1);
  });

  test('GET lists all, or those of a type', async () => {
    await api.alarm({ action: Action.ACTIVATE, memberID: 1n, alarm: AlarmType.NOSPACE });
    await api.alarm({ action: Action.ACTIVATE, memberID: 2n, alarm: AlarmType.CORRUPT });
    const get = async (alarm: number) => (await api.alarm({ action: Action.GET, alarm, memberID: 9n })).alarms;
    expect(await get(AlarmType.NONE)).toHaveLength(2);
    expect(await get(AlarmType.CORRUPT)).toEqual([{ memberID: 2n, alarm: AlarmType.CORRUPT }]);
    expect((await api.alarm({ action: Action.ACTIVATE })).alarms).toEqual([]);
    expect(await get(9), 'of a kind that nobody knows there is none').toEqual([]);
    expect((await api.alarm({ action: Action.DEACTIVATE, alarm: 9 })).alarms).toEqual([]);
    expect(await failure(api.alarm({ action: Action.ACTIVATE, alarm: 9 }))).toMatchObject({ code: 3 });
  });

  test('the text of an alarm leaves out a member of zero, as protobuf does', async () => {
    await api.alarm({ action: Action.ACTIVATE, memberID: 0n, alarm: AlarmType.NOSPACE });
    expect((await api.status()).errors).toEqual(['alarm:NOSPACE']);
  });

  test('edge 117: a put beyond the quota fails and leaves its alarm, which stays after a compaction', async () => {
    await using small = await Api.open({ quotaBytes: MIB });
    const value = new Uint8Array(300 * 1024);
    const puts = async (): Promise<void> => {
      for (let at = 0; at < 10; at += 1) await small.put({ key: b('a'), value });
    };
    expect(await failure(puts())).toEqual(noSpace);
    await small.clock.settle();
    const alarms = [{ memberID: member.memberId, alarm: AlarmType.NOSPACE }];
    expect((await small.alarm({ action: Action.GET })).alarms).toEqual(alarms);
    const { revision } = (await small.range({ key: b('a') })).header!;
    await small.compact(revision, true);
    expect(await failure(small.put({ key: b('b') }))).toEqual(noSpace);
    expect((await small.status()).errors).toEqual([`memberID:${member.memberId} alarm:NOSPACE`]);
  });

  test('beyond the quota even a request that is wrong by itself is told so', async () => {
    await using small = await Api.open({ quotaBytes: 1_000 });
    expect(await failure(small.put({ value: new Uint8Array(10) }))).toMatchObject({ code: 3 });
    expect(await failure(small.put({ value: new Uint8Array(1_000) }))).toEqual(noSpace);
  });
});

describe('Status', () => {
  test('edge 118: what tools read of it', async () => {
    const at = await api.fill('a', 'b');
    const status = await api.status();
    expect(status).toMatchObject({
      version: '3.6.16',
      storageVersion: '3.6.0',
      leader: member.memberId,
      raftTerm: member.raftTerm,
      dbSizeQuota: 2_147_483_648,
      isLearner: false,
      errors: [],
      downgradeInfo: { enabled: false, targetVersion: '' },
      header: { revision: at, memberId: member.memberId, clusterId: member.clusterId },
    });
    expect(status.dbSize).toBeGreaterThan(0);
    expect(status.dbSizeInUse).toBeLessThanOrEqual(status.dbSize);
    expect(status.raftAppliedIndex).toBeLessThanOrEqual(status.raftIndex);
    await api.fill('c');
    expect((await api.status()).raftIndex).toBeGreaterThan(status.raftIndex);
  });

  test('a leader whose storage does not answer says so, and since when', async () => {
    const lone = new LoneMember({ clusterId: 1n, member: { ...member, id: member.memberId }, term: 2 });
    await using stalled = await Api.open({ services: { cluster: Object.assign(lone, { stalledMs: 12_400 }) } });
    expect((await stalled.status()).errors).toEqual(['storage has not answered for 12 s']);
  });

  test('an empty store has a size', async () => {
    const { dbSize, dbSizeInUse } = await api.status();
    expect(dbSize).toBeGreaterThan(0);
    expect(dbSizeInUse).toBeGreaterThan(0);
  });
});

describe('hashes', () => {
  test('edge 119: the same for the same history, by revision', async () => {
    await using other = await Api.open();
    for (const node of [api, other]) await node.fill('a', 'b', 'a');
    const first = await api.hashKv(0);
    expect(first).toMatchObject({ hashRevision: 4, compactRevision: -1, header: { revision: 4 } });
    expect((await api.hashKv(4)).hash).toBe(first.hash);
    expect((await other.hashKv(0)).hash).toBe(first.hash);
    expect((await other.hashKv(3)).hash).not.toBe(first.hash);
    await api.compact(3);
    expect(await failure(api.hashKv(2))).toMatchObject({ code: 11, message: /has been compacted/ });
    expect(await failure(api.hashKv(5))).toMatchObject({ code: 11, message: /future revision/ });
    expect((await api.hashKv(3)).compactRevision).toBe(3);
  });

  test('an empty store has the hash of an empty etcd, so that JSON has one', async () => {
    expect((await api.hashKv(0)).hash).toBe(0x40a4756d);
    expect(etcdserverpb.decodeHashResponse(await api.call(path('Hash'), new Uint8Array(0))).hash).toBe(0x40a4756d);
  });

  test('Hash changes with the data', async () => {
    const hash = async (): Promise<number> =>
      etcdserverpb.decodeHashResponse(await api.call(path('Hash'), new Uint8Array(0))).hash;
    const before = await hash();
    expect(await hash()).toBe(before);
    await api.fill('a');
    expect(await hash()).not.toBe(before);
  });
});

describe('the rest', () => {
  test('Defragment and MoveLeader answer without a header', async () => {
    const target = etcdserverpb.encodeMoveLeaderRequest({ targetID: member.memberId });
    expect(await api.call(path('MoveLeader'), target)).toHaveLength(0);
    expect(await api.call(path('Defragment'), new Uint8Array(0))).toHaveLength(0);
  });

  test('edge 121: leadership goes to members only', async () => {
    const target = etcdserverpb.encodeMoveLeaderRequest({ targetID: 99n });
    const status = { code: 9, message: 'etcdserver: bad leader transferee' };
    expect(await failure(api.call(path('MoveLeader'), target))).toEqual(status);
  });

  const downgrade = async (action: number, version: string) => {
    const request = etcdserverpb.encodeDowngradeRequest({ action, version });
    return etcdserverpb.decodeDowngradeResponse(await api.call(path('Downgrade'), request));
  };
  const wrongTarget = { code: 3, message: 'etcdserver: invalid downgrade target version' };
  const wrongFormat = { code: 3, message: 'etcdserver: wrong downgrade target version format' };

  test.each(['3.5', '3.5.0', '3.5.28', '03.5'])('edge 122: %s is a target', async (version) => {
    expect(await downgrade(Downgrade.VALIDATE, version)).toMatchObject({ version: '3.6', header: { revision: 1 } });
  });

  test.each([
    { version: '3.4', status: wrongTarget },
    { version: '3.6', status: wrongTarget },
    { version: '2.5.0', status: wrongTarget },
    { version: 'abc', status: wrongFormat },
    { version: '3', status: wrongFormat },
    { version: '', status: wrongFormat },
  ])('edge 122: "$version" is none', async ({ version, status }) => {
    expect(await failure(downgrade(Downgrade.VALIDATE, version))).toEqual(status);
    expect(await failure(downgrade(Downgrade.ENABLE, version))).toEqual(status);
  });

  test('a downgrade is refused, its cancel is not', async () => {
    expect(await failure(downgrade(Downgrade.ENABLE, '3.5'))).toEqual({
      code: 9,
      message: 'etcdserver: cannot enable a downgrade: this server has no older storage version',
    });
    const { downgradeInfo } = etcdserverpb.decodeStatusResponse(await api.call(path('Status'), new Uint8Array()));
    expect(downgradeInfo).toMatchObject({ enabled: false, targetVersion: '' });
    expect(await downgrade(Downgrade.CANCEL, '')).toMatchObject({ version: '3.6' });
    expect(await failure(downgrade(7, ''))).toEqual({ code: 2, message: 'etcdserver: unknown method' });
  });
});
