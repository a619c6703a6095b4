import { nodeItself, openReplica } from '@engram/backend';
import { type EndedWrite, leaseId } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { SimCopy, Prng, quiet, Scheduler, SharedLog, SharedLogStorage, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode, plainKv, type RecordingSink, watchAll } from './harness.ts';
import { checkQuiet, Gate, put, putOf, remove, txnOf } from './ops.ts';
import { picture } from './picture.ts';

const WATCHERS = 300;

test('the time that watchers take is that of a stage of its own, and the answer and the next write follow it', async () => {
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const ended: { readonly write: EndedWrite; readonly groups: number; readonly revision: number }[] = [];
  const sinks: RecordingSink[] = [];
  const observer = {
    write: (write: EndedWrite) => {
      const groups = Math.min(...sinks.map((sink) => sink.groups.length));
      ended.push({ write: { ...write, stage: write.stage }, groups, revision: node.backend.revision });
    },
  };
  // With its changes the first write is appended alone.
  const loop = new Loop({ clock, pace: new StepPace(40) });
  const node = await clock.run(openNode(new MemoryStorage(), { clock, loop, sliceSteps: 8, observer }));
  const { backend } = node;
  for (let watcher = 0; watcher < WATCHERS; watcher += 1) sinks.push(watchAll(node, 2));
  const puts = Array.from({ length: 30 }, (_, at) => putOf(`k${at}`, 'x'));
  await clock.run(Promise.all([backend.txn(txnOf(...puts), nodeItself), backend.txn(put('next', 'x'), nodeItself)]));
  for (const { write } of ended) {
    expect(write.stage).toBe('answered');
    expect(write.appliedUs).toBeLessThan(write.publishedUs);
    expect(write.publishedUs).toBeLessThanOrEqual(write.endedUs);
  }
  expect(ended.map(({ write: { puts: count }, groups, revision }) => [count, groups, revision])).toEqual([
    [30, 1, 2],
    [1, 2, 3],
  ]);
  expect(node.fatal).toEqual([]);
  checkQuiet(backend);
});

test('a write that no watcher waits for is published when it is applied', async () => {
  const ended: EndedWrite[] = [];
  const observer = { write: (write: EndedWrite) => void ended.push({ ...write, stage: write.stage }) };
  const { backend } = await openNode(new MemoryStorage(), { observer });
  await backend.txn(put('k', 'x'), nodeItself);
  await backend.leaseGrant(leaseId(7n), 100, nodeItself);
  expect(ended).toHaveLength(2);
  for (const { appliedUs, publishedUs } of ended) expect(publishedUs).toBe(appliedUs);
  // It rests on the others, and has nothing to publish.
  await backend.txn(remove('nothing'), nodeItself);
  expect(ended.at(-1)).toMatchObject({ stage: 'answered', publishedUs: -1 });
});

test('a batch that waits for a superseded version is applied and published when that is there, and later ones behind it', async () => {
  const read = new Gate('get-many');
  let reads = 0;
  const gate = (operation: string): Promise<void> | undefined => {
    if (operation === 'get-many') reads += 1;
    return read.gate(operation);
  };
  const node = await openNode(new MemoryStorage({ cold: true, gate }), { cacheBytesMax: 0 });
  const { backend, clock } = node;
  await backend.txn(put('k', 'old'), nodeItself);
  for (let at = 0; at < 4; at += 1) await backend.txn(put(`other${at}`, 'x'.repeat(600)), nodeItself);
  const before = backend.revision;
  const sink = watchAll(node, before + 1);
  reads = 0;
  read.shut = true;
  const answered: string[] = [];
  const late = backend.txn(put('k', 'new'), nodeItself).then(() => void answered.push('late'));
  await clock.settle();
  const behind = backend.txn(put('fresh', 'x'), nodeItself).then(() => void answered.push('behind'));
  await clock.settle();
  expect(backend.revision, 'both are durable, and neither is in effect').toBe(before);
  expect([backend.leadership!.assigned.revision, answered]).toEqual([before + 2, []]);
  read.open();
  await Promise.all([late, behind]);
  expect(answered).toEqual(['late', 'behind']);
  expect(reads, 'begun with the append, and awaited behind it').toBe(1);
  const events = sink.groups.flatMap((group) => group.events);
  expect(events.map(({ kv, prevKv }) => [plainKv(kv).value, prevKv && plainKv(prevKv).value])).toEqual([
    ['new', 'old'],
    ['x', undefined],
  ]);
  expect(node.fatal).toEqual([]);
  checkQuiet(backend);
});

test('a start and a member that follows come to the state of the leader by the same stage', async () => {
  const clock = new SimClock();
  const log = new SharedLog('log');
  const leader = await openNode(new SharedLogStorage(log, new SimCopy()), { clock });
  const fatal: Error[] = [];
  const open = () =>
    openReplica({
      storage: new SharedLogStorage(log, new SimCopy()),
      clock,
      random: new Prng(7),
      logger: quiet,
      memberId: 2n,
      onFatal: (error) => fatal.push(error),
    });
  const follower = await open();
  const { backend } = leader;
  for (const id of [7n, 8n]) await backend.leaseGrant(leaseId(id), 100, nodeItself);
  for (const at of [1, 2, 3]) await backend.txn(put('k', `${at}`, { lease: leaseId(7n) }), nodeItself);
  await backend.txn(put('other', 'x', { lease: leaseId(8n) }), nodeItself);
  await backend.leaseRevoke(leaseId(8n), nodeItself);
  await backend.compact(backend.revision, true, nodeItself);
  await backend.activateAlarm({ memberId: 1n, alarm: 2 }, nodeItself);
  for (const batch of log.batchesFrom(follower.replica.next)) await follower.replica.follow(batch);
  await follower.replica.whenApplied();
  const started = await open();
  await clock.settle();
  for (const { replica } of [follower, started]) {
    expect(picture(replica.state)).toEqual(picture(backend.replica.state));
    expect(replica.applied).toBe(backend.replica.applied);
    expect(replica.hub.revision).toBe(backend.revision);
  }
  expect(fatal).toEqual([]);
});
