import fc from 'fast-check';
import type { Clock } from '@engram/core';
import {
  FRAMES_SHARED_SLICE_MS,
  FRAMES_PHASE_MS,
  LONG_OUTPUT_BESIDE_MS,
  LONG_OUTPUT_REST_MS_MAX,
  LONG_OUTPUT_REST_TIMES,
  LONG_OUTPUT_TURN_MS,
  TRANSPORT_PHASE_MS,
  TransportShare,
  unwatched,
} from '@engram/loop';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { Flusher } from '../src/h2/flusher.ts';

/** The longest piece of work that a test does without a look at the time. */
const PIECE_MS = 0.1;

/** Frames, writes and long outputs that all have more to do, as many at a time as the test says. */
class Load {
  readonly #time = new SimClock();
  readonly #inputs: (() => void)[] = [];
  readonly #soon: (() => void)[] = [];
  readonly clock: Clock = Object.assign(Object.create(this.#time), {
    nowMs: () => this.#time.nowMs(),
    after: (delayMs: number, fire: () => void) => this.#time.after(delayMs, fire),
    endOfTurn: (fire: () => void) => process.nextTick(fire),
    soon: (fire: () => void) => void this.#soon.push(fire),
  });
  readonly turn = new TransportShare(this.clock);
  readonly flusher = new Flusher(this.clock, this.turn, unwatched);
  readonly done = { frames: 0, writes: 0, long: 0 };
  stopped = false;

  /** Input comes, and then what waits for this turn runs, each with all that follows at once. */
  async nextTurn(): Promise<void> {
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await settled();
    for (const phase of [this.#inputs, this.#soon]) {
      for (const fire of phase.splice(0)) {
        fire();
        await settled();
      }
    }
  }

  /** Frames that never end. Those of a client that waits for answers come as input, and the others wait for their turn. */
  frames(asInput: boolean): void {
    if (this.stopped) return;
    if (this.turn.framesSpent) {
      this.turn.waitForFrames(() => this.frames(asInput));
      return;
    }
    const ms = this.turn.frameSliceMs;
    this.#work('frames', ms);
    this.turn.spendOnFrames(ms);
    if (asInput) this.#inputs.push(() => this.frames(true));
    else this.turn.waitForFrames(() => this.frames(false));
  }

  write(): void {
    const flush = (): void => {
      this.#work('writes', PIECE_MS);
      if (!this.stopped) this.clock.soon(() => this.write());
    };
    this.flusher.add({ flush }, true);
  }

  long(): void {
    const output = {
      takingTurns: 1,
      flushLong: (): void => {
        this.#work('long', PIECE_MS);
        if (!this.stopped) this.clock.endOfTurn(() => this.flusher.more(output));
      },
    };
    this.flusher.more(output);
  }

  #work(kind: 'frames' | 'writes' | 'long', ms: number): void {
    this.done[kind] += ms;
    this.#time.advance(ms);
  }
}

test('frames and writing together have a limited time of a turn, and all of them go on', async () => {
  const counts = fc.record({ inputs: fc.nat(20), frames: fc.nat(20), writes: fc.nat(100), long: fc.nat(60) });
  await fc.assert(
    fc.asyncProperty(counts, async (count) => {
      const load = new Load();
      for (let at = 0; at < count.frames; at += 1) load.frames(false);
      for (let at = 0; at < count.inputs; at += 1) load.frames(true);
      for (let at = 0; at < count.writes; at += 1) load.write();
      for (let at = 0; at < count.long; at += 1) load.long();
      const before = { ...load.done };
      for (let turns = 0; turns < 30; turns += 1) {
        const startMs = load.clock.nowMs();
        const longMs = load.done.long;
        await load.nextTurn();
        // Some pieces follow each look at the time.
        expect(load.clock.nowMs() - startMs).toBeLessThanOrEqual(2 * (TRANSPORT_PHASE_MS + 17 * PIECE_MS));
        // What begins in a turn may have its part in both phases of it.
        const parts = turns === 0 ? 2 : 1;
        expect(load.done.long - longMs).toBeLessThanOrEqual(parts * (LONG_OUTPUT_TURN_MS + 2.001 * PIECE_MS));
      }
      for (const kind of ['frames', 'writes', 'long'] as const) {
        if (count[kind] > 0) expect(load.done[kind]).toBeGreaterThan(before[kind]);
      }
      load.stopped = true;
    }),
    { numRuns: 30, examples: [[{ inputs: 0, frames: 0, writes: 0, long: 1 }]] },
  );
});

