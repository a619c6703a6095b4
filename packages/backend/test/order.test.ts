import { type Caller, nodeItself, openReplica, type TxnResult } from '@engram/backend';
import { keyBytes, keyText, leaseId, type Op, prefixRange } from '@engram/core';
import { SimCopy, Prng, quiet, Scheduler, SharedLog, SharedLogStorage, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode, plainKv, watchAll } from './harness.ts';
import { checkQuiet, get, put, putOf, remove, txnOf } from './ops.ts';

const PUTS = 50;
const connection = (name: string): Caller => ({ ...nodeItself, client: name });
const deleteAll: Op = { kind: 'delete-range', range: prefixRange(keyBytes('k')), prevKv: false };

test.each([0, 1, 1000])(
  'a write of single keys is decided in the call that asks for it, in slices of %i steps as well',
  async (sliceSteps) => {
    const clock = new SimClock({ scheduler: new Scheduler() });
    const node = await clock.run(openNode(new MemoryStorage(), { clock, sliceSteps }));
    const { backend } = node;
    const before = backend.leadership!.assigned.revision;
    const kinds = [
      (at: number) => put('k', `${at}`),
      (at: number) => txnOf(putOf(`k${at}`, 'x'), get('k'), putOf('k', `${at}`, { prevKv: true })),
      () => remove('k'),
      (at: number) => ({ ...put('k', `${at}`), compares: [] }),
    ];
    const answers: Promise<TxnResult>[] = [];
    for (let at = 0; at < PUTS; at += 1) {
      answers.push(backend.txn(kinds[at % kinds.length]!(at), connection(`c${at % 3}`)));
      expect(backend.leadership!.assigned.revision, `after call ${at}`).toBe(before + at + 1);
    }
    const revisions = (await clock.run(Promise.all(answers))).map(({ revision }) => revision);
    expect(revisions).toEqual(Array.from({ length: PUTS }, (_, at) => before + at + 1));
    checkQuiet(backend);
  },
);

test.each([0, 3, 1000])(
  'puts of one connection keep their order, behind a long write of another as well, in slices of %i steps',
  async (sliceSteps) => {
    const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
    const node = await clock.run(openNode(new MemoryStorage(), { clock, sliceSteps }));
    const { backend } = node;
    const filled = Array.from({ length: 40 }, (_, at) => putOf(`k${at}`, 'x'));
    await clock.run(backend.txn(txnOf(...filled), nodeItself));
    const sink = watchAll(node, backend.revision + 1);
    const answers: Promise<TxnResult>[] = [];
    for (let at = 0; at < PUTS; at += 1) {
      if (at === 10 || at === 30) void backend.txn(txnOf(deleteAll), connection('greedy'));
      answers.push(backend.txn(put('order', `${at}`), connection('one')));
    }
    const revisions = (await clock.run(Promise.all(answers))).map(({ revision }) => revision);
    expect(revisions).toEqual(revisions.toSorted((left, right) => left - right));
    const values = sink.groups
      .flatMap(({ events }) => events)
      .filter(({ key }) => keyText(key) === 'order')
      .map(({ kv }) => plainKv(kv).value);
    expect(values).toEqual(Array.from({ length: PUTS }, (_, at) => `${at}`));
    checkQuiet(backend);
  },
);

test('a put that comes when its connection has others that wait follows them, also between two of their slices', async () => {
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const node = await clock.run(openNode(new MemoryStorage(), { clock, sliceSteps: 3 }));
  const { backend } = node;
  await clock.run(backend.txn(txnOf(...Array.from({ length: 40 }, (_, at) => putOf(`k${at}`, 'x'))), nodeItself));
  const long = backend.txn(txnOf(deleteAll), connection('greedy'));
  const answers = Array.from({ length: PUTS }, (_, at) => backend.txn(put('order', `${at}`), connection('one')));
  for (let turn = 0; turn < 2 * PUTS; turn += 1) {
    answers.push(backend.txn(put('order', 'late'), connection('one')));
    await clock.pass(1);
  }
  const revisions = (await clock.run(Promise.all(answers))).map(({ revision }) => revision);
  expect(revisions).toEqual(revisions.toSorted((left, right) => left - right));
  await long;
  checkQuiet(backend);
});

test('a write is answered when its watchers know of it, and never before', async () => {
  const node = await openNode(new MemoryStorage());
  const { backend } = node;
  const sink = watchAll(node, backend.revision + 1);
  for (let at = 0; at < 10; at += 1) {
    const { revision } = await backend.txn(put('k', `${at}`), nodeItself);
    expect(sink.groups.at(-1)?.revision).toBe(revision);
    expect(backend.revision).toBe(revision);
  }
});

test('a member that follows takes a write through the same stages: readers, watchers and the member that forwarded it know', async () => {
  const clock = new SimClock();
  const log = new SharedLog('log');
  const leader = await openNode(new SharedLogStorage(log, new SimCopy()), { clock });
  const fatal: Error[] = [];
  const follower = await openReplica({
    storage: new SharedLogStorage(log, new SimCopy()),
    clock,
    random: new Prng(7),
    logger: quiet,
    memberId: 2n,
    onFatal: (error) => fatal.push(error),
  });
  const { replica } = follower;
  const origins: unknown[] = [];
  replica.onForwarded = ({ origin }) => void origins.push(origin);
  const sinks = [watchAll(leader, 2), watchAll({ backend: follower, clock, fatal }, 2)] as const;
  await leader.backend.leaseGrant(leaseId(7n), 100, nodeItself);
  await leader.backend.txn(put('k', '1', { lease: leaseId(7n) }), {
    ...nodeItself,
    origin: { memberId: 2n, sequence: 5 },
  });
  await leader.backend.txn(put('k', '2'), nodeItself);
  await leader.backend.leaseRevoke(leaseId(7n), nodeItself);
  await leader.backend.txn(remove('k'), nodeItself);
  for (const batch of log.batchesFrom(replica.next)) await replica.follow(batch);
  await replica.whenApplied();
  const [ofLeader, ofFollower] = sinks.map(({ groups }) =>
    groups.map(({ revision, events }) => [
      revision,
      ...events.map(({ type, kv, prevKv }) => [type, plainKv(kv), prevKv && plainKv(prevKv)]),
    ]),
  );
  expect(ofLeader).toHaveLength(3);
  expect(ofFollower).toEqual(ofLeader);
  expect(origins).toEqual([{ memberId: 2n, sequence: 5 }]);
  expect(replica.revision).toBe(leader.backend.revision);
  expect(replica.state.lessor.size).toBe(0);
  expect(fatal).toEqual([]);
  checkQuiet(follower);
});
