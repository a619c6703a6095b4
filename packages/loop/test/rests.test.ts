import { expect, test } from 'vitest';
import { Loop, REST_MS_MAX, REST_TIMES, Rests, type Task } from '@engram/loop';

const COMPACT: Task = { work: 'background', caller: 'compaction', stage: 'compact' };

/** An event loop with timers. Its time moves by the work, and by a little in each turn. */
class Machine {
  nowMs = 0;
  #due: (() => void)[] = [];
  #timers: { readonly dueMs: number; readonly fire: () => void }[] = [];
  readonly clock = {
    nowMs: () => this.nowMs,
    soon: (fire: () => void) => void this.#due.push(fire),
    after: (delayMs: number, fire: () => void) => {
      this.#timers.push({ dueMs: this.nowMs + delayMs, fire });
      return { cancel: () => {} };
    },
  };
  readonly loop = new Loop({ clock: this.clock });

  async until(ended: Promise<void>, each: () => void = () => {}): Promise<number> {
    const startMs = this.nowMs;
    let over = false;
    void ended.then(() => (over = true));
    while (!over && this.nowMs - startMs < 100_000) {
      each();
      const due = this.#timers.filter(({ dueMs }) => dueMs <= this.nowMs);
      this.#timers = this.#timers.filter(({ dueMs }) => dueMs > this.nowMs);
      for (const fire of [...due.map((timer) => timer.fire), ...this.#due.splice(0)]) {
        fire();
        for (let microtasks = 0; microtasks < 8; microtasks += 1) await Promise.resolve();
      }
      this.nowMs += 0.02;
    }
    expect(over, 'it ends').toBe(true);
    return this.nowMs - startMs;
  }

  /** Work of so many slices of `sliceMs`, with a pause behind each. */
  async work(slices: number, sliceMs: number): Promise<void> {
    const rests = new Rests(this.loop, this.clock, COMPACT);
    for (let at = 0; at < slices; at += 1) {
      this.nowMs += sliceMs;
      await rests.pause();
    }
  }
}

test.each([0.1, 0.5, 2])(
  'work in slices of %d ms has a quarter of the time while clients wait for short answers, and ends',
  async (sliceMs) => {
    const machine = new Machine();
    const { shortAnswers } = machine.loop.transport;
    shortAnswers.seen();
    const tookMs = await machine.until(machine.work(400, sliceMs), () => shortAnswers.seen());
    const share = (400 * sliceMs) / tookMs;
    expect(share).toBeLessThanOrEqual(1 / (1 + REST_TIMES));
    // A turn of the loop comes with each pause.
    expect(share).toBeGreaterThan(1 / (1 + REST_TIMES + 0.1 / sliceMs));
  },
);

test('it does not rest where nobody waits for short answers, nor some turns after the last one', async () => {
  const machine = new Machine();
  expect(await machine.until(machine.work(400, 0.5))).toBeLessThan(400 * 0.55);
  machine.loop.transport.shortAnswers.seen();
  expect(await machine.until(machine.work(400, 0.5))).toBeLessThan(64 * 2.1 + 400 * 0.55);
});

test('a rest has a bound, however long the work before it took', async () => {
  const machine = new Machine();
  machine.loop.transport.shortAnswers.seen();
  expect(await machine.until(machine.work(1, 1000))).toBeLessThan(1000 + REST_MS_MAX + 1);
});
