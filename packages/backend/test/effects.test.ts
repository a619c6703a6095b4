import { ALARM_CORRUPT, nodeItself } from '@engram/backend';
import { CompareResult, CompareTarget, EMPTY_BYTES, isEngramError, keyText, leaseId, type Txn } from '@engram/core';
import { MemoryStorage, StorageCorruptError, StorageTrimmedError } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode, plainKv, watchAll } from './harness.ts';
import { checkQuiet, Gate, get, put, putOf, refusal, txnOf } from './ops.ts';

const TIMEOUT_MS = 9000;

/** Options of a storage that keeps nothing in memory, and whose records are gone once `trimmed` is set. */
class Trimmable {
  readonly cold = true;
  trimmed = false;
  readonly gate = async (operation: string): Promise<void> => {
    if (this.trimmed && operation === 'get-many') throw new StorageTrimmedError('gone');
  };
}

test('a compaction and an alarm that are answered Timeout take effect when they are durable', async () => {
  const append = new Gate('append');
  const storage = new MemoryStorage(append);
  const { backend, clock } = await openNode(storage);
  for (let at = 0; at < 10; at += 1) await backend.txn(put('k', `v${at}`), nodeItself);
  append.shut = true;
  const compaction = refusal(backend.compact(8, false, nodeItself));
  const alarm = refusal(backend.activateAlarm({ memberId: 1n, alarm: ALARM_CORRUPT }, nodeItself));
  await clock.settle();
  clock.advance(TIMEOUT_MS);
  expect(await Promise.all([compaction, alarm])).toEqual(['Timeout', 'Timeout']);
  expect(backend.compactRevision).toBe(-1);
  append.open();
  await clock.settle();
  expect(backend.compactRevision).toBe(8);
  expect(backend.alarms()).toEqual([{ memberId: 1n, alarm: ALARM_CORRUPT }]);
  await backend.defragment();
  storage.crash();
  const again = await openNode(storage.reopen(), { epoch: 2 });
  expect(again.backend.compactRevision).toBe(8);
  expect(again.backend.alarms()).toHaveLength(1);
});

test('a transaction that is answered Timeout gives back what it has pinned: compaction and stop go on', async () => {
  const append = new Gate('append');
  const { backend, clock } = await openNode(new MemoryStorage(append));
  for (let at = 0; at < 10; at += 1) await backend.txn(put('k', `v${at}`), nodeItself);
  append.shut = true;
  const stalled = refusal(backend.txn(txnOf(putOf('lock', 'me'), get('k')), nodeItself));
  await clock.settle();
  clock.advance(TIMEOUT_MS);
  expect(await stalled).toBe('Timeout');
  append.open();
  await clock.settle();
  await backend.txn(put('k', 'last'), nodeItself);
  await backend.compact(backend.revision, true, nodeItself);
  checkQuiet(backend);
  expect(backend.replica.state.index.versions).toBe(2);
  await backend[Symbol.asyncDispose]();
});

test('a stop waits for no reader: an answer that storage never gives does not hold it up', async () => {
  const read = new Gate('get-many');
  const { backend, clock } = await openNode(new MemoryStorage({ ...read, cold: true, gate: read.gate }), {
    cacheBytesMax: 0,
  });
  for (let at = 0; at < 3; at += 1) await backend.txn(put('k', `v${at}`), nodeItself);
  read.shut = true;
  const reading = Promise.resolve(backend.range(get('k', { revision: 2 }), nodeItself)).catch(() => 'ended');
  await backend.compact(4, false, nodeItself);
  await clock.settle();
  const stopped = backend[Symbol.asyncDispose]();
  await clock.settle();
  read.open(); // storage itself waits for its pending reads
  await stopped;
  await reading;
});

