import { nodeItself } from '@engram/backend';
import { decodeKeyValue } from '@engram/coder';
import { keyText, revision } from '@engram/core';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode, plainKv, watchAll } from './harness.ts';
import { checkQuiet, Gate, get, put, putOf, refusal, remove, txnOf } from './ops.ts';

const name = (at: number): string => `k${String(at).padStart(5, '0')}`;

test('changes that a checkpoint has of some keys and not of others compact in the order of revisions after a restart', async () => {
  const storage = new MemoryStorage();
  const node = await openNode(storage);
  const { backend, clock } = node;
  for (let from = 0; from < 3000; from += 100) {
    await backend.txn(txnOf(...Array.from({ length: 100 }, (_, at) => putOf(name(from + at), 'v'))), nodeItself);
  }
  // When the first keys change, the checkpoint's walk has passed them. It has not reached the last key yet.
  const saving = backend.compact(2, true, nodeItself);
  while (!backend.replica.checkpointing) await clock.settle(1);
  await clock.settle(1);
  const writes = await Promise.all([
    backend.txn(remove(name(5)), nodeItself),
    backend.txn(put('other', 'x'), nodeItself),
    backend.txn(put(name(5), 'again'), nodeItself),
    backend.txn(put(name(2999), 'late'), nodeItself),
  ]);
  await saving;
  const [, other, again] = writes.map((write) => write.revision);
  storage.crash();

  const second = await openNode(storage.reopen(), { epoch: 2 });
  expect(second.backend.revision).toBe(backend.revision);
  checkQuiet(second.backend);
  expect(await refusal(second.backend.compact(other!, true, nodeItself))).toBe('accepted');
  checkQuiet(second.backend);
  const { count } = await second.backend.range(get(name(5), { revision: other! }), nodeItself);
  expect(count, 'deleted before').toBe(0);
  const sink = watchAll(second, again!, get(name(5)).range);
  await second.clock.settle();
  expect(sink.groups.flatMap(({ events }) => events.map(({ kv, prevKv }) => [plainKv(kv).value, prevKv]))).toEqual([
    ['again', undefined],
  ]);
  expect(second.fatal).toEqual([]);
});

test('a checkpoint has nothing of a write that is under way, and what it has comes again without harm', async () => {
  let appends = 0;
  const gates: (() => void)[] = [];
  const storage = new MemoryStorage({
    gate: (operation) => {
      if (operation === 'append') appends += 1;
      return operation === 'append' && appends > 2 ? new Promise((resolve) => gates.push(resolve)) : undefined;
    },
  });
  const { backend, clock } = await openNode(storage);
  await backend.txn(put('a', '1'), nodeItself);
  await backend.txn(put('b', '1'), nodeItself);
  const under = refusal(backend.txn(put('a', '2'), nodeItself)); // never durable
  await clock.settle();
  await backend.defragment();
  storage.crash();
  void under.catch(() => undefined);
  const again = await openNode(storage.reopen(), { epoch: 2 });
  checkQuiet(again.backend);
  const { kvs } = await again.backend.range(get('a'), nodeItself);
  expect([...kvs].map((kv) => keyText(decodeKeyValue(kv).value))).toEqual(['1']);
  expect(again.backend.revision).toBe(revision(3));
  expect(await again.backend.txn(put('a', '3'), nodeItself)).toMatchObject({ revision: 4 });
});

test('a checkpoint names the garbage that storage is being told of: a crash then leaves none of it for ever', async () => {
  const drop = new Gate('drop');
  const storage = new MemoryStorage(drop);
  const { backend, clock } = await openNode(storage, { checkpointEveryBytes: 1 });
  for (let at = 0; at < 5; at += 1) await backend.txn(put('k', `v${at}`), nodeItself);
  await backend.defragment(); // records before a checkpoint may be dropped
  drop.shut = true;
  await backend.compact(6, false, nodeItself);
  await clock.settle(); // the versions have left the index, and storage is being told to drop them
  expect(backend.replica.state.index.versions).toBe(1);
  const before = storage.disk.checkpoint;
  await backend.txn(put('other', 'x'), nodeItself);
  await clock.settle();
  expect(storage.disk.checkpoint, 'a checkpoint was saved').not.toBe(before);
  storage.crash();

  const second = await openNode(storage.reopen(), { epoch: 2 });
  await second.backend.compact(7, true, nodeItself);
  expect([1, 2, 3, 4, 5].filter((position) => storage.disk.has(position))).toEqual([5]);
});

test('revisions may begin elsewhere: what lies below counts as compacted, also behind a checkpoint', async () => {
  const first = revision(1_764_000_000_000_000);
  const storage = new MemoryStorage();
  const { backend, clock } = await openNode(storage, { firstRevision: first });
  expect([backend.revision, backend.compactRevision]).toEqual([first, first]);
  expect(await refusal((async () => backend.range(get('a', { revision: first - 1 }), nodeItself))())).toBe('Compacted');
  expect(await refusal(backend.compact(revision(first), false, nodeItself))).toBe('Compacted');
  expect((await backend.range(get('a'), nodeItself)).revision).toBe(first);

  const written = await backend.txn(put('a', '1'), nodeItself);
  expect(written.revision).toBe(first + 1);
  await backend.txn(put('a', '2'), nodeItself);
  const sink = watchAll({ backend, clock, fatal: [] }, revision(first + 1), get('a').range);
  await clock.settle();
  expect(sink.groups.flatMap(({ events }) => events.map(({ kv }) => plainKv(kv).mod))).toEqual([first + 1, first + 2]);
  const stale = watchAll({ backend, clock, fatal: [] }, revision(7), get('a').range);
  await clock.settle();
  expect(stale.compactions).toEqual([first]);
  storage.crash();

  const second = await openNode(storage.reopen(), { epoch: 2, firstRevision: first });
  expect([second.backend.revision, second.backend.compactRevision]).toEqual([first + 2, first]);
  expect(await refusal(second.backend.compact(revision(first + 1), true, nodeItself))).toBe('accepted');
  await second.backend[Symbol.asyncDispose]();
  const third = await openNode(storage.reopen(), { epoch: 3, firstRevision: first });
  expect([third.backend.revision, third.backend.compactRevision]).toEqual([first + 2, first + 1]);
  const { kvs } = await third.backend.range(get('a'), nodeItself);
  expect([...kvs].map(plainKv)).toEqual([
    { key: 'a', mod: first + 2, create: first + 1, version: 2, value: '2', lease: 0n },
  ]);
});
