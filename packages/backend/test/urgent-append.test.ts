import { nodeItself } from '@engram/backend';
import { putOp, utf8 } from '@engram/core';
import { type Job, Loop, StepPace } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { type LogBatch, MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode } from './harness.ts';

/** A clock whose turns come by themselves until `hold`. */
class HeldTurns extends SimClock {
  #held: (() => void)[] | undefined;

  override soon(fire: () => void): void {
    if (this.#held === undefined) super.soon(fire);
    else this.#held.push(fire);
  }

  hold(): void {
    this.#held = [];
  }

  /** Runs the next turn; later turns come by themselves. */
  letGo(): void {
    const due = this.#held ?? [];
    this.#held = undefined;
    for (const fire of due) fire();
  }
}

test('a write that comes while lists have asked for the rest of the turn is appended ahead of them', async () => {
  const order: string[] = [];
  class Noting extends MemoryStorage {
    override append(batch: LogBatch, seal: Parameters<MemoryStorage['append']>[1]) {
      order.push('append');
      return super.append(batch, seal);
    }
  }
  const clock = new HeldTurns();
  const loop = new Loop({ clock, pace: new StepPace(0) });
  await using backend = (await openNode(new Noting(), { clock, loop })).backend;
  function* list(): Job<void> {
    for (let slice = 0; slice < 3; slice += 1) {
      order.push('slice');
      if (loop.shouldYield()) yield;
    }
  }

  const put = (key: string) =>
    backend.txn({ compares: [], success: [putOp(utf8(key), utf8('v'))], failure: [] }, nodeItself);
  await put('first');
  await clock.settle();

  clock.hold();
  const lists = Array.from({ length: 4 }, (_, caller) =>
    loop.run({ work: 'client', caller: `${caller}`, stage: 'range' }, list()),
  );
  order.length = 0;
  const done = put('second');
  clock.letGo();
  await Promise.all([done, ...lists]);
  expect(order.slice(0, 3)).toEqual(['append', 'slice', 'slice']);
});