test.each([
  { what: 'in a transaction that only reads', over: [get('k')] },
  { what: 'before a put of the same key', over: [get('k'), putOf('k', 'new')] },
])('a range $what keeps the version that it reads until it has its bytes', async ({ over }) => {
  const read = new Gate('get-many');
  const storage = new MemoryStorage({ cold: true, gate: read.gate });
  const { backend, clock, fatal } = await openNode(storage, { cacheBytesMax: 0 });
  await backend.txn(put('k', 'old'), nodeItself);
  for (let at = 0; at < 5; at += 1) await backend.txn(put(`x${at}`, 'x'.repeat(500)), nodeItself);
  await backend.defragment(); // records before the checkpoint may be dropped
  read.shut = true;
  const answer = backend.txn(txnOf(...over), nodeItself);
  await clock.settle();
  if (over.length === 1) await backend.txn(put('k', 'new'), nodeItself);
  await backend.compact(backend.revision, false, nodeItself);
  await clock.settle();
  read.open();
  const [range] = (await answer).responses;
  expect(range?.kind === 'range' && [...range.kvs].map((kv) => plainKv(kv).value)).toEqual(['old']);
  await clock.settle();
  checkQuiet(backend);
  expect(backend.replica.state.index.versions, 'the old version is gone then').toBe(6);
  expect(fatal).toEqual([]);
});

test('a compaction that was refused for load may be asked for again, and then is', async () => {
  const append = new Gate('append');
  const { backend, clock } = await openNode(new MemoryStorage(append), { waitingBytesMax: 1000 });
  for (let at = 0; at < 10; at += 1) await backend.txn(put('k', `v${at}`), nodeItself);
  append.shut = true;
  const first = backend.txn(put('a', 'x'), nodeItself);
  await clock.settle();
  const second = backend.txn(put('b', 'x'.repeat(2000)), nodeItself);
  expect(await refusal(backend.compact(8, false, nodeItself))).toBe('TooManyRequests');
  append.open();
  await Promise.all([first, second]);
  expect(await refusal(backend.compact(8, false, nodeItself))).toBe('accepted');
  expect(await refusal(backend.compact(8, false, nodeItself))).toBe('Compacted');
});

test('leases, their keys and refusals show nothing that is not durable', async () => {
  const append = new Gate('append');
  const storage = new MemoryStorage(append);
  const { backend, clock } = await openNode(storage);
  await backend.leaseGrant(leaseId(7n), 100, nodeItself);
  await backend.txn(put('a', '1', { lease: leaseId(7n) }), nodeItself);
  append.shut = true;
  const granted = refusal(backend.leaseGrant(leaseId(8n), 100, nodeItself));
  const attached = refusal(backend.txn(put('b', '1', { lease: leaseId(7n) }), nodeItself));
  let exists: string | undefined;
  void refusal(backend.leaseGrant(leaseId(8n), 100, nodeItself)).then((code) => (exists = code));
  await clock.settle();
  expect((await backend.leases('by-id', nodeItself)).map(({ id }) => id)).toEqual([7n]);
  const lease = await backend.leaseTimeToLive(leaseId(7n), true, nodeItself);
  expect([...(lease?.keys ?? [])].map(keyText)).toEqual(['a']);
  expect(await backend.leaseKeepAlive(leaseId(8n), nodeItself)).toBe(0);
  const revoked = refusal(backend.leaseRevoke(leaseId(7n), nodeItself));
  let refused: string | undefined;
  void refusal(backend.txn(put('c', '1', { lease: leaseId(7n) }), nodeItself)).then((code) => (refused = code));
  await clock.settle();
  expect(await backend.leaseTimeToLive(leaseId(7n), false, nodeItself)).toBeDefined();
  expect([exists, refused], 'refused on the ground of what is not durable').toEqual([undefined, undefined]);
  append.open();
  expect(await Promise.all([granted, attached, revoked])).toEqual(['accepted', 'accepted', 'accepted']);
  await clock.settle();
  expect([exists, refused]).toEqual(['LeaseExist', 'LeaseNotFound']);
  expect((await backend.leases('by-id', nodeItself)).map(({ id }) => id)).toEqual([8n]);
  const { count } = await backend.range(get('b'), nodeItself);
  expect(count, 'the key that was being attached has gone with its lease').toBe(0);
});

