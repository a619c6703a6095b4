import { keyText, leaseId, NO_REVISION, type RangeOp } from '@engram/core';
import { ALARM_CORRUPT, ALARM_NOSPACE, nodeItself } from '@engram/backend';
import { MemoryStorage, type StorageOperation } from '@engram/storage';
import { expect, test } from 'vitest';
import { type Node, openNode, plainKv, watchAll } from './harness.ts';
import { get, put, refusal, remove } from './ops.ts';

async function values(node: Node, key: string, over: Partial<RangeOp> = {}): Promise<string[]> {
  return [...(await node.backend.range(get(key, over), nodeItself)).kvs].map((kv) => plainKv(kv).value);
}

test('an empty store is at revision 1 and was never compacted', async () => {
  const { backend } = await openNode(new MemoryStorage());
  expect(backend.revision).toBe(1);
  expect(backend.compactRevision).toBe(NO_REVISION);
  expect(await refusal(backend.compact(0, false, nodeItself)), 'compacting nothing succeeds once').toBe('accepted');
  expect(await refusal(backend.compact(0, false, nodeItself))).toBe('Compacted');
  expect(await refusal(backend.compact(2, false, nodeItself))).toBe('FutureRev');
});

test('writes that are under way are seen by later writes, and by no reader', async () => {
  const gates: (() => void)[] = [];
  const node = await openNode(
    new MemoryStorage({
      gate: (operation) => (operation === 'append' ? new Promise((resolve) => gates.push(resolve)) : undefined),
    }),
  );
  const { backend, clock } = node;
  const first = backend.txn(put('a', '1'), nodeItself);
  const second = backend.txn(put('a', '2', { prevKv: true }), nodeItself);
  const swap = backend.txn({ compares: [], success: [get('a'), ...put('b', '1').success], failure: [] }, nodeItself);
  const read = backend.txn({ compares: [], success: [get('a')], failure: [] }, nodeItself);
  await clock.settle();
  expect((await read).responses[0]).toMatchObject({ kind: 'range', count: 0 });
  expect(backend.revision).toBe(1);
  expect(await values(node, 'a')).toEqual([]);
  gates.shift()!();
  expect(await first).toMatchObject({ revision: 2 });
  const { responses } = await second;
  expect(responses[0]).toMatchObject({ kind: 'put', revision: 3 });
  const [answer] = responses;
  expect(answer?.kind === 'put' && plainKv(answer.prevKv!).value).toBe('1');
  expect((await swap).responses[0]).toMatchObject({ kind: 'range', count: 1 });
  expect(await values(node, 'a')).toEqual(['2']);
});

test('a write that is not durable in time is answered so, and may still become durable', async () => {
  let open = (): void => undefined;
  const node = await openNode(
    new MemoryStorage({
      gate: (operation) => (operation === 'append' ? new Promise((resolve) => (open = resolve)) : undefined),
    }),
  );
  const write = refusal(node.backend.txn(put('a', '1'), nodeItself));
  await node.clock.settle();
  node.clock.advance(6000);
  node.clock.advance(3000);
  expect(await write).toBe('Timeout');
  open();
  await node.clock.settle();
  expect(await values(node, 'a')).toEqual(['1']);
});

test.each(['uncertain-lost', 'uncertain-there', 'fenced'] as const)(
  'after an append that was %s nothing is acknowledged any more',
  async (fault) => {
    const faults = ['none', fault] as const;
    let appends = 0;
    const storage = new MemoryStorage({ append: () => faults[appends++] ?? ('none' as const) });
    const node = await openNode(storage);
    await node.backend.txn(put('a', '1'), nodeItself);
    const code = fault === 'fenced' ? 'LeaderChanged' : 'Stopped';
    expect(await refusal(node.backend.txn(put('a', '2'), nodeItself))).toBe(code);
    expect(node.fatal).toHaveLength(1);
    const later = fault === 'fenced' ? 'NoLeader' : 'Stopped';
    expect(await refusal(node.backend.txn(put('a', '3'), nodeItself))).toBe(later);
    expect(await refusal(node.backend.leaseGrant(leaseId(0n), 10, nodeItself))).toBe(later);
    expect(await values(node, 'a', { serializable: true }), 'what was acknowledged can still be read').toEqual(['1']);
  },
);

