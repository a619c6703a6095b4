import { SharedBudget } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { AbuseBudget } from '../src/h2/abuse-budget.ts';
import { Admission, type Admissible } from '../src/h2/admission.ts';
import {
  CONNECTION_WINDOW_BYTES,
  LONG_MESSAGES_BYTES,
  RUNNING_MAX_BYTES,
  SEND_QUEUE_MAX_BYTES,
  STREAM_WINDOW_BYTES,
} from '../src/h2/limits.ts';
import { ReceiveFlow } from '../src/h2/receive-flow.ts';
import { Stream } from '../src/h2/stream.ts';
import { StreamTable } from '../src/h2/stream-table.ts';

class TestStream extends Stream {
  full = false;
  contentLength = -1;
  constructor(id = 1) {
    super(id, 0);
  }
  override get congested(): boolean {
    return this.full;
  }
  data(_bytes: Buffer, _start: number, end: number): number {
    return end;
  }
  halfClosed(): void {}
  writeEnd(): void {}
  aborted(): void {}
}

const share = (max = 2 ** 40) => new SharedBudget({ max, greed: 1, floor: 0 }).share();

function flowWithUpdates(): { flow: ReceiveFlow; updates: string[] } {
  const updates: string[] = [];
  return { flow: new ReceiveFlow(1_000_000, share(), (id, bytes) => updates.push(`${id}+${bytes}`)), updates };
}

test('windows are opened again when half is used, and not before', () => {
  const { flow, updates } = flowWithUpdates();
  const stream = new TestStream();
  const half = STREAM_WINDOW_BYTES / 2;
  flow.streamReceived(stream, half - 1);
  flow.creditStream(stream);
  expect(updates).toEqual([]);
  flow.streamReceived(stream, 1);
  flow.creditStream(stream);
  flow.received(CONNECTION_WINDOW_BYTES / 2 - 1);
  flow.credit();
  flow.received(1);
  flow.credit();
  expect(updates).toEqual([`1+${half}`, `0+${CONNECTION_WINDOW_BYTES / 2}`]);
});

test('a stream whose client takes no answers, or that has ended, gets no new window', () => {
  const { flow, updates } = flowWithUpdates();
  const [full, ended] = [new TestStream(1), new TestStream(3)];
  full.full = true;
  ended.remoteClosed = true;
  for (const stream of [full, ended]) {
    flow.streamReceived(stream, STREAM_WINDOW_BYTES);
    flow.creditStream(stream);
  }
  expect(updates).toEqual([]);
});

test('who sends more than his window is told so', () => {
  const { flow } = flowWithUpdates();
  const stream = new TestStream();
  expect(flow.streamReceived(stream, STREAM_WINDOW_BYTES)).toBe(true);
  expect(flow.streamReceived(stream, 1)).toBe(false);
  expect(flow.received(CONNECTION_WINDOW_BYTES)).toBe(true);
  expect(flow.received(1)).toBe(false);
});

test('long messages come in one after another, the first however long it is', () => {
  const { flow, updates } = flowWithUpdates();
  const [first, second, third] = [new TestStream(1), new TestStream(3), new TestStream(5)];
  const begin = (stream: TestStream, missing: number): void => {
    stream.missingBytes = missing;
    flow.creditStream(stream);
  };
  begin(first, LONG_MESSAGES_BYTES + 10);
  begin(second, 300_000);
  begin(third, 300_000);
  expect(updates).toEqual([`1+${LONG_MESSAGES_BYTES + 10 - STREAM_WINDOW_BYTES}`]);
  flow.longDone(second); // cancelled while it waited
  flow.longDone(first);
  expect(updates.slice(1)).toEqual([`5+${300_000 - STREAM_WINDOW_BYTES}`]);
});

test('a message that fits the window, but not what is left of it, gets the window whole', () => {
  const { flow, updates } = flowWithUpdates();
  const stream = new TestStream();
  flow.streamReceived(stream, 100_000);
  stream.missingBytes = STREAM_WINDOW_BYTES - 50_000;
  flow.creditStream(stream);
  expect(updates).toEqual(['1+100000']);
  expect(stream.longTurn).toBeUndefined();
});