test('a value that leaves the cache while a transaction needs it does not leave the transaction half done', async () => {
  const { backend, fatal } = await openNode(new MemoryStorage({ cold: true }), { cacheBytesMax: 4096 });
  const keys = Array.from({ length: 40 }, (_, at) => `k${at}`);
  for (const key of keys) await backend.txn(put(key, key.repeat(60)), nodeItself);
  const kept = keys.map((key) => putOf(key, '', { ignoreValue: true }));
  for (let round = 0; round < 20; round += 1) {
    await backend.txn(txnOf(putOf('new', 'n'.repeat(100 + round * 37)), ...kept), nodeItself);
  }
  expect(fatal).toEqual([]);
  for (const key of keys) {
    const { kvs } = await backend.range(get(key), nodeItself);
    expect([...kvs].map((kv) => plainKv(kv).value)).toEqual([key.repeat(60)]);
  }
});

test('what is thrown in the middle of a transaction ends the node, and nothing more is accepted', async () => {
  const { backend, fatal } = await openNode(new MemoryStorage());
  await backend.txn(put('a', '1'), nodeItself);
  const { index } = backend.replica.state;
  const append = index.append.bind(index);
  let appends = 0;
  index.append = (...version) => {
    appends += 1;
    if (appends === 2) throw new TypeError('thrown by the test');
    return append(...version);
  };
  expect(await refusal(backend.txn(txnOf(putOf('b', '1'), putOf('c', '1')), nodeItself))).toBe('Stopped');
  index.append = append;
  expect(fatal).toHaveLength(1);
  expect(await refusal(backend.txn(put('d', '1'), nodeItself))).not.toBe('accepted');
});

test('a superseded value that cannot be read breaks the stream that wants it, and nothing else', async () => {
  const lost = new StorageCorruptError('a record cannot be read', 'memory');
  let broken = false;
  const storage = new MemoryStorage({
    cold: true,
    fail: (operation) => (broken && operation === 'get-many' ? lost : undefined),
  });
  const node = await openNode(storage, { cacheBytesMax: 0 });
  await node.backend.txn(put('k', 'old'), nodeItself);
  for (let at = 0; at < 4; at += 1) await node.backend.txn(put(`other${at}`, 'x'.repeat(600)), nodeItself);
  const wants = watchAll(node, 7);
  broken = true;
  expect(await node.backend.txn(put('k', 'new'), nodeItself)).toMatchObject({ revision: 7 });
  await node.clock.settle();
  expect(wants.failures).toHaveLength(1);
  expect(node.fatal).toEqual([]);
  expect(await node.backend.txn(put('k', 'newer'), nodeItself)).toMatchObject({ revision: 8 });
});

test('the versions of keys that are watched or were read stay in memory, and others until newer ones are written', async () => {
  let reads = 0;
  const fail = (operation: string): undefined => {
    if (operation === 'get-many') reads += 1;
  };
  const node = await openNode(new MemoryStorage({ cold: true, fail }), { cacheBytesMax: 64 << 10 });
  const watched = { key: Uint8Array.of(97), end: Uint8Array.of(98) };
  const { groups } = watchAll(node, 0, watched);
  for (const key of ['a', 'b', 'c']) await node.backend.txn(put(key, `${key}1`), nodeItself);
  for (let at = 0; at < 10; at += 1) await node.backend.txn(put(`other${at}`, 'x'.repeat(600)), nodeItself);
  const readsOf = async (work: Promise<unknown>): Promise<number> => {
    const before = reads;
    await work;
    await node.clock.settle();
    return reads - before;
  };
  expect(await readsOf(node.backend.txn(put('a', 'a2'), nodeItself))).toBe(0);
  const events = groups.flatMap((group) => group.events);
  expect(events.map(({ prevKv }) => prevKv && plainKv(prevKv).value)).toEqual([undefined, 'a1']);
  expect(await readsOf(Promise.resolve(node.backend.range(get('b'), nodeItself)))).toBe(1);
  expect(await readsOf(Promise.resolve(node.backend.range(get('b'), nodeItself)))).toBe(0);
  expect(await readsOf(node.backend.txn(put('c', 'c2'), nodeItself))).toBe(0);
  // Of what is written now, `b` was read before, and `c` was not.
  for (const key of ['b', 'c']) await node.backend.txn(put(key, `${key}3`), nodeItself);
  for (let at = 0; at < 10; at += 1) await node.backend.txn(put(`other${at}`, 'y'.repeat(600)), nodeItself);
  expect(await readsOf(Promise.resolve(node.backend.range(get('b'), nodeItself)))).toBe(0);
  expect(await readsOf(Promise.resolve(node.backend.range(get('c'), nodeItself)))).toBe(1);
});