test('the write that would reach the quota is refused, and all after it, until the alarm is disarmed', async () => {
  const { backend } = await openNode(new MemoryStorage(), { quotaBytes: 4000 });
  await backend.txn(put('a', 'x'.repeat(3000)), nodeItself);
  expect(await refusal(backend.txn(put('b', 'x'.repeat(1000)), nodeItself))).toBe('NoSpace');
  expect(backend.alarms(), 'the alarm is there when the refusal is').toEqual([{ memberId: 1n, alarm: ALARM_NOSPACE }]);
  expect(await refusal(backend.txn(put('b', 'x'), nodeItself)), 'also what would fit').toBe('NoSpace');
  expect(await refusal(backend.leaseGrant(leaseId(0n), 10, nodeItself))).toBe('NoSpace');
  expect(
    await refusal(backend.txn({ ...remove('a'), failure: put('a', '1').success }, nodeItself)),
    'a put in any branch',
  ).toBe('NoSpace');
  expect(await refusal(backend.txn(remove('a'), nodeItself)), 'deleting is how to get out').toBe('accepted');
  expect(await refusal(backend.compact(backend.revision, false, nodeItself))).toBe('accepted');
  expect(await backend.deactivateAlarm({ memberId: 1n, alarm: ALARM_NOSPACE }, nodeItself)).toBe(true);
  expect(await backend.deactivateAlarm({ memberId: 1n, alarm: ALARM_NOSPACE }, nodeItself)).toBe(false);
  expect(await refusal(backend.txn(put('b', 'x'), nodeItself))).toBe('accepted');
});

test('under CORRUPT only reads pass; alarms outlive a restart', async () => {
  const storage = new MemoryStorage();
  const before = await openNode(storage);
  const lease = await before.backend.leaseGrant(leaseId(7n), 100, nodeItself);
  await before.backend.activateAlarm({ memberId: 123n, alarm: ALARM_CORRUPT }, nodeItself);
  await before.backend[Symbol.asyncDispose]();
  const { backend } = await openNode(storage.reopen(), { epoch: 2 });
  expect(backend.alarms()).toEqual([{ memberId: 123n, alarm: ALARM_CORRUPT }]);
  for (const write of [
    backend.txn(put('a', '1'), nodeItself),
    backend.txn(remove('a'), nodeItself),
    backend.compact(1, false, nodeItself),
    backend.leaseGrant(leaseId(0n), 10, nodeItself),
    backend.leaseRevoke(lease.id, nodeItself),
  ]) {
    expect(await refusal(write)).toBe('Corrupt');
  }
  expect(await refusal(backend.txn({ compares: [], success: [get('a')], failure: [] }, nodeItself))).toBe('accepted');
  expect(backend.leaseKeepAlive(lease.id, nodeItself)).toBe(100);
});

test('under CORRUPT no lease ends, and a keep-alive of one past its time waits; after the disarm both come', async () => {
  const { backend, clock } = await openNode(new MemoryStorage());
  const corrupt = { memberId: 7n, alarm: ALARM_CORRUPT };
  const leases = [
    await backend.leaseGrant(leaseId(5n), 2, nodeItself),
    await backend.leaseGrant(leaseId(6n), 2, nodeItself),
  ];
  for (const { id } of leases) await backend.txn(put(`of ${id}`, 'v', { lease: id }), nodeItself);
  await backend.activateAlarm(corrupt, nodeItself);
  const { revision } = backend;
  clock.advance(2001);
  // Before the keeper of leases has looked, and after it.
  const renewals = [backend.leaseKeepAlive(leaseId(5n), nodeItself)];
  clock.advance(1000);
  await clock.settle(10);
  renewals.push(backend.leaseKeepAlive(leaseId(6n), nodeItself));
  let answered = 0;
  for (const renewal of renewals) void Promise.resolve(renewal).then(() => (answered += 1));
  for (let step = 0; step < 8; step += 1) {
    clock.advance(500);
    await clock.settle(10);
  }
  expect(answered).toBe(0);
  expect(backend.revision).toBe(revision);
  expect(backend.replica.state.lessor.size).toBe(2);
  expect(await backend.deactivateAlarm(corrupt, nodeItself)).toBe(true);
  for (let step = 0; step < 4; step += 1) {
    clock.advance(500);
    await clock.settle(10);
  }
  expect(await Promise.all(renewals)).toEqual([0, 0]);
  expect(backend.revision).toBe(revision + 2);
  expect(backend.replica.state.lessor.size).toBe(0);
});