test('input finds time in each turn, however many frames wait', async () => {
  const load = new Load();
  for (let at = 0; at < 20; at += 1) load.frames(false);
  for (let turns = 0; turns < 10; turns += 1) {
    await load.nextTurn();
    expect(load.turn.framesSpent).toBe(false);
  }
  load.stopped = true;
});

test('what waits is written, also behind frames that always take longer than they may', async () => {
  const load = new Load();
  const overlong = (): void => {
    load.turn.spendOnFrames(TRANSPORT_PHASE_MS);
    if (!load.stopped) load.turn.waitForFrames(overlong);
  };
  overlong();
  load.write();
  load.long();
  for (let turns = 0; turns < 10; turns += 1) await load.nextTurn();
  load.stopped = true;
  expect(load.done.writes).toBeGreaterThan(0);
  expect(load.done.long).toBeGreaterThan(0);
});

test('frames leave time of a turn for writing, and long outputs for others', () => {
  const turn = new TransportShare(new SimClock());
  turn.spendOnFrames(FRAMES_PHASE_MS);
  expect(turn.framesSpent).toBe(true);
  expect(turn.writeMs).toBe(TRANSPORT_PHASE_MS - FRAMES_PHASE_MS);
  expect(turn.longSpent).toBe(false);
  turn.spendOnWriting(turn.writeMs);
  expect(turn.writeMs).toBe(0);
  expect(turn.longSpent).toBe(true);
  const written = new TransportShare(new SimClock());
  written.spendOnWriting(TRANSPORT_PHASE_MS);
  expect(written.framesSpent).toBe(true);

  const other = new TransportShare(new SimClock());
  other.spendOnLong(LONG_OUTPUT_TURN_MS);
  expect(other.longSpent).toBe(true);
  expect(other.writeMs).toBeGreaterThan(0);
  expect(other.frameSliceMs).toBe(TRANSPORT_PHASE_MS - LONG_OUTPUT_TURN_MS);
  const shared = new TransportShare(new SimClock());
  shared.waitForFrames(() => {});
  expect(shared.frameSliceMs).toBe(FRAMES_SHARED_SLICE_MS);
  expect(FRAMES_SHARED_SLICE_MS).toBeLessThan(FRAMES_PHASE_MS);
});

test('a long output has less of a turn beside short answers, and not beside other output', async () => {
  const load = new Load();
  const { turn, flusher } = load;
  const output = { flush: (): void => {} };
  flusher.add(output, false);
  turn.spendOnLong(LONG_OUTPUT_BESIDE_MS);
  expect(turn.longSpent).toBe(false);
  flusher.answers();
  expect(turn.longSpent).toBe(true);
  // Remembered for 64 turns with long output.
  for (let turns = 0; turns < 70; turns += 1) {
    turn.spendOnLong(LONG_OUTPUT_TURN_MS);
    await load.nextTurn();
  }
  turn.spendOnLong(LONG_OUTPUT_BESIDE_MS);
  expect(turn.longSpent).toBe(false);
});

test('a rest of many answers is twice as long as what was written, and bounded', () => {
  const turn = new TransportShare(new SimClock());
  turn.spendOnLong(2);
  expect(turn.longRestMs).toBe(0);
  turn.shortAnswers.seen();
  expect(turn.longRestMs).toBe(2 * LONG_OUTPUT_REST_TIMES);
  turn.spendOnLong(20);
  expect(turn.longRestMs).toBe(LONG_OUTPUT_REST_MS_MAX);
  const other = new TransportShare(new SimClock());
  other.shortAnswers.seen();
  expect(other.longRestMs).toBe(1);
});
