import { decodeKeyValue, decodeRecord } from '@engram/coder';
import { keyBytes, leaseId, logPosition, putOp, utf8 } from '@engram/core';
import { nodeItself } from '@engram/backend';
import { authpb } from '@engram/wire';
import { expect, test } from 'vitest';
import {
  alarm,
  at,
  type Buckets,
  databaseFile,
  EMPTY,
  hashed,
  lease,
  never,
  put,
  removed,
  restored,
  snapshotOf,
  text,
} from './databases.ts';
import { eventsFrom, keysAt, leasesOf, openNode } from './nodes.ts';

/** A history with every kind of change. etcd was never asked to compact. */
const history: Buckets['key'] = [
  put(2, 'a'),
  put(3, 'a', { create: 2, version: 2 }),
  put(3, 'b', { sub: 1, value: '' }),
  removed(4, 'a'),
  removed(4, 'b', 1),
  put(5, 'a', { lease: -5n }),
  put(6, 'c', { lease: 9n }),
];

test("etcd's own history is there: each revision, each event, deletions as etcd writes them", async () => {
  const { storage, report } = await restored(
    await snapshotOf({ key: history, lease: [lease(-5n, 60), lease(9n, 100, 30)] }),
  );
  expect(report).toMatchObject({ revision: 6, compactRevision: -1, keys: 2, versions: 7, leases: 2, alarms: 0 });
  const records: string[] = [];
  for await (const batch of storage.read(logPosition(1), never)) {
    for (const record of batch.records.map(decodeRecord)) {
      if (record.kind !== 'put' && record.kind !== 'delete') throw new Error(record.kind);
      records.push(`${record.kind} ${decodeKeyValue(record.kv).modRevision}.${record.sub}`);
    }
  }
  expect(records).toEqual(['put 2.0', 'put 3.0', 'put 3.1', 'delete 4.0', 'delete 4.1', 'put 5.0', 'put 6.0']);
  await using node = await openNode(storage);
  const { backend } = node;
  expect([backend.revision, backend.compactRevision]).toEqual([6, -1]);
  expect(await keysAt(node, 1)).toEqual(['count 0']);
  expect(await keysAt(node, 3)).toEqual([
    'count 2',
    'a=a@3 created 2 modified 3 version 2 lease 0',
    'b= created 3 modified 3 version 1 lease 0',
  ]);
  expect(await keysAt(node, 4)).toEqual(['count 0']);
  expect(await keysAt(node, 0)).toEqual([
    'count 2',
    'a=a@5 created 5 modified 5 version 1 lease -5',
    'c=c@6 created 6 modified 6 version 1 lease 9',
  ]);
  expect((await eventsFrom(node, 4)).slice(0, 2)).toEqual([
    '1: a= created 0 modified 4 version 0 lease 0, before: a=a@3 created 2 modified 3 version 2 lease 0',
    '1: b= created 0 modified 4 version 0 lease 0, before: b= created 3 modified 3 version 1 lease 0',
  ]);
  expect(await leasesOf(node)).toEqual(['9 of 100 s: c', '-5 of 60 s: a']);
  await backend.leaseRevoke(leaseId(9n), nodeItself);
  expect(await keysAt(node, 0)).toEqual(['count 1', 'a=a@5 created 5 modified 5 version 1 lease -5']);
});

test('an empty database is the store of a new etcd', async () => {
  const { storage, report } = await restored(await snapshotOf({}));
  expect(report).toMatchObject({ revision: 1, compactRevision: -1, keys: 0, versions: 0 });
  await using node = await openNode(storage);
  const { revision } = await node.backend.txn(
    { compares: [], success: [putOp(keyBytes('a'), keyBytes('1'))], failure: [] },
    nodeItself,
  );
  expect(revision).toBe(2);
});

test.each([
  ['finishedCompactRev', 'one that was finished'],
  ['scheduledCompactRev', 'one that was scheduled, and had not removed anything'],
])('a compaction counts: %s, %s', async (name) => {
  const { storage, report } = await restored(await snapshotOf({ key: history, meta: [text(name, at(4))] }));
  // Of a and b the deletions at the compact revision are left; they are events of a watch from there.
  expect(report).toMatchObject({ revision: 6, compactRevision: 4, keys: 2, versions: 4 });
  await using node = await openNode(storage);
  expect(node.backend.compactRevision).toBe(4);
  expect((await keysAt(node, 3))[0]).toContain('required revision has been compacted');
  expect(await keysAt(node, 4)).toEqual(['count 0']);
  expect(await eventsFrom(node, 5)).toHaveLength(2);
});