test('a keep-alive that waits under CORRUPT ends with the time of a request', async () => {
  const { backend, clock } = await openNode(new MemoryStorage(), { requestTimeoutMs: 3000 });
  await backend.leaseGrant(leaseId(5n), 2, nodeItself);
  await backend.activateAlarm({ memberId: 7n, alarm: ALARM_CORRUPT }, nodeItself);
  clock.advance(2001);
  const renewal = refusal(Promise.resolve(backend.leaseKeepAlive(leaseId(5n), nodeItself)));
  for (let step = 0; step < 8; step += 1) {
    await clock.settle(10);
    clock.advance(500);
  }
  expect(await renewal).toBe('Timeout');
});

test('leases are bounded, those included that are being granted', async () => {
  const { backend } = await openNode(new MemoryStorage(), { leasesMax: 5 });
  const grant = (id: bigint): Promise<string> => refusal(backend.leaseGrant(leaseId(id), 60, nodeItself));
  const outcomes = await Promise.all([0n, 0n, 3n, 0n, 5n, 0n, 7n].map(grant));
  expect(outcomes).toEqual([...Array(5).fill('accepted'), 'TooManyRequests', 'TooManyRequests']);
  expect(await grant(5n), 'what is there').toBe('LeaseExist');
  await backend.leaseRevoke(leaseId(5n), nodeItself);
  expect(await grant(8n)).toBe('accepted');
});

test('lists for which the caller has no room are not made', async () => {
  const { backend } = await openNode(new MemoryStorage());
  const { id } = await backend.leaseGrant(leaseId(7n), 60, nodeItself);
  for (let at = 0; at < 500; at += 1) await backend.leaseGrant(leaseId(BigInt(1000 + at)), 60, nodeItself);
  for (let at = 0; at < 500; at += 1) {
    await backend.txn(put(`${at}`.padStart(200, 'k'), 'v', { lease: id }), nodeItself);
  }
  const asked: number[] = [];
  const account = (room: boolean) => ({
    ...nodeItself,
    reserveAnswer: (bytes: number) => asked.push(bytes) > 0 && room,
  });
  expect(await refusal(backend.leaseTimeToLive(id, true, account(false)))).toBe('ResponseTooLarge');
  expect(await refusal(backend.leases('by-remaining', account(false)))).toBe('accepted');
  expect(await refusal(backend.leaseTimeToLive(id, false, account(false)))).toBe('accepted');
  expect(await backend.leaseTimeToLive(id, true, account(true))).toMatchObject({ keys: { length: 500 } });
  expect(asked.every((bytes) => bytes > 500 * 200)).toBe(true);
});

test('alarms of any member are raised, and not more than 1024; the own member always raises its own', async () => {
  const { backend } = await openNode(new MemoryStorage());
  const raise = (memberId: bigint): Promise<string> =>
    refusal(backend.activateAlarm({ memberId, alarm: ALARM_NOSPACE }, nodeItself));
  const raised = await Promise.all(Array.from({ length: 2000 }, (_, at) => raise(BigInt(at + 100))));
  expect(raised.filter((outcome) => outcome === 'accepted')).toHaveLength(1024);
  expect(new Set(raised)).toEqual(new Set(['accepted', 'TooManyRequests']));
  expect(await raise(100n), 'one that is raised').toBe('accepted');
  expect(await raise(1n), 'the own').toBe('accepted');
  expect(backend.alarms()).toHaveLength(1025);
  expect(await backend.deactivateAlarm({ memberId: 100n, alarm: ALARM_NOSPACE }, nodeItself)).toBe(true);
  expect(await backend.deactivateAlarm({ memberId: 101n, alarm: ALARM_NOSPACE }, nodeItself)).toBe(true);
  expect(await raise(5000n), 'there is room again').toBe('accepted');
  expect(await refusal(backend.txn(put('a', 'x'), nodeItself))).toBe('NoSpace');
});