interface Call extends Admissible {
  finished: boolean;
}

function admission(loop = new Loop({ clock: new SimClock(), pace: new StepPace(1_000_000) })): {
  admit(call: string, finished?: boolean): Call;
  started: string[];
  queue: Admission;
  backlog(bytes: number): void;
  emptied(): number;
} {
  const started: string[] = [];
  let backlog = 0;
  let emptied = 0;
  const queue = new Admission(
    2,
    {
      get heldBytes() {
        return backlog;
      },
    },
    share(),
    loop,
    {},
    {
      noneWait: () => {
        emptied += 1;
      },
      fault: (error) => {
        throw error;
      },
    },
  );
  return {
    started,
    queue,
    backlog: (bytes) => {
      backlog = bytes;
    },
    emptied: () => emptied,
    admit(name, finished = false) {
      const call = { finished, start: () => void started.push(name), stays: () => {} };
      queue.admit(call);
      return call;
    },
  };
}

test('calls start in order, as many as may run, and cancelled ones not at all', () => {
  const { admit, started, queue, emptied } = admission();
  for (const name of ['a', 'b']) {
    admit(name);
    queue.entered(1);
  }
  admit('c');
  const cancelled = admit('d');
  admit('e');
  cancelled.finished = true;
  expect(started).toEqual(['a', 'b']);
  expect(queue.someWait).toBe(true);
  queue.left(1);
  expect(started).toEqual(['a', 'b', 'c', 'e']); // c ended at once, so e may start
  expect(emptied()).toBe(1);
});

test('no call that waits starts once the connection has ended', () => {
  const { admit, started, queue, backlog, emptied } = admission();
  backlog(SEND_QUEUE_MAX_BYTES);
  for (const name of ['a', 'b']) admit(name);
  queue.end();
  expect(queue.someWait).toBe(false);
  backlog(0);
  queue.advance();
  admit('c');
  expect(started).toEqual([]);
  expect(emptied(), 'the end is not told as room').toBe(0);
});

test('calls that are cancelled while they wait leave the line', () => {
  const { queue, backlog } = admission();
  backlog(SEND_QUEUE_MAX_BYTES);
  let looks = 0;
  const cancelled: Admissible = {
    get finished() {
      looks += 1;
      return true;
    },
    start() {},
    stays() {},
  };
  const calls = 10_000;
  for (let call = 0; call < calls; call += 1) queue.admit(cancelled);
  // Each is looked at once, as it leaves, but for the last ones. If they stayed, each call would look at all before it.
  expect(looks).toBeGreaterThan(calls - 10);
  expect(looks).toBeLessThanOrEqual(calls);
});

test('calls that waited start in slices of the loop, in order, and connections take turns', async () => {
  const loop = new Loop({ clock: new SimClock(), pace: new StepPace(0) });
  const [greedy, modest] = [admission(loop), admission(loop)];
  for (const { backlog } of [greedy, modest]) backlog(SEND_QUEUE_MAX_BYTES);
  for (let call = 0; call < 100; call += 1) greedy.admit(String(call));
  modest.admit('a');
  for (const { backlog } of [greedy, modest]) backlog(0);
  greedy.queue.advance();
  modest.queue.advance();
  expect([greedy.started, modest.started]).toEqual([['0'], ['a']]);
  expect(greedy.queue.someWait).toBe(true);
  greedy.admit('last'); // behind those that wait for a slice
  greedy.queue.advance(); // asks for no second job
  await new Promise((resolve) => setImmediate(resolve));
  expect(greedy.started.length).toBeLessThan(5);
  while (greedy.queue.someWait) await new Promise((resolve) => setImmediate(resolve));
  expect(greedy.started).toEqual([...Array.from({ length: 100 }, (_, call) => String(call)), 'last']);
  expect(greedy.emptied()).toBe(1);
});

