import { nodeItself } from '@engram/backend';
import { leaseId, putOp, rangeOp, utf8 } from '@engram/core';
import { type Job, Loop, StepPace, type Task } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { MemoryStorage, noImageBase } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode } from './harness.ts';

/* For whom work is done, and how urgent it is. */

const ALL = { key: utf8('k'), end: utf8('l') };
const never = new AbortController().signal;

/** Notes the tasks. Each slice has one step. */
class NotingLoop extends Loop {
  tasks: Task[] = [];

  constructor(clock: SimClock) {
    super({ clock, pace: new StepPace(1) });
  }

  override run<Result>(task: Task, job: Job<Result>, signal?: AbortSignal): Result | Promise<Result> {
    this.tasks.push(task);
    return super.run(task, job, signal);
  }

  override later(task: Task, resume: () => void): void {
    this.tasks.push(task);
    super.later(task, resume);
  }
}

async function filled() {
  const clock = new SimClock();
  const loop = new NotingLoop(clock);
  const node = await openNode(new MemoryStorage(), { clock, loop });
  for (let at = 0; at < 20; at += 1) {
    const success = [putOp(utf8(`k${at % 10}`), utf8('v'))];
    await node.backend.txn({ compares: [], success, failure: [] }, nodeItself);
  }
  loop.tasks = [];
  return { loop, backend: node.backend };
}

test('a list, a paged list and a streamed one are in the part of their connection, and named by their method', async () => {
  const { loop, backend } = await filled();
  await using _backend = backend;
  const client = {};
  const caller = { ...nodeItself, client, method: '/KV/Range' };
  await backend.range(rangeOp(ALL), caller);
  const paged = await backend.range(rangeOp(ALL), caller, 'pages');
  if (paged.kind === 'paged-range') paged.kvs[Symbol.dispose]();
  let chunks = 0;
  for await (const { count } of backend.rangeStream(rangeOp(ALL), 100, caller)) chunks += count;
  expect(chunks).toBeGreaterThan(0);
  expect(loop.tasks.length).toBeGreaterThan(3);
  for (const task of loop.tasks) {
    expect(task).toEqual({ work: 'client', caller: client, stage: 'range', method: '/KV/Range' });
    expect(task.caller).toBe(client);
  }
});

test('lists of leases are in the part of their connection; what a snapshot has of them is not', async () => {
  const { loop, backend } = await filled();
  await using _backend = backend;
  await backend.leaseGrant(leaseId(7n), 60, nodeItself);
  const success = [putOp(utf8('k'), utf8('v'), { lease: leaseId(7n) })];
  await backend.txn({ compares: [], success, failure: [] }, nodeItself);
  const caller = { ...nodeItself, client: 'a' };
  loop.tasks = [];
  await backend.leases('by-remaining', caller);
  await backend.replica.leaseKeys(leaseId(7n), caller);
  await backend.leases('by-id', caller);
  expect(loop.tasks).toEqual([
    { work: 'client', caller: 'a', stage: 'leases' },
    { work: 'client', caller: 'a', stage: 'leases' },
    { work: 'background', caller: 'images', stage: 'leases' },
  ]);
});

test('what walks over all keys is in the background', async () => {
  const { loop, backend } = await filled();
  await using _backend = backend;
  await backend.hashKv(0, never);
  (await backend.image(never))[Symbol.dispose]();
  const image = backend.replica.sharedImage({ pageBytes: 100, pace: async () => {}, signal: never });
  let parts = 0;
  for await (const { kind } of image.parts(noImageBase)) parts += kind.length;
  expect(parts).toBeGreaterThan(0);
  await backend.compact(15, true, nodeItself);
  const stages = new Map(loop.tasks.map(({ stage, work }) => [stage, work]));
  for (const stage of ['hash', 'image', 'share', 'compact', 'checkpoint']) {
    expect(stages.get(stage), stage).toBe('background');
  }
});
