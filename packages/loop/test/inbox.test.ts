import { Inbox, JOBS_TURN_MS, Loop, StepPace, type Task } from '@engram/loop';
import { expect, test } from 'vitest';

const CALLS: Task = { work: 'client', caller: 'member 1', stage: 'call' };
const RAFT: Task = { work: 'consensus', caller: 'member 1', stage: 'raft' };

/** An event loop whose turns the test gives. Promises run between two callbacks. */
class Turns {
  nowMs = 0;
  #due: (() => void)[] = [];
  readonly clock = { nowMs: () => this.nowMs, soon: (fire: () => void) => void this.#due.push(fire) };

  /** Returns how many turns it took until nothing was due. */
  async all(): Promise<number> {
    let turns = 0;
    for (; this.#due.length > 0 && turns < 10_000; turns += 1) {
      const due = this.#due;
      this.#due = [];
      for (const fire of due) {
        fire();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return turns;
  }
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

test('short work is done in the call that brings it, in order', () => {
  const { clock } = new Turns();
  const done: number[] = [];
  const inbox = new Inbox<number>(new Loop({ clock, pace: new StepPace(100) }), CALLS, (item) => void done.push(item));
  inbox.take([]);
  inbox.take([1, 2, 3]);
  inbox.take([4]);
  expect(done).toEqual([1, 2, 3, 4]);
});

test('long work gives way, what comes later follows it, and what is urgent overtakes it', async () => {
  const turns = new Turns();
  const loop = new Loop({ clock: turns.clock, pace: new StepPace(5) });
  const [calls, urgent]: [number[], string[]] = [[], []];
  const inbox = new Inbox<number>(loop, CALLS, (item) => void calls.push(item));
  const raft = new Inbox<string>(loop, RAFT, (item) => void urgent.push(`${item} after ${calls.length}`));
  inbox.take(numbers(0, 100));
  inbox.take(numbers(100, 120));
  expect(calls, 'one slice of it').toEqual(numbers(0, 5));
  raft.take(['heartbeat']);
  expect(urgent, 'in the same turn').toEqual(['heartbeat after 5']);
  raft.take(Array.from({ length: 12 }, (_, at) => `m${at}`));
  expect(urgent.length).toBe(6);
  await turns.all();
  expect(urgent.slice(6), 'before the next call').toEqual(numbers(5, 12).map((at) => `m${at} after 5`));
  expect(calls).toEqual(numbers(0, 120));
});

test('what the items settle is work as well: it does not all go on in one turn', async () => {
  const turns = new Turns();
  const loop = new Loop({ clock: turns.clock });
  let done = 0;
  const inbox = new Inbox<() => void>(loop, CALLS, (resolve) => resolve());
  inbox.take(
    numbers(0, 160).map(() => {
      const { promise, resolve } = Promise.withResolvers<void>();
      void promise.then(() => {
        turns.nowMs += JOBS_TURN_MS / 16;
        done += 1;
      });
      return resolve;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  expect(done, 'in the first turn').toBeLessThan(64);
  expect(await turns.all()).toBeGreaterThan(4);
  expect(done).toBe(160);
});

test('what is cleared is not worked on, and what comes after it is', async () => {
  const turns = new Turns();
  const done: number[] = [];
  const loop = new Loop({ clock: turns.clock, pace: new StepPace(2) });
  const inbox = new Inbox<number>(loop, CALLS, (item) => void done.push(item));
  inbox.take(numbers(0, 6));
  expect(inbox.clear()).toEqual([2, 3, 4, 5]);
  await turns.all();
  inbox.take([6]);
  await turns.all();
  expect(done).toEqual([0, 1, 6]);
});

test('work that fails says so to who brought it, and the next is worked on', async () => {
  const turns = new Turns();
  const done: number[] = [];
  const loop = new Loop({ clock: turns.clock, pace: new StepPace(100) });
  const inbox = new Inbox<number>(loop, CALLS, (item) => {
    if (item === 1) throw new Error('the test says so');
    done.push(item);
  });
  expect(() => inbox.take([0, 1, 2])).toThrow('the test says so');
  inbox.take([3]);
  expect(done).toEqual([0, 2, 3]);
});
