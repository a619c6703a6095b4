import fc from 'fast-check';
import {
  FRAMES_PHASE_MS,
  JOBS_BESIDE_MS,
  JOBS_TURN_MS,
  type Job,
  LATE_PHASE_MS,
  Loop,
  SLICE_BESIDE_MS,
  SLICE_MS,
  type Task,
  TURN_BESIDE_MS,
  TURN_MS,
} from '@engram/loop';
import { expect, test } from 'vitest';

const READ: Task = { work: 'client', caller: 'a connection', stage: 'list' };
/** The longest piece of work that a test does without a look at the time. */
const PIECE_MS = 0.1;

/** An event loop whose input takes time in no part: what the kernel and the runtime do for each socket. */
class Turns {
  nowMs = 0;
  idleMs = 0;
  readonly done = { frames: 0, jobs: 0 };
  #due: (() => void)[] = [];
  readonly loop = new Loop({
    clock: { nowMs: () => this.nowMs, soon: (fire) => void this.#due.push(fire) },
    idleMs: () => this.idleMs,
  });

  /** Returns what the turn took. */
  async turn({ waitsMs = 0, input = (): void => {}, unseenMs = 0 } = {}): Promise<number> {
    this.nowMs += waitsMs;
    this.idleMs += waitsMs;
    const startMs = this.nowMs;
    this.loop.transport.inputComes(this.nowMs);
    this.nowMs += unseenMs;
    input();
    const due = this.#due;
    this.#due = [];
    for (const fire of due) {
      fire();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return this.nowMs - startMs;
  }

  *work(): Job<void> {
    for (;;) {
      this.nowMs += PIECE_MS;
      this.done.jobs += PIECE_MS;
      if (this.loop.shouldYield(32)) yield;
    }
  }

  /** Frames that wait for the phase behind the input, and always have more to do. */
  frames(): void {
    const { transport } = this.loop;
    const ms = transport.frameSliceMs;
    this.nowMs += ms;
    this.done.frames += ms;
    transport.spendOnFrames(ms);
    transport.waitForFrames(() => this.frames());
  }
}

test('what the input of a turn takes, in no part, the parts behind it have less', async () => {
  const turns = fc.array(fc.record({ waits: fc.boolean(), unseenMs: fc.nat(120).map((tenths) => tenths / 10) }), {
    minLength: 20,
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(turns, fc.nat(4), fc.nat(4), fc.boolean(), async (inputs, jobs, connections, awaited) => {
      const bed = new Turns();
      const sliceMs = awaited ? SLICE_BESIDE_MS : SLICE_MS;
      for (let at = 0; at < jobs; at += 1) void bed.loop.run(READ, bed.work());
      for (let at = 0; at < connections; at += 1) bed.loop.transport.waitForFrames(() => bed.frames());
      await bed.turn();
      let last = bed.done;
      for (const [at, { waits, unseenMs }] of inputs.entries()) {
        // A turn that has no time left for all slices leaves those that wait to the turn behind the next one.
        const before = at % 2 === 0 ? { ...bed.done } : undefined;
        if (awaited) bed.loop.transport.shortAnswers.seen();
        const tookMs = await bed.turn({ waitsMs: waits ? 3 : 0, unseenMs });
        // One slice and one short phase are given behind the longest input.
        expect(tookMs).toBeLessThanOrEqual(
          Math.max(awaited ? TURN_BESIDE_MS : TURN_MS, unseenMs + sliceMs + LATE_PHASE_MS) +
            (2 + connections) * PIECE_MS,
        );
        if (before !== undefined) last = before;
        else if (jobs > 0) expect(bed.done.jobs, 'jobs go on').toBeGreaterThan(last.jobs);
        if (before === undefined && connections > 0)
          expect(bed.done.frames, 'frames go on').toBeGreaterThan(last.frames);
      }
    }),
    { numRuns: 50 },
  );
});

test.each([
  { jobs: true, frames: true },
  { jobs: true, frames: false },
  { jobs: false, frames: true },
])(
  'turns with little input have all of their parts, at once one behind another: jobs $jobs, frames $frames',
  async (has) => {
    const bed = new Turns();
    if (has.jobs) void bed.loop.run(READ, bed.work());
    if (has.frames) bed.loop.transport.waitForFrames(() => bed.frames());
    await bed.turn();
    for (let turns = 0; turns < 40; turns += 1) {
      const before = { ...bed.done };
      await bed.turn({ unseenMs: 1, waitsMs: turns < 20 ? 0 : 100 });
      if (has.jobs) expect(bed.done.jobs - before.jobs).toBeGreaterThan(JOBS_TURN_MS - PIECE_MS);
      if (has.frames) expect(bed.done.frames - before.frames).toBeCloseTo(FRAMES_PHASE_MS);
    }
  },
);

test('frames that come late in a long input wait for the next turn', async () => {
  const bed = new Turns();
  const { transport } = bed.loop;
  const spend = (): boolean => {
    bed.nowMs += 1;
    transport.spendOnFrames(1);
    return transport.framesSpent;
  };
  let spent: boolean[] = [];
  await bed.turn({ input: () => (spent = [spend(), spend()]), waitsMs: 1 });
  expect(spent, 'alone').toEqual([false, true]);
  expect(FRAMES_PHASE_MS).toBe(2);
  await bed.turn({ input: () => (spent = [spend()]), unseenMs: 6, waitsMs: 1 });
  expect(spent, 'behind other input').toEqual([true]);
  await bed.turn({ input: () => (spent = [spend()]), waitsMs: 1 });
  expect(spent, 'in the turn behind that one').toEqual([false]);
});

test('turns that follow one another at once give jobs all of their time beside clients that wait', async () => {
  const bed = new Turns();
  for (let at = 0; at < 3; at += 1) void bed.loop.run(READ, bed.work());
  await bed.turn();
  const before = bed.done.jobs;
  for (let turns = 0; turns < 40; turns += 1) {
    bed.loop.transport.shortAnswers.seen();
    await bed.turn({ unseenMs: 1 });
  }
  // A turn whose time is used up leaves the next one to others.
  expect(bed.done.jobs - before).toBeGreaterThanOrEqual(20 * JOBS_BESIDE_MS);
});
