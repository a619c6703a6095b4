import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import {
  JOBS_BESIDE_MS,
  JOBS_TURN_MS,
  type Job,
  Loop,
  type LoopWatch,
  settled,
  SLICE_BESIDE_MS,
  SLICE_MS,
  StepPace,
  type Task,
} from '@engram/loop';

const READ: Task = { work: 'client', caller: 'a connection', stage: 'list', method: '/KV/Range' };
const COMPACT: Task = { work: 'background', caller: 'node', stage: 'compact' };

/** An event loop whose turns the test runs. Promises run between two callbacks. */
class Turns {
  nowMs = 0;
  #due: (() => void)[] = [];
  readonly loop: Loop;

  constructor(stepsOfSlice: number | 'measured' = 4) {
    const clock = { nowMs: () => this.nowMs, soon: (fire: () => void) => void this.#due.push(fire) };
    this.loop = new Loop(stepsOfSlice === 'measured' ? { clock } : { clock, pace: new StepPace(stepsOfSlice) });
  }

  get asked(): number {
    return this.#due.length;
  }

  async turn(): Promise<void> {
    const due = this.#due;
    this.#due = [];
    for (const fire of due) {
      fire();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async until(ended: Promise<unknown>): Promise<number> {
    let over = false;
    void ended.then(
      () => (over = true),
      () => (over = true),
    );
    let turns = 0;
    for (; !over && turns < 10_000; turns += 1) await this.turn();
    expect(over, 'it ends').toBe(true);
    return turns;
  }

  /** Work of so many steps, each of `stepMs`. */
  *work(steps: number, stepMs = 0, log: string[] = [], name = ''): Job<number> {
    for (let step = 0; step < steps; step += 1) {
      this.nowMs += stepMs;
      log.push(name);
      if (this.loop.shouldYield()) yield;
    }
    return steps;
  }
}

test('a job that needs less than a slice ends in the call, and so in the order of the calls', () => {
  const { loop } = new Turns();
  const order: string[] = [];
  function* put(name: string): Job<string> {
    if (loop.shouldYield(2)) yield;
    order.push(name);
    return name;
  }
  expect([loop.run(READ, put('first')), loop.run(READ, put('second'))]).toEqual(['first', 'second']);
  expect(order).toEqual(['first', 'second']);
});

test('a long job goes on in later turns until it ends, and other jobs in between', async () => {
  const turns = new Turns();
  const log: string[] = [];
  const both = Promise.all([
    turns.loop.run(READ, turns.work(9, 0, log, 'a')),
    turns.loop.run({ ...READ, caller: 'another' }, turns.work(9, 0, log, 'b')),
  ]);
  expect(log.join('')).toBe('aaaabbbb');
  await turns.until(both);
  expect(await both).toEqual([9, 9]);
  expect(log.join('')).toBe('aaaabbbbaaaabbbbab');
});

test('every job ends, of every class, while all of them have more to do', async () => {
  const turns = new Turns(1);
  const jobs = (['background', 'catch-up', 'client', 'durable', 'consensus'] as const).flatMap((work) =>
    Array.from({ length: 20 }, (_, caller) =>
      turns.loop.run({ work, caller: `${caller % 3}`, stage: 'test' }, turns.work(30, 0.7)),
    ),
  );
  await turns.until(Promise.all(jobs));
  expect(await Promise.all(jobs)).toEqual(Array.from({ length: 100 }, () => 30));
  for (const [, { slices, ms }] of turns.loop.usage) {
    // The first slice of each job was in the call, and the last step ends in a slice of its own.
    expect(slices).toBe(20 * 30);
    expect(ms).toBeCloseTo(20 * 29 * 0.7);
  }
});

test('a turn gives slices for a limited time, however many wait', async () => {
  const turns = new Turns(1);
  const jobs = Array.from({ length: 100 }, () => turns.loop.run(READ, turns.work(5, 0.5)));
  let over = false;
  const all = Promise.all(jobs).then(() => (over = true));
  for (let count = 0; !over && count < 5000; count += 1) {
    const startMs = turns.nowMs;
    await turns.turn();
    expect(turns.nowMs - startMs).toBeLessThanOrEqual(JOBS_TURN_MS + SLICE_MS);
  }
  await all;
  expect(turns.asked).toBeLessThanOrEqual(1);
});

test('jobs have less of a turn while clients wait for short answers, and all of it some turns after the last one', async () => {
  const turns = new Turns('measured');
  const jobs = Array.from({ length: 20 }, () => turns.loop.run(READ, turns.work(20_000, 0.01)));
  const ms: number[] = [];
  let over = false;
  const all = Promise.all(jobs).then(() => (over = true));
  for (let turn = 0; !over && turn < 5_000; turn += 1) {
    if (turn >= 100 && turn < 200) turns.loop.transport.shortAnswers.seen();
    const startMs = turns.nowMs;
    await turns.turn();
    ms.push(turns.nowMs - startMs);
  }
  await all;
  const longest = (from: number, to: number): number => Math.max(...ms.slice(from, to));
  // The pace looks at the clock after 32 steps at first.
  expect(longest(0, 100)).toBeGreaterThan(JOBS_TURN_MS);
  expect(longest(100, 250)).toBeLessThanOrEqual(JOBS_BESIDE_MS + SLICE_BESIDE_MS + 0.64);
  expect(longest(300, 400)).toBeGreaterThan(JOBS_TURN_MS);
});

test('slices that take no time do not wait for turns of their own, and few callbacks are requested at a time', async () => {
  const turns = new Turns();
  let done = 0;
  for (let at = 0; at < 10_000; at += 1) turns.loop.later(READ, () => (done += 1));
  expect(turns.asked).toBeLessThanOrEqual(1_024);
  for (let turn = 0; turn < 11; turn += 1) await turns.turn();
  expect(done).toBe(10_000);
});

test('time that passes while nobody waits counts for no turn', async () => {
  const turns = new Turns();
  let done = 0;
  for (let at = 0; at < 10; at += 1) {
    turns.loop.later(READ, () => (done += 1));
    turns.loop.later(READ, () => (done += 1));
    turns.nowMs += 100;
    await turns.turn();
    expect(done).toBe(2 * (at + 1));
  }
});

test('what promises do after their slice is charged to it', async () => {
  const turns = new Turns('measured');
  const log: string[] = [];
  const work = async (caller: string, ms: number): Promise<void> => {
    for (let slice = 0; slice < 12; slice += 1) {
      await turns.loop.pause({ ...READ, caller });
      turns.nowMs += ms;
      log.push(caller);
    }
  };
  const [long, short] = [work('l', 0.9), work('s', 0.1)];
  await turns.until(short);
  expect(log.filter((caller) => caller === 'l').length, 'equal time, not equal slices').toBeLessThan(8);
  await turns.until(long);
});

test('a job waits for a value, and gets a failure thrown into it', async () => {
  const turns = new Turns();
  function* reading(value: Promise<string>): Job<string> {
    try {
      return yield* settled(value);
    } catch (error) {
      return `failed: ${error}`;
    }
  }
  expect(await turns.loop.run(READ, reading(Promise.resolve('bytes')))).toBe('bytes');
  expect(await turns.loop.run(READ, reading(Promise.reject('the disk')))).toBe('failed: the disk');
  expect(turns.loop.waiting('client'), 'nobody waits, so it goes on at once').toBe(0);
  await turns.turn();

  const other = turns.loop.run(COMPACT, turns.work(9));
  const waiting = turns.loop.run(READ, reading(Promise.resolve('later')));
  await new Promise((resolve) => setImmediate(resolve));
  expect(turns.loop.waiting('client'), 'it takes its turn behind what waits').toBe(1);
  await turns.until(Promise.all([other, waiting]));
  expect(await waiting).toBe('later');
});

test('a job whose promises settle at once has the slices of one turn, and then waits as others do', async () => {
  const turns = new Turns('measured');
  let read = 0;
  function* reading(): Job<void> {
    for (; read < 20; read += 1) {
      yield* settled(Promise.resolve());
      turns.nowMs += JOBS_TURN_MS / 4;
    }
  }
  const all = Promise.resolve(turns.loop.run(READ, reading()));
  for (let most = 4; most <= 20; most += 5) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBeLessThanOrEqual(most);
    await turns.turn();
  }
  expect(await turns.until(all)).toBeLessThan(20);
  expect(turns.loop.usage.get('client')).toMatchObject({ ms: 20 * (JOBS_TURN_MS / 4), longestMs: JOBS_TURN_MS / 4 });
});

test('a job within a job shares its slice', () => {
  const { loop } = new Turns(4);
  function* inner(): Job<void> {
    if (loop.shouldYield(2)) yield;
  }
  function* outer(): Job<unknown> {
    if (loop.shouldYield(2)) yield;
    return loop.run(READ, inner());
  }
  expect(loop.run(READ, inner()), 'alone it ends').toBe(undefined);
  expect(loop.run(READ, outer()), 'the rest of the slice is too short').toBeInstanceOf(Promise);
});

test('a cancelled job ends at its next slice, and its finally blocks run', async () => {
  const turns = new Turns();
  const reason = new Error('the client has gone');
  const cancel = new AbortController();
  let released = false;
  function* list(): Job<number> {
    try {
      return yield* turns.work(100);
    } finally {
      released = true;
    }
  }
  const listing = Promise.resolve(turns.loop.run(READ, list(), cancel.signal));
  const outcome = listing.catch((error: unknown) => error);
  cancel.abort(reason);
  await turns.until(outcome);
  expect(await outcome).toBe(reason);
  expect(released).toBe(true);
  const paused = turns.loop.pause(READ, AbortSignal.abort(reason)).catch((error: unknown) => error);
  await turns.until(paused);
  expect(await paused).toBe(reason);
});

test('an error in the first slice is thrown, a later one rejects, and the slice is given back', async () => {
  const turns = new Turns();
  function* failing(steps: number): Job<void> {
    yield* turns.work(steps);
    throw new Error('broken');
  }
  expect(() => turns.loop.run(READ, failing(1))).toThrow('broken');
  const late = Promise.resolve(turns.loop.run(READ, failing(9)));
  const outcome = late.catch((error: Error) => error.message);
  await turns.until(outcome);
  expect(await outcome).toBe('broken');
  expect(turns.loop.run(READ, turns.work(2))).toBe(2);
});

test('work outside of a job may not ask', () => {
  expect(() => new Loop({ clock: new SimClock() }).shouldYield()).toThrow('outside of a job');
});

test('a slice that was too long is reported with its stage and its method', async () => {
  const turns = new Turns(1);
  const told: unknown[] = [];
  const watch: LoopWatch = {
    budgetMs: 10,
    reportedMs: 0,
    began() {},
    stretched: (...stretch) => void told.push(stretch),
  };
  turns.loop.watch = watch;
  await turns.until(Promise.resolve(turns.loop.run(READ, turns.work(3, 12))));
  expect(told).toEqual([
    ['list', 12, '/KV/Range'],
    ['list', 12, '/KV/Range'],
  ]);
  expect(turns.loop.usage.get('client')?.longestMs).toBe(12);
});
