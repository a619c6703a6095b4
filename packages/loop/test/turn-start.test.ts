import { expect, test } from 'vitest';
import { type Job, Loop, StepPace, type Task } from '@engram/loop';

const READ: Task = { work: 'client', caller: 'a connection', stage: 'list' };

/** The line of callbacks of an event loop. */
class Line {
  readonly order: string[] = [];
  #due: (() => void)[] = [];
  readonly loop = new Loop({
    clock: { nowMs: () => 0, soon: (fire) => void this.#due.push(fire) },
    pace: new StepPace(0),
  });

  get length(): number {
    return this.#due.length;
  }

  turn(): readonly string[] {
    this.order.length = 0;
    const due = this.#due;
    this.#due = [];
    for (const fire of due) fire();
    return this.order;
  }

  *list(slices: number): Job<void> {
    for (let slice = 0; slice < slices; slice += 1) {
      this.order.push('slice');
      if (this.loop.shouldYield()) yield;
    }
  }
}

test('what is urgent goes ahead of slices and of long output that asked for their place before', () => {
  const line = new Line();
  const { loop, order } = line;
  loop.soon(() => {});
  for (let turn = 0; turn < 3; turn += 1) {
    void loop.run(READ, line.list(2));
    loop.transport.waitForWriting(() => order.push('output'));
    loop.transport.waitForFrames(() => order.push('frames'));
    loop.soon(() => order.push('append'));
    loop.soon(() => order.push('another'));
    const [first, second, ...rest] = line.turn();
    expect([first, second]).toEqual(['append', 'another']);
    expect(rest).toEqual(expect.arrayContaining(['slice', 'output', 'frames']));
  }
});

test('what a slice finds urgent goes first in the next turn, once its input has been read', () => {
  const line = new Line();
  const { loop, order } = line;
  loop.soon(() => {});
  line.turn();
  function* deciding(): Job<void> {
    yield;
    loop.soon(() => order.push('append'));
    yield;
  }
  void loop.run(READ, deciding());
  void loop.run(READ, line.list(8));
  expect(line.turn()).not.toContain('append');
  expect(line.turn()[0]).toBe('append');
});

test('one callback of the event loop serves all that is urgent in a turn', () => {
  const line = new Line();
  let done = 0;
  for (let at = 0; at < 100; at += 1) line.loop.soon(() => (done += 1));
  expect(line.length).toBe(1);
  line.turn();
  expect(done).toBe(100);
});

test('a loop of which nothing urgent was asked has no place for it', () => {
  const line = new Line();
  void line.loop.run(READ, line.list(2));
  expect(line.length).toBe(1);
});