test('a lease ends with its keys, in one revision, in key order, and watchers see it', async () => {
  const node = await openNode(new MemoryStorage());
  const { backend, clock } = node;
  const { id, grantedTtlSeconds } = await backend.leaseGrant(leaseId(0n), 5, nodeItself);
  expect(id > 0n).toBe(true);
  expect(grantedTtlSeconds).toBe(5);
  for (const key of ['b', 'a', 'c']) await backend.txn(put(key, 'v', { lease: id }), nodeItself);
  await backend.txn(put('c', 'kept'), nodeItself);
  const sink = watchAll(node, 0);
  clock.advance(4000);
  expect(backend.leaseKeepAlive(id, nodeItself)).toBe(5);
  clock.advance(4000);
  await clock.settle();
  expect(await backend.leaseTimeToLive(id, false, nodeItself)).toMatchObject({ remainingSeconds: 1 });
  const before = backend.revision;
  clock.advance(2000);
  await clock.settle();
  expect(backend.revision).toBe(before + 1);
  expect(sink.groups).toHaveLength(1);
  expect(sink.groups[0]!.events.map((event) => [event.type, keyText(event.key)])).toEqual([
    [1, 'a'],
    [1, 'b'],
  ]);
  expect(await backend.leaseTimeToLive(id, false, nodeItself)).toBeUndefined();
  expect(backend.leaseKeepAlive(id, nodeItself)).toBe(0);
  expect(await values(node, 'c')).toEqual(['kept']);
});

test('a keep-alive that comes too late ends the lease before it says so', async () => {
  const node = await openNode(new MemoryStorage());
  node.clock.advance(250);
  const { id } = await node.backend.leaseGrant(leaseId(5n), 2, nodeItself);
  await node.backend.txn(put('a', 'v', { lease: id }), nodeItself);
  // The deadline has passed, and the keeper has not checked again.
  node.clock.advance(2010);
  expect(await node.backend.leaseTimeToLive(id, false, nodeItself)).toMatchObject({ remainingSeconds: 0 });
  const renewed = node.backend.leaseKeepAlive(id, nodeItself);
  expect(renewed).toBeInstanceOf(Promise);
  expect(await renewed).toBe(0);
  expect(await values(node, 'a')).toEqual([]);
  expect(await node.backend.leaseTimeToLive(id, false, nodeItself)).toBeUndefined();
});

test.each([
  { ttl: 9_000_000_001, code: 'LeaseTTLTooLarge' as const },
  { ttl: 9_000_000_000, code: 'accepted' as const },
  { ttl: -1, code: 'accepted' as const },
])('granting $ttl s: $code', async ({ ttl, code }) => {
  const { backend } = await openNode(new MemoryStorage());
  expect(await refusal(backend.leaseGrant(leaseId(0n), ttl, nodeItself))).toBe(code);
});

