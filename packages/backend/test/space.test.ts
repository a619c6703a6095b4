import { ALARM_NOSPACE, nodeItself } from '@engram/backend';
import { leaseId } from '@engram/core';
import { MemoryStorage } from '@engram/storage';
import { afterEach, expect, test } from 'vitest';
import { type Node, openNode } from './harness.ts';
import { put, refusal, remove } from './ops.ts';

const QUOTA = 64 << 10;
let node: Node | undefined;
afterEach(async () => await node?.backend[Symbol.asyncDispose]());

const kilobyte = (text: string): string => text.padEnd(1024, '.');

test('what was compacted away is given back before a write is refused, however often', async () => {
  const storage = new MemoryStorage();
  node = await openNode(storage, { quotaBytes: QUOTA });
  const { backend } = node;
  for (let at = 0; at < 1000; at += 1) {
    expect(await refusal(backend.txn(put(`key ${at % 5}`, kilobyte(`${at}`)), nodeItself)), `put ${at}`).toBe(
      'accepted',
    );
    if (at % 20 === 19) await backend.compact(backend.revision - 5, false, nodeItself);
    expect(storage.values.size().totalBytes).toBeLessThan(QUOTA);
  }
  expect(backend.alarms()).toEqual([]);
});

test('where nothing can be given back, the write is refused, and only one try was made', async () => {
  let checkpoints = 0;
  const storage = new MemoryStorage({
    gate: (operation) => {
      if (operation === 'save-checkpoint') checkpoints += 1;
      return undefined;
    },
  });
  node = await openNode(storage, { quotaBytes: QUOTA });
  const { backend } = node;
  const answers: string[] = [];
  for (let at = 0; at < 100; at += 1) {
    answers.push(await refusal(backend.txn(put(`key ${at}`, kilobyte('')), nodeItself)));
  }
  const accepted = answers.filter((answer) => answer === 'accepted').length;
  expect(accepted).toBeGreaterThan(30);
  expect(answers.slice(accepted).every((answer) => answer === 'NoSpace')).toBe(true);
  expect(backend.alarms()).toEqual([{ memberId: 1n, alarm: ALARM_NOSPACE }]);
  expect(checkpoints).toBe(1);
});

test('a write that is refused for its bytes leaves the refusal for space to nobody, and ends no node', async () => {
  node = await openNode(new MemoryStorage(), { quotaBytes: QUOTA, waitingBytesMax: 3000 });
  const { backend } = node;
  const answers: string[] = [];
  for (let at = 0; at < 60; at += 1) {
    // The last one that fits is followed by a write that finds no room, and has more bytes than may wait.
    answers.push(await refusal(backend.txn(put('key', 'x'.repeat(at % 2 === 0 ? 2000 : 4000)), nodeItself)));
  }
  await node.clock.settle();
  expect(answers).toContain('TooManyRequests');
  expect(backend.alarms()).toEqual([{ memberId: 1n, alarm: ALARM_NOSPACE }]);
});

/** A node at its quota, whose compacted versions are given back when `open` is called. */
async function full(options: { requestTimeoutMs?: number; waitingBytesMax?: number } = {}): Promise<{
  node: Node;
  open: () => void;
}> {
  const gate = Promise.withResolvers<void>();
  const storage = new MemoryStorage({
    gate: (operation) => (operation === 'save-checkpoint' ? gate.promise : undefined),
  });
  const made = await openNode(storage, { quotaBytes: QUOTA, checkpointEveryBytes: 1 << 30, ...options });
  const { backend } = made;
  for (let at = 0; at < 50; at += 1) await backend.txn(put('key', kilobyte(`${at}`)), nodeItself);
  await backend.compact(backend.revision, false, nodeItself);
  for (let at = 0; storage.values.size().totalBytes + 1024 + 512 < QUOTA; at += 1) {
    await backend.txn(put('key', kilobyte(`${at}`)), nodeItself);
  }
  return { node: made, open: gate.resolve };
}

