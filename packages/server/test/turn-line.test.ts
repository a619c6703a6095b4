import { expect, test } from 'vitest';
import { TURN_MAX_MS, TurnLine } from '../src/turn-line.ts';

/** An event loop whose turns the test runs. */
class Loop {
  nowMs = 0;
  #due: (() => void)[] = [];
  readonly line = new TurnLine(
    () => this.nowMs,
    (run, turn) => void this.#due.push(() => run(turn)),
  );

  get asked(): number {
    return this.#due.length;
  }

  turn(): void {
    const due = this.#due;
    this.#due = [];
    for (const fire of due) fire();
  }
}

test('what gives way goes on in order, and a turn does only so much of it', () => {
  const loop = new Loop();
  const done: number[] = [];
  for (let at = 0; at < 100; at += 1) {
    loop.line.push(() => {
      done.push(at);
      loop.nowMs += 1;
    });
  }
  expect(done).toEqual([]);
  let turns = 0;
  for (; done.length < 100; turns += 1) {
    const [before, startMs] = [done.length, loop.nowMs];
    loop.turn();
    expect(loop.nowMs - startMs).toBeLessThanOrEqual(TURN_MAX_MS);
    // The turn after one that was too long only requests new callbacks.
    expect(turns % 2 === 1 || done.length > before).toBe(true);
  }
  expect(done).toEqual(Array.from({ length: 100 }, (_, at) => at));
  expect(turns).toBeLessThanOrEqual(2 * (100 / TURN_MAX_MS));
});

test('what takes no time does not wait for a turn of its own', () => {
  const loop = new Loop();
  let done = 0;
  for (let at = 0; at < 10_000; at += 1) loop.line.push(() => (done += 1));
  expect(loop.asked, 'callbacks that wait in the event loop itself are bounded').toBeLessThanOrEqual(1_024);
  for (let turn = 0; turn < 11; turn += 1) loop.turn();
  expect(done).toBe(10_000);
});

test('a slice that is longer than a turn has one all the same', () => {
  const loop = new Loop();
  const done: string[] = [];
  const work = (name: string, slices: number): void => {
    loop.line.push(() => {
      done.push(name);
      loop.nowMs += 2 * TURN_MAX_MS;
      if (slices > 1) work(name, slices - 1);
    });
  };
  work('a', 2);
  work('b', 1);
  for (let turn = 0; turn < 6; turn += 1) loop.turn();
  expect(done).toEqual(['a', 'b', 'a']);
  loop.line.push(() => done.push('later'));
  loop.turn();
  expect(done.at(-1)).toBe('later');
});

test('time that passes while nobody gives way counts for no turn', () => {
  const loop = new Loop();
  let done = 0;
  for (let at = 0; at < 10; at += 1) {
    loop.line.push(() => (done += 1));
    loop.line.push(() => (done += 1));
    loop.nowMs += 100;
    loop.turn();
    expect(done).toBe(2 * (at + 1));
  }
});
