import { logPosition, type Revision, revision } from '@engram/core';
import { KeyIndex } from '@engram/index';
import { Lessor } from '@engram/lease';
import { Loop } from '@engram/loop';
import { Pins } from '@engram/scanner';
import { quiet, Scheduler, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { ReplicatedState } from '../src/apply/replicated-state.ts';
import { Compactor } from '../src/checkpoint/compactor.ts';
import { Garbage } from '../src/checkpoint/garbage.ts';

/** A state whose compact revision the test sets, and a hook that runs whenever it is read. */
class AskedState extends ReplicatedState {
  now = revision(1);
  onAsked: (() => void) | undefined;

  override get compactRevision(): Revision {
    const { now } = this;
    this.onAsked?.();
    return now;
  }
}

test('a compaction that takes effect in the moment in which the run of the one before ends is done', async () => {
  const clock = new SimClock({ scheduler: new Scheduler() });
  const finished: number[] = [];
  const state = new AskedState(KeyIndex.loader({}).finish(), new Lessor({ minTtlSeconds: 2 }), clock);
  const compactor = new Compactor({
    state,
    values: new MemoryStorage().values,
    pins: new Pins(),
    clock,
    loop: new Loop({ clock }),
    logger: quiet,
    holdMaxMs: 1000,
    garbage: new Garbage(logPosition(1), []),
    onFinished: (at) => finished.push(at),
  });
  let second: Promise<void> | undefined;
  state.onAsked = () => {
    // Behind the look that ends the run, as the answer of an append may come.
    if (finished.length !== 1 || second !== undefined) return;
    second = Promise.resolve().then(() => {
      state.now = revision(2);
      return compactor.start();
    });
  };
  await clock.run(compactor.start());
  await clock.run(second!);
  expect(finished).toEqual([1, 2]);
});