test('writes that wait for room keep their order, also those that need none', async () => {
  let open: () => void;
  ({ node, open } = await full());
  const { backend } = node;
  const answers = [
    backend.txn(put('a', kilobyte('1')), nodeItself),
    backend.txn(remove('a'), nodeItself),
    backend.txn(put('a', '2'), nodeItself),
    backend.leaseGrant(leaseId(5n), 10, nodeItself).then(() => ({ revision: 0 })),
    backend.txn(put('b', '3'), nodeItself),
  ];
  const before = backend.revision;
  await node.clock.settle();
  expect(backend.revision, 'all of them wait').toBe(before);
  open();
  const revisions = (await Promise.all(answers)).map(({ revision }) => revision - before);
  expect(revisions).toEqual([1, 2, 3, -before, 4]);
  expect(backend.alarms()).toEqual([]);
});

test('a write that waits for room for too long is answered Timeout, and raises no alarm', async () => {
  let open: () => void;
  ({ node, open } = await full({ requestTimeoutMs: 3000 }));
  const { backend, clock } = node;
  const answer = refusal(backend.txn(put('a', kilobyte('1')), nodeItself));
  await clock.settle();
  clock.advance(3000);
  expect(await answer).toBe('Timeout');
  expect(backend.alarms()).toEqual([]);
  open();
  await clock.settle();
  expect(await refusal(backend.txn(put('a', kilobyte('1')), nodeItself))).toBe('accepted');
});

test('a client that reads a snapshot slowly is cut for a write that waits for the room, and the write goes on', async () => {
  const storage = new MemoryStorage();
  node = await openNode(storage, { quotaBytes: QUOTA, requestTimeoutMs: 4000 });
  const { backend, clock } = node;
  for (let at = 0; at < 20; at += 1) await backend.txn(put('key', kilobyte(`${at}`)), nodeItself);
  using image = await backend.image(new AbortController().signal);
  const read = (at: number) => refusal(image.read(at, at + 1, new AbortController().signal));
  // What the snapshot shows is garbage, and fills most of the space.
  await backend.compact(backend.revision, false, nodeItself);
  clock.advance(60_000);
  await clock.settle();
  while (storage.values.size().totalBytes + 1024 + 512 < QUOTA) {
    await backend.txn(put(`k${backend.revision}`, kilobyte('')), nodeItself);
  }
  expect(await read(0), 'nothing waits for the room').toBe('accepted');
  const answers = [1, 2, 3].map((at) => refusal(backend.txn(put(`a${at}`, kilobyte('')), nodeItself)));
  clock.advance(990);
  await clock.settle();
  expect(await read(1), 'a backup that is nearly done may end').toBe('accepted');
  clock.advance(60);
  await clock.settle();
  expect(await read(2)).toBe('Compacted');
  clock.advance(100);
  await clock.settle();
  expect(await Promise.all(answers)).toEqual(['accepted', 'accepted', 'accepted']);
  expect(backend.alarms()).toEqual([]);
  expect(backend.replica.pins.size).toBe(0);
});

test('what waits for room is counted with what waits for the log', async () => {
  let open: () => void;
  ({ node, open } = await full({ waitingBytesMax: 8000 }));
  const { backend } = node;
  const answers = Array.from({ length: 20 }, () => refusal(backend.txn(put('a', kilobyte('1')), nodeItself)));
  await node.clock.settle();
  open();
  const told = await Promise.all(answers);
  expect(told.filter((answer) => answer === 'accepted').length).toBeGreaterThan(2);
  expect(told.filter((answer) => answer === 'TooManyRequests').length).toBeGreaterThan(2);
  expect(backend.leadership?.waitingBytes).toBe(0);
});

test('a write that waits for room when the leadership ends fails with LeaderChanged', async () => {
  let open: () => void;
  ({ node, open } = await full());
  const { backend } = node;
  const answer = refusal(backend.txn(put('a', kilobyte('1')), nodeItself));
  await node.clock.settle();
  await backend.stepDown();
  expect(await answer).toBe('LeaderChanged');
  open();
});