test('a compaction that was interrupted has removed some of what it removes', async () => {
  const left = history!.slice(2);
  const meta = [text('scheduledCompactRev', at(5)), text('finishedCompactRev', at(2))];
  const { storage, report } = await restored(await snapshotOf({ key: left, meta }));
  expect(report).toMatchObject({ revision: 6, compactRevision: 5, keys: 2, versions: 2 });
  await using node = await openNode(storage);
  expect(await keysAt(node, 5)).toEqual(['count 1', 'a=a@5 created 5 modified 5 version 1 lease -5']);
});

test('the compact revision may be above all that is left', async () => {
  const meta = [text('finishedCompactRev', at(9))];
  const { storage, report } = await restored(await snapshotOf({ key: [put(2, 'a')], meta }));
  expect(report).toMatchObject({ revision: 9, compactRevision: 9, keys: 1 });
  await using node = await openNode(storage);
  expect(node.backend.revision).toBe(9);
});

test('a database that etcdutl has raised holds a revision without a key, and is not a gap', async () => {
  const key = [put(2, 'a'), [at(1_000_002), new Uint8Array(0)] as const, put(1_000_003, 'b')];
  const meta = [text('scheduledCompactRev', at(1_000_002))];
  const { storage, report } = await restored(await snapshotOf({ key, meta }));
  expect(report).toMatchObject({ revision: 1_000_003, compactRevision: 1_000_002, keys: 2, versions: 2 });
  await using node = await openNode(storage);
  expect(await eventsFrom(node, 1_000_003)).toHaveLength(1);
  expect(await keysAt(node, 1_000_002)).toEqual(['count 1', 'a=a@2 created 2 modified 2 version 1 lease 0']);
});

test('alarms are raised again, of the member that raised them, and can be disarmed', async () => {
  const member = 2n ** 64n - 3n;
  const { storage } = await restored(
    await snapshotOf({ key: history, alarm: [alarm(member, 1)], lease: [lease(-5n, 60), lease(9n, 60)] }),
  );
  await using node = await openNode(storage);
  expect(node.backend.alarms()).toEqual([{ memberId: member, alarm: 1 }]);
  expect(await node.backend.deactivateAlarm({ memberId: member, alarm: 1 }, nodeItself)).toBe(true);
  expect(node.backend.alarms()).toEqual([]);
});

test('a key whose lease is not there keeps its id and never ends, as in etcd', async () => {
  const { storage, report } = await restored(await snapshotOf({ key: history, lease: [lease(9n, 60)] }));
  expect(report.keysWithoutLease).toBe(1);
  await using node = await openNode(storage);
  expect((await keysAt(node, 0))[1]).toBe('a=a@5 created 5 modified 5 version 1 lease -5');
  await node.backend.txn({ compares: [], success: [putOp(utf8('a'), utf8('2'))], failure: [] }, nodeItself);
  expect(await leasesOf(node)).toEqual(['9 of 60 s: c']);
});

test('the file of a data directory is taken without a hash; a hash behind it is not looked at', async () => {
  const file = await databaseFile({ key: history, lease: [lease(-5n, 60), lease(9n, 60)] });
  const { report } = await restored(file, { skipHashCheck: true });
  const wrong = hashed(file);
  wrong[wrong.length - 1] = wrong.at(-1)! ^ 1;
  expect((await restored(wrong, { skipHashCheck: true })).report).toEqual(report);
  expect((await restored(hashed(file))).report).toEqual(report);
});

const withAuth = {
  ...EMPTY,
  key: history,
  auth: [text('authEnabled', Uint8Array.of(1)), text('authRevision', Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 9))],
  authUsers: [
    text('alice', authpb.encodeUser({ name: utf8('alice'), password: utf8('h'), roles: ['reader'] })),
    text('root', authpb.encodeUser({ name: utf8('root'), password: utf8('h'), roles: ['root'] })),
  ],
  authRoles: [
    text('reader', authpb.encodeRole({ name: utf8('reader'), keyPermission: [{ permType: 0, key: utf8('a') }] })),
  ],
};

