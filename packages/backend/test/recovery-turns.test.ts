import { nodeItself } from '@engram/backend';
import { keyBytes, leaseId, logPosition, type Op, prefixRange, revision } from '@engram/core';
import { KeyIndex } from '@engram/index';
import { Lessor } from '@engram/lease';
import { type Job, Loop, StepPace, type Task } from '@engram/loop';
import { quiet, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { ReplicatedState } from '../src/apply/replicated-state.ts';
import { type Recovered, recover } from '../src/replica/recovery.ts';
import { openNode } from './harness.ts';
import { picture } from './picture.ts';
import { putOf, txnOf } from './ops.ts';

const KEYS = 2000;
const SLICE_STEPS = 100;
const LEASE = leaseId(7n);
const HEALTH: Task = { work: 'client', caller: 'a probe', stage: 'health' };

const putAll = (prefix: string): Op[] =>
  Array.from({ length: KEYS }, (_, at) => putOf(`${prefix}${at}`, 'v', { lease: LEASE }));

/** A store that has a checkpoint with many keys and garbage, and behind it one batch with as many changes and one that deletes them. */
async function written(): Promise<MemoryStorage> {
  const storage = new MemoryStorage();
  const { backend } = await openNode(storage, { txnChangesMax: KEYS });
  await backend.leaseGrant(LEASE, 1000, nodeItself);
  await backend.txn(txnOf(...putAll('a')), nodeItself);
  await backend.replica.freeCompacted();
  await backend.txn(txnOf(...putAll('b')), nodeItself);
  await backend.txn(txnOf({ kind: 'delete-range', range: prefixRange(keyBytes('b1')), prevKv: false }), nodeItself);
  return storage;
}

/** Recovers beside a job that always has work, in slices of so many steps. Counts the slices that the other job has meanwhile. */
async function recovered(storage: MemoryStorage, steps: number): Promise<{ found: Recovered; others: number }> {
  const clock = new SimClock();
  const loop = new Loop({ clock, pace: new StepPace(steps) });
  const over = new AbortController();
  let others = 0;
  function* other(): Job<void> {
    for (; !over.signal.aborted; others += 1) yield;
  }
  const running = loop.run(HEALTH, other());
  const { signal } = nodeItself;
  const found = await recover(storage, { minLeaseTtlSeconds: 2, clock, loop, logger: quiet, signal });
  const seen = others;
  over.abort();
  await running;
  return { found, others: seen };
}

test('a recovery gives way in a checkpoint, in a long batch, and as it attaches keys, and leads to the same state', async () => {
  const storage = await written();
  const whole = await recovered(storage, Number.POSITIVE_INFINITY);
  const cut = await recovered(storage, SLICE_STEPS);
  cut.found.applier.state.index.verify();
  expect(picture(cut.found.applier.state)).toEqual(picture(whole.found.applier.state));
  expect(cut.found.applier.next).toBe(whole.found.applier.next);
  expect(cut.found.replayedBytes).toBe(whole.found.replayedBytes);
  expect(cut.found.applier.state.lessor.keys(LEASE).length).toBeGreaterThan(KEYS / 2);
  // The checkpoint and the first batch have KEYS each, the second batch half of them, and the lease more than KEYS.
  const parts = KEYS + KEYS + KEYS / 2 + 1.5 * KEYS;
  expect(cut.others - whole.others, 'slices of others').toBeGreaterThan((0.95 * parts) / SLICE_STEPS);
});

test('a recovery of which each step gives way leads to the same state', async () => {
  const storage = await written();
  const whole = await recovered(storage, Number.POSITIVE_INFINITY);
  const { found } = await recovered(storage, 0);
  expect(picture(found.applier.state)).toEqual(picture(whole.found.applier.state));
});

test('the keys of a lease are attached in slices', () => {
  const loader = KeyIndex.loader({});
  for (let at = 0; at < KEYS; at += 1) {
    loader.add(keyBytes(`k${String(at).padStart(6, '0')}`), {
      createRevision: revision(at + 2),
      modRevision: revision(at + 2),
      sub: 0,
      version: 1,
      lease: LEASE,
      tombstone: false,
      position: logPosition(at + 1),
      bytes: 10,
    });
  }
  const lessor = new Lessor({ minTtlSeconds: 2 });
  lessor.grant(LEASE, 1000, 0);
  const state = new ReplicatedState(loader.finish(), lessor, new SimClock());
  const pace = new StepPace(SLICE_STEPS);
  let slices = 0;
  pace.begin();
  for (const _ of state.attachKeys(pace)) {
    slices += 1;
    pace.begin();
  }
  expect(slices).toBeGreaterThanOrEqual(KEYS / SLICE_STEPS - 1);
  expect(lessor.keys(LEASE)).toHaveLength(KEYS);
});