test('a snapshot that is read for ever holds a compaction up for a bounded time', async () => {
  const { backend, clock } = await openNode(new MemoryStorage(), { imageHoldMaxMs: 60_000 });
  for (let at = 0; at < 10; at += 1) await backend.txn(put('k', `v${at}`), nodeItself);
  const image = await backend.image(nodeItself.signal);
  await backend.compact(8, false, nodeItself);
  await clock.settle();
  expect(await image.read(0, 2, nodeItself.signal)).toHaveLength(2);
  expect(backend.replica.state.index.versions).toBe(10);
  clock.advance(60_000);
  await clock.settle();
  expect(backend.replica.state.index.versions).toBe(4);
  expect(await refusal(image.read(0, 2, nodeItself.signal))).toBe('Compacted');
  image[Symbol.dispose]();
  checkQuiet(backend);
});

test('what is read below a compaction is needed until its reader is done', async () => {
  const { backend, clock } = await openNode(new MemoryStorage());
  const { replica } = backend;
  for (let at = 0; at < 10; at += 1) await backend.txn(put('k', `v${at}`), nodeItself);
  const image = await backend.image(nodeItself.signal);
  await backend.txn(put('k', 'newer'), nodeItself);
  const before = replica.applied;
  expect(replica.needed).toBe(before);
  await backend.compact(replica.revision, false, nodeItself);
  await clock.settle();
  expect(replica.applied).toBeGreaterThan(before);
  expect(replica.needed).toBe(before);
  image[Symbol.dispose]();
  expect(replica.needed).toBe(replica.applied);
  checkQuiet(backend);
});

test('a write whose answer needs what is gone is not refused as Compacted: it is done', async () => {
  const storage = new Trimmable();
  const { backend, clock } = await openNode(new MemoryStorage(storage), { cacheBytesMax: 0 });
  await backend.txn(put('k', 'v1'), nodeItself);
  const before = backend.revision;
  storage.trimmed = true;
  expect(await refusal(backend.txn(txnOf(get('k'), putOf('other', 'x')), nodeItself))).toBe('Timeout');
  await clock.settle();
  expect(backend.revision).toBe(before + 1);
  expect(await refusal(Promise.resolve(backend.range(get('k'), nodeItself)))).toBe('Timeout');
  checkQuiet(backend);
});

test('a watcher of what is gone with a compaction that is yet to be applied is to come again', async () => {
  const storage = new Trimmable();
  const node = await openNode(new MemoryStorage(storage), { cacheBytesMax: 0 });
  for (let at = 0; at < 5; at += 1) await node.backend.txn(put('k', `v${at}`), nodeItself);
  storage.trimmed = true;
  const { failures } = watchAll(node, 3);
  await node.clock.settle();
  expect(failures.map((error) => isEngramError(error) && error.code)).toEqual(['Timeout']);
});