test('leases outlive a restart with their whole TTL and their keys', async () => {
  const storage = new MemoryStorage();
  const before = await openNode(storage, { checkpointEveryBytes: 1 });
  for (const id of [-1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    await before.backend.leaseGrant(leaseId(id), 100, nodeItself);
    await before.backend.txn(put(`key of ${id}`, 'v', { lease: leaseId(id) }), nodeItself);
  }
  await before.clock.settle();
  before.clock.advance(90_000);
  await before.backend[Symbol.asyncDispose]();
  const { backend } = await openNode(storage.reopen(), { epoch: 2 });
  for (const id of [-1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    const lease = await backend.leaseTimeToLive(leaseId(id), true, nodeItself);
    expect(lease).toMatchObject({ remainingSeconds: 100, grantedTtlSeconds: 100 });
    expect([...(lease?.keys ?? [])].map(keyText)).toEqual([`key of ${id}`]);
    expect(await backend.leaseRevoke(leaseId(id), nodeItself)).toBe(backend.revision);
  }
});

/** The position from which a start would read the log. */
const replayFrom = async (storage: MemoryStorage): Promise<number> =>
  (await storage.values.loadCheckpoint())?.from ?? 1;

test('a store that only gets new keys with small values takes checkpoints too', async () => {
  const storage = new MemoryStorage();
  const { backend, clock } = await openNode(storage, { checkpointEveryBytes: 2000 });
  for (let at = 0; at < 1000; at += 1) await backend.txn(put(`k${at}`, 'v'), nodeItself);
  await clock.settle(50);
  // The log after the checkpoint has at most a quarter of the keys, and one checkpoint may have been under way.
  expect(await replayFrom(storage)).toBeGreaterThan(500);
});

test('a checkpoint that has failed is tried again after a while, and not only behind as much log again', async () => {
  let fails = true;
  let tries = 0;
  const gate = (operation: StorageOperation): Promise<void> | undefined => {
    if (operation !== 'save-checkpoint') return undefined;
    tries += 1;
    return fails ? Promise.reject(new Error('no space')) : undefined;
  };
  const storage = new MemoryStorage({ gate });
  const { backend, clock } = await openNode(storage, { checkpointEveryBytes: 2000 });
  for (let at = 0; at < 200; at += 1) await backend.txn(put(`k${at}`, 'v'), nodeItself);
  await clock.settle(50);
  expect(tries).toBe(1);
  fails = false;
  clock.advance(10_000);
  await backend.txn(put('k', 'v'), nodeItself);
  await clock.settle(50);
  expect(await replayFrom(storage)).toBeGreaterThan(100);
});

test('what a start has read again counts for the next checkpoint: short lives do not make the log grow', async () => {
  let storage = new MemoryStorage();
  for (let life = 1; life <= 20; life += 1) {
    const { backend, clock } = await openNode(storage, { epoch: life, checkpointEveryBytes: 3000 });
    for (let at = 0; at < 10; at += 1) await backend.txn(put(`k${at}`, 'x'.repeat(50)), nodeItself);
    await clock.settle(50);
    await backend[Symbol.asyncDispose]();
    storage = storage.reopen();
  }
  expect(await replayFrom(storage)).toBeGreaterThan(150);
});

test('garbage that a crash kept from being dropped is dropped by the next start, however much it is', async () => {
  const storage = new MemoryStorage({
    gate: (operation) => (operation === 'drop' ? new Promise(() => {}) : undefined),
  });
  const { backend, clock } = await openNode(storage);
  // More positions than one chunk of a checkpoint names, and than storage is told at once.
  for (let round = 0; round < 20; round += 1)
    await Promise.all(Array.from({ length: 1000 }, () => backend.txn(put('k', 'v'), nodeItself)));
  await backend.compact(backend.revision, false, nodeItself);
  await clock.settle(200);
  void backend.defragment();
  await clock.settle(200);
  expect(await replayFrom(storage)).toBeGreaterThan(20_000);
  storage.crash();
  const reopened = new MemoryStorage({}, storage.disk);
  expect(reopened.disk.recordBytes).toBeGreaterThan(300_000);
  const after = await openNode(reopened, { epoch: 2 });
  await after.clock.settle(200);
  expect(reopened.disk.recordBytes).toBeLessThan(1000);
  expect(await values(after, 'k')).toEqual(['v']);
});

test('a thousand keys on one lease go at once', async () => {
  const node = await openNode(new MemoryStorage());
  const { id } = await node.backend.leaseGrant(leaseId(0n), 2, nodeItself);
  await Promise.all(
    Array.from({ length: 1000 }, (_, at) => node.backend.txn(put(`key ${at}`, 'v', { lease: id }), nodeItself)),
  );
  const before = node.backend.revision;
  node.clock.advance(3000);
  await node.clock.settle();
  expect(node.backend.revision).toBe(before + 1);
  expect(node.backend.status().keys).toBe(0);
});

test('the hash is of history: the same after a restart and while garbage is being worked off', async () => {
  const storage = new MemoryStorage();
  const { backend, clock } = await openNode(storage);
  for (let at = 0; at < 300; at += 1)
    await backend.txn(at % 7 === 0 ? remove(`k${at % 20}`) : put(`k${at % 20}`, `v${at}`), nodeItself);
  const never = new AbortController().signal;
  const whole = await backend.hashKv(0, never);
  expect(whole).toMatchObject({ hashRevision: backend.revision, compactRevision: -1 });
  const older = await backend.hashKv(100, never);
  expect(older.hash).not.toBe(whole.hash);
  await backend.compact(200, false, nodeItself);
  const during = await backend.hashKv(0, never);
  await clock.settle(50);
  const after = await backend.hashKv(0, never);
  expect(after).toEqual(during);
  expect(after).toEqual({ ...whole, compactRevision: 200 });
  await backend.compact(backend.revision, true, nodeItself);
  expect((await backend.hashKv(0, never)).hash, 'also at the revision that was compacted').toBe(whole.hash);
  expect(await refusal(backend.hashKv(199, never))).toBe('Compacted');
  expect(await backend.hashKv(-1, never), 'before everything there was nothing').toMatchObject({
    hash: 0,
    hashRevision: -1,
  });
  expect(await refusal(backend.hashKv(backend.revision + 1, never))).toBe('FutureRev');
  await backend[Symbol.asyncDispose]();
  const again = await openNode(storage.reopen(), { epoch: 2 });
  expect((await again.backend.hashKv(0, never)).hash).toBe(whole.hash);
});

test('compaction frees what only history needed, and physical waits for it', async () => {
  const { backend } = await openNode(new MemoryStorage());
  for (let at = 0; at < 200; at += 1) await backend.txn(put('a', 'x'.repeat(1000)), nodeItself);
  const before = backend.status().totalBytes;
  await backend.compact(backend.revision, true, nodeItself);
  expect(backend.status().totalBytes).toBeLessThan(before / 20);
});

test('edge 32: the newest change is a deletion, compacted at its own revision: after a restart R has not gone down', async () => {
  const storage = new MemoryStorage();
  const before = await openNode(storage);
  await before.backend.txn(put('a', '1'), nodeItself);
  await before.backend.txn(remove('a'), nodeItself);
  await before.backend.compact(3, true, nodeItself);
  await before.backend[Symbol.asyncDispose]();
  const { backend } = await openNode(storage.reopen(), { epoch: 2 });
  expect(backend.revision).toBe(3);
  await backend.compact(3, true, nodeItself).catch(() => undefined);
  expect(await backend.txn(put('a', '2'), nodeItself)).toMatchObject({ revision: 4 });
});

test('disposal ends timers and lets go of the storage', async () => {
  const storage = new MemoryStorage();
  const { backend, clock } = await openNode(storage);
  watchAll({ backend, clock, fatal: [] }, 0);
  await backend.txn(put('a', '1'), nodeItself);
  await backend[Symbol.asyncDispose]();
  await backend[Symbol.asyncDispose]();
  clock.advance(10_000);
  expect(clock.waiting).toBe(0);
  storage.reopen();
});

test('a defragmentation that meets a closed storage says that the node stops', async () => {
  const storage = new MemoryStorage();
  const { backend } = await openNode(storage);
  await storage[Symbol.asyncDispose]();
  expect(await refusal(backend.defragment())).toBe('Stopped');
});

test('so does a compaction whose caller waits until its garbage is dropped', async () => {
  const [saving, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const gate = (operation: StorageOperation): Promise<void> | undefined => {
    if (operation !== 'save-checkpoint') return undefined;
    saving.resolve();
    return go.promise;
  };
  const storage = new MemoryStorage({ gate });
  const { backend } = await openNode(storage);
  await backend.txn(put('a', '1'), nodeItself);
  await backend.txn(put('a', '2'), nodeItself);
  const compacted = refusal(backend.compact(3, true, nodeItself));
  await saving.promise;
  const closed = storage[Symbol.asyncDispose]();
  go.resolve();
  expect(await compacted).toBe('Stopped');
  await closed;
});
