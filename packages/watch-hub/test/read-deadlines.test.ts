import { Scheduler, SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { World, from } from './world.ts';

/** The clock of a process that can stand still, as after SIGSTOP: what falls due meanwhile fires when it goes on. */
class Machine {
  #held: (() => void)[] | undefined;
  readonly clock = new SimClock({
    scheduler: new Scheduler(),
    deliver: (fire) => {
      if (this.#held === undefined) fire();
      else this.#held.push(fire);
    },
  });

  async standStill(ms: number): Promise<void> {
    this.#held = [];
    await this.clock.pass(ms);
    const held = this.#held;
    this.#held = undefined;
    for (const fire of held) fire();
  }
}

const LATE = ['failed etcdserver: request timed out'];

test('a process that stood still gives a read the rest of its time', async () => {
  const machine = new Machine();
  const { clock } = machine;
  const world = new World({ auto: false, history: ['a'], hub: { clock, historyReadMsMax: 10_000 } });
  world.watch('a', from(2));
  await clock.pass(3_500);
  await machine.standStill(60_000);
  expect(world.sink.take()).toEqual([]);
  await machine.standStill(60_000);
  expect(world.sink.take()).toEqual([]);
  world.store.reads[0]!.settle();
  await clock.pass(0);
  expect(world.sink.take()).toEqual(['0 2:a header 2']);
  expect(clock.waiting).toBe(0);
});

test('a read that stays late after a pause is given up', async () => {
  const machine = new Machine();
  const { clock } = machine;
  const world = new World({ auto: false, history: ['a'], hub: { clock, historyReadMsMax: 10_000 } });
  world.watch('a', from(2));
  await clock.pass(5_000);
  await machine.standStill(20_000);
  // A pause that began between two ticks of a second costs at most the rest of that second.
  await clock.pass(3_999);
  expect(world.sink.take()).toEqual([]);
  await clock.pass(1_001);
  expect(world.sink.take()).toEqual(LATE);
});

test('a read that begins after a pause has its whole time', async () => {
  const machine = new Machine();
  const { clock } = machine;
  const world = new World({
    auto: false,
    history: ['a'],
    hub: { clock, historyReadsMax: 2, historyReadMsMax: 10_000, recentBytesMax: 0 },
  });
  world.watch('a', from(2));
  await clock.pass(5_000);
  await machine.standStill(20_000);
  world.watch('a', from(2), world.hub.openStream(world.sink));
  await clock.pass(5_000);
  expect(world.sink.take()).toEqual(LATE);
  await clock.pass(4_999);
  expect(world.sink.take()).toEqual([]);
  await clock.pass(1);
  expect(world.sink.take()).toEqual(LATE);
});
