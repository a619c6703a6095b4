import { type AuthChange, PasswordHash, PermissionType } from '@engram/auth';
import { type Backend, type Caller, nodeItself } from '@engram/backend';
import {
  EMPTY_BYTES,
  EngramError,
  isEngramError,
  keyBytes,
  leaseId,
  pointRange,
  prefixRange,
  type Txn,
} from '@engram/core';
import { Scheduler, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { describe, expect, test } from 'vitest';
import { openNode } from './harness.ts';
import { Gate, put, putOf, refusal, txnOf } from './ops.ts';

// A write may wait between its request and its decision: it is judged by the users and roles as they are when it is decided.

const password = PasswordHash.none;
const range = pointRange(keyBytes('k'));
const founding: readonly AuthChange[] = [
  { kind: 'user-add', name: 'root', noPassword: true, password },
  { kind: 'user-grant-role', user: 'root', role: 'root' },
  { kind: 'role-add', name: 'r' },
  { kind: 'role-grant-permission', role: 'r', permission: { type: PermissionType.WRITE, range } },
  { kind: 'user-add', name: 'alice', noPassword: true, password },
  { kind: 'user-grant-role', user: 'alice', role: 'r' },
];
const enable: AuthChange = { kind: 'enable' };
const forbid: AuthChange = { kind: 'role-revoke-permission', role: 'r', range };

const { signal } = new AbortController();
const nobody: Caller = { signal, timeoutMs: undefined, user: '', authRevision: 0 };
/** Authenticated later than any change, so that only rights refuse. */
const alice: Caller = { ...nobody, user: 'alice', authRevision: 1_000 };

/** Keeps the value, which must be read for that. */
const keepValue: Txn = txnOf(putOf('k', '', { value: EMPTY_BYTES, ignoreValue: true }));
const removeAll: Txn = txnOf({
  kind: 'delete-range',
  range: { key: keyBytes('x'), end: keyBytes('y') },
  prevKv: false,
});

const change = async (backend: Backend, changes: readonly AuthChange[]): Promise<void> => {
  for (const one of changes) await backend.changeAuth(one, nodeItself);
};

/** A node whose storage brings no value until the gate opens. */
async function coldNode(...more: readonly AuthChange[]) {
  const storage = new MemoryStorage();
  const { backend: before } = await openNode(storage);
  await before.txn(put('k', 'a'), nodeItself);
  await change(before, [...founding, ...more]);
  await before[Symbol.asyncDispose]();
  const gate = new Gate('get-many');
  const { backend } = await openNode(storage.reopen({ gate: gate.gate, cold: true }), { epoch: 2 });
  gate.shut = true;
  return { backend, gate };
}

describe('a write that waits for a value', () => {
  test('is decided if its right is still there', async () => {
    const { backend, gate } = await coldNode(enable);
    const writing = refusal(backend.txn(keepValue, alice));
    await change(backend, [{ kind: 'role-add', name: 'other' }]);
    gate.open();
    expect(await writing).toBe('accepted');
    expect(backend.revision).toBe(3);
  });

  test('is refused if its right was taken away meanwhile', async () => {
    const { backend, gate } = await coldNode(enable);
    const writing = refusal(backend.txn(keepValue, alice));
    await change(backend, [forbid]);
    gate.open();
    expect(await writing).toBe('PermissionDenied');
    expect(backend.revision).toBe(2);
  });

  test('is refused if users have begun to count meanwhile', async () => {
    const { backend, gate } = await coldNode();
    const writing = refusal(backend.txn(keepValue, nobody));
    await change(backend, [enable]);
    gate.open();
    expect(await writing).toBe('UserEmpty');
    expect(backend.revision).toBe(2);
  });
});

describe('a write that waits for its turn', () => {
  /** Decides slowly what removes all of the keys at x. */
  async function slowNode(...more: readonly AuthChange[]) {
    const { backend } = await openNode(new MemoryStorage(), { sliceSteps: 1 });
    for (let at = 0; at < 20; at += 1) await backend.txn(put(`x${at}`, 'v'), nodeItself);
    await change(backend, [...founding, ...more]);
    return backend;
  }

  test.each([
    ['its right was taken away', alice, forbid, [enable], 'PermissionDenied'],
    ['users have begun to count', nobody, enable, [], 'UserEmpty'],
  ] as const)('is refused if %s before it', async (_, caller, changed, more, refused) => {
    const backend = await slowNode(...more);
    const removing = backend.txn(removeAll, nodeItself);
    const changing = backend.changeAuth(changed, nodeItself);
    const writing = refusal(backend.txn(put('k', 'b'), caller));
    await Promise.all([removing, changing]);
    expect(await writing).toBe(refused);
  });

  test('is decided if it came before the change', async () => {
    const backend = await slowNode(enable);
    const removing = backend.txn(removeAll, nodeItself);
    const writing = refusal(backend.txn(put('k', 'b'), alice));
    await Promise.all([removing, backend.changeAuth(forbid, nodeItself)]);
    expect(await writing).toBe('accepted');
  });
});

test('a renewal that waits for a revoke is not told that its caller may not make it: it waits until the lease has ended', async () => {
  const { backend, clock } = await openNode(new MemoryStorage());
  await change(backend, [...founding, enable]);
  clock.advance(250);
  const id = leaseId(5n);
  await backend.leaseGrant(id, 2, nodeItself);
  await backend.txn(put('x', 'v', { lease: id }), nodeItself);
  // The deadline has passed, and the keeper has not checked again.
  clock.advance(2010);
  const revoked = refusal(backend.leaseRevoke(id, alice));
  const renewed = Promise.resolve(backend.leaseKeepAlive(id, { ...alice, user: 'root' }));
  expect(await revoked).toBe('PermissionDenied');
  expect(backend.replica.state.lessor.has(id)).toBe(true);
  for (let looks = 0; looks < 2; looks += 1) {
    await clock.settle();
    clock.advance(500);
  }
  expect(await renewed).toBe(0);
  expect(backend.replica.state.lessor.has(id)).toBe(false);
});

describe('a renewal that is judged in more than one slice, by the keys of its lease', () => {
  const id = leaseId(5n);
  const leased = Array.from({ length: 100 }, (_, at) => putOf(`k${at}`, 'v', { lease: id }));
  const permission = { type: PermissionType.WRITE, range: prefixRange(keyBytes('k')) };

  /** The judgement is under way. */
  async function renewing(confirm?: () => Promise<void>) {
    const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
    const cluster = {
      get leader(): never {
        throw new Error('no other member leads');
      },
      readIndex: async () => undefined,
      confirm: async () => confirm?.(),
    };
    const { backend } = await clock.run(
      openNode(new MemoryStorage(), { clock, sliceSteps: 10, ...(confirm && { cluster }) }),
    );
    await clock.run(change(backend, [...founding, { kind: 'role-grant-permission', role: 'r', permission }, enable]));
    await clock.run(backend.leaseGrant(id, 1000, nodeItself));
    await clock.run(backend.txn(txnOf(...leased), nodeItself));
    const renewal = Promise.resolve(backend.leaseKeepAlive(id, alice)).catch(errorCode);
    await clock.pass(3);
    return { backend, clock, renewal };
  }
  const errorCode = (error: unknown): unknown => (isEngramError(error) ? error.code : error);

  test('is made if the node still leads', async () => {
    const { clock, renewal } = await renewing();
    expect(await clock.run(renewal)).toBe(1000);
  });

  test('is not made if the node leads no more', async () => {
    const { backend, clock, renewal } = await renewing();
    await clock.run(backend.stepDown());
    expect(await clock.run(renewal)).toBe('LeaderChanged');
  });

  test('is not made if another node leads, and this one does not know it', async () => {
    let leads = true;
    const { clock, renewal } = await renewing(async () => {
      if (!leads) throw new EngramError('NotLeader');
    });
    leads = false;
    expect(await clock.run(renewal)).toBe('LeaderChanged');
  });
});