test('watchers that catch up steadily do not hold a compaction up', async () => {
  const read = new Gate('get-many');
  const node = await openNode(new MemoryStorage({ cold: true, gate: read.gate }), { cacheBytesMax: 0 });
  for (let at = 0; at < 20; at += 1) await node.backend.txn(put('k', `v${at}`), nodeItself);
  await node.backend.compact(10, false, nodeItself);
  await node.clock.settle();
  read.shut = true;
  watchAll(node, 10); // reads the event at the compact revision, and the versions that later events superseded
  await node.clock.settle();
  expect(node.backend.replica.pins.clearBelow(node.backend.compactRevision)).toBeUndefined();
  read.open();
});

test('a lease that is granted while the end of its predecessor is under way is not ended by it', async () => {
  const append = new Gate('append');
  const { backend, clock } = await openNode(new MemoryStorage(append));
  const id = leaseId(5n);
  await backend.leaseGrant(id, 2, nodeItself);
  append.shut = true;
  clock.advance(3000); // the lease has expired: the revoke leaves for the log, and its append waits
  await clock.settle();
  clock.advance(TIMEOUT_MS);
  await clock.settle();
  const granted = backend.leaseGrant(id, 1000, nodeItself);
  await clock.settle();
  const keptAlive = backend.leaseKeepAlive(id, nodeItself);
  clock.advance(2000); // the keeper tries again
  await clock.settle();
  append.open();
  await clock.settle();
  clock.advance(10); // after a slow append the next waits for more writers
  expect(await keptAlive).toBe(0);
  expect(await granted).toMatchObject({ grantedTtlSeconds: 1000 });
  await clock.settle();
  expect(await backend.leaseKeepAlive(id, nodeItself)).toBe(1000);
});

test('a keep-alive that waits for the end of its lease has its own time, whenever that end began', async () => {
  const append = new Gate('append');
  const { backend, clock } = await openNode(new MemoryStorage(append));
  const id = leaseId(5n);
  await backend.leaseGrant(id, 2, nodeItself);
  append.shut = true;
  clock.advance(3000); // the revoke leaves for the log, and its append waits
  await clock.settle();
  clock.advance(TIMEOUT_MS - 1000);
  let answer: unknown;
  const renewed = Promise.resolve(backend.leaseKeepAlive(id, nodeItself));
  renewed.then(
    (ttlSeconds) => (answer = ttlSeconds),
    (error: unknown) => (answer = error),
  );
  await clock.settle();
  clock.advance(2000); // the revoke ends with Timeout
  await clock.settle();
  expect(answer).toBeUndefined();
  append.open();
  await clock.settle();
  clock.advance(1000);
  await clock.settle();
  expect(answer).toBe(0);
});

test('requests behind an append without an answer are bounded, and none stays once it was answered Timeout', async () => {
  const append = new Gate('append');
  const { backend, clock } = await openNode(new MemoryStorage(append), { waitingBytesMax: 10_000 });
  const compare = {
    range: get('k').range,
    target: CompareTarget.MOD,
    result: CompareResult.EQUAL,
    number: 99,
  } as const;
  const stale: Txn = {
    compares: [{ ...compare, lease: leaseId(0n), value: EMPTY_BYTES }],
    success: [putOf('k', 'v')],
    failure: [get('k')],
  };
  append.shut = true;
  const stuck = refusal(backend.txn(put('k', 'v'), nodeItself));
  await clock.settle();
  const before = backend.leadership!.waitingBytes;
  const refusals = Array.from({ length: 30 }, () => refusal(backend.txn(stale, nodeItself)));
  await clock.settle();
  clock.advance(TIMEOUT_MS);
  await stuck;
  const counts = Object.groupBy(await Promise.all(refusals), (code) => code);
  expect(Object.keys(counts).toSorted()).toEqual(['Timeout', 'TooManyRequests']);
  expect(counts['Timeout']!.length).toBeLessThan(11);
  expect(backend.leadership!.waitingBytes).toBe(before);
  append.open();
  await clock.settle();
  expect((await backend.txn(stale, nodeItself)).succeeded).toBe(false);
});