test('a call that waits for its slice does not start once too much waits to be sent', async () => {
  const loop = new Loop({ clock: new SimClock(), pace: new StepPace(0) });
  const { admit, started, queue, backlog } = admission(loop);
  backlog(SEND_QUEUE_MAX_BYTES);
  for (const name of ['a', 'b', 'c']) admit(name);
  backlog(0);
  queue.advance();
  backlog(SEND_QUEUE_MAX_BYTES);
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(started).toEqual(['a']);
  backlog(0);
  queue.advance();
  while (queue.someWait) await new Promise((resolve) => setImmediate(resolve));
  expect(started).toEqual(['a', 'b', 'c']);
});

test('streams that wait for room are resumed in slices, each once', async () => {
  const loop = new Loop({ clock: new SimClock(), pace: new StepPace(0) });
  const { queue, backlog } = admission(loop);
  backlog(SEND_QUEUE_MAX_BYTES);
  const resumed: number[] = [];
  const streams = Array.from({ length: 10 }, (_, at) => ({ queuedBytes: 1, roomMade: () => void resumed.push(at) }));
  for (const stream of streams) queue.awaitRoom(stream);
  queue.advance();
  expect(resumed).toEqual([]);
  backlog(0);
  queue.advance();
  while (resumed.length < 1) await new Promise((resolve) => setImmediate(resolve));
  queue.leaveRoom(streams[5]!);
  for (let turns = 0; turns < 40; turns += 1) {
    queue.advance();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(resumed).toEqual([0, 1, 2, 3, 4, 6, 7, 8, 9]);
});

test('none starts while too much waits to be sent, or the requests of running calls hold too much', () => {
  const { admit, started, queue, backlog } = admission();
  backlog(SEND_QUEUE_MAX_BYTES);
  admit('a');
  backlog(SEND_QUEUE_MAX_BYTES - 1);
  queue.advance();
  queue.entered(RUNNING_MAX_BYTES);
  admit('b');
  expect(started).toEqual(['a']);
  queue.left(RUNNING_MAX_BYTES);
  expect(started).toEqual(['a', 'b']);
});

test('tokens come back with time and with what we send, up to the capacity', () => {
  const budget = new AbuseBudget(0);
  expect(budget.spend(10_000, 0)).toBe(true);
  expect(budget.spend(1, 0)).toBe(false);
  expect(budget.spend(1, 10)).toBe(true); // 10 ms, 10 tokens
  const honest = new AbuseBudget(0);
  let refusals = 0;
  for (let frames = 0; frames < 1_000_000; frames += 1) {
    honest.earn();
    if (!honest.spend(2, 0)) refusals += 1;
  }
  expect(refusals).toBe(0);
  const idle = new AbuseBudget(0);
  expect(idle.spend(10_001, 1e9)).toBe(true); // the refill happens when tokens are needed
  expect(idle.spend(10_001, 1e9)).toBe(false);
});

test('the table of streams remembers who closed the last ones', () => {
  const table = new StreamTable();
  table.remove(1, 'client');
  table.remove(3, 'server');
  expect([table.closedBy(1), table.closedBy(3), table.closedBy(5)]).toEqual(['client', 'server', undefined]);
  for (let id = 5; id < 5 + 2 * 256; id += 2) table.remove(id, 'client');
  expect([table.closedBy(1), table.closedBy(5)]).toEqual([undefined, 'client']);
});

test('calls that wait are let in one by one without moving those behind them', () => {
  const calls = 100_000;
  let room = 0;
  const held = {
    get heldBytes() {
      return room > 0 ? 0 : SEND_QUEUE_MAX_BYTES;
    },
  };
  const queue = new Admission(
    calls,
    held,
    share(),
    new Loop({ clock: new SimClock() }),
    {},
    {
      noneWait() {},
      fault() {},
    },
  );
  let started = 0;
  const start = (): void => {
    room -= 1;
    started += 1;
  };
  for (let call = 0; call < calls; call += 1) queue.admit({ finished: false, start, stays: () => {} });
  const before = process.cpuUsage();
  while (started < calls) {
    room = 1;
    queue.advance();
  }
  const { user, system } = process.cpuUsage(before);
  // Moving up all waiting calls for each started call would take nine seconds.
  expect((user + system) / 1000).toBeLessThan(1_000);
  expect(queue.someWait).toBe(false);
});
