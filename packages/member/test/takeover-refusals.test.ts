import { nodeItself } from '@engram/backend';
import { StorageTimestampError } from '@engram/storage';
import { expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';
import { get, put } from './requests.ts';

const none = new Set<string>();
const never = new AbortController().signal;

test('where timestamps went back nobody leads, every member says why, and the first takeover behind them leads', async () => {
  const cluster = new TestCluster();
  let back = false;
  for (const id of [1n, 2n, 3n]) {
    cluster.plans.set(id, {
      gate: async (operation) => {
        if (back && operation === 'seal') throw new StorageTimestampError('went back', { timestamp: 5n, birth: 9n });
      },
    });
    await cluster.start(id);
  }
  const first = await cluster.leader();
  await cluster.run(first.member.store.txn(put('a', '1'), nodeItself));
  await cluster.pass(1000);
  back = true;
  cluster.kill(first.member.cluster.memberId);
  await cluster.pass(20_000);
  const rest = cluster.running;
  expect(rest).toHaveLength(2);
  const counts = rest.map(({ member }) => member.cluster.counts.refusedTakeovers);
  expect(Math.max(...counts)).toBeGreaterThan(1);
  // Elections are not tried as fast as messages travel.
  expect(Math.max(...counts)).toBeLessThan(20);
  const refused = rest.filter(({ member }) => member.cluster.takeoverRefusal !== undefined);
  expect(refused.length).toBeGreaterThan(0);
  for (const { member } of refused) {
    expect(member.cluster.takeoverRefusal).toMatchObject({
      code: 'TimestampsWentBack',
      cause: { timestamp: 5n, birth: 9n },
    });
    expect(await cluster.run(Promise.resolve(member.health.health(none, false, never)))).toBe('TIMESTAMPS WENT BACK');
    // What it has it serves.
    expect(await cluster.run(Promise.resolve(member.health.health(none, true, never)))).toBeUndefined();
  }
  expect(cluster.fatal).toEqual([]);
  back = false;
  const next = await cluster.leader();
  await cluster.run(next.member.store.txn(put('b', '2'), nodeItself));
  for (const { member } of cluster.running) {
    expect(member.cluster.takeoverRefusal).toBeUndefined();
    expect(await cluster.run(get(member.store, 'a'))).toBe('1');
  }
});
