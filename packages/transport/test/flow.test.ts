import { SharedBudget } from '@engram/core';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { AbuseBudget } from '../src/h2/abuse-budget.ts';
import { Admission, type Admissible } from '../src/h2/admission.ts';
import {
  CONNECTION_WINDOW_BYTES,
  INFLATED_TURN_BYTES,
  LONG_MESSAGES_BYTES,
  RUNNING_MAX_BYTES,
  SEND_QUEUE_MAX_BYTES,
  STREAM_WINDOW_BYTES,
} from '../src/h2/limits.ts';
import { ReceiveFlow } from '../src/h2/receive-flow.ts';
import { Stream } from '../src/h2/stream.ts';
import { StreamTable } from '../src/h2/stream-table.ts';
import { TurnAllowance } from '../src/h2/turn-allowance.ts';

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

function admission(inflation = new TurnAllowance(new SimClock(), INFLATED_TURN_BYTES)): {
  admit(call: string, finished?: boolean, compressed?: boolean): Call;
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
    new SimClock(),
    () => {
      emptied += 1;
    },
  );
  return {
    started,
    queue,
    backlog: (bytes) => {
      backlog = bytes;
    },
    emptied: () => emptied,
    admit(name, finished = false, compressed = false) {
      const call = {
        finished,
        holdsBack(again: () => void) {
          if (!compressed || this.finished || !inflation.spent) return false;
          inflation.nextTurn(again);
          return true;
        },
        start: () => void started.push(name),
      };
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

test('compressed calls wait for the next turn once one has made enough of others, and nobody else does', async () => {
  const inflation = new TurnAllowance(new SimClock(), INFLATED_TURN_BYTES);
  const [greedy, other, plain] = [admission(inflation), admission(inflation), admission(inflation)];
  greedy.admit('a', false, true);
  inflation.take(INFLATED_TURN_BYTES);
  greedy.admit('b', false, true);
  greedy.admit('behind b');
  greedy.admit('cancelled', true, true);
  other.admit('c', false, true);
  plain.admit('d');
  expect([greedy.started, other.started, plain.started]).toEqual([['a'], [], ['d']]);
  await new Promise((resolve) => setImmediate(resolve));
  expect([greedy.started, other.started]).toEqual([['a', 'b', 'behind b'], ['c']]);
  expect(inflation.spent).toBe(false);
});

test('a connection with very many calls that wait for their turn does not keep another one waiting', async () => {
  const starts = new TurnAllowance(new SimClock(), 2);
  const started: string[] = [];
  const waitFor = (name: string, calls: number): void => {
    const advance = (): void => {
      for (; calls > 0 && !starts.spent; calls -= 1) {
        starts.take(1);
        started.push(name);
      }
      if (calls > 0) starts.nextTurn(advance);
    };
    advance();
  };
  waitFor('greedy', 100);
  waitFor('modest', 1);
  for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(started.slice(0, 5)).toEqual(['greedy', 'greedy', 'greedy', 'greedy', 'modest']);
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
  const queue = new Admission(calls, held, share(), new SimClock(), () => {});
  let started = 0;
  const start = (): void => {
    room -= 1;
    started += 1;
  };
  for (let call = 0; call < calls; call += 1) queue.admit({ finished: false, holdsBack: () => false, start });
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