test('users and roles are those of the database, with their auth revision', async () => {
  const { storage, report } = await restored(await snapshotOf(withAuth));
  expect(report).toMatchObject({ revision: 6, users: 2, roles: 1 });
  await using node = await openNode(storage);
  const { enabled, revision, users, roles } = node.backend.auth.state;
  expect([enabled, revision, users.names(), roles.names()]).toEqual([true, 9, ['alice', 'root'], ['reader']]);
  expect(users.get('alice')).toMatchObject({ roles: ['reader'], noPassword: false });
  expect(users.get('alice')!.password.reveal()).toEqual(utf8('h'));
});

test('users and roles are left out when that is asked for, also where they cannot be read', async () => {
  for (const buckets of [withAuth, { ...withAuth, authUsers: [text('root', 'x')] }]) {
    const { storage, report } = await restored(await snapshotOf(buckets), { dropAuth: true });
    expect(report).toMatchObject({ revision: 6, users: 0, roles: 0 });
    await using node = await openNode(storage);
    expect(node.backend.auth.enabled).toBe(false);
  }
});

test('users that etcd does not write are refused', async () => {
  const failed = restored(await snapshotOf({ ...withAuth, authUsers: [text('root', 'x')] }));
  await expect(failed).rejects.toMatchObject({ fault: 'damaged' });
});

test('versions that a compaction drops are garbage that the first start frees', async () => {
  const many = Array.from({ length: 2_000 }, (_, more) => put(more + 2, 'a', { create: 2, version: more + 1 }));
  const { storage, report } = await restored(await snapshotOf({ key: many }), { bumpRevision: 10 });
  expect(report).toMatchObject({ keys: 1, versions: 1, revision: 2_011 });
  const before = storage.size();
  await using node = await openNode(storage);
  await node.clock.settle(200);
  expect(storage.size().inUseBytes).toBeLessThan(before.inUseBytes / 10);
  expect(await keysAt(node, 0)).toEqual(['count 1', 'a=a@2001 created 2 modified 2001 version 2000 lease 0']);
});

test('a checkpoint of many chunks has every key', async () => {
  const key = Array.from({ length: 15_000 }, (_, more) =>
    put(more + 2, `${(more * 7_919) % 15_000}/a-key-of-some-length`, { value: '' }),
  );
  const { storage, report } = await restored(await snapshotOf({ key }));
  expect(report.keys).toBe(15_000);
  const checkpoint = await storage.loadCheckpoint();
  let chunks = 0;
  for await (const _ of checkpoint!.chunks(never)) chunks += 1;
  expect(chunks).toBeGreaterThan(2);
  await using node = await openNode(storage);
  expect((await keysAt(node, 0))[0]).toBe('count 15000');
});

test('a history of many batches is the same, with changes of one revision on both sides of their borders', async () => {
  // Each revision changes 100 keys, deletes them, or creates them again; a batch has 8,192 records at most.
  const keys = Array.from({ length: 100 }, (_, more) => `key/${String(more).padStart(3, '0')}`);
  const key = Array.from({ length: 300 }, (_, more) => more + 2).flatMap((main) => {
    const round = (main - 2) % 3;
    if (round === 2) return keys.map((name, sub) => removed(main, name, sub));
    return keys.map((name, sub) => put(main, name, { sub, create: main - round, version: round + 1 }));
  });
  const meta = [text('finishedCompactRev', at(150))];
  const file = await snapshotOf({ key, meta });
  for (const bumpRevision of [0, 1_000]) {
    const { storage, report } = await restored(file, { bumpRevision });
    await using node = await openNode(storage);
    if (bumpRevision > 0) {
      // The last revision deletes all keys.
      expect(report).toMatchObject({ revision: 1_301, compactRevision: 1_301, keys: 0, versions: 0 });
      expect(await keysAt(node, 0)).toEqual(['count 0']);
      continue;
    }
    expect(report).toMatchObject({ revision: 301, compactRevision: 150, keys: 0, versions: 15_200 });
    expect(await keysAt(node, 150)).toHaveLength(101);
    expect((await keysAt(node, 299))[1]).toBe('key/000=key/000@299 created 299 modified 299 version 1 lease 0');
    expect(await eventsFrom(node, 151)).toHaveLength(15_100);
  }
});
