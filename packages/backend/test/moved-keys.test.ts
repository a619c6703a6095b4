import { nodeItself } from '@engram/backend';
import { keyBytes, leaseId, prefixRange } from '@engram/core';
import { Scheduler, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode } from './harness.ts';
import { checkQuiet, Gate, putOf, txnOf } from './ops.ts';

/* A durable write moves its keys between leases before it takes effect, in slices. */

const KEYS = 2000;
const SLICE_STEPS = 80;

test('a durable write of very many keys gives way while it moves them between leases', async () => {
  const append = new Gate('append');
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const node = await clock.run(openNode(new MemoryStorage(append), { clock, sliceSteps: SLICE_STEPS }));
  const { backend } = node;
  await clock.run(backend.leaseGrant(leaseId(8n), 1000, nodeItself));
  const puts = Array.from({ length: KEYS }, (_, at) => putOf(`k${at}`, 'x', { lease: leaseId(8n) }));
  await clock.run(backend.txn(txnOf(...puts), nodeItself));
  const before = backend.revision;
  append.shut = true;
  const deleting = backend.txn(
    txnOf({ kind: 'delete-range', range: prefixRange(keyBytes('k')), prevKv: false }),
    nodeItself,
  );
  while (backend.leadership!.assigned.revision === before) await clock.pass(1);
  append.open();
  let waited = 0;
  for (; backend.revision === before; waited += 1) await clock.pass(1);
  // What settles the write before takes a slice for so many keys too.
  expect(waited).toBeGreaterThan(1.75 * (KEYS / SLICE_STEPS));
  await clock.run(deleting);
  expect(await clock.run(backend.leaseTimeToLive(leaseId(8n), true, nodeItself))).toMatchObject({ keys: [] });
  checkQuiet(backend);
});
