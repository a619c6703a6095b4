import { leaseId } from '@engram/core';
import { ALARM_CORRUPT, ALARM_NOSPACE, type Alarm, nodeItself, type Proposals, type TxnResult } from '@engram/backend';
import { expect, test } from 'vitest';
import { CorruptGuard } from '../src/lead/corrupt-guard.ts';
import { QuotaGuard } from '../src/lead/quota-guard.ts';
import { put, refusal, txnOf } from './ops.ts';

const result = { kind: 'txn', revision: 2, succeeded: true, responses: [] } as unknown as TxnResult;

/** Decisions that take everything, behind both guards, over a state and a space that the test moves. */
function guarded() {
  const raised = new Set<number>();
  const calls: string[] = [];
  let room: 'room' | 'full' | Promise<void> = 'room';
  let confirmed = 0;
  const next: Proposals = {
    txn: async () => {
      calls.push('txn');
      return result;
    },
    compact: async () => void calls.push('compact'),
    leaseGrant: async (id) => {
      calls.push('grant');
      return { id, grantedTtlSeconds: 5, remainingSeconds: 5 };
    },
    leaseRevoke: async () => {
      calls.push('revoke');
      return 2 as never;
    },
    leaseKeepAlive: () => {
      calls.push('keep-alive');
      return 5;
    },
    leaseTimeToLive: async () => undefined,
    activateAlarm: async ({ alarm }: Alarm) => {
      calls.push(`alarm ${alarm}`);
      raised.add(alarm);
    },
    deactivateAlarm: async ({ alarm }: Alarm) => raised.delete(alarm),
    changeAuth: async () => void calls.push('auth'),
    logIn: async () => void calls.push('log-in'),
  };
  const state = { isRaised: (alarm: number) => raised.has(alarm) };
  const confirm = async (): Promise<void> => {
    confirmed += 1;
  };
  const quota = new QuotaGuard({
    next,
    again: () => guard,
    state,
    space: { waiting: undefined, ask: () => room },
    memberId: 1n,
    confirm,
    queuedBytes: () => 0,
    waitingBytesMax: 3000,
  });
  const guard = new CorruptGuard(quota, state, confirm);
  return {
    guard,
    quota,
    raised,
    calls,
    setRoom: (answer: typeof room) => {
      room = answer;
    },
    confirmed: () => confirmed,
  };
}

const write = put('k', 'v');

test('a corrupt store refuses what writes, by that alarm also where the quota is exceeded, and renews leases', async () => {
  const { guard, raised, calls, confirmed } = guarded();
  raised.add(ALARM_CORRUPT).add(ALARM_NOSPACE);
  expect(await refusal(guard.txn(write, nodeItself))).toBe('Corrupt');
  expect(await refusal(guard.leaseGrant(leaseId(1n), 5, nodeItself))).toBe('Corrupt');
  expect(await refusal(guard.compact(1, false, nodeItself))).toBe('Corrupt');
  expect(confirmed(), 'each refusal rests on the state').toBe(3);
  expect(guard.leaseKeepAlive(leaseId(1n), nodeItself)).toBe(5);
  expect(await refusal(guard.deactivateAlarm({ memberId: 1n, alarm: ALARM_CORRUPT }, nodeItself))).toBe('accepted');
  expect(calls).toEqual(['keep-alive']);
});

test('a write that the quota refuses raises the alarm first, and is confirmed', async () => {
  const { guard, raised, calls, confirmed, setRoom } = guarded();
  setRoom('full');
  expect(await refusal(guard.txn(write, nodeItself))).toBe('NoSpace');
  expect(raised.has(ALARM_NOSPACE)).toBe(true);
  expect(await refusal(guard.leaseGrant(leaseId(1n), 5, nodeItself))).toBe('NoSpace');
  expect(calls, 'once').toEqual([`alarm ${ALARM_NOSPACE}`]);
  expect(confirmed()).toBe(2);
  expect(await refusal(guard.txn(txnOf(), nodeItself)), 'what needs no room').toBe('accepted');
});

test('a write that waited for room begins anew: what was raised meanwhile refuses it', async () => {
  const { guard, quota, raised, calls, setRoom } = guarded();
  const made = Promise.withResolvers<void>();
  setRoom(made.promise);
  const waiting = refusal(guard.txn(write, nodeItself));
  const granting = refusal(guard.leaseGrant(leaseId(1n), 5, nodeItself));
  expect(quota.waitingBytes).toBeGreaterThan(0);
  raised.add(ALARM_CORRUPT);
  setRoom('room');
  made.resolve();
  expect(await waiting).toBe('Corrupt');
  expect(await granting).toBe('Corrupt');
  expect(calls).toEqual([]);
  expect(quota.waitingBytes).toBe(0);
});

test('writes that wait for room are bounded in bytes', async () => {
  const { guard, quota, calls, setRoom } = guarded();
  const made = Promise.withResolvers<void>();
  setRoom(made.promise);
  const large = put('k', 'v'.repeat(1500));
  const first = refusal(guard.txn(large, nodeItself));
  expect(await refusal(guard.txn(large, nodeItself))).toBe('TooManyRequests');
  setRoom('room');
  made.resolve();
  expect(await first).toBe('accepted');
  expect(calls).toEqual(['txn']);
  expect(quota.waitingBytes).toBe(0);
});
