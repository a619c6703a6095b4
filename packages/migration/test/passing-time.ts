import type { SimClock } from '@engram/sim';

/** Lets time pass slowly enough that the stores answer in between. */
export async function passTime(clock: SimClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    clock.advance(50);
    await clock.settle(5);
  }
}

/** Lets time pass until the work has ended. */
export async function settleWork<Value>(clock: SimClock, work: Promise<Value>): Promise<Value> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  for (let turn = 0; turn < 2000 && !over; turn += 1) {
    await clock.settle(5);
    if (turn % 5 === 4) clock.advance(10);
  }
  if (!over) throw new Error('it does not end');
  return await work;
}
