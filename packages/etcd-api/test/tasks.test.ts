import { type Job, Loop, StepPace, type Task } from '@engram/loop';
import { etcdserverpb } from '@engram/wire';
import { expect, test } from 'vitest';
import { ALL, Api, b } from './api.ts';

class NotingLoop extends Loop {
  readonly tasks: Task[] = [];

  override run<Result>(task: Task, job: Job<Result>, signal?: AbortSignal): Result | Promise<Result> {
    this.tasks.push(task);
    return super.run(task, job, signal);
  }
}

test('lists are made and encoded in the part of the connection that asks, and named by its method', async () => {
  let loop: NotingLoop | undefined;
  await using api = await Api.open({
    loop: (clock) => {
      loop = new NotingLoop({ clock });
      return loop;
    },
  });
  await api.fill('a', 'b');
  await api.grant(60, 7n);
  const { tasks } = loop!;
  tasks.length = 0;
  await api.range(ALL);
  await api.timeToLive(7n, true);
  await api.call('/etcdserverpb.Lease/LeaseLeases', etcdserverpb.encodeLeaseLeasesRequest({}));
  const call = api.serverStream('/etcdserverpb.KV/RangeStream', etcdserverpb.encodeRangeRequest(ALL));
  while (call.status === undefined) await api.clock.settle();
  expect(tasks.length).toBeGreaterThan(4);
  for (const task of tasks) expect(task).toMatchObject({ work: 'client', caller: '127.0.0.1:1', method: '/test' });
  expect(new Set(tasks.map(({ stage }) => stage))).toEqual(new Set(['range', 'encode', 'leases']));
});

test('long keys of a lease are copied and encoded in slices by their bytes', async () => {
  const KEYS = 20;
  const KEY_BYTES = 64 * 1024;
  let loop: Loop | undefined;
  await using api = await Api.open({
    loop: (clock) => {
      loop = new Loop({ clock, pace: new StepPace(KEY_BYTES / 1024) });
      return loop;
    },
  });
  await api.grant(60, 7n);
  for (let at = 0; at < KEYS; at += 1) await api.put({ key: b(String(at).padStart(KEY_BYTES, 'k')), lease: 7n });
  const slices = (): number => loop!.usage.get('client')!.slices;
  const before = slices();
  expect((await api.timeToLive(7n, true)).keys).toHaveLength(KEYS);
  expect(slices() - before).toBeGreaterThanOrEqual(2 * KEYS);
});
