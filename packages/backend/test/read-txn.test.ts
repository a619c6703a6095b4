import { nodeItself } from '@engram/backend';
import { EMPTY_BYTES, leaseId } from '@engram/core';
import { Scheduler, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode, plainKv } from './harness.ts';
import { checkQuiet, everything, get, put, putOf, txnOf } from './ops.ts';

test('a long transaction that only reads is of one state: what is compacted meanwhile it still reads', async () => {
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const node = await clock.run(openNode(new MemoryStorage(), { clock, sliceSteps: 20, cacheBytesMax: 0 }));
  const { backend } = node;
  const puts = Array.from({ length: 4000 }, (_, at) => putOf(`k${at}`, 'x'));
  const { revision: old } = await clock.run(backend.txn(txnOf(...puts), nodeItself));
  await clock.run(backend.txn(put('k7', 'new'), nodeItself));
  const compares = [
    { range: everything().range, result: 1, target: 2, number: 0, lease: leaseId(0n), value: EMPTY_BYTES },
  ];
  const reading = backend.txn({ ...txnOf(get('k7', { revision: old }), get('k7')), compares }, nodeItself);
  await clock.pass(2);
  await clock.run(backend.txn(put('k7', 'newer'), nodeItself));
  await clock.run(backend.compact(backend.revision, false, nodeItself));
  expect(backend.compactRevision).toBe(old + 2);
  const { succeeded, responses, revision } = await clock.run(reading);
  expect([succeeded, revision]).toEqual([true, old + 1]);
  const values = responses.map((one) =>
    one.kind === 'range' ? [...one.kvs].map((kv) => plainKv(kv).value) : one.kind,
  );
  expect(values).toEqual([['x'], ['new']]);
  await clock.pass(100);
  expect(node.fatal).toEqual([]);
  checkQuiet(backend);
});
