import { type AuthChange, PasswordHash, PermissionType } from '@engram/auth';
import { type Backend, type Caller, nodeItself } from '@engram/backend';
import { EMPTY_BYTES, keyBytes, leaseId, pointRange, type Txn } from '@engram/core';
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
