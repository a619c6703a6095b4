import { nodeItself } from '@engram/backend';
import { StorageUnavailableError } from '@engram/storage';
import { describe, expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';
import { get, put } from './requests.ts';

/** Three members. Members in `silent` have this fault in each append, and cannot read the log either. */
async function clusterOfSilent(silent: ReadonlySet<bigint>, fault: 'uncertain-there' | 'uncertain-lost') {
  const cluster = new TestCluster();
  for (const id of [1n, 2n, 3n]) {
    cluster.plans.set(id, {
      append: () => (silent.has(id) ? fault : 'none'),
      gate: async (operation) => {
        if (silent.has(id) && operation === 'read') throw new StorageUnavailableError('injected');
      },
    });
    await cluster.start(id);
  }
  const deposed = await cluster.leader();
  await cluster.run(deposed.member.store.txn(put('a', 'old'), nodeItself));
  await cluster.pass(1000);
  const [next, third] = cluster.running.filter((each) => each !== deposed);
  return { cluster, deposed, next: next!, third: third!, id: deposed.member.cluster.memberId };
}

describe('a deposed leader that storage does not tell what became of its last append', () => {
  test.each([
    { fault: 'uncertain-there', left: 'new', revision: 3 },
    { fault: 'uncertain-lost', left: 'old', revision: 2 },
  ] as const)('reads on, and can lead again: $fault', async ({ fault, left, revision: at }) => {
    const silent = new Set<bigint>();
    const { cluster, deposed, next, third, id } = await clusterOfSilent(silent, fault);
    silent.add(id);
    const own = deposed.member.store.txn(put('a', 'new'), nodeItself).catch((error: unknown) => error);
    await cluster.pass(50);
    await cluster.run(deposed.member.cluster.changes!.moveLeader(next.member.cluster.memberId, nodeItself));
    expect((await cluster.leader()) === deposed).toBe(false);
    expect(await cluster.run(Promise.resolve(own))).toMatchObject({ code: 'TimeoutDueToLeaderFail' });
    for (const { member } of cluster.running) {
      expect(await cluster.run(get(member.store, 'a'))).toBe(left);
      expect(member.store.revision).toBe(at);
    }
    await cluster.run(third.member.store.txn(put('b', '1'), nodeItself));
    expect(await cluster.run(get(deposed.member.store, 'b'))).toBe('1');
    silent.delete(id);
    await cluster.run(next.member.cluster.changes!.moveLeader(id, nodeItself));
    await cluster.run(deposed.member.store.txn(put('c', 'again'), nodeItself));
    expect(await cluster.run(get(third.member.store, 'c'))).toBe('again');
    expect(cluster.fatal).toEqual([]);
  });

  test.each(['uncertain-there', 'uncertain-lost'] as const)(
    'had a write of another member in it, which is done once: %s',
    async (fault) => {
      const silent = new Set<bigint>();
      const { cluster, deposed, next, third, id } = await clusterOfSilent(silent, fault);
      silent.add(id);
      const forwarded = third.member.store.txn(put('b', 'once'), nodeItself);
      await cluster.pass(50);
      await cluster.run(deposed.member.cluster.changes!.moveLeader(next.member.cluster.memberId, nodeItself));
      expect((await cluster.run(forwarded)).revision).toBe(3);
      for (const { member } of cluster.running) {
        expect(await cluster.run(get(member.store, 'b'))).toBe('once');
        expect(member.store.revision).toBe(3);
      }
      expect(cluster.fatal).toEqual([]);
    },
  );
});

test('a leader whom nobody has replaced goes on asking storage what became of its append', async () => {
  const cluster = new TestCluster();
  let uncertain = 0;
  for (const id of [1n, 2n, 3n]) {
    cluster.plans.set(id, {
      append: () => {
        if (uncertain === 0) return 'none';
        uncertain -= 1;
        return 'uncertain-lost';
      },
    });
    await cluster.start(id);
  }
  const leader = await cluster.leader();
  uncertain = 4;
  const { revision: at } = await cluster.run(leader.member.store.txn(put('a', '1'), nodeItself));
  expect([at, uncertain]).toEqual([2, 0]);
  expect(await cluster.leader()).toBe(leader);
  expect(cluster.fatal).toEqual([]);
});
