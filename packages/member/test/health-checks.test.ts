import type { Store } from '@engram/backend';
import { EngramError } from '@engram/core';
import type { ClusterView } from '@engram/etcd-api';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { HealthChecks } from '../src/health-checks.ts';

const never = new AbortController().signal;

/** A member whose reads take as long as the test says, and do not look at their signal. */
function memberWith(
  read: (clock: SimClock) => Promise<unknown>,
  stalledMs = 0,
): { checks: HealthChecks; clock: SimClock } {
  const clock = new SimClock();
  const store = { alarms: () => [], range: () => read(clock) } as Partial<Store> as Store;
  const cluster = { leaderId: 1n, isLearner: false, stalledMs } as Partial<ClusterView> as ClusterView;
  return { checks: new HealthChecks(store, cluster, clock), clock };
}

const after = (ms: number) => (clock: SimClock) => new Promise((resolve) => clock.after(ms, () => resolve(undefined)));

async function outcomeAt(ms: number, read: (clock: SimClock) => Promise<unknown>, signal = never): Promise<unknown> {
  const { checks, clock } = memberWith(read);
  const checking = checks.check('linearizable_read', signal);
  await clock.settle(2);
  clock.advance(ms);
  await clock.settle(4);
  return await Promise.race([checking, Promise.resolve('still under way')]);
}

test('a member that may not lead, because timestamps went back, says so where nobody leads', async () => {
  const store = { alarms: () => [], range: () => Promise.reject(new Error('no read')) } as Partial<Store> as Store;
  const takeoverRefusal = new EngramError('TimestampsWentBack');
  const cluster = {
    leaderId: 0n,
    isLearner: false,
    stalledMs: 0,
    takeoverRefusal,
  } as Partial<ClusterView> as ClusterView;
  const checks = new HealthChecks(store, cluster, new SimClock());
  expect(await checks.health(new Set(), false, never)).toBe('TIMESTAMPS WENT BACK');
  expect(await checks.health(new Set(), true, never)).toBe('RANGE ERROR:no read');
});

test('a read within the bound is healthy', async () => {
  expect(await outcomeAt(6_999, after(6_999))).toBeUndefined();
});

test('a read that succeeds after the bound is not', async () => {
  expect(await outcomeAt(7_001, after(7_001))).toBe('context deadline exceeded');
});

test('a read whose caller has gone is not', async () => {
  const gone = AbortSignal.abort(new Error('gone'));
  expect(await outcomeAt(10, after(10), gone)).toBe('gone');
});

test('a read that fails says why', async () => {
  expect(await outcomeAt(0, () => Promise.reject(new EngramError('NoLeader')))).toBe('etcdserver: no leader');
});

test('a leader whose storage does not answer is not healthy, whatever its reads say', async () => {
  const { checks } = memberWith(async () => undefined, 6000);
  const none = new Set<string>();
  expect(await checks.health(none, false, never)).toBe('STORAGE DOES NOT ANSWER');
  expect(await checks.health(none, true, never)).toBeUndefined();
  expect(await checks.check('linearizable_read', never)).toBeUndefined();
  expect(await memberWith(async () => undefined).checks.health(none, false, never)).toBeUndefined();
});
